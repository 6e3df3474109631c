//! The simulation: requests in, results out.

pub(crate) mod host;
#[cfg(unix)]
pub mod image;
pub mod replay;
pub mod result;
pub mod systems;
