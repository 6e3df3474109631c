//! The path, read top to bottom. This is the only room that knows both the log and the chains.
//!
//! `door` decides where a write goes; `to_log` and `to_chains` take it there, `read` finds it again,
//! `trim` forgets it. `housekeeping` does in small steps what makes room: it reclaims the log's tail
//! (`to_log`), folds chains (`folding`) and moves cold data onto worn blocks.
//!
//! After a power cut the first request comes to `settle`: it puts the chains in order (`untangle`), and makes a
//! copy of what the cut may have touched before anything relies on it (`rescue`). `pairs` takes care of pages that
//! share their cells with the one in flight. `refresh` writes anew what begins to go. `prove` tells stale entries of
//! the log from valid ones.

mod door;
mod failed_page;
mod failing;
mod folding;
mod housekeeping;
mod pairs;
mod prove;
mod read;
mod refresh;
mod rescue;
mod settle;
mod to_chains;
mod to_log;
mod trim;
mod untangle;

pub(crate) use failing::kept_in_hand;
pub(crate) use refresh::Scrub;
pub(crate) use settle::{Held, Unsettled};

use ftl_iface::{
    BlockStore, Bytes, NandDevice, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};

use crate::address::{ChainBlock, LogicalBlock};
use crate::config::Config;
use crate::error::Fault;
use crate::filter::SizeFilter;
use crate::flash::Flash;
use crate::mlc::Mlc;
use crate::probe::{NoProbe, Probe};
use crate::shape::Shape;
use crate::slc::Log;
use crate::table::Bits;
use crate::throttle::Throttle;
use crate::wear::DualPool;
use crate::writeback::WriteBack;

use door::Way;

/// The flash translation layer over a device, in lent memory.
///
/// Make one with [`Ftl::format`] or [`Ftl::mount`]; use it as a [`BlockStore`].
#[derive(Debug)]
pub struct Ftl<'ram, D: NandDevice, P: Probe = NoProbe> {
    pub(crate) shape: Shape,
    pub(crate) config: Config,
    pub(crate) flash: Flash<'ram, D, P>,
    pub(crate) filter: SizeFilter,
    pub(crate) throttle: Throttle,
    pub(crate) log: Option<Log<'ram>>,
    pub(crate) mlc: Mlc<'ram>,
    pub(crate) write_back: WriteBack,
    pub(crate) wear: DualPool<'ram>,
    /// Chains whose sectors in the log may be older than their own: a mount cannot tell at once.
    pub(crate) unproved: Bits<'ram, LogicalBlock>,
    /// Chains of which the log may hold sectors: nobody needs to look for those of another. A fold that has seen all of
    /// a chain's takes it out.
    pub(crate) logged: Bits<'ram, LogicalBlock>,
    /// A move of cold data that was found worth while and waits for the fold under way to end.
    pub(crate) wear_move: Option<WearMove>,
    /// Folding begins when no more than this many blocks are free.
    pub(crate) free_blocks_low: u16,
    /// While the host is idle, folding goes on until this many are free.
    pub(crate) free_blocks_idle: u16,
    /// How many checkpoints there were, as far as this mount knows.
    pub(crate) turn: u32,
    /// What a mount without checkpoint has left to the first request.
    pub(crate) unsettled: Option<Unsettled>,
    /// Blocks of the chains that are not bad.
    pub(crate) good_blocks: u16,
    /// How far the scrub under way has come.
    pub(crate) scrub: Scrub,
    /// Where the host's request under way has begun in the chain block that it writes to.
    pub(crate) own: Option<pairs::Own>,
    /// The copy of a page which failed to program and stands nowhere else yet.
    pub(crate) failed_page: Option<rescue::Copy>,
}

/// Cold data to be moved onto a worn block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WearMove {
    /// The block that holds them.
    pub(crate) cold: ChainBlock,
    /// The worn block, erased and kept out of the queue of free blocks.
    pub(crate) worn: ChainBlock,
    /// Whether the fold under way is this move.
    pub(crate) under_way: bool,
}

impl<D: NandDevice, P: Probe> BlockStore for Ftl<'_, D, P> {
    type Error = D::Error;

    fn sector_bytes(&self) -> Bytes {
        self.shape.sector_bytes
    }

    fn capacity(&self) -> SectorCount {
        self.shape.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<D::Error>> {
        let outcome = match self.measure(first, data.len()) {
            Ok(count) => {
                self.settled()?;
                self.read_sectors(first, count, data)
            }
            Err(Refusal::OutOfRange { count }) => {
                let capacity = self.shape.capacity;
                Err(StoreReadError::OutOfRange { first, count, capacity })
            }
            Err(Refusal::WrongLength) => Err(StoreReadError::WrongLength {
                bytes: data.len(),
                sector_bytes: self.shape.sector_bytes,
            }),
        };
        self.mlc.maps.end_request();
        outcome
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<D::Error>> {
        let count = match self.measure(first, data.len()) {
            Ok(count) => count,
            Err(refusal) => return Err(self.refuse(first, data.len(), refusal)),
        };
        self.settled()?;
        self.flash.writable()?;
        let outcome = self.write_sectors(first, count, data);
        self.end_change();
        Ok(outcome?)
    }

    fn trim(&mut self, first: Sector, count: SectorCount) -> Result<(), StoreWriteError<D::Error>> {
        if let Err(refusal) = self.within(first, count) {
            return Err(self.refuse(first, 0, refusal));
        }
        self.settled()?;
        self.flash.writable()?;
        let outcome = self.trim_sectors(first, count);
        self.end_change();
        Ok(outcome?)
    }

    /// Has nothing to do: every write is on flash when it returns.
    fn flush(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(())
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<D::Error>> {
        self.settled()?;
        if self.flash.failed.read_only {
            return Ok(Work::Done);
        }
        let outcome = self.work_while_idle(budget);
        self.end_change();
        match outcome {
            // The next write is told; nothing was asked for here.
            Err(Fault::ReadOnly) => Ok(Work::Done),
            outcome => Ok(outcome?),
        }
    }
}

/// Why a request was not begun.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    OutOfRange { count: SectorCount },
    WrongLength,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    fn write_sectors(
        &mut self,
        first: Sector,
        count: SectorCount,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        if count.is_zero() {
            return Ok(());
        }
        let entered = match self.way(first, count) {
            Way::Log { pages } => self.enter_log(first, count, pages)?,
            Way::Chains => None,
        };
        let pages = match entered {
            Some(updates) => self.write_to_log(first, count, updates, data)?,
            None => self.write_to_chains(first, data)?,
        };
        self.keep_house(pages)
    }

    /// Ends a request that may have changed something.
    #[inline]
    fn end_change(&mut self) {
        self.mlc.maps.end_request();
        if self.flash.failed.read_only {
            self.come_to_rest();
        }
    }

    /// The number of sectors of a request, once it is found to lie within the device.
    fn measure(&self, first: Sector, bytes: usize) -> Result<SectorCount, Refusal> {
        // A power of two, at least 512: the shape was checked.
        let sector = self.shape.sector_bytes.get();
        let count = bytes >> sector.trailing_zeros();
        if count << sector.trailing_zeros() != bytes {
            return Err(Refusal::WrongLength);
        }
        let count = SectorCount::new(u32::try_from(count).unwrap_or(u32::MAX));
        self.within(first, count)?;
        Ok(count)
    }

    fn within(&self, first: Sector, count: SectorCount) -> Result<(), Refusal> {
        match first.checked_add(count) {
            Some(end) if end.get() <= self.shape.capacity.get() => Ok(()),
            _ => Err(Refusal::OutOfRange { count }),
        }
    }

    fn refuse(&self, first: Sector, bytes: usize, refusal: Refusal) -> StoreWriteError<D::Error> {
        match refusal {
            Refusal::OutOfRange { count } => {
                StoreWriteError::OutOfRange { first, count, capacity: self.shape.capacity }
            }
            Refusal::WrongLength => {
                StoreWriteError::WrongLength { bytes, sector_bytes: self.shape.sector_bytes }
            }
        }
    }
}
