//! The page store: one map over both cells. Where a sector's newest copy is, in the small fast area or the large one,
//! one entry tells.
//!
//! ```text
//!            write │                                   │ read
//!                  ▼                                   ▼
//!    ftl       hot or cold, by size          table, else map page, else zeros
//!                  │                                   ▲
//!    write     a page of an open block                 │
//!                  │ ──────────────▶ dirty table ──────┤
//!    flush         │                     │ when it fills
//!                  │                     ▼             │
//!                  │                 map page ─▶ directory, cache
//!    reclaim   victims: what is newest is copied, as any write
//!                  │
//!    door          ▼   stamps, tags, causes
//!              NandDevice
//! ```
//!
//! `docs/PAGE_STORE.md` says why nothing is lost. In short: every page says what it is and when it was programmed; the
//! largest stamp is right; a map page is complete up to its own stamp; a block is erased when nothing refers to it any
//! more; and the page programmed last before a mount is done again before anything relies on it.
//!
//! # Rooms
//!
//! Arrows fall, in this order:
//! - [`bound`]: the most that a request costs, as a formula.
//! - [`ftl`]: the store as hosts see it. [`write`](self), [`flush`](self), [`reclaim`](self), [`refresh`](self),
//!   [`salvage`](self), [`level`](self), [`lifetime`](self), [`settle`](self), [`mount`], [`scan`](self),
//!   [`quick`](self), [`ring`](self), [`anchors`](self), [`health`](self): its parts, a file each. They are methods of
//!   one type and know its fields.
//! - [`candidates`](self): blocks that are worth emptying.
//! - [`records`](self), [`since`](self): what anchors say, and the list of what came since the last one.
//! - [`map`], [`dirty`], [`blocks`]: what RAM knows. They do not know each other.
//! - [`door`]: the one way to the device. [`weak`](self): what it finds to begin to go.
//! - [`ram`]: the plan of all memory. [`shape`]: numbers that follow from geometry and configuration. [`config`]: what
//!   the user chooses. [`address`]: places. [`numbers`]: how they are packed.
//!
//! Of the crate's other rooms it uses `layout` (tags), `filter`, `table`, `weak`, `error`, `probe` and the types of
//! `config` and `health`.

pub mod bound;

pub mod ftl;

mod write;

mod flush;

mod reclaim;

mod refresh;

mod lifetime;

mod candidates;

mod level;

mod salvage;

mod settle;

pub mod mount;

mod scan;

mod quick;

mod ring;

mod anchors;

mod records;

mod since;

mod header;

mod health;

pub mod map;

pub mod dirty;

pub mod blocks;

pub mod door;

mod weak;

pub mod ram;

pub mod shape;

pub mod config;

pub mod address;

pub mod numbers;

#[cfg(feature = "check")]
mod check;

pub use crate::config::RunEnds;
pub use bound::PagedWorstCase;
pub use config::{Bursts, History, PagedConfig, RefreshLimits, Streams, Victims};
pub use ftl::PageFtl;
pub use mount::PagedMountError;
#[cfg(feature = "alloc")]
pub use ram::OwnedPagedRam;
pub use ram::{PagedPlan, PagedRam};
pub use shape::{PagedShape, PagedShapeError};
