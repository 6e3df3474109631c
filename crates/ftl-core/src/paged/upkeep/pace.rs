//! How much garbage collection each host page pays for, so that none has to wait for it.
//!
//! The mean cost of the last victims tells how many pages are copied for each that is won. A host page pays that much,
//! more if there is less space than usual, and less if there is more. So what a single victim costs matters little.

use ftl_iface::NandDevice;

use super::reclaim::Step;
use crate::error::Fault;
use crate::paged::plan::shape::Area;
use crate::paged::program::opens::LENT_BEFORE;
use crate::paged::tables::candidates::PACE_MAX;
use crate::paged::tables::effort::PARTS;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::probe::Probe;
use crate::quotient::{ceil, floor};

/// With at most this many free blocks beyond the reserve, each host page pays for the space that it takes: in the fast
/// area, and where the main one has hardly a block more than it needs.
const AHEAD: u32 = 3;
/// So many blocks are usually free in the main area beyond the reserve, with those of open blocks if streams lend
/// theirs; if not, and few blocks are spare, fewer are.
const USUAL: u32 = 5;
/// What is to be paid is spread over a quarter of a block's pages, and over at most so many: the usual space is the
/// only buffer.
const SPREAD_MAX: u32 = 32;
/// Additional steps for a host page if those that it pays for have freed no space yet.
pub(crate) const PREPARED_MAX: u16 = 4;
/// The maximum of steps in the fast area for a host page.
pub(crate) const FAST_STEPS_MAX: u16 = 3;

/// Garbage collection stops for a host page as soon as this many pages were programmed for it, map pages and anchors
/// included. So the longest write is known.
pub(crate) const PROGRAMS_MAX: u32 = 18;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Refreshes what is weak, and copies what a host page has to pay for when an area gets short of blocks: for the
    /// page itself, and for what was programmed to the fast area since the previous host page, map pages included.
    pub(crate) fn pace(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        // What is free is not known yet.
        if self.counting.is_some() {
            return Ok(());
        }
        let before = self.flash.programs();
        self.refresh_some()?;
        let skipped = u32::from(core::mem::take(&mut self.skipped).min(self.shape.main.pages));
        let mut pages = u32::from(self.area_of(stream) == Area::Main) + skipped;
        if self.shape.has_fast() {
            // Data that leaves the fast area takes space in the main one.
            pages += self.pace_fast(before)?;
        }
        let urgency = self.urgency();
        if urgency == 0 {
            self.main_debt = 0;
            return if self.has_done_enough(before) { Ok(()) } else { self.level_some() };
        }
        let rate = self.effort.rate();
        self.main_debt += pages * rate * urgency / PARTS;
        let spread = u32::from(self.shape.main.pages / 4).clamp(1, SPREAD_MAX);
        // No page pays for much more than the usual.
        let most = (2 * rate * (1 + skipped) / PARTS + 2).min(PACE_MAX.into());
        let pays = ceil(self.main_debt / PARTS, spread).min(most);
        let (mut steps, mut prepared) = (0, 0);
        while steps < pays && !self.has_done_enough(before) {
            if self.reclaim_step(Area::Main)? == Step::Prepared && prepared < PREPARED_MAX {
                prepared += 1;
            } else {
                steps += 1;
            }
            if steps < pays && self.urgency() == 0 {
                break;
            }
        }
        self.main_debt = (self.main_debt - steps * PARTS).min(spread * u32::from(PACE_MAX) * PARTS);
        Ok(())
    }

    /// Whether enough was programmed for this host page, before which so many pages were.
    const fn has_done_enough(&self, before: u32) -> bool {
        self.flash.programs().wrapping_sub(before) >= PROGRAMS_MAX
    }

    /// Levels wear where blocks empty by themselves, so that no victim is needed for space.
    fn level_some(&mut self) -> Result<(), Fault<D::Error>> {
        if self.is_leveling(Area::Main) || self.due_to_level(Area::Main).is_some() {
            let _ = self.reclaim_step(Area::Main)?;
        }
        Ok(())
    }

    /// Returns how much is to be paid in the main area, in [`PARTS`] of what keeps its free space as it is. With the
    /// usual space that is one, with an eighth more it is nothing, and without any it is three times as much.
    fn urgency(&self) -> u32 {
        if !self.shape.has_to_lend() {
            return if self.is_short(Area::Main, AHEAD) { PARTS } else { 0 };
        }
        let pages = u32::from(self.shape.main.pages);
        // A stream that borrows nothing has no use for the pages in the others' blocks.
        let (usual, lent, open) = if self.shape.lends() {
            (USUAL, LENT_BEFORE, self.open_pages())
        } else {
            let spare = self.shape.main.blocks - self.shape.main_needed;
            ((spare / 8).clamp(AHEAD, USUAL), 0, 0)
        };
        let kept = self.shape.reserve(Area::Main) + lent;
        let beyond = self.blocks.free(Area::Main).saturating_sub(kept);
        let (usual, free) = (usual * pages, beyond * pages + open);
        match usual.checked_sub(free) {
            Some(missing) => PARTS + floor(missing * PARTS * 2, usual),
            None => floor((usual + usual / 8).saturating_sub(free) * PARTS * 8, usual),
        }
    }

    /// Frees as many pages of the fast area as were programmed to it. Returns how many pages of the main area this may
    /// have taken.
    fn pace_fast(&mut self, before: u32) -> Result<u32, Fault<D::Error>> {
        if !self.is_short(Area::Fast, AHEAD) {
            self.fast_balance = 0;
            return Ok(0);
        }
        let mut steps = 0;
        while self.fast_balance < 0 && steps < FAST_STEPS_MAX && !self.has_done_enough(before) {
            self.reclaim_step(Area::Fast)?;
            steps += 1;
        }
        Ok(steps.into())
    }

    /// Returns the pages that are free in the open blocks of the main area.
    fn open_pages(&self) -> u32 {
        let pages = self.shape.main.pages;
        let opens = self.opens.iter().flatten().filter(|open| self.shape.main.holds(open.block));
        opens.map(|open| u32::from(pages.saturating_sub(open.next))).sum()
    }
}
