//! What the note of a repetition says: a page that was the last one before a mount is programmed again.

use super::kind::PagedKind;
use crate::layout::{NOTE_BITS, Stamp, Tag};

/// Set in the note of a repetition that holds a part of the page: it did not fit in one page of the fast area.
const PART: u32 = 1 << (NOTE_BITS - 1);

/// How much of a page its repetition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// Some of its sectors. Parts count only with a proof behind them: until then the page itself does.
    Part,
}

/// Returns the note of a repetition, so many stamps after the first attempt: zero if they are too many.
pub(crate) const fn note_repeated(extent: Extent, distance: u32) -> u32 {
    let distance = if distance < PART { distance } else { 0 };
    match extent {
        Extent::Whole => distance,
        Extent::Part => PART | distance,
    }
}

/// Returns the stamp of the first attempt, and what of the page this attempt holds.
pub(crate) const fn first_attempt(tag: Tag<PagedKind>) -> (Stamp, Extent) {
    if !tag.kind.is_repeated() {
        return (tag.stamp, Extent::Whole);
    }
    let extent = if tag.note & PART == 0 { Extent::Whole } else { Extent::Part };
    (tag.stamp.before(tag.note & !PART), extent)
}
