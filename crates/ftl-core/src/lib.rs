//! A hybrid SLC/MLC flash translation layer: `no_std`, no allocation, no `unsafe`, no panic on any input.
//!
//! Small hot writes go to a small fast log, everything else to block chains in a large cheap region, after L.-P.
//! Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", IEEE Transactions on Computers 59(10), 2010.
//! By configuration the same code serves a hybrid device, one chip split in two, and a device without a log.
//!
//! ```text
//!                       BlockStore: whole requests, in sectors
//!            write │                                          │ read
//!                  ▼                                          │
//!    filter    hot or cold, by size ─── cold ────┐            │  the log's copy of a sector,
//!                  │ hot                         │            ├─ else its chain's,
//!    throttle  may it enter the log? ── no ──────┤            │  else zeros
//!                  │ yes                         ▼            │
//!            ┌─────▼─────┐   writeback      ┌─────────┐       │
//!            │    slc    ├─ what cooled ───▶│   mlc   │       │
//!            │ circular  │   at the tail    │  block  │       │
//!            │ log, hash ├─ what a fold ───▶│ chains  │       │
//!            └─────┬─────┘   collects       └────┬────┘       │
//!                  │                       wear  │            │
//!    flash         ▼   stamps, tags, causes      ▼            ▼
//!                       NandDevice: pages and blocks of one region or two
//! ```
//!
//! # Example
//!
//! A small simulated chip is formatted, written to, and found again by a mount. Firmware lends static arrays
//! instead of `OwnedRam`; [`ram`] shows how.
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
//! Arrows fall: a room is used by those above it and knows none of them. One exception is meant: [`config`] gathers
//! choices that the rooms themselves declare.
//!
//! **The path.** [`ftl`], read top to bottom: the only room that knows both the log and the chains. Hosts use it as
//! a [`BlockStore`](ftl_iface::BlockStore).
//!
//! **What decides**, used by `ftl` alone. They do no I/O and know neither each other nor any table but their own.
//! - [`filter`]: is a write hot? Told by its size.
//! - [`throttle`]: may the log wear on? And how far may its tail lie behind?
//! - [`writeback`]: does a sector of the tail leave the log?
//! - [`wear`]: which worn block should take which cold block's data?
//!
//! **What stores**, used by `ftl` and by mounts. They do not know each other: whatever takes both is done above.
//! - [`slc`]: the circular log and its hash table. It names what must leave the tail and moves nothing.
//! - [`mlc`]: block chains, the maps of a few of them, and the state of the fold under way.
//!
//! **What touches flash.**
//! - [`flash`]: the one door to the device, used by whoever stores or mounts.
//! - [`layout`]: every byte on flash, used by the door and by whoever reads tags. `docs/FORMAT.md` is this room in
//!   prose.
//!
//! **What comes before the path.** These see the rooms above, and none of those sees them.
//! - [`mount`]: makes a device ours, and finds it again.
//! - [`ram`]: the plan of all memory, and its lending. [`bound`]: the worst case of each request, as a formula.
//!
//! **What all rooms may use.**
//! - [`shape`]: numbers that follow from geometry and configuration. [`config`]: what the user chooses.
//! - [`bugs`]: none, but in tests of tests.
//! - [`table`]: lent memory that only one kind of row can index. [`image`]: how a room writes itself down for the next
//!   mount. [`address`]: those rows. [`error`]: what goes
//!   wrong below, and how the host is told. [`probe`]: who is told of what is done; it stands in `ftl-iface`.
//!
//! **The other FTL.** [`paged`]: one page map over both cells, in rooms of its own over `layout`, `filter` and `table`.
//! It knows nothing of log and chains, and they nothing of it.
//!
//! **Beside all of it**, `check` (with the feature of that name) holds every invariant as a function, for tests.
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
//! - Pages whose bits begin to go are written anew, found by requests and by a scrub ([`Ftl::scrub`]). A page that is
//!   gone costs its own sectors, which say so until they are written again.
//!
//! Not yet: a mount without a clean stop ([`Ftl::stop`]) **scans**, and blocks that are free then **take the mean
//! wear** of the others. The **last page of a log block** that goes bad at once is told by no other page.
//! `docs/DESIGN.md` says what this costs, and what else is missing.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

// The rooms stand in the order of the path, not of the alphabet; empty lines keep the formatter from sorting them.

// The path.
pub mod ftl;

// What decides.
pub mod filter;

pub mod throttle;

// What stores.
pub mod slc;

pub mod mlc;

// What decides again: when data leave the log, and which blocks wear.
pub mod writeback;

pub mod wear;

// What touches flash.
pub mod flash;

pub mod layout;

// What comes before the path.
pub mod mount;

pub mod ram;

pub mod bound;

pub mod health;

// The other FTL, over the same rooms.
pub mod paged;

// What all rooms may use.
pub mod shape;

pub mod config;

pub mod table;

pub mod image;

pub mod address;

pub mod error;

pub use ftl_iface::probe;

pub mod bugs;

// Beside all of it.
#[cfg(feature = "check")]
pub mod check;

pub use bound::{Operations, WorstCase};
pub use config::{Config, Endurance, FilterChoice, IndexConfig, LogRegion, WearLeveling};
pub use ftl::Ftl;
pub use health::{Health, Wear};
pub use mount::{MountError, Stopped};
pub use probe::{Cause, Counters, Event, Factors, NoProbe, Probe, Ratio, Verb};
#[cfg(feature = "alloc")]
pub use ram::OwnedRam;
pub use ram::{PlanRow, Ram, RamPlan, WrongLength};
pub use shape::{Shape, ShapeError};
pub use slc::index::Probing;
pub use writeback::WriteBackConfig;
