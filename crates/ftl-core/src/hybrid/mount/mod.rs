//! From flash to RAM: making a device ours, and finding it again.
//!
//! `format` erases the device and writes its header. `checkpoint` writes the tables down at a clean stop, and takes
//! them back. Where there is none that counts, `scan` reads the tags and builds the tables anew: `chains` from the
//! first page of each chain block, `log` from the summaries of the log's blocks.

mod assemble;
mod chains;
mod checkpoint;
mod error;
mod format;
mod log;
mod order;
mod rescue;
mod scan;
mod settle;
mod stop;

pub use checkpoint::Stopped;
pub use error::MountError;
