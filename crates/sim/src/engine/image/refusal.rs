//! Why a disk's file is not used. Each says where it is damaged, and what can be done.

use std::io;

use nand_model::image::ImageError;

use super::damage::Damage;

/// Why a file is refused. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The system does not let it be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The system lets it be read, and not written.
    #[error("it cannot be opened for writing: {0}; --read-only serves it as it is")]
    Unwritable(io::Error),
    /// The system does not let it be locked.
    #[error(
        "it cannot be locked against a second server: {0}; move it to a file system that has locks"
    )]
    Unlockable(io::Error),
    /// It is something else.
    #[error("it is no disk of `tandem serve`: name another file")]
    Foreign,
    /// Another version of this program made it.
    #[error(
        "it has version {found}, and this program reads version {}: use the program that made it",
        super::format::VERSION
    )]
    Version {
        /// Its number.
        found: u16,
    },
    /// The version before this one, which kept a journal beside it.
    #[error(
        "it has version 1, whose journal is a file of its own: `tandem image recover` makes a disk of this version \
         from both"
    )]
    Old,
    /// Neither header can be read.
    #[error("both of its headers are damaged, at bytes 0 and {}", super::format::SECOND_AT)]
    Headers,
    /// The headers are of two disks.
    #[error("its two headers, at bytes 0 and {}, are of two disks", super::format::SECOND_AT)]
    TwoDisks,
    /// The headers are of one disk, and were never in one file.
    #[error(
        "its two headers, at bytes 0 and {}, are of two states of one disk",
        super::format::SECOND_AT
    )]
    TwoStates,
    /// It is not as long as its header says.
    #[error("it is cut short: it has {found} bytes, and must have {needed}")]
    CutShort {
        /// Its bytes.
        found: u64,
        /// Those that its header asks for.
        needed: u64,
    },
    /// What it says about the disk cannot be read.
    #[error("it is damaged: what it says about the disk, at byte {at}, does not match its check")]
    About {
        /// Its first byte.
        at: u64,
    },
    /// The chip does not match the header's check.
    #[error("it is damaged: the chip in bytes {at} to {end} does not match its check")]
    Check {
        /// The chip's first byte.
        at: u64,
        /// The byte after its last.
        end: u64,
    },
    /// The chip matches the check, and cannot be.
    #[error("the chip in it, from byte {at} on, cannot be: {reason}")]
    Chip {
        /// Its first byte.
        at: u64,
        /// Why it cannot be.
        reason: ImageError,
    },
    /// The chip is one that no server leaves.
    #[error("the chip in it, from byte {at} on, is of no server: {reason}")]
    NoServers {
        /// Its first byte.
        at: u64,
        /// What no server does.
        reason: &'static str,
    },
    /// The journal is damaged.
    #[error("it is damaged: {0}")]
    Journal(Damage),
}
