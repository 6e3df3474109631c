//! What every shelf stands on: exit codes, Ctrl-C, notes, and files that are complete or absent.

pub(crate) mod exit;
pub(crate) mod files;
pub(crate) mod interrupt;
pub(crate) mod notes;
pub(crate) mod terminal;
