//! Format and mount.
//!
//! `format` erases the device and writes its header. `checkpoint` saves the tables at a clean stop, and
//! loads them again. Without a valid checkpoint `scan` reads the tags and rebuilds the tables: `chains` from the
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
mod unmapped;

pub use crate::hybrid::identity::{FormatSetting, OtherSetting};
pub use checkpoint::Stopped;
pub use error::MountError;
pub(crate) use settle::Settled;
