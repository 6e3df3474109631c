//! The slots of a page, kept while other pages are read.

use super::kind::PageTag;
use crate::layout::{self, Slot};
use crate::paged::plan::numbers;

/// Slots, in lent memory.
#[derive(Debug)]
pub struct KeptSlots<'ram> {
    bytes: &'ram mut [u8],
    len: usize,
}

impl<'ram> KeptSlots<'ram> {
    /// Keeps slots in this memory: none yet.
    pub const fn new(bytes: &'ram mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }

    /// Keeps the slots of a page, and no others.
    #[inline]
    pub fn keep(&mut self, page: &PageTag<'_>) {
        self.keep_tag(page.bytes());
    }

    /// Keeps the slots of a tag, and no others.
    #[inline]
    pub(super) fn keep_tag(&mut self, tag: &[u8]) {
        self.len = tag.len();
        if let Some(bytes) = self.bytes.get_mut(..self.len) {
            numbers::copy(bytes, tag);
        }
    }

    /// Returns the content of a slot of the page kept last.
    #[inline]
    pub fn slot(&self, slot: u16) -> Slot {
        layout::slot(self.bytes.get(..self.len).unwrap_or(&[]), usize::from(slot))
    }
}
