//! Trims: each leaf takes one map page.

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::paged::plan::address::Mapped;
use crate::paged::program::flush::Trimmed;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Trims sectors, with one map page per leaf.
    pub(crate) fn trim_all(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), Fault<D::Error>> {
        let trimmed = Trimmed { first, count };
        let end = first + count;
        let mut sector = first;
        while sector < end {
            let (leaf, _) = self.shape.leaf_of(sector);
            let (start, sectors) = self.shape.sectors_of(leaf);
            let next = (start + SectorCount::new(sectors)).min(end);
            if self.any_mapped(sector, next)? {
                self.make_room()?;
                self.flush(leaf, trimmed)?;
            }
            sector = next;
        }
        Ok(())
    }

    fn any_mapped(&mut self, from: Sector, to: Sector) -> Result<bool, Fault<D::Error>> {
        for sector in from.run(to - from) {
            if self.lookup(sector)? != Mapped::Nowhere {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
