//! The page store: one page map over SLC and MLC. One entry holds the address of a sector's newest copy, in the small
//! fast area or in the large main one.
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
//! `docs/PAGE_STORE.md` says why nothing is lost. In short: every page names its content and its stamp; the largest
//! stamp wins; a map page is complete up to its own stamp; a block is erased only when nothing refers to it any more;
//! and the page programmed last before a mount is programmed again before anything relies on it.
//!
//! # Modules
//!
//! Each module uses only those after it in this list:
//! - [`bound`]: the most that a request costs, as a formula. [`health`](self): the health of the device.
//! - [`ftl`]: the store as hosts see it, and reads.
//! - [`mount`]: format and mount: by the last anchor ([`quick`](self)) or by reading every block ([`scan`](self),
//!   [`replay`](self)). [`settle`](self): recovery after a power cut. [`references`](self): the count of references.
//!   [`stop`](self): a clean stop.
//! - [`write`](self), [`trim`](self), [`idle`](self): the requests. [`refresh`](self), [`header`](self),
//!   [`identity`](self): refresh of weak pages and of headers, and what a header holds.
//! - [`reclaim`](self): garbage collection. [`salvage`](self), [`copies`](self), [`lifetime`](self): its parts.
//! - [`flush`](self): map pages. [`program`](self), [`opens`](self): any page. [`anchors`](self), [`ring`](self):
//!   incremental checkpoints for mounts. [`level`](self): wear leveling.
//! - [`store`](self): the type that all of these are methods of. [`under_way`](self): its unfinished work.
//! - [`candidates`](self): candidates for victims.
//! - [`records`](self), [`since`](self): the content of anchors, and the list of pages programmed since the last one.
//! - [`map`], [`dirty`], [`blocks`]: the tables in RAM. They do not know each other.
//! - [`door`]: the flash access layer. [`weak`](self): weak blocks that it finds.
//! - [`ram`]: the plan of all memory. [`shape`]: numbers that follow from geometry and configuration.
//!   [`anchor_page`](self): how much an anchor holds. [`config`]: the user's configuration. [`address`]: addresses.
//!   [`numbers`]: packed numbers.
//!
//! Of the crate's other modules it uses `layout` (tags), `filter`, `table`, `weak`, `error`, `probe` and the types of
//! `config` and `health`.

pub mod bound;

mod health;

pub mod ftl;

pub mod mount;

mod quick;

mod replay;

mod scan;

mod settle;

mod references;

mod stop;

mod write;

mod trim;

mod idle;

mod refresh;

mod header;

mod identity;

mod reclaim;

mod salvage;

mod copies;

mod lifetime;

mod flush;

mod program;

mod anchors;

mod ring;

mod level;

mod opens;

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

mod misfit;

mod anchor_page;

pub mod config;

pub mod address;

pub mod numbers;

#[cfg(feature = "check")]
mod check;

pub use crate::config::RunEnds;
pub use bound::PagedWorstCase;
pub use config::{Bursts, History, PagedConfig, RefreshLimits, Streams, Victims};
pub use identity::{FormatSetting, OtherSetting};
pub use misfit::PagedShapeError;
pub use mount::PagedMountError;
#[cfg(feature = "alloc")]
pub use ram::OwnedPagedRam;
pub use ram::{PagedPlan, PagedRam};
pub use shape::PagedShape;
pub use stop::NextMount;
pub use store::PageFtl;
