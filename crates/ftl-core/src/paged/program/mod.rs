//! Programming pages, of data, of the map, and of anchors.
//!
//! - [`flush`](self): map pages.
//! - [`anchors`](self): incremental checkpoints for mounts.
//! - [`listed`](self): the free blocks that an anchor lists.
//! - [`ring`](self): finding the last anchor.
//! - [`page`](self): a page of an open block, and what follows if that fails.
//! - [`level`](self): which block wear leveling takes.
//! - [`opens`](self): open blocks.

pub(crate) mod flush;

pub(crate) mod anchors;

pub(crate) mod listed;

pub(crate) mod ring;

pub(crate) mod page;

pub(crate) mod level;

pub(crate) mod opens;

mod opening;
