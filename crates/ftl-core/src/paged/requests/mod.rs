//! The page store as its host sees it.
//!
//! - [`bound`]: the most that a request costs, as a formula.
//! - [`check`](self): the invariants, for tests.
//! - [`health`](self): wear, reserve and weak pages.
//! - [`write`](self): writes.
//! - [`trim`](self): trims.
//! - [`ftl`]: the calls of a `BlockStore`, the choice of the area, and reads.

pub mod bound;

#[cfg(feature = "check")]
mod check;

pub(crate) mod health;

pub(crate) mod write;

pub(crate) mod trim;

pub mod ftl;
