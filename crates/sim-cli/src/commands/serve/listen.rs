//! Where clients connect: a Unix socket or a port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sim::Failure;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::base::notes;
use crate::flags::numbers;

/// Where a server is, or is to be.
#[derive(Clone, Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("place").args(["socket", "port"]).required(true))]
pub(super) struct PlaceArgs {
    /// Listen on a Unix socket at this path
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on this port of the loopback address; 0 takes a free one
    #[arg(long, value_parser = numbers::any::<u16>, value_name = "N")]
    port: Option<u16>,
    /// Listen on this address instead. Anyone who can reach it can read and write the disk: NBD has no passwords
    #[arg(long, value_name = "IP", requires = "port")]
    address: Option<IpAddr>,
    /// Serve nothing: wait until a server listens there, at most a minute
    #[arg(long, conflicts_with_all = OF_A_DISK)]
    pub(super) wait: bool,
}

/// The arguments that say what is served, and how.
const OF_A_DISK: [&str; 11] = [
    "system",
    "device",
    "capacity",
    "slc",
    "parallel",
    "image",
    "read_only",
    "record",
    "pace",
    "cut_every",
    "json",
];

impl PlaceArgs {
    pub(super) fn endpoint(&self) -> Endpoint {
        match (&self.socket, self.port) {
            (Some(path), _) => Endpoint::Path(path.clone()),
            (None, port) => Endpoint::Port(self.address, port.unwrap_or(0)),
        }
    }
}

/// Where to listen.
pub(super) enum Endpoint {
    Path(PathBuf),
    /// On the loopback unless an address is given.
    Port(Option<IpAddr>, u16),
}

/// A connection of a client.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket for S {}

/// A listening socket.
pub(super) enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Endpoint {
    fn address(address: Option<IpAddr>, port: u16) -> SocketAddr {
        SocketAddr::new(address.unwrap_or(Ipv4Addr::LOCALHOST.into()), port)
    }

    /// Whether somebody listens there.
    async fn is_served(&self) -> bool {
        match self {
            Self::Path(path) => UnixStream::connect(path).await.is_ok(),
            Self::Port(address, port) => {
                TcpStream::connect(Self::address(*address, *port)).await.is_ok()
            }
        }
    }
}

/// Waits until a server listens there.
pub(super) async fn await_server(place: &Endpoint) -> Result<(), Failure> {
    const PATIENCE: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(20);
    const SILENT: Duration = Duration::from_secs(3);
    let start = Instant::now();
    let mut told = false;
    while !place.is_served().await {
        if !told && start.elapsed() > SILENT {
            notes::tell(
                "no server listens there yet: has it said why? Waiting for a minute; Ctrl-C ends it",
            );
            told = true;
        }
        if start.elapsed() > PATIENCE {
            return Err(Failure::Arguments("no server has listened there for a minute".into()));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

impl Listener {
    pub(super) async fn bind(place: &Endpoint) -> Result<Self, Failure> {
        match place {
            Endpoint::Path(path) => {
                remove_stale(path).await?;
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                    return Err(Failure::Arguments(format!(
                        "{} is no folder: make it, or name another for --socket",
                        folder.display()
                    )));
                }
                let failed = |reason| Failure::File { path: path.clone(), reason };
                Ok(Self::Unix(UnixListener::bind(path).map_err(failed)?, path.clone()))
            }
            Endpoint::Port(address, port) => {
                let address = Endpoint::address(*address, *port);
                let listener = TcpListener::bind(address).await.map_err(|reason| {
                    Failure::Arguments(format!("{address} cannot be listened on: {reason}"))
                })?;
                Ok(Self::Tcp(listener))
            }
        }
    }

    /// The URI for clients.
    pub(super) fn uri(&self) -> Result<String, Failure> {
        Ok(match self {
            Self::Unix(_, path) => format!("nbd+unix:///?socket={}", path.display()),
            Self::Tcp(listener) => format!("nbd://{}", listener.local_addr()?),
        })
    }

    /// The next client.
    pub(super) async fn accept(&self) -> std::io::Result<Box<dyn Socket>> {
        Ok(match self {
            Self::Unix(listener, _) => Box::new(listener.accept().await?.0),
            Self::Tcp(listener) => {
                let (socket, _) = listener.accept().await?;
                // Replies are written at once, so there is nothing to combine.
                socket.set_nodelay(true)?;
                Box::new(socket)
            }
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // It does not matter if another process has removed it.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes a stale socket, left by a killed server.
async fn remove_stale(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::FileTypeExt;
    let Ok(data) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    let reason = if !data.file_type().is_socket() {
        "it is there, and no socket: name another path"
    } else if UnixStream::connect(path).await.is_ok() {
        "a server listens there: stop it first, or name another path"
    } else {
        return std::fs::remove_file(path)
            .map_err(|reason| Failure::File { path: path.into(), reason });
    };
    Err(Failure::Arguments(format!("{} cannot be listened on: {reason}", path.display())))
}
