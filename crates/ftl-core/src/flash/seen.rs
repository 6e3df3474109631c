//! What was read: the tag of a page, which borrows the flash access layer, so that it cannot be mistaken for another's.

use ftl_iface::Sector;

use crate::layout::{self, Slot, Tag, TagKind};

/// The content of a page, by its tag.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'tag, K> {
    /// A page of this format.
    Page(TaggedPage<'tag, K>),
    /// It reads as erased.
    Erased,
    /// It is unreadable, or its tag is not of this format. The buffers of the read hold anything.
    Unreadable,
}

/// A page of this format, as its tag describes it. What must outlive the next read is copied.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedPage<'tag, K> {
    /// What it is.
    pub kind: K,
    bytes: &'tag [u8],
}

impl<'tag, K: TagKind> TaggedPage<'tag, K> {
    /// The page of that kind whose tag is in these bytes.
    #[inline(always)]
    pub const fn new(kind: K, bytes: &'tag [u8]) -> Self {
        Self { kind, bytes }
    }

    /// Everything but the slots.
    #[inline]
    pub fn tag(&self) -> Tag<K> {
        layout::tag_of(self.kind, self.bytes)
    }

    /// What a slot holds.
    #[inline(always)]
    pub fn slot(&self, slot: u16) -> Slot {
        layout::slot(self.bytes, usize::from(slot))
    }

    /// What each slot holds.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<'tag, K> {
        layout::slots(self.bytes)
    }

    /// The bytes of the tag, to be kept while other pages are read.
    #[inline(always)]
    pub const fn bytes(&self) -> &'tag [u8] {
        self.bytes
    }

    /// A sector whose home is in the page, whatever the page holds; it shows the logical block.
    pub fn any_place(&self) -> Option<Sector> {
        self.slots().find_map(Slot::place_of)
    }
}

impl<K: TagKind> Seen<'_, K> {
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
    pub fn tag(&self) -> Option<Tag<K>> {
        match self {
            Self::Page(page) => Some(page.tag()),
            Self::Erased | Self::Unreadable => None,
        }
    }
}
