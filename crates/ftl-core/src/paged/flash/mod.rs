//! The page store's flash access layer, on the door (`flash::Door`) that both FTLs have.
//!
//! - [`PagedFlash`]: which page of the device a spot is, and the tag to be programmed next.
//! - [`PagedKind`]: what a page is.
//! - [`KeptSlots`]: the slots of a page, kept while others are read.
//! - [`Weak`]: weak blocks and headers.

mod kept;
mod kind;
mod layer;
mod repeated;
mod weak;

pub(crate) use kept::KeptSlots;
pub use kind::PagedKind;
pub(crate) use kind::{PageTag, Seen};
pub(crate) use layer::{PagedFlash, TagMemory};
pub(crate) use repeated::{Extent, first_attempt, note_repeated};
pub(crate) use weak::Weak;
