//! The two traits around a flash translation layer (FTL).
//!
//! ```text
//!      host: file system, USB, trace replay
//!                     │  whole requests, in sectors
//!              ┌──────▼──────┐
//!              │  BlockStore │   the interface above: read, write, trim, flush, maintain
//!              ├─────────────┤
//!              │     FTL     │   ours (`ftl-core`) or any rival
//!              ├─────────────┤
//!              │  NandDevice │   the interface below: read, program, erase, bad-block marks
//!              └──────┬──────┘
//!                     │  pages and blocks of either region
//!      chip: driver on a microcontroller, or the simulated one (`nand-model`)
//! ```
//!
//! This crate holds types and contracts, and no policy. It needs neither `std` nor an allocator, nor any
//! dependency; the features `serde` and `defmt` add derives.
//!
//! # Modules
//!
//! - [`units`]: counts and bytes. [`address`]: sectors, blocks, pages. An address, a count and a size are three
//!   kinds of type; nothing converts implicitly, and only meaningful sums compile.
//! - [`geometry`]: the shape of a device: up to two [`Region`]s, each with its own page size, spare size,
//!   pages per block and blocks. [`pairing`]: which pages share cells.
//! - [`nand`]: [`NandDevice`] and its power-fail contract; [`forward_nand`] for devices that wrap another.
//!   [`store`]: [`BlockStore`] and what it promises.
//! - [`probe`]: a probe sees every operation with its cause, so that all FTLs are measured alike.
//!
//! # What an address is not
//!
//! ```compile_fail
//! use ftl_iface::{Sector, SectorCount};
//! let end = Sector::new(8) + Sector::new(8); // two addresses have no sum
//! ```
//!
//! ```
//! use ftl_iface::{Sector, SectorCount};
//! let end = Sector::new(8) + SectorCount::new(8);
//! assert_eq!(end - Sector::new(8), SectorCount::new(8));
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod address;
pub mod geometry;
pub mod nand;
pub mod pairing;
pub mod probe;
pub mod store;
pub mod units;

pub use address::{Block, Page, PageIndex, Region, Sector};
pub use geometry::{Cell, Geometry, GeometryError, RegionGeometry};
pub use nand::{
    Corrected, EraseError, MarkError, Mode, ModeError, NandDevice, ProgramError, ReadError,
};
pub use pairing::Pairing;
pub use probe::{Cause, Counters, NoProbe, Operations, Probe, Verb};
pub use store::{BlockStore, Lifetime, StoreReadError, StoreWriteError, Work};
pub use units::{BlockCount, Bytes, PageCount, SectorCount};
