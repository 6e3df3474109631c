//! Collecting sectors from several pages into one page in the page buffer.

use ftl_iface::{NandDevice, Sector};
use heapless::Vec;

use super::{Flash, PageTag, Spot};
use crate::error::Fault;
use crate::hybrid::shape::SLOTS_MAX;
use crate::layout::{Slot, Slots};
use crate::probe::{Cause, Probe};

/// What the slots hold of a page that is being assembled in the buffer, so far.
#[derive(Debug, Default)]
pub struct Gathered(Vec<Slot, SLOTS_MAX>);

impl Gathered {
    /// No slots yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// What slots of a page hold, from one on, kept beyond the next read.
    pub fn of(page: &PageTag<'_>, from: u16, count: u16) -> Self {
        let mut kept = Self::new();
        for slot in page.slots().skip(usize::from(from)).take(usize::from(count)) {
            kept.push(slot);
        }
        kept
    }

    /// What a slot holds.
    pub fn get(&self, slot: u16) -> Slot {
        self.0.get(usize::from(slot)).copied().unwrap_or(Slot::Empty)
    }

    /// How many slots are filled.
    #[inline]
    pub fn count(&self) -> u16 {
        self.0.len() as u16
    }

    /// What each filled slot holds.
    #[inline]
    pub fn list(&self) -> &[Slot] {
        &self.0
    }

    /// The same, to be kept, with the number of each. Iterators of vectors cannot be shown not to panic.
    pub fn into_list(self) -> impl Iterator<Item = (u16, Slot)> {
        (0..self.count()).map(move |slot| (slot, self.get(slot)))
    }

    /// The same, to be programmed.
    #[inline]
    pub fn slots(&self) -> Slots<'_> {
        Slots::Listed(&self.0)
    }

    /// Sets what the next slot holds. No page has more slots than there is room for.
    #[inline]
    pub fn push(&mut self, holds: Slot) {
        let _ = self.0.push(holds);
    }

    /// Starts a new page.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Reads a sector's copy into the next slot. If it cannot be read, the slot is marked as lost.
    #[inline]
    pub fn gather(
        &mut self,
        page: &mut Gathered,
        (spot, slot): (Spot, u16),
        sector: Sector,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let held = self.fetch_copy(spot, slot, page.count(), sector, cause)?;
        page.push(held);
        Ok(())
    }

    /// Leaves the slots up to that one empty.
    #[inline]
    pub fn leave_empty(&mut self, page: &mut Gathered, end: u16) {
        let from = page.count();
        self.blank(from, end.saturating_sub(from));
        for _ in from..end {
            page.push(Slot::Empty);
        }
    }
}
