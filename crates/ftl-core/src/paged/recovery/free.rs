//! Which blocks a mount knows to be free before it has read the map: those that the last anchor lists, if nothing has
//! opened them since.
//!
//! Where pages are skipped, the last anchor may leave some untold, which a power cut may have corrupted. What they had
//! freed is then in use again. All that is older than the anchor *before* the last is told by the last one. So a block
//! counts as free if both list it, and if it was not opened between them, of which the last one would have a record. No
//! mount came between them: the first anchor after a mount is the first in its block of the ring, and leaves nothing
//! untold.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::anchor_page::{Listed, take_off};
use crate::paged::program::ring::{Newest, RingPage};
use crate::paged::rules;
use crate::paged::tables::map;
use crate::paged::tables::records::{Record, Site};
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns those of the blocks that the last anchor lists, and that were not opened since, that are free.
    pub(crate) fn known_free(
        &mut self,
        newest: &Newest,
        unopened: Listed,
    ) -> Result<Listed, Fault<D::Error>> {
        if !self.shape.skips_pages() {
            return Ok(unopened);
        }
        let mut known = unopened;
        let RingPage::Anchor(_) = self.ring_page(newest.site.block, newest.site.page)? else {
            return Ok(Listed::default());
        };
        if !rules::may_lose_untold(map::is_whole(self.anchors.page, self.flash.key())) {
            return Ok(known);
        }
        self.leave_out_opened(newest.head.records, &mut known);
        let listed = self.listed_before(newest.site)?;
        for (known, before) in known.iter_mut().zip(&listed) {
            for cell in known {
                *cell = cell.filter(|block| before.contains(&Some(*block)));
            }
        }
        Ok(known)
    }

    /// Leaves out the blocks of which the anchor in RAM has a record.
    fn leave_out_opened(&self, records: u16, known: &mut Listed) {
        for number in 0..records {
            let Some(Record::Block(opened, _)) = self.anchors.nth_record(number) else { continue };
            take_off(known, BlockNumber::new(opened));
        }
    }

    /// Returns what the anchor before one lists, if it is in the same block of the ring.
    fn listed_before(&mut self, site: Site) -> Result<Listed, Fault<D::Error>> {
        let none = Listed::default();
        let Some(page) = (0..site.page).rev().find(|page| self.takes_anchor(*page)) else {
            return Ok(none);
        };
        let RingPage::Anchor(_) = self.ring_page(site.block, page)? else { return Ok(none) };
        let head = self.anchors.head();
        let before = head.filter(|head| head.number.wrapping_add(1) == site.number);
        Ok(before.map_or(none, |head| head.listed))
    }
}
