//! How both FTLs reach the device: the bottom of their flash access layers.
//!
//! - [`Door`]: every operation on the device. It reports each with its cause to the probe, gives each page its stamp
//!   and its tag, and ends the mount if the driver fails.
//! - `rules`: a rule of safety.
//! - [`Seen`]: what a read found.
//! - [`Noted`]: pages that needed many corrections.
//!
//! What an FTL puts where, and which pages it distrusts, is above: `hybrid::flash`, `paged::flash`.

mod door;
mod holder;
mod noted;
mod outcome;
mod rules;
mod seen;

pub(crate) use door::Door;
pub(crate) use holder::Holder;
pub(crate) use noted::Noted;
pub(crate) use outcome::{Erasure, Marked, Programmed};
pub(crate) use seen::{Seen, TaggedPage};
