//! The page store: one page map over SLC and MLC. One entry holds the address of a sector's newest copy, in the small
//! fast area or in the large main one.
//!
//! ```text
//!                      write │                               │ read
//!                            ▼                               ▼
//!    requests/ftl        hot or cold, by size      table, else map page, else zeros
//!    upkeep/reclaim      space: what is newest               ▲
//!                        of a victim is copied               │
//!    requests/write          │                               │
//!    program/page        a page of an open block             │
//!    tables                  │ ────────▶ dirty table ────────┤
//!    program/flush           │               │ when it fills │
//!                            │               ▼               │
//!                            │           map page ─▶ directory, cache
//!    flash                   ▼   stamps, tags, causes
//!    crate::flash        NandDevice
//! ```
//!
//! `docs/PAGE_STORE.md` says why nothing is lost. In short: every page names its content and its stamp; the largest
//! stamp wins; a map page is complete up to its own stamp; a block is erased only when nothing refers to it any more;
//! and the page programmed last before a mount is programmed again before anything relies on it.
//!
//! # Rooms
//!
//! Each room uses only those after it in this list:
//! - [`kind`](self): the page store as a kind of FTL.
//! - [`requests`](self): the store as hosts see it: writes, trims, reads, health, and the worst case.
//! - [`recovery`](self): format, mount, recovery after a power cut, and a clean stop.
//! - [`upkeep`](self): garbage collection, refresh, headers.
//! - [`program`](self): programming any page: data, the map, anchors; wear leveling.
//! - [`tables`](self): the type [`PageFtl`], and its tables in RAM.
//! - [`rules`](self): the rules of safety, each as a function.
//! - [`flash`](self): the flash access layer.
//! - [`plan`](self): configuration, shape, memory, addresses.
//!
//! The first request after a mount, and any after a failure, begins with `recovery/settle`. Of the crate's other
//! modules it uses the shared ones.

pub(crate) mod kind;

mod requests;

mod recovery;

mod upkeep;

mod program;

mod tables;

mod rules;

mod flash;

mod plan;

#[cfg(test)]
mod small_store;

pub use crate::config::RunEnds;
pub use plan::config::{Bursts, History, PagedConfig, RefreshLimits, Streams, Victims};
pub use plan::feature::Feature;
pub use plan::misfit::PagedShapeError;
#[cfg(feature = "alloc")]
pub use plan::ram::OwnedPagedRam;
pub use plan::ram::{PagedPlan, PagedRam};
pub use recovery::mount::PagedMountError;
pub use recovery::stop::NextMount;
pub use requests::bound::PagedWorstCase;
pub use tables::store::PageFtl;
pub use upkeep::identity::{FormatSetting, OtherSetting};

#[cfg(feature = "internals")]
pub use {
    flash::PagedKind,
    plan::{address, config, numbers, ram, shape, shape::PagedShape},
    recovery::mount,
    requests::{bound, ftl},
    tables::{blocks, dirty, map},
};
