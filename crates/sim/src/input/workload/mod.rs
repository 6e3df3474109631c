//! The workload of a replay: requests, files and synthetic workloads, one after the other.
//!
//! `reading`: how files are read. `origin`: where requests come from. `sources`: [`Workload`], its sources one after
//! the other; `named`: by the names of files, `stdin`: and standard input. `stream`: its requests, one by one.
//! `fitted`: its addresses on a device.

mod fitted;
#[cfg(feature = "files")]
mod named;
mod origin;
mod reading;
mod sources;
#[cfg(feature = "files")]
mod stdin;
mod stream;

#[cfg(feature = "files")]
pub use named::Reads;
pub use reading::Reading;
pub use sources::Workload;
pub use stream::Stream;
