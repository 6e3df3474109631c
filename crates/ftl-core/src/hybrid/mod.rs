//! The hybrid FTL: small hot writes go to a circular log, everything else to block chains.
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
//! # Modules
//!
//! They are listed in the order in which they use each other: each knows those after it, and none before it.
//!
//! - `kind`: the hybrid FTL as a kind of FTL.
//! - [`ftl`]: the requests of the host, as a [`BlockStore`](ftl_iface::BlockStore).
//! - [`mount`]: format, mount, and recovery after a power cut.
//! - `path`: the path of a request. It alone knows both the log and the chains.
//! - `identity`: what a device was formatted as. `state`: the FTL itself: its modules, and what it remembers between
//!   requests.
//! - [`ram`]: the plan of all memory, as the sum over the modules, and its lending. [`bound`]: the worst case of each
//!   request, as a formula. `image`: the length of a checkpoint, also a sum.
//! - [`writeback`]: does a sector of the tail leave the log? [`wear`]: which worn block takes which cold block's data?
//! - [`slc`]: the circular log and its hash table. [`mlc`]: block chains, the maps of a few of them, and the running
//!   fold. They do not know each other.
//! - [`flash`]: the flash access layer.
//! - `rules`: the rules of safety, each as a function.
//! - [`shape`]: numbers that follow from geometry and configuration. [`address`]: the row types of its tables.

pub(crate) mod kind;

pub mod ftl;

pub mod mount;

mod path;

mod identity;

pub(crate) mod state;

mod health;

pub(crate) mod logged;

pub(crate) mod rescued;

pub(crate) mod scrub;

pub mod ram;

pub mod bound;

mod image;

pub mod writeback;

pub mod wear;

pub mod slc;

pub mod mlc;

pub mod flash;

mod rules;

pub mod shape;

pub mod address;

#[cfg(feature = "check")]
mod check;
