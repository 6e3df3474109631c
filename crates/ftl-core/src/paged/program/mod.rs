//! Programming pages, of data, of the map, and of anchors.
//!
//! - [`flush`](self): map pages.
//! - [`anchors`](self): incremental checkpoints for mounts.
//! - [`covered`](self): what an anchor records, and the stamps that may follow it.
//! - [`walk`](self): the part of an anchor that goes over all tables.
//! - [`given_up`](self): a ring of too few good blocks.
//! - [`listed`](self): the free blocks that an anchor lists.
//! - [`ring`](self): finding the last anchor.
//! - [`page`](self): a page of an open block, and what follows if that fails.
//! - [`level`](self): which block wear leveling takes.
//! - [`opens`](self): open blocks.
//! - [`references`](self): what refers to each block, counted after a mount.

pub(crate) mod flush;

pub(crate) mod anchors;

mod covered;

mod walk;

mod given_up;

pub(crate) mod listed;

pub(crate) mod ring;

pub(crate) mod page;

pub(crate) mod level;

pub(crate) mod opens;

mod opening;

mod references;
