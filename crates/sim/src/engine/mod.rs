//! The simulation: requests in, results out.

pub mod comparison;
pub(crate) mod host;
pub mod image;
pub mod outage;
pub mod replay;
pub mod result;
#[cfg(feature = "files")]
pub mod sweep;
pub mod systems;
