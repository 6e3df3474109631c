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
//! - [`bound`]: the most that a request costs, as a formula. [`health`](self): how the device is.
//! - [`ftl`]: the store as hosts see it, and how it reads.
//! - [`mount`]: a device made ours, and found again: by the last anchor ([`quick`](self), [`ring`](self)) or by every
//!   block ([`scan`](self)). [`settle`](self) sets right what a cut may have touched. [`references`](self): who refers
//!   to which block. [`stop`](self): a clean stop.
//! - [`write`](self), [`trim`](self), [`idle`](self): what is asked of it. [`refresh`](self), [`header`](self): what
//!   begins to go is written anew.
//! - [`reclaim`](self): blocks are won. [`salvage`](self), [`copies`](self), [`lifetime`](self): how.
//! - [`flush`](self): map pages. [`program`](self): any page. [`anchors`](self): what a mount must know.
//!   [`level`](self): which block wears.
//! - [`store`](self): what all of these are methods of. [`under_way`](self): what it has begun.
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

mod health;

pub mod ftl;

pub mod mount;

mod quick;

mod ring;

mod scan;

mod settle;

mod references;

mod stop;

mod write;

mod trim;

mod idle;

mod refresh;

mod header;

mod reclaim;

mod salvage;

mod copies;

mod lifetime;

mod flush;

mod program;

mod anchors;

mod level;

mod store;

mod under_way;

mod candidates;

mod records;

mod since;

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
pub use mount::PagedMountError;
#[cfg(feature = "alloc")]
pub use ram::OwnedPagedRam;
pub use ram::{PagedPlan, PagedRam};
pub use shape::{PagedShape, PagedShapeError};
pub use store::PageFtl;
