//! A client of our own, and the server that it talks to.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const WRITE_ZEROES: u16 = 6;

pub(crate) const FUA: u16 = 1;
pub(crate) const NO_HOLE: u16 = 2;
pub(crate) const DO_NOT_FRAGMENT: u16 = 4;

const REQUEST: u32 = 0x2560_9513;
const SIMPLE: u32 = 0x6744_6698;
const OPTION_REPLY: u64 = 0x0003_E889_0455_65A9;

/// A server in a process of its own, which ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) socket: PathBuf,
}

/// Waits for a server's first word. A socket that a killed server has left is there before the new one listens, and one
/// that listens may still be writing its disk's file.
fn greets(socket: &Path) -> io::Result<()> {
    UnixStream::connect(socket)?.read_exact(&mut [0; 8])
}

impl Server {
    /// Starts one and waits until it serves.
    pub(crate) fn start(folder: &Path, flags: &[&str]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_tandem")), folder, flags)
    }

    /// The same by another command, which becomes the server.
    pub(crate) fn start_by(mut command: Command, folder: &Path, flags: &[&str]) -> Self {
        let socket = folder.join("disk.sock");
        let mut child = command
            .args(["serve", "--socket"])
            .arg(&socket)
            .args(flags)
            .stdout(File::create(folder.join("told")).unwrap())
            .stderr(File::create(folder.join("notes")).unwrap())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while greets(&socket).is_err() {
            if let Some(status) = child.try_wait().unwrap() {
                let notes = std::fs::read_to_string(folder.join("notes"));
                panic!("the server ended with {status}: {}", notes.unwrap_or_default());
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not serve");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, socket }
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Ends it as Ctrl-C would.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.signal("INT");
        self.child.wait().unwrap()
    }

    /// Ends it by that signal.
    pub(crate) fn end_by(mut self, signal: &str) -> ExitStatus {
        self.signal(signal);
        self.child.wait().unwrap()
    }

    /// Ends it as nobody could be prepared for.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The same, while others use it.
    pub(crate) fn kill_under_way(&self) {
        self.signal("KILL");
    }

    /// Whether it still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn raw(&self) -> UnixStream {
        let socket = UnixStream::connect(&self.socket).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket
    }

    pub(crate) fn client(&self) -> Client {
        self.client_of("")
    }

    /// A client of the export of that name.
    pub(crate) fn client_of(&self, name: &str) -> Client {
        Client::of_export(self.raw(), name).unwrap()
    }

    /// A client, as soon as the server takes one again.
    pub(crate) fn next_client(&self) -> Client {
        let start = Instant::now();
        loop {
            if let Ok(socket) = UnixStream::connect(&self.socket)
                && let Ok(client) = Client::new(socket)
            {
                return client;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the server is gone");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads so many bytes.
pub(crate) fn read_bytes(socket: &mut UnixStream, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    socket.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Greets and is greeted.
pub(crate) fn greet(socket: &mut UnixStream) -> io::Result<()> {
    let greeting = read_bytes(socket, 18)?;
    assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
    assert_eq!(greeting[16..], [0, 3]);
    socket.write_all(&3_u32.to_be_bytes())
}

/// Sends an option.
pub(crate) fn option(socket: &mut UnixStream, option: u32, data: &[u8]) -> io::Result<()> {
    let mut message = b"IHAVEOPT".to_vec();
    message.extend_from_slice(&option.to_be_bytes());
    message.extend_from_slice(&(data.len() as u32).to_be_bytes());
    message.extend_from_slice(data);
    socket.write_all(&message)
}

/// Reads a reply to an option: its kind and its data.
pub(crate) fn option_reply(socket: &mut UnixStream) -> io::Result<(u32, Vec<u8>)> {
    let head = read_bytes(socket, 20)?;
    assert_eq!(number(&head[..8]), OPTION_REPLY);
    let length = number(&head[16..]) as usize;
    Ok((number(&head[12..16]) as u32, read_bytes(socket, length)?))
}

/// What `INFO` and `GO` carry for the export of that name.
pub(crate) fn named(name: &[u8]) -> Vec<u8> {
    [&(name.len() as u32).to_be_bytes(), name, &[0, 0]].concat()
}

/// A request as it is sent.
pub(crate) fn request(flags: u16, kind: u16, offset: u64, length: u32) -> Vec<u8> {
    let mut message = REQUEST.to_be_bytes().to_vec();
    message.extend_from_slice(&flags.to_be_bytes());
    message.extend_from_slice(&kind.to_be_bytes());
    message.extend_from_slice(&7_u64.to_be_bytes());
    message.extend_from_slice(&offset.to_be_bytes());
    message.extend_from_slice(&length.to_be_bytes());
    message
}

/// Why a request was not done: the server said so, or the connection broke.
#[derive(Debug)]
pub(crate) enum Refused {
    Errno(u32),
    Broken,
}

impl From<io::Error> for Refused {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

/// A client with simple replies.
pub(crate) struct Client {
    pub(crate) socket: UnixStream,
    pub(crate) bytes: u64,
}

impl Client {
    pub(crate) fn new(socket: UnixStream) -> io::Result<Self> {
        Self::of_export(socket, "")
    }

    fn of_export(mut socket: UnixStream, export: &str) -> io::Result<Self> {
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        greet(&mut socket)?;
        option(&mut socket, 7, &named(export.as_bytes()))?;
        let mut bytes = 0;
        loop {
            let (kind, data) = option_reply(&mut socket)?;
            match kind {
                1 => return Ok(Self { socket, bytes }),
                3 if data[..2] == [0, 0] => bytes = number(&data[2..10]),
                3 => {}
                other => panic!("GO was answered with {other:x}"),
            }
        }
    }

    fn reply(&mut self) -> Result<(), Refused> {
        let head = read_bytes(&mut self.socket, 16)?;
        assert_eq!(number(&head[..4]), u64::from(SIMPLE));
        assert_eq!(number(&head[8..]), 7);
        match number(&head[4..8]) as u32 {
            0 => Ok(()),
            errno => Err(Refused::Errno(errno)),
        }
    }

    pub(crate) fn ask(
        &mut self,
        flags: u16,
        kind: u16,
        offset: u64,
        length: u32,
    ) -> Result<(), Refused> {
        self.socket.write_all(&request(flags, kind, offset, length))?;
        self.reply()
    }

    pub(crate) fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, Refused> {
        self.ask(0, READ, offset, length)?;
        Ok(read_bytes(&mut self.socket, length as usize)?)
    }

    pub(crate) fn write(&mut self, flags: u16, offset: u64, data: &[u8]) -> Result<(), Refused> {
        let mut message = request(flags, WRITE, offset, data.len() as u32);
        message.extend_from_slice(data);
        self.socket.write_all(&message)?;
        self.reply()
    }

    pub(crate) fn flush(&mut self) -> Result<(), Refused> {
        self.ask(0, FLUSH, 0, 0)
    }
}
