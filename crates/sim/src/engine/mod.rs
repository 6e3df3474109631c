//! The simulation: requests in, results out.

pub(crate) mod host;
pub mod image;
pub mod outage;
pub mod replay;
pub mod result;
pub mod systems;
