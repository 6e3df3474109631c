//! How the device is: what its reserve still holds, how worn it is, what it has had to correct.

use ftl_iface::{BlockCount, Corrected, NandDevice};

use crate::flash::listed_max;
use crate::ftl::Ftl;
use crate::probe::Probe;
use crate::shape::SPARE_BLOCKS_MIN;

/// How the device is. A host that asks now and then knows long before the reserve is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The reserve is used up: everything can be read, and nothing written any more.
    pub read_only: bool,
    /// Blocks of the chains that may still fail before that; no more than [`at_once`](Self::at_once) in one request.
    pub reserve_left: BlockCount,
    /// As many as could fail on a device without a bad block.
    pub reserve: BlockCount,
    /// Of those, as many as may fail in the next request, whatever it is. Where more do, no block may be left to fold
    /// onto, and the device is read-only though reserve is left. Later requests win blocks again.
    pub at_once: BlockCount,
    /// Blocks of any part that may still fail and take no bad-block mark: they are listed by name, and the list has an
    /// end. The device is read-only beyond it.
    pub unmarked_left: BlockCount,
    /// Blocks of any part that were taken out of use since the mount.
    pub failed: BlockCount,
    /// Erases of the chains' blocks.
    pub chains: Wear,
    /// Erases of the log's blocks; `None` where there is no log, or so few of its blocks are left that it is closed and
    /// every write goes to the chains.
    pub log: Option<Wear>,
    /// The most bits that the device had to correct in one codeword since the mount, as far as it tells.
    pub corrected: Corrected,
    /// How often since the mount a chain, a page of the log or a header was written anew because its bits began to go.
    pub refreshed: u32,
    /// How often a sector was asked for since the mount whose content is lost.
    pub lost: u32,
}

/// How often blocks in use were erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// The block that was erased least.
    pub least: u32,
    /// All of them, on average.
    pub mean: u32,
    /// The block that was erased most.
    pub most: u32,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// How the device is. It asks the tables alone, each block's count once.
    ///
    /// After a mount without checkpoint blocks are found bad, and wear is known, when the first request or
    /// [`settle`](Self::settle) has set right what power may have cut.
    pub fn health(&self) -> Health {
        let failed = &self.flash.failed;
        let needed = self.shape.logical_blocks.saturating_add(SPARE_BLOCKS_MIN);
        let beyond = |blocks: u16| BlockCount::new(u32::from(blocks.saturating_sub(needed)));
        Health {
            read_only: failed.read_only,
            reserve_left: beyond(self.good_blocks),
            reserve: beyond(self.shape.chain.blocks),
            at_once: BlockCount::new(u32::from(self.may_fail_at_once())),
            unmarked_left: BlockCount::new(u32::from(
                listed_max(&self.shape.meta).saturating_sub(failed.unmarked_count()),
            )),
            failed: BlockCount::new(u32::from(failed.retired)),
            chains: self.chain_wear(),
            log: self.log_wear(),
            corrected: self.flash.weak.most,
            refreshed: self.flash.weak.refreshed,
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
        match u64::checked_div(sum, blocks) {
            Some(mean) => Wear { mean: mean as u32, ..wear },
            None => Wear::default(),
        }
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
        let mean = ring.erases().checked_div(u64::from(ring.good())).unwrap_or(0) as u32;
        // The format erased each of them first.
        Some(Wear { least, mean: mean.saturating_add(1).clamp(least, most), most })
    }
}
