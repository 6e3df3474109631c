//! The requests of the host: how each begins and ends.

use ftl_iface::{
    BlockStore, Bytes, NandDevice, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::mechanisms::Mechanisms;
use crate::hybrid::mount::Settled;
use crate::layout::Trim;
use crate::probe::Probe;

use crate::hybrid::path::route::Route;
use crate::hybrid::state::Ftl;

impl<D: NandDevice, P: Probe, M: Mechanisms> BlockStore for Ftl<'_, D, P, M> {
    type Error = D::Error;

    fn sector_bytes(&self) -> Bytes {
        self.shape.sector_bytes
    }

    fn capacity(&self) -> SectorCount {
        self.shape.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<D::Error>> {
        let outcome = match self.measure(first, data.len()) {
            Ok(count) => match self.ensure_settled()? {
                Settled::Fully => self.read_sectors(first, count, data),
                Settled::ButForCopies => self.read_beside_copies(first, data),
            },
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
        self.settle()?;
        let outcome = self.write_sectors(first, count, data);
        self.end_change(outcome)
    }

    fn trim(&mut self, first: Sector, count: SectorCount) -> Result<(), StoreWriteError<D::Error>> {
        if let Err(refusal) = self.within(first, count) {
            return Err(self.refuse(first, 0, refusal));
        }
        self.settle()?;
        let outcome = self.trim_sectors(first, count);
        self.end_change(outcome)
    }

    /// Every write is on flash when it returns. This says whether the driver has failed since.
    fn flush(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(self.flash.alive()?)
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<D::Error>> {
        self.settle()?;
        let outcome = self.work_while_idle(budget);
        self.end_change(outcome)
    }
}

/// Why a request was refused before it began.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    OutOfRange { count: SectorCount },
    WrongLength,
}

impl<D: NandDevice, P: Probe, M: Mechanisms> Ftl<'_, D, P, M> {
    fn write_sectors(
        &mut self,
        first: Sector,
        count: SectorCount,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        if count.is_zero() {
            return Ok(());
        }
        let entered = match self.route(first, count) {
            Route::Log { pages } => self.enter_log(first, count, pages)?,
            Route::Chains => None,
        };
        let pages = match entered {
            Some(updates) => self.write_to_log(first, count, updates, data)?,
            None => self.write_to_chains(first, data)?,
        };
        self.collect_some(pages)
    }

    /// Ends a request that may have changed something.
    #[inline]
    fn end_change<T>(
        &mut self,
        outcome: Result<T, Fault<D::Error>>,
    ) -> Result<T, StoreWriteError<D::Error>> {
        self.mlc.maps.end_request();
        if self.flash.failed.read_only {
            self.come_to_rest()?;
        }
        Ok(outcome?)
    }

    /// The number of sectors of a request, after checking that it is within the device.
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

    fn trim_sectors(&mut self, first: Sector, count: SectorCount) -> Result<(), Fault<D::Error>> {
        let mut sector = first;
        let end = first + count;
        while sector < end {
            let (logical, offset) = self.mlc.locate(sector);
            let in_block = self.mlc.sectors_per_block().get() - offset;
            let run = SectorCount::new(in_block.min((end - sector).get()));
            if self.holds_any(logical, sector, run) {
                self.trim_run(logical, Trim { first: sector, count: run })?;
                self.collect_some(1)?;
            }
            sector = sector + run;
        }
        Ok(())
    }

    /// Whether there is anything to trim.
    fn holds_any(&self, logical: LogicalBlock, first: Sector, count: SectorCount) -> bool {
        self.mlc.chains.first(logical).is_some()
            || self
                .log
                .get()
                .is_some_and(|log| first.run(count).any(|sector| log.index.find(sector).is_some()))
    }
}
