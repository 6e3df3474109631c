//! What every layer uses: why a run ends, who watches it, the computer's clock, files, files that are complete or
//! absent, and figures in readable form.

pub(crate) mod clock;
mod failure;
pub mod files;
mod observer;
pub mod show;
#[cfg(feature = "files")]
pub mod whole;

pub use failure::Failure;
pub use observer::{Observer, Stop};
