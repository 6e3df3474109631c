//! The health of the hybrid FTL, from its tables alone.

use ftl_iface::{BlockCount, NandDevice};

use super::flash::listed_max;
use super::shape::SPARE_BLOCKS_MIN;
use super::state::Ftl;
use crate::health::{Health, Wear, mean};
use crate::probe::Probe;
use crate::table::{BlockNumber, number, word};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// The health of the device. It reads only the tables, each block's count once.
    ///
    /// After a mount without a checkpoint, bad blocks and wear are known only after the first request or
    /// [`settle`](Self::settle) has done the recovery.
    pub fn health(&self) -> Health {
        let failed = &self.flash.failed;
        let needed = self.shape.logical_blocks.saturating_add(number(SPARE_BLOCKS_MIN));
        let beyond = |blocks: BlockNumber| BlockCount::new(word(blocks.saturating_sub(needed)));
        Health {
            read_only: failed.read_only,
            reserve_left: beyond(self.good_blocks),
            reserve: beyond(self.shape.chain.blocks),
            at_once: BlockCount::new(word(self.may_fail_at_once())),
            unmarked_left: BlockCount::new(u32::from(
                listed_max(&self.shape.meta).saturating_sub(failed.to_be_named()),
            )),
            failed: BlockCount::new(u32::from(failed.retired)),
            main: self.chain_wear(),
            fast: self.log_wear(),
            corrected: self.flash.weak.noted.most,
            refreshed: self.flash.weak.noted.refreshed,
            lost: failed.lost,
        }
    }

    fn chain_wear(&self) -> Wear {
        let (mut sum, mut blocks) = (0, 0);
        let mut wear = Wear { least: u32::MAX, mean: 0, most: 0 };
        for count in self.wear.in_use().map(|block| self.wear.erase_count(block)) {
            wear.least = wear.least.min(count);
            wear.most = wear.most.max(count);
            sum += u64::from(count);
            blocks += 1;
        }
        if blocks == 0 { Wear::default() } else { Wear { mean: mean(sum, blocks), ..wear } }
    }

    /// The blocks of the log are erased in turn: those from the first to the head have been erased once more.
    fn log_wear(&self) -> Option<Wear> {
        let ring = self.log.as_ref()?.ring();
        if !ring.turns() {
            return None;
        }
        let most = ring.wear();
        let least =
            if ring.after(ring.head()) > ring.head() { most.saturating_sub(1) } else { most };
        let mean = mean(ring.erases(), number(ring.good()));
        // The format erased each of them first.
        Some(Wear { least, mean: mean.saturating_add(1).max(least).min(most), most })
    }
}
