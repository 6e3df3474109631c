//! What is in RAM: the store itself, and its tables. The tables do not know each other.
//!
//! - [`store`](self): the type that all requests are methods of.
//! - [`part`](self): the sectors whose dirty entries are in the table.
//! - [`since`](self): the list of pages programmed since the last anchor.
//! - [`records`](self): the next anchor.
//! - [`map`]: the directory, and a cache of map pages.
//! - [`candidates`](self): candidates for victims.
//! - [`effort`](self): what emptying them costs.
//! - [`blocks`]: the blocks of both areas; [`times`](self): when their data was written;
//!   [`rates`](self): how fast it is replaced; [`named`](self): some free ones.
//! - [`dirty`]: sectors whose newest address is not in a map page yet; [`bins`](self) of
//!   [`cells`](self): what keeps them in order.
//! - [`under_way`](self): unfinished work.

pub(crate) mod store;

pub(crate) mod part;

pub(crate) mod since;

pub(crate) mod records;

pub mod map;

pub(crate) mod candidates;

pub(crate) mod effort;

pub mod blocks;

pub(crate) mod times;

pub(crate) mod named;

pub(crate) mod rates;

pub(crate) mod bins;

pub mod dirty;

mod cells;

pub(crate) mod under_way;
