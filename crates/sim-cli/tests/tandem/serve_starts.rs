//! How `tandem serve` begins and ends: what it refuses, recordings, signals, and output that nobody reads.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{failure, result, tandem};
use crate::nbd::client::{Client, Server};

const TANDEM: &str = env!("CARGO_BIN_EXE_tandem");

const NEW: [&str; 2] = ["--device", "tiny"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn write(server: &Server, byte: u8) {
    let mut client = server.client();
    client.write(0, u64::from(byte) * 4096, &[byte; 4096]).unwrap();
    client.flush().unwrap();
}

#[test]
fn a_server_that_is_told_no_place_names_both_kinds() {
    let (code, told) = failure(&["serve"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("--socket <PATH>") && told.contains("--port <N>"), "{told}");
    let (code, told) = failure(&["serve", "--socket", "there", "--port", "0"]);
    assert!(code == Some(2) && told.contains("cannot be used with"), "{told}");
}

#[test]
fn the_end_of_the_terminal_is_an_end_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let [json, record] = ["result.json", "load.csv.zst"].map(|name| folder.path().join(name));
    let mut command = Command::new(TANDEM);
    if cfg!(target_os = "linux") {
        // Though the tests themselves are run by `nohup`.
        command = Command::new("env");
        command.args(["--default-signal=HUP", TANDEM]);
    }
    let flags = [&NEW[..], &["--json", text(&json), "--record", text(&record)]].concat();
    let server = Server::start_by(command, folder.path(), &flags);
    write(&server, 1);
    let socket = server.socket.clone();
    assert!(server.end_by("HUP").success());
    assert!(fs::read_to_string(json).unwrap().contains("\"writes\""));
    assert!(!socket.exists());
    // The recording has its end: it is read without `--lenient`.
    let profile = result(&["profile", text(&record)]);
    assert_eq!(profile["writes"], 1, "{profile}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_that_nohup_started_outlives_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", TANDEM]);
    let mut server = Server::start_by(command, folder.path(), &NEW);
    write(&server, 1);
    server.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.is_running());
    assert_eq!(server.client().read(4096, 4096).unwrap(), [1; 4096]);
    assert!(server.end_by("TERM").success());
}

/// A start with the line of a server that was killed.
#[test]
fn an_earlier_recording_is_kept_and_told() {
    for name in ["load.csv.zst", "load.csv"] {
        let folder = tempfile::tempdir().unwrap();
        let files = [name, "disk.img", "disk.sock"].map(|name| folder.path().join(name));
        let [record, image, socket] = files.each_ref().map(|path| text(path));
        let flags = ["--device", "tiny", "--image", image, "--record", record];
        let server = Server::start(folder.path(), &flags);
        write(&server, 1);
        let start = Instant::now();
        while fs::metadata(record).unwrap().len() < 30 {
            assert!(start.elapsed() < Duration::from_secs(60), "{name}: nothing is recorded");
            std::thread::sleep(Duration::from_millis(50));
        }
        server.kill();
        let before = [record, image].map(|path| fs::read(path).unwrap());
        let (code, told) = failure(&[&["serve", "--socket", socket], &flags[..]].concat());
        assert_eq!(code, Some(2), "{told}");
        let reason = "cannot be written: it is there and not empty: name another file, or move it";
        assert!(told.contains(name) && told.contains(reason), "{told}");
        assert!(before == [record, image].map(|path| fs::read(path).unwrap()), "as they were");
        // One that was made empty, as by `mktemp`, is taken.
        let empty = folder.path().join(format!("empty-{name}"));
        fs::write(&empty, "").unwrap();
        let flags = ["--image", image, "--record", text(&empty)];
        let server = Server::start(folder.path(), &flags);
        write(&server, 2);
        assert!(server.stop().success());
        assert_eq!(recorded(&empty), 1, "{name}");
    }
}

/// Here the shell allows no file as long as the disk's.
#[test]
fn a_start_that_is_refused_begins_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let [image, socket, made, empty] =
        ["disk.img", "disk.sock", "made.csv", "empty.csv"].map(|name| folder.path().join(name));
    fs::write(&empty, "").unwrap();
    for record in [&made, &empty] {
        let (socket, image, record) = (text(&socket), text(&image), text(record));
        let serve =
            format!("serve --socket {socket} --device tiny --image {image} --record {record}");
        let limited = format!("ulimit -f 16; exec {TANDEM} {serve}");
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("disk.img cannot be written: File too large"), "{told}");
    }
    assert!(!made.exists() && !image.exists());
    assert_eq!(fs::read(&empty).unwrap(), b"");
}

#[test]
fn a_server_whose_output_nobody_reads_serves() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("disk.sock");
    let mut server = Command::new(TANDEM)
        .args(["serve", "--device", "tiny", "--socket", text(&socket)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(server.stdout.take());
    let start = Instant::now();
    let client = loop {
        let socket = std::os::unix::net::UnixStream::connect(&socket);
        match socket.map(Client::new) {
            Ok(Ok(client)) => break client,
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is served");
    };
    let mut client = client;
    client.write(0, 0, &[1; 4096]).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_recording_that_ends_with_a_kill_can_be_read() {
    for name in ["load.csv.zst", "load.csv.gz", "load.csv"] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join(name);
        let server =
            Server::start(folder.path(), &[&NEW[..], &["--record", text(&record)]].concat());
        for byte in 0..20 {
            write(&server, byte);
        }
        // It is flushed each second, if the machine has the time.
        let start = Instant::now();
        while recorded(&record) < 20 {
            assert!(start.elapsed() < Duration::from_secs(60), "{name}: nothing is recorded");
            std::thread::sleep(Duration::from_millis(200));
        }
        for byte in 0..20 {
            write(&server, byte);
        }
        server.kill();
        assert!((20..=40).contains(&recorded(&record)), "{name}: {}", recorded(&record));
    }
}

/// The writes of a recording that may have no end.
fn recorded(record: &Path) -> u64 {
    let profile = tandem(&["profile", text(record), "--lenient", "--json", "-"]);
    let profile: Option<serde_json::Value> = serde_json::from_slice(&profile.stdout).ok();
    profile.and_then(|profile| profile["writes"].as_u64()).unwrap_or(0)
}
