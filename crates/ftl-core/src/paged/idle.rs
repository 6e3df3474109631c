//! Work while the host is idle.

use ftl_iface::{NandDevice, PageCount, Work};

use super::config::Bursts;
use super::reclaim::Step;
use super::shape::Area;
use super::store::PageFtl;
use crate::error::Fault;
use crate::probe::Probe;

/// Blocks to be free beyond the reserve while the host is idle.
const IDLE: u32 = 2;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Work for an idle host: what makes room, then what begins to go, and then the scrub, if there is one.
    pub(super) fn work(&mut self, budget: PageCount) -> Result<Work, Fault<D::Error>> {
        for _ in 0..budget.get() {
            if !self.idle_step()? {
                return Ok(Work::Done);
            }
        }
        let short = self.short_area(IDLE).is_some() || self.expects_bursts();
        let waits = short || self.may_refresh() || self.scrub.is_some();
        Ok(if waits { Work::Left } else { Work::Done })
    }

    /// One step of what is most urgent. `false`: nothing waits.
    fn idle_step(&mut self) -> Result<bool, Fault<D::Error>> {
        // First what the next write would have to win; what is weak comes before what it need not.
        if let Some(area) = self.short_area(0)
            && self.reclaim_step(area)? != Step::NoVictim
        {
            return Ok(true);
        }
        if self.may_refresh() {
            self.refresh_step()?;
            return Ok(true);
        }
        if let Some(area) = self.short_area(IDLE)
            && self.reclaim_step(area)? != Step::NoVictim
        {
            return Ok(true);
        }
        if self.expects_bursts() && self.reclaim_step(Area::Fast)? != Step::NoVictim {
            return Ok(true);
        }
        self.scrub_step()
    }

    /// Whether the fast area is to have more room for a burst: half of it, as long as the main area has room for what
    /// leaves it.
    fn expects_bursts(&self) -> bool {
        let Some(fast) = &self.shape.fast else { return false };
        matches!(self.config.bursts, Bursts::ToFast(_))
            && self.blocks.free(Area::Fast) <= fast.blocks / 2
            && !self.is_short(Area::Main, IDLE)
    }
}
