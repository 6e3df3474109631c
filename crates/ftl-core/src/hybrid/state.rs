//! The state of the hybrid FTL: its modules, and what it keeps between requests.

use crate::config::Config;
use crate::error::Fault;
use crate::filter::{Runs, SizeFilter};
use crate::hybrid::address::{BlockNumber, ChainBlock, LogBlock, LogicalBlock};
use crate::hybrid::flash::{Flash, Spot};
use crate::hybrid::mlc::Mlc;
use crate::hybrid::rescued::{Copy, Rescued};
use crate::hybrid::scrub::Scrub;
use crate::hybrid::shape::Shape;
use crate::hybrid::slc::{Log, Mapped};
use crate::hybrid::wear::DualPool;
use crate::hybrid::writeback::WriteBack;
use crate::layout::{Kind, Stamp, Tag};
use crate::probe::{NoProbe, Probe, Ratio};
use crate::table::Bits;
use crate::throttle::Throttle;
use core::num::NonZeroU32;
use ftl_iface::{BlockCount, NandDevice, SectorCount};

/// The flash translation layer over a device, in lent memory.
///
/// Create it with [`Ftl::format`] or [`Ftl::mount`]; use it as a [`BlockStore`](ftl_iface::BlockStore).
#[derive(Debug)]
pub struct Ftl<'ram, D: NandDevice, P: Probe = NoProbe> {
    pub(crate) shape: Shape,
    pub(crate) config: Config,
    pub(crate) flash: Flash<'ram, D, P>,
    pub(crate) filter: SizeFilter,
    pub(crate) runs: Runs,
    pub(crate) throttle: Throttle,
    pub(crate) log: Option<Log<'ram>>,
    pub(crate) mlc: Mlc<'ram>,
    pub(crate) write_back: WriteBack,
    pub(crate) wear: DualPool<'ram>,
    /// Unproved chains: after a mount, the log's copies of their sectors may be older than their own.
    pub(crate) unproved: Bits<'ram, LogicalBlock>,
    /// Chains of which the log may hold sectors; for other chains no lookup is needed. A fold that has looked up all
    /// sectors of a chain clears its bit.
    pub(crate) logged: Bits<'ram, LogicalBlock>,
    /// A wear-leveling move that waits for the running fold to end.
    pub(crate) wear_move: Option<WearMove>,
    /// Folding begins when at most this many blocks are free.
    pub(crate) free_blocks_low: BlockNumber,
    /// While the host is idle, folding continues until this many are free.
    pub(crate) free_blocks_idle: BlockNumber,
    /// The number of checkpoints so far, as far as this mount knows.
    pub(crate) turn: u32,
    /// The recovery work that a mount without a checkpoint has left to the first request.
    pub(crate) unsettled: Option<Unsettled>,
    /// Good blocks of the chains.
    pub(crate) good_blocks: BlockNumber,
    /// The position of the running scrub.
    pub(crate) scrub: Scrub,
    /// Where the current request began in the chain block that it writes to.
    pub(crate) request_start: Option<RequestStart>,
    /// The copy of a page which failed to program and is not stored elsewhere yet.
    pub(crate) failed_page: Option<Copy>,
}

/// Cold data to be moved onto a worn block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WearMove {
    /// The block that holds the data.
    pub(crate) cold: ChainBlock,
    /// The worn block, erased and kept out of the queue of free blocks.
    pub(crate) worn: ChainBlock,
    /// Whether the running fold is this move.
    pub(crate) under_way: bool,
}

/// Where the current request began in the chain block that it writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestStart {
    /// The block.
    pub(crate) block: ChainBlock,
    /// Its first page of the request.
    pub(crate) from: u16,
}

/// The recovery work that a mount without a checkpoint has left to the first request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unsettled {
    /// The page programmed last, among those read so far.
    pub(crate) youngest: Option<Youngest>,
    /// A page of the log that is not mapped yet.
    pub(crate) held: Option<Held>,
    /// The data block whose last page has a copy, so that the block is valid; and the stamp of the copy, because the
    /// block may have been reused since.
    pub(crate) ended: Option<(ChainBlock, Stamp)>,
    /// The copy of the pages that the power cut may have damaged.
    pub(crate) rescued: Option<Rescued>,
    /// The stamp of the valid copy that was found. Nothing but this recovery has programmed anything since.
    pub(crate) copied_before: Option<Stamp>,
    /// An interrupted fold that was begun because another had failed.
    pub(crate) again: Option<SecondFold>,
    /// Whether the rest of the log is mapped.
    pub(crate) log: Mapped,
    /// Whether it is certain that no power cut hit an operation.
    pub(crate) at_rest: bool,
    /// How far it is.
    pub(crate) progress: Progress,
}

/// An interrupted fold that was begun because another fold of its chain had failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecondFold {
    /// The chain.
    pub(crate) logical: LogicalBlock,
    /// The block that it filled.
    pub(crate) target: ChainBlock,
    /// When it was begun.
    pub(crate) born: Stamp,
}

/// How far the recovery work is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not begun, or under way.
    #[default]
    Pending,
    /// It ended for want of a free block before the copy was written again: what the copy holds is read from there,
    /// and the next mount tries again.
    Halted,
}

/// The page programmed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Youngest {
    /// Its address.
    pub(crate) spot: Spot,
    /// Its stamp.
    pub(crate) stamp: Stamp,
    /// Its kind.
    pub(crate) kind: Kind,
}

/// A page of the log that a mount has not mapped yet: the last of the newest block without a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The block.
    pub(crate) block: LogBlock,
    /// The page.
    pub(crate) page: u16,
    /// Its stamp.
    pub(crate) stamp: Stamp,
}

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Returns the log. Only callers that know that there is a log use this.
    #[inline]
    pub(crate) fn the_log(&mut self) -> Result<&mut Log<'ram>, Fault<D::Error>> {
        self.log.as_mut().ok_or(Fault::Corrupt)
    }

    /// Notes a page that a mount has read.
    pub(crate) fn meet(&mut self, spot: Spot, tag: &Tag) {
        self.flash.raise_stamp(tag.stamp);
        if let Some(state) = &mut self.unsettled
            && state.youngest.is_none_or(|youngest| youngest.stamp < tag.stamp)
        {
            state.youngest = Some(Youngest { spot, stamp: tag.stamp, kind: tag.kind });
        }
    }

    /// Whether a page is the one programmed last.
    pub(crate) fn is_youngest(&self, spot: Spot) -> bool {
        let youngest = self.unsettled.and_then(|state| state.youngest);
        youngest.is_some_and(|youngest| youngest.spot == spot)
    }

    /// Returns the device and the probe.
    pub fn into_parts(self) -> (D, P) {
        self.flash.into_parts()
    }

    /// Returns shared access to the device.
    pub fn device(&self) -> &D {
        self.flash.device()
    }

    /// Returns exclusive access to the device, for operations beside the FTL. They must not change the flash.
    pub fn device_mut(&mut self) -> &mut D {
        self.flash.device_mut()
    }

    /// Returns the probe.
    pub fn probe(&self) -> &P {
        self.flash.probe()
    }

    /// Returns the division of the device.
    #[cfg(feature = "internals")]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the size of the largest write that currently counts as hot.
    pub fn threshold(&self) -> SectorCount {
        self.filter.threshold()
    }

    /// Whether the throttle currently rejects new data from the log.
    pub fn is_throttling(&self) -> bool {
        self.throttle.is_active()
    }

    /// Returns the current maximum distance of tail and head (`k` of the paper); none without a log.
    pub fn window(&self) -> BlockCount {
        self.throttle.window()
    }

    /// Returns the mean number of cells that a lookup examines before it finds a sector of the log; none without a log.
    pub fn index_probes(&self) -> Option<Ratio> {
        let index = &self.log.as_ref()?.index;
        Some(Ratio { part: index.probes(), whole: u64::from(index.real_count()) })
    }

    /// Returns the numbers of entries of the hash table: real, virtual, and the maximum.
    pub fn index_load(&self) -> Option<(u32, u32, NonZeroU32)> {
        let log = self.log.as_ref()?;
        let capacity = NonZeroU32::new(log.index.capacity())?;
        Some((log.index.real_count(), log.index.virtual_count(), capacity))
    }
}
