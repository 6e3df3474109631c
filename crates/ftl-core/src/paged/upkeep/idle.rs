//! Work while the host is idle.

use ftl_iface::{NandDevice, PageCount, Work};

use super::reclaim::Step;
use crate::error::Fault;
use crate::paged::plan::shape::Area;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::IdleStep;
use crate::probe::Probe;

/// With at most this many free blocks beyond the reserve, idle work frees more.
const IDLE: u32 = 2;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Works while the host is idle: the count of references first, then garbage collection, then weak blocks, then
    /// erases of blocks to be opened, then the scrub if one is running.
    pub(crate) fn work(&mut self, budget: PageCount) -> Result<Work, Fault<D::Error>> {
        for _ in 0..budget.get() {
            if self.idle_step()? == IdleStep::NothingToDo {
                return Ok(Work::Done);
            }
        }
        let short = self.short_area(IDLE).is_some() || self.expects_bursts();
        let waits = short || self.may_refresh() || self.scrub.is_some();
        let waits = waits || self.next_to_erase().is_some() || self.counting.is_some();
        Ok(if waits { Work::Left } else { Work::Done })
    }

    /// Does one step of the most urgent work.
    fn idle_step(&mut self) -> Result<IdleStep, Fault<D::Error>> {
        if self.counting.is_some() {
            self.count_leaves(1)?;
            return Ok(IdleStep::Done);
        }
        // First the space that the next write needs, then weak blocks, then further space.
        if let Some(area) = self.short_area(0)
            && self.reclaim_step(area)? != Step::NoVictim
        {
            return Ok(IdleStep::Done);
        }
        if self.may_refresh() {
            self.refresh_step()?;
            return Ok(IdleStep::Done);
        }
        if let Some(area) = self.short_area(IDLE)
            && self.reclaim_step(area)? != Step::NoVictim
        {
            return Ok(IdleStep::Done);
        }
        if self.expects_bursts() && self.reclaim_step(Area::Fast)? != Step::NoVictim {
            return Ok(IdleStep::Done);
        }
        if self.erase_ahead()? == IdleStep::Done {
            return Ok(IdleStep::Done);
        }
        self.scrub_step()
    }

    /// Whether the fast area needs more free space for a burst: half of it is to be free, as long as the main area has
    /// space for the data that leaves it.
    fn expects_bursts(&self) -> bool {
        let Some(fast) = self.shape.fast_area() else { return false };
        self.has_bursts()
            && self.blocks.free(Area::Fast) <= fast.blocks / 2
            && !self.is_short(Area::Main, IDLE)
    }
}
