//! A timed model of SLC, MLC and TLC NAND chips that fail like real ones.
//!
//! ```text
//!            FTL, or anything else that uses NandDevice
//!                   │ read, program, erase, is_bad, mark_bad
//!            ┌──────▼──────┐
//!            │   Tracer    │  every operation as a readable line      wrappers: they stack,
//!            │  PowerCut   │  stops operation n midway                and into_inner() returns
//!            │FaultInjector│  fails on request, or by a seed          the device below
//!            ├─────────────┤
//!            │    Chip     │  the true content: never fails by chance
//!            └──────┬──────┘
//!      ┌─────────┬──┴──────┬──────────┐
//!    rules     cells     clock      energy
//!   promises   what is   when it    what it
//!   kept?      stored    ends       costs
//!                │
//!             content: every byte, or one stamp per sector
//! ```
//!
//! # Modules
//!
//! - [`part`]: the datasheet figures of a device. [`datasheet`]: device files, and the built-in ones.
//! - [`chip`]: [`Chip`] itself, and [`Fork`]: cheap copies. [`stats`]: its counters. [`image`]: a chip saved to a
//!   file.
//! - [`content`]: what is stored of a page; `stamp`: [`Stamp`]. [`preset`]: blocks that start programmed, by a formula.
//! - [`clock`]: serial and overlapped [`Time`], requests that share the device. [`energy`]: exact sums of V·I·t.
//! - [`faults`]: one file for each kind: `factory_bad`, `program_failure`, `erase_failure`, `mark_failure`,
//!   `bit_errors`, `uncorrectable`, and `torn`, the effects of power cuts and failures; `setting`: how they are set
//!   and removed. [`power`]: the power cut. [`tracer`].
//!
//! A breach of the caller's promises ([`ftl_iface::NandDevice`]) panics with a message that names the operation, the
//! address and what was expected. Everything else that goes wrong is a typed error.
//!
//! # Example
//!
//! ```
//! use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region};
//! use nand_model::part::Nanos;
//! use nand_model::{Chip, Content, Timed};
//!
//! let mut chip = Chip::new(&nand_model::datasheet::builtin("tiny")?, Content::Bytes)?;
//! let page = Block::new(Region::Slc, 3).page(PageIndex::new(0));
//! chip.program(page, &[7; 1024], &[0xFF; 32]).unwrap();
//! let mut data = [0; 1024];
//! chip.read(page, Bytes::ZERO, &mut data, &mut []).unwrap();
//! assert_eq!(data, [7; 1024]);
//! assert_eq!(chip.now(), Nanos::from_micros(200 + 25)); // program and read, by the datasheet
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod chip;
pub mod clock;
pub mod content;
pub mod datasheet;
pub mod energy;
pub mod faults;
pub mod image;
pub mod part;
pub mod power;
pub mod preset;
pub mod stats;
pub mod tracer;

mod cells;
mod rules;
mod stamp;

pub use chip::{Chip, ChipError, Fork, Truth};
pub use clock::{Done, Label, Order, Time, Timed};
pub use content::{Content, Stamp};
pub use energy::Energy;
pub use faults::FaultInjector;
pub use power::PowerCut;
pub use preset::Preset;
pub use stats::{ChipStats, RegionStats};
pub use tracer::Tracer;
