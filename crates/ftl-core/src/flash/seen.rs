//! What was read: the tag of a page, which borrows the flash layer, so that it cannot be mistaken for another's.

use ftl_iface::Sector;

use super::Spot;
use crate::layout::{self, Slot, Stamp, Tag};

/// The tag of a page that was read. It is kept until the layer is used again; what must outlive that is copied.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct PageTag<'a> {
    /// Everything but the slots.
    pub tag: Tag,
    bytes: &'a [u8],
}

/// The content of a page, by its tag.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Seen<'a> {
    /// A page of this format.
    Page(PageTag<'a>),
    /// It reads as erased.
    Erased,
    /// It is unreadable, or its tag is not of this format.
    Unreadable,
}

impl<'a> PageTag<'a> {
    #[inline(always)]
    pub(super) const fn new(tag: Tag, bytes: &'a [u8]) -> Self {
        Self { tag, bytes }
    }

    /// What a slot holds.
    #[inline(always)]
    pub fn slot(&self, slot: u16) -> Slot {
        layout::slot(self.bytes, usize::from(slot))
    }

    /// What each slot holds.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<'a> {
        layout::slots(self.bytes)
    }

    /// A sector whose home is in the page, whatever the page holds; it shows the logical block.
    pub fn any_place(&self) -> Option<Sector> {
        self.slots().find_map(Slot::place_of)
    }
}

impl Seen<'_> {
    /// Whether it reads as erased.
    #[inline]
    #[must_use]
    pub const fn is_erased(&self) -> bool {
        matches!(self, Self::Erased)
    }

    /// Whether it can be read as a page of this format.
    #[inline]
    #[must_use]
    pub const fn is_page(&self) -> bool {
        matches!(self, Self::Page(_))
    }

    /// The tag, if it is a page of this format.
    #[inline]
    #[must_use]
    pub const fn tag(&self) -> Option<Tag> {
        match self {
            Self::Page(page) => Some(page.tag),
            Self::Erased | Self::Unreadable => None,
        }
    }

    /// Whether such a page may be there. The remains of an interrupted erase may read as anything, and one in millions
    /// of such pages passes the check of a tag; a kind that does not belong there or a stamp that no device of this
    /// size reaches exposes nearly all of those.
    pub(super) fn is_plausible(&self, spot: Spot, last_stamp: Stamp) -> bool {
        let Self::Page(page) = self else { return true };
        spot.purpose().takes(page.tag.kind) && page.tag.stamp <= last_stamp
    }
}
