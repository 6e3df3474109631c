//! Being written.
pub mod index;
