//! Flash translation layers for SLC and MLC NAND: `no_std`, no allocation, no `unsafe`, no panic on any input.
//!
//! There are two. Firmware links only the one that it names.
//!
//! - [`PageFtl`](paged::PageFtl), the **page store**. Take this one. It has one page map, kept on flash, over a small
//!   fast area of SLC and a large main area, or over a chip with one kind of cell.
//! - [`Ftl`], the **hybrid**, after L.-P. Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", IEEE
//!   Transactions on Computers 59(10), 2010. Small hot writes go to a circular log, everything else to chains of
//!   blocks. Take it if RAM is the tightest limit, or if the worst case of every write must be a formula.
//!
//! # Example
//!
//! A small simulated chip is formatted, written to, and mounted again.
//!
//! ```
//! use ftl_core::NoProbe;
//! use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
//! use ftl_iface::{BlockStore, Bytes, NandDevice, Sector, SectorCount};
//! use nand_model::{Chip, Content, datasheet};
//!
//! let chip = Chip::new(&datasheet::builtin("tiny")?, Content::Bytes)?;
//! let config = PagedConfig {
//!     sector_bytes: Bytes::new(1024),
//!     capacity: Some(SectorCount::new(160)),
//!     dirty_entries: 64,
//!     anchor_blocks: 0,
//!     ..PagedConfig::SMALL
//! };
//! let plan = PagedPlan::new(chip.geometry(), &config)?;
//! let mut memory = OwnedPagedRam::for_plan(&plan);
//!
//! // The key separates this format from pages of earlier ones: use a new one at each format.
//! let mut ftl = PageFtl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;
//! ftl.write(Sector::new(7), &[0xA5; 2 * 1024])?;
//! let (chip, _) = ftl.into_parts();
//!
//! // Everything in RAM is gone; the chip has all that is needed.
//! let mut memory = OwnedPagedRam::for_plan(&plan);
//! let mut ftl = PageFtl::mount(chip, &config, memory.lend(), NoProbe)?;
//! let mut data = [0xFF; 3 * 1024];
//! ftl.read(Sector::new(7), &mut data)?;
//! assert_eq!(data[..2 * 1024], [0xA5; 2 * 1024]);
//! assert_eq!(data[2 * 1024..], [0; 1024]); // never written
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Firmware lends static arrays instead of `OwnedPagedRam`. The plan is a constant, so a configuration that does not
//! fit the chip fails the build:
//!
//! ```
//! use ftl_core::paged::{PagedConfig, PagedPlan, PagedRam};
//! use ftl_iface::{BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry};
//!
//! const SLC: RegionGeometry = RegionGeometry {
//!     cell: Cell::Slc,
//!     blocks: BlockCount::new(1024),
//!     pages_per_block: PageCount::new(64),
//!     page_bytes: Bytes::new(2048),
//!     spare_bytes: Bytes::new(64),
//!     pairing: Pairing::None,
//! };
//! const PLAN: PagedPlan = match Geometry::new(Some(SLC), None) {
//!     Ok(geometry) => match PagedPlan::new(&geometry, &PagedConfig::SMALL) {
//!         Ok(plan) => plan,
//!         Err(_) => panic!("the configuration does not fit the chip"),
//!     },
//!     Err(_) => panic!("the geometry is impossible"),
//! };
//! const _: () = assert!(PLAN.total_bytes() <= 32 * 1024, "more than the firmware has for it");
//!
//! // In firmware these are statics, each in a cell that gives it away once.
//! let (mut halves, mut words) = ([0_u16; PLAN.halves()], [0_u32; PLAN.words()]);
//! let mut bytes = [0_u8; PLAN.bytes()];
//! let ram = PagedRam::lend(&PLAN, &mut halves, &mut words, &mut bytes)?;
//! # drop(ram);
//! # Ok::<(), ftl_core::WrongLength>(())
//! ```
//!
//! The hybrid is used by the same calls, with [`Config`], [`RamPlan`] and `OwnedRam` (`examples/hybrid.rs`);
//! [`FtlKind`] and [`MountedFtl`] are traits for code that takes either.
//!
//! # Modules
//!
//! A module uses only those below it in this list. The two FTLs use the shared modules and know nothing of each other;
//! a third one would be a folder beside them.
//!
//! Firmware sees [`paged`], [`config`], [`probe`] and the names below; the others are private without the feature
//! `internals`.
//!
//! **The FTLs.** The page of each lists its modules.
//! - [`paged`]: the page store.
//! - `hybrid`: the circular log and the block chains.
//!
//! **Shared by all FTLs.**
//! - `filter`: decides by a write's size whether it is hot. `throttle`: decides whether the fast area may take more
//!   wear. They do no I/O.
//! - `flash`: every operation on the device, and what a read found.
//! - `layout`: tags, stamps, slots, headers. `docs/FORMAT.md` describes every byte.
//! - `kind`: the traits of an FTL. `bound`: units of worst cases. `health`: what a host can ask about reserve and
//!   wear. `memory`: lent memory, and what its plans share. `check` (with the feature of that name): how a broken
//!   invariant is reported.
//! - [`config`]: the user's configuration. `table`: lent memory that only one type of row can index. `image`: how
//!   a module saves its state for the next mount. `error`: faults inside, and the errors that the host sees.
//!   [`probe`]: observers of all operations, re-exported from `ftl-iface`. `bugs`: seeded bugs, which show that tests
//!   can fail.
//!
//! **A third FTL of this crate** would implement [`FtlKind`] and [`MountedFtl`]: a plan of its memory, `format` and
//! `mount`, requests as a [`BlockStore`](ftl_iface::BlockStore), a clean stop, health, worst cases, and its invariants
//! under `check`. One of your own, in a crate of yours, is a `BlockStore`: `docs/YOUR-FTL.md` has it tested, and
//! `docs/YOUR-SYSTEM.md` compares it.
//!
//! # Features
//!
//! On by default is all of the page store: `anchors`, `fast-area`, `history`, `bursts`, `throttle`, `lifetimes`,
//! `paired-pages`, `refresh`, `wear-leveling`. [`Feature`](paged::Feature) says what each is. Firmware that needs less
//! code names those that it needs. The others are off:
//! - `alloc`: `OwnedRam`, memory on the heap for hosts. Nothing else allocates.
//! - `check`: the method `check`, which reads the whole device and names the broken invariant. It needs `alloc`.
//! - `wide`: block numbers of 32 bits, for hosts.
//! - `internals`: opens `hybrid`, `filter`, `throttle`, `layout`, `table` and more of `paged`, for benches, fuzz
//!   targets and tests; not covered by semver. `check` and `seeded-bugs` imply it.
//! - `seeded-bugs`: never for devices.
//!
//! # What both promise
//!
//! - A sector reads as it was last written, also after a mount; a sector never written, or trimmed, reads as zeros.
//!   Data is on flash when a write returns.
//! - Power may fail in any operation, also during a mount: acknowledged data survives, and a request in flight
//!   leaves each of its sectors old or new, for good. This includes pages that share their cells with the one in
//!   flight, unless [`config::PairedPages`] says otherwise.
//! - Bad input is an error and changes nothing: requests beyond the end, buffers of the wrong length, memory that was
//!   planned for another device, foreign or damaged headers, a configuration that is not that of the format.
//! - All memory is planned at compile time, and every byte is listed by its purpose
//!   ([`PagedPlan`](paged::PagedPlan), [`RamPlan`]).
//! - The cost of a request beyond its own pages has a stated worst case ([`PagedWorstCase`](paged::PagedWorstCase),
//!   [`WorstCase`]; the page store's leaves out waiting for free blocks).
//! - Wear is even within each kind of memory, and the throttle keeps the fast one from wearing out first.
//! - A block that fails in use costs nothing but itself. When the reserve is used up the device is read-only, and
//!   everything can be read; [`Health`] shows how much is left.
//! - Pages whose error counts rise are refreshed; requests and scrubs find them. A page that becomes unreadable
//!   costs its own sectors, and reading these is an error until they are written again.
//!
//! What is missing in each, and the hybrid's known fault: the ends of `docs/PAGE_STORE.md` and `docs/HYBRID.md`.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
// Without `internals` what is `pub` for those who have it is out of reach, and no signature leads there.
#![cfg_attr(not(feature = "internals"), allow(unreachable_pub), deny(unnameable_types))]
// Clippy has further lints for private functions: they are off where only the missing feature makes one private.
#![cfg_attr(
    not(feature = "internals"),
    allow(clippy::trivially_copy_pass_by_ref, clippy::unused_self)
)]

#[cfg(feature = "alloc")]
extern crate alloc;

// The modules are in the order in which they use each other; empty lines keep the formatter from sorting them.

// The FTLs.
#[cfg(feature = "internals")]
pub mod hybrid;
#[cfg(not(feature = "internals"))]
mod hybrid;

pub mod paged;

// Shared by all FTLs: what decides,
#[cfg(feature = "internals")]
pub mod filter;
#[cfg(not(feature = "internals"))]
mod filter;

#[cfg(feature = "internals")]
pub mod throttle;
#[cfg(not(feature = "internals"))]
mod throttle;

// how the device is reached, and what is on it,
mod flash;

#[cfg(feature = "internals")]
pub mod layout;
#[cfg(not(feature = "internals"))]
mod layout;

// planning, checks and errors,
mod kind;

mod bound;

mod health;

#[cfg(feature = "check")]
pub mod check;

mod memory;

// and what all rooms may use.
pub mod config;

#[cfg(feature = "internals")]
pub mod table;
#[cfg(not(feature = "internals"))]
mod table;

mod quotient;

mod image;

mod error;

#[cfg(test)]
mod cells;

pub use ftl_iface::probe;

#[cfg(feature = "internals")]
pub mod bugs;
#[cfg(not(feature = "internals"))]
mod bugs;

pub use bound::Operations;
pub use config::{Config, Endurance, FilterChoice, IndexConfig, LogRegion, Probing, WearLeveling};
pub use config::{PairedPages, WriteBackConfig};
pub use health::{Health, Wear};
pub use hybrid::bound::WorstCase;
pub use hybrid::kind::Hybrid;
pub use hybrid::mount::{FormatSetting, MountError, OtherSetting, Stopped};
#[cfg(feature = "alloc")]
pub use hybrid::ram::OwnedRam;
pub use hybrid::ram::{Ram, RamPlan};
#[cfg(feature = "internals")]
pub use hybrid::shape::Shape;
pub use hybrid::shape::ShapeError;
pub use hybrid::shape::index::IndexShapeError;
pub use hybrid::state::Ftl;
pub use kind::{Bound, FtlKind, MountedFtl, Refusal, Refused};
pub use layout::OtherFormat;
#[cfg(feature = "alloc")]
pub use memory::Owned;
pub use memory::{Lent, Plan, PlanRow, WrongLength};
pub use paged::kind::PageStore;
pub use probe::{Cause, Counters, Event, Factors, NoProbe, Probe, Ratio, Rejection, Verb};

/// Whether block numbers have 32 bits, as with the feature `wide`: plans are then larger.
pub const WIDE: bool = cfg!(feature = "wide");
