//! What every shelf stands on: why a run ends, Ctrl-C, notes, files, and figures in readable form.

mod failure;
pub(crate) mod files;
pub(crate) mod interrupt;
pub(crate) mod notes;
pub(crate) mod show;

pub use failure::Failure;
