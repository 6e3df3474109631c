//! What keeps a device working: space, and pages that age.
//!
//! - [`idle`](self): work while the host is idle.
//! - [`reclaim`](self): garbage collection.
//! - [`pace`](self): how much of it each host page pays for.
//! - [`copies`](self): copying the valid data of a victim.
//! - [`lifetime`](self): streams by lifetime.
//! - [`salvage`](self): unreadable pages of victims.
//! - [`refresh`](self): refresh of weak pages and headers.
//! - [`header`](self): headers.
//! - [`identity`](self): what a header holds.

pub(crate) mod idle;

pub(crate) mod reclaim;

pub(crate) mod pace;

pub(crate) mod copies;

pub(crate) mod lifetime;

pub(crate) mod salvage;

pub(crate) mod refresh;

pub(crate) mod header;

pub(crate) mod identity;
