//! What is known before a device is opened: the configuration, the numbers that follow from it, and all memory.
//!
//! - [`ram`]: every byte of RAM, by its purpose.
//! - [`shape`]: numbers that follow from geometry and configuration. [`area`](self): those of one area.
//! - [`reserve`](self): blocks that no host write opens.
//! - [`feature`]: what a build may leave out.
//! - [`misfit`](self): why a configuration does not fit.
//! - [`anchor_page`](self): how much an anchor holds.
//! - [`config`]: the user's configuration.
//! - [`bins`](self): how many bins of cells the table of dirty entries has.
//! - [`numbers`]: packed numbers.
//! - [`address`]: addresses inside the page store.

pub mod ram;

pub mod shape;

mod area;

mod reserve;

pub(crate) mod feature;

pub(crate) mod misfit;

pub(crate) mod anchor_page;

pub mod config;

pub(crate) mod bins;

pub(crate) mod groups;

pub mod numbers;

pub mod address;
