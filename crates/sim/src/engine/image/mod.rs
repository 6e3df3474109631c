//! A persistent chip: a file with its content, and a journal of the operations since.
//!
//! ```text
//!   FILE  header | header | about the disk, the chip with what befell it | records of what was done since | zeros
//!          both headers name the one ▲                         and the other ▲
//! ```
//!
//! However the program ends, the next one reads the chip and repeats the records, so nothing acknowledged is missing.
//! When the room for records is used up, and at a normal end, the chip is written again, elsewhere in the file, and
//! then the headers name that instead. The file is written in place, so that links to it, and another name, make no
//! difference; the lock is on the file itself.
//!
//! # Which operations are recorded
//!
//! All that decide what later reads find: programs, erases and bad-block marks, whole or torn by a cut; losses of
//! power, after which fading pages are gone; and reads of pages that wear down by being read. Other reads change
//! nothing.
//!
//! # Modules
//!
//! - `store`: what is asked of the system; `file`: of a real file. `format`: numbers of the format. `slot`: the
//!   headers. `layout`: what goes where. `unit`: the chip, and what is said about the disk; `digest`: its check.
//!   `record`: a record. `seal`: what binds it to its place. `journal`: records in a row. `mark`: how far flushes
//!   cover them. `tail`: what is behind the last one; `damage`: what is told of it.
//! - `disk`: all of these together, in an order of writes that any crash may interrupt. `disk_file`: the file by its
//!   path, and its lock. `device`: the chip with its faults. `journaled`: the same, making records. `refusal`: why a
//!   file is not used.
//! - `memory`: a file in memory; `forge`: files that no server wrote, for tests and fuzzers.
//! - `version_1`: files of the version before.

pub mod damage;
pub mod device;
pub mod disk;
#[cfg(all(unix, feature = "files"))]
pub mod disk_file;
pub mod forge;
pub mod mark;
pub mod refusal;
pub mod slot;
pub mod version_1;

mod digest;
#[cfg(all(unix, feature = "files"))]
mod file;
mod format;
mod journal;
mod journaled;
mod layout;
mod memory;
mod record;
mod seal;
mod store;
mod tail;
mod unit;

#[cfg(test)]
mod tests;

pub use disk::Opened;
#[cfg(all(unix, feature = "files"))]
pub use disk_file::DiskFile;
pub use journaled::Journaled;
pub use memory::MemoryFile;
pub use unit::About;
