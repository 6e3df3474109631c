//! A hybrid SLC/MLC flash translation layer: `no_std`, no allocation, no `unsafe`, no panic on any input.
//!
//! Small hot writes go to a small fast log, everything else to block chains in a large cheap region, after L.-P.
//! Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", IEEE Transactions on Computers 59(10), 2010.
//! By configuration the same code serves a hybrid device, one chip split in two, and a device without a log.
//!
//! Beside it stands a second FTL, [`paged`]: one page map over both cells. Firmware links the one that it names, and
//! of the hybrid only the [`mechanisms`](hybrid::mechanisms) that its type has.
//!
//! # Example
//!
//! A small simulated chip is formatted, written to, and found again by a mount. Firmware lends static arrays
//! instead of `OwnedRam`; [`hybrid::ram`] shows how.
//!
//! ```
//! use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
//! use ftl_iface::{BlockStore, Bytes, NandDevice, Sector, SectorCount};
//! use nand_model::{Chip, Content, datasheet};
//!
//! let chip = Chip::new(&datasheet::builtin("tiny")?, Content::Bytes)?;
//! let config = Config {
//!     sector_bytes: Bytes::new(1024),
//!     capacity: Some(SectorCount::new(320)),
//!     ..Config::HYBRID
//! };
//! let plan = RamPlan::new(chip.geometry(), &config)?;
//! let mut memory = OwnedRam::for_plan(&plan);
//!
//! // The key tells this life of the device from earlier ones: draw it anew at each format.
//! let mut ftl = Ftl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;
//! ftl.write(Sector::new(7), &[0xA5; 2 * 1024])?;
//! let (chip, _) = ftl.into_parts();
//!
//! // All that was in RAM is gone; the chip tells everything.
//! let mut memory = OwnedRam::for_plan(&plan);
//! let mut ftl = Ftl::mount(chip, &config, memory.lend(), NoProbe)?;
//! let mut data = [0xFF; 3 * 1024];
//! ftl.read(Sector::new(7), &mut data)?;
//! assert_eq!(data[..2 * 1024], [0xA5; 2 * 1024]);
//! assert_eq!(data[2 * 1024..], [0; 1024]); // never written
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//!
//! Arrows fall: a room is used by those above it, and knows none of them. Two FTLs stand over shared rooms, and know
//! nothing of each other. A third one would bring a folder of its own, and get what stands below for nothing.
//!
//! **The FTLs.**
//! - [`hybrid`]: the circular log and the block chains. Its page says which rooms it has.
//! - [`paged`]: the page store. Its page does so, too.
//!
//! **What any FTL gets for nothing.**
//! - [`filter`]: is a write hot? Told by its size. [`throttle`]: may the fast region wear on? They do no I/O.
//! - [`layout`]: what is on flash: tags, stamps, slots, headers. `docs/FORMAT.md` is this room in prose.
//! - [`bound`]: what a worst case is counted in. [`health`]: what a host is told about reserve and wear.
//!   [`memory`]: lent memory, and what its plans share. `check` (with the feature of that name): what an invariant that
//!   does not hold is told as.
//! - [`weak`]: weak pages, which are to be refreshed.
//! - [`config`]: what the user chooses. [`table`]: lent memory that only one kind of row can index. [`image`]: how a
//!   room writes itself down for the next mount. [`error`]: what goes wrong below, and how the host is told.
//!   [`probe`]: who is told of what is done; it stands in `ftl-iface`. [`bugs`]: none, but in tests of tests.
//!
//! **What it must bring:** its requests as a [`BlockStore`](ftl_iface::BlockStore), `format` and `mount`, a plan of its
//! memory, its tables, and its invariants under `check`.
//!
//! # Features
//!
//! None is on by default.
//! - `alloc`: `OwnedRam`, memory on the heap for hosts. Nothing else allocates.
//! - `check`: `Ftl::check`, which reads the whole device and says which invariant does not hold. It needs `alloc`.
//! - `seeded-bugs`: bugs on purpose, for tests of tests. Never for devices.
//!
//! # What it promises, and what not yet
//!
//! - A sector reads as it was written last, also after a mount; never written or trimmed, as zeros. Writes are on
//!   flash when they return.
//! - Bad input is an error and changes nothing: requests beyond the end, buffers of odd lengths, other memory than
//!   planned, foreign or damaged headers.
//! - Memory is a plan, known at compile time, of which every byte is named ([`RamPlan`]).
//! - After a clean stop a mount reads a few pages, changes nothing, and goes on as if it had never been away
//!   ([`Ftl::stop`]).
//! - What a request can cost beyond its own pages has a stated worst case ([`WorstCase`]).
//! - Wear is even: in the log by rotation, in the chains by two pools, between them by the throttle.
//! - Power may fail in any operation, those of mounts included: what was acknowledged stands, and a request in flight
//!   left each of its sectors old or new, once and for all. Pages that share their cells with the one in flight are
//!   copied beforehand ([`config::PairedPages`]).
//! - A block that fails in use costs nothing but itself. When the reserve is gone the device is read-only, and
//!   everything can be read; [`Ftl::health`] tells of it long before.
//! - Pages whose error counts rise are refreshed, found by requests and by a scrub ([`Ftl::scrub`]). A page that is
//!   gone costs its own sectors, which say so until they are written again.
//!
//! Not yet: a mount without a clean stop ([`Ftl::stop`]) **scans**, and blocks that are free then **take the mean
//! wear** of the others. The **last page of a log block** that goes bad at once is told by no other page.
//! `docs/DESIGN.md` says what this costs, and what else is missing.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

// The rooms stand in the order in which they use each other; empty lines keep the formatter from sorting them.

// The FTLs.
pub mod hybrid;

pub mod paged;

// What any FTL gets for nothing: what decides,
pub mod filter;

pub mod throttle;

// what is on flash,
pub mod layout;

// how it is planned, checked and told,
pub mod bound;

pub mod health;

#[cfg(feature = "check")]
pub mod check;

pub mod memory;

pub mod weak;

// and what all rooms may use.
pub mod config;

pub mod table;

pub mod image;

pub mod error;

pub use ftl_iface::probe;

pub mod bugs;

pub use bound::Operations;
pub use config::{Config, Endurance, FilterChoice, IndexConfig, LogRegion, Probing, WearLeveling};
pub use config::{PairedPages, WriteBackConfig};
pub use health::{Health, Wear};
pub use hybrid::bound::WorstCase;
pub use hybrid::mechanisms::{ChainsAlone, LogAndChains, Mechanisms, Missing};
pub use hybrid::mount::{MountError, Stopped};
#[cfg(feature = "alloc")]
pub use hybrid::ram::OwnedRam;
pub use hybrid::ram::{Ram, RamPlan};
pub use hybrid::shape::{Shape, ShapeError};
pub use hybrid::state::Ftl;
/// The rooms of the hybrid FTL, by the names that they had when there was no other.
#[doc(no_inline)]
pub use hybrid::{address, flash, ftl, mlc, mount, ram, shape, slc, wear, writeback};
#[cfg(feature = "alloc")]
pub use memory::Owned;
pub use memory::{Lent, Plan, PlanRow, WrongLength};
pub use probe::{Cause, Counters, Event, Factors, NoProbe, Probe, Ratio, Verb};
