//! A client of our own, the truth that it keeps, and clients that send anything.

pub(crate) mod checked;
pub(crate) mod client;
pub(crate) mod truth;
