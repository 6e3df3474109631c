//! The path of a request from the host to the flash: the only module that knows both the log and the chains.
//!
//! The files are listed in the order in which they use each other: each knows those after it, and none before it.
//!
//! - `route` decides where a write goes. `housekeeping` frees space in small steps, and `refresh` rewrites
//!   pages whose error counts rise.
//! - `to_log` writes hot data to the log's head, and reclaims its tail. `write_again` writes the content of rescue
//!   copies.
//! - `trim` trims sectors, `to_chains` appends to chains, `folding` makes long chains short.
//! - `failed_page` handles a page that failed to program, `copies` makes copies in rescue blocks, and `pairs` backs up
//!   the pages that share cells with the one to be programmed.
//! - `blocks` takes blocks for the chains and gives them back, also those that fail.
//! - `read` finds the newest copy of a sector, and `prove` finds the stale entries of the log. A `piece` is a slot that
//!   a fold copies from.

pub(crate) mod route;

mod housekeeping;

mod refresh;

mod to_log;

mod write_again;

mod trim;

mod to_chains;

mod folding;

mod failed_page;

pub(crate) mod copies;

pub(crate) mod pairs;

mod blocks;

mod read;

pub(crate) mod prove;

mod piece;
