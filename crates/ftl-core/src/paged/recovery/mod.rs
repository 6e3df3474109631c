//! From power on to a store that works, and a clean stop.
//!
//! - [`mount`]: format and mount.
//! - [`quick`](self): the mount by the last anchor.
//! - [`free`](self): the blocks that such a mount knows to be free.
//! - [`replay`](self): the mount by reading every block: the entries newer than the map.
//! - [`scan`](self): the mount by reading every block: the map, and what was programmed last.
//! - [`replaced`](self): the mount by reading every block: what the map page to be repeated has replaced.
//! - [`settle`](self): recovery after a power cut.
//! - [`rest`](self): more dirty entries than the table takes.
//! - [`stop`](self): a clean stop.

pub mod mount;

pub(crate) mod replaced;

pub(crate) mod quick;

pub(crate) mod free;

pub(crate) mod replay;

pub(crate) mod scan;

pub(crate) mod rest;

pub(crate) mod settle;

pub(crate) mod stop;
