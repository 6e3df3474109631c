//! The rules by which no acknowledged write is lost, each a small function, so that the path which keeps it reads as
//! the rule. Each has in it the seeded bug that breaks it ([`bugs`](crate::bugs)). `docs/RULES.md` lists them.
//!
//! They decide on the few values that they are given, and know no table and no store.
//! - [`scan`](self): what a mount finds on flash.
//! - [`rest`](self): more dirty entries than a mount's table takes.
//! - [`repetition`](self): the page programmed last before a mount, or after a failure.
//! - [`anchors`](self): the mount by anchors, and the writing of these.
//! - [`map`](self): map pages, and the horizon.
//! - [`reliance`](self): which pages no torn program may corrupt.
//! - [`blocks`](self): when a block may be emptied, erased or reused.
//! - [`headers`](self): headers, and a format.

mod scan;

mod rest;

mod repetition;

mod anchors;

mod map;

mod reliance;

mod blocks;

mod headers;

pub(super) use anchors::*;
pub(super) use blocks::*;
pub(super) use headers::*;
pub(super) use map::*;
pub(super) use reliance::*;
pub(super) use repetition::*;
pub(super) use rest::*;
pub(super) use scan::*;
