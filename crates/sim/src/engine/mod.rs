//! The simulation: requests in, results out.

pub mod comparison;
pub(crate) mod host;
pub mod image;
pub mod replay;
pub mod result;
pub mod systems;
