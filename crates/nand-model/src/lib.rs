//! A timed model of SLC, MLC and TLC NAND chips that fail like real ones.
//!
//! ```text
//!            FTL, or anything else that speaks NandDevice
//!                   │ read, program, erase, is_bad, mark_bad
//!            ┌──────▼──────┐
//!            │    Chip     │  the truth: never fails by chance
//!            └──────┬──────┘
//!      ┌─────────┬──┴──────┬──────────┐
//!    rules     cells     clock      energy
//!   promises   what is   when it    what it
//!   kept?      stored    is done    costs
//!                │
//!             content: every byte, or a stamp a sector
//! ```
//!
//! # Rooms
//!
//! - [`part`]: what a datasheet says of a device. [`datasheet`]: device files, and those built in.
//! - [`chip`]: [`Chip`] itself, what it counts, and [`Fork`]: cheap copies.
//! - [`content`]: what is kept of a page; [`Stamp`].
//! - [`clock`]: serial and overlapped [`Time`]. [`energy`]: exact sums of V·I·t.
//!
//! A breach of the caller's promises ([`ftl_iface::NandDevice`]) panics with a sentence that names the operation, the
//! address and what was expected. Everything else that goes wrong is a typed error.
#![forbid(unsafe_code)]

pub mod chip;
pub mod clock;
pub mod content;
pub mod datasheet;
pub mod energy;
pub mod part;

mod cells;
mod rules;

pub use chip::{Chip, ChipError, ChipStats, Fork, RegionStats};
pub use clock::{Time, Timed};
pub use content::{Content, Stamp};
pub use energy::Energy;
