//! Reads: the log's copy of a sector if there is one, else its chain's, else zeros.

use ftl_iface::{NandDevice, Sector, SectorCount, StoreReadError};

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Gathered, Seen, Spot};
use crate::hybrid::mlc::NewestCopy;
use crate::hybrid::slc::index::LogSlot;
use crate::hybrid::state::Ftl;
use crate::layout::Slot;
use crate::probe::{Cause, Probe};

/// Where a sector is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadFrom {
    /// Nowhere: zeros.
    Nowhere,
    /// From this slot of this page.
    Page { spot: Spot, slot: u16, in_place: bool },
}

impl ReadFrom {
    /// Whether `next`, that many sectors later, is read with this one: it follows in the same page, or both are zeros.
    fn is_followed_by(self, next: Self, distance: u16) -> bool {
        match (self, next) {
            (Self::Nowhere, Self::Nowhere) => true,
            (
                Self::Page { spot, slot, in_place },
                Self::Page { spot: next_spot, slot: next_slot, in_place: next_in_place },
            ) => spot == next_spot && slot + distance == next_slot && in_place == next_in_place,
            _ => false,
        }
    }
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    pub(crate) fn read_sectors(
        &mut self,
        first: Sector,
        count: SectorCount,
        data: &mut [u8],
    ) -> Result<(), StoreReadError<D::Error>> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        let mut left = count.get();
        if left == 0 {
            return Ok(());
        }
        let mut rest = data;
        let mut sector = first;
        let mut source = self.locate_newest(sector)?;
        loop {
            let mut run: u16 = 1;
            let mut next = ReadFrom::Nowhere;
            while u32::from(run) < left {
                next = self.locate_newest(sector + SectorCount::new(u32::from(run)))?;
                if !source.is_followed_by(next, run) || run == u16::MAX {
                    break;
                }
                run += 1;
            }
            if u32::from(run) == left {
                return self.read_run(source, sector, run, rest);
            }
            let (chunk, after) = core::mem::take(&mut rest)
                .split_at_mut_checked(usize::from(run) * sector_bytes)
                .ok_or(StoreReadError::Corrupt)?;
            self.read_run(source, sector, run, chunk)?;
            rest = after;
            left -= u32::from(run);
            sector = sector + SectorCount::new(u32::from(run));
            source = next;
        }
    }

    /// Reads sectors of a read-only device on which rescue copies could not be written again: the pages that they were
    /// made from may have become unreadable.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_beside_copies(
        &mut self,
        first: Sector,
        data: &mut [u8],
    ) -> Result<(), StoreReadError<D::Error>> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        for (at, chunk) in (0..).zip(data.chunks_exact_mut(sector_bytes.max(1))) {
            let sector = first + SectorCount::new(at);
            match self.find_in_copies(sector)? {
                Some(source) => self.read_run(source, sector, 1, chunk)?,
                None => self.read_sectors(sector, SectorCount::new(1), chunk)?,
            }
        }
        Ok(())
    }

    /// Where the rescue copies hold a sector, if they do. What follows in them is newer.
    fn find_in_copies(&mut self, sector: Sector) -> Result<Option<ReadFrom>, Fault<D::Error>> {
        let mut found = None;
        let Some(rescued) = self.unsettled.and_then(|state| state.rescued) else {
            return Ok(found);
        };
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                found = self.find_in_copy(Spot::meta(copy.block, page), sector)?.or(found);
            }
        }
        Ok(found)
    }

    /// Where a page of a rescue copy holds a sector, if it does.
    fn find_in_copy(
        &mut self,
        spot: Spot,
        sector: Sector,
    ) -> Result<Option<ReadFrom>, Fault<D::Error>> {
        let mut found = None;
        let Seen::Page(page) = self.flash.look(spot, Cause::Host)? else {
            return Ok(found);
        };
        let held = Gathered::of(&page, 0, self.shape.meta.slots);
        for (slot, held) in held.into_list() {
            match held {
                Slot::Holds(held) | Slot::Lost(held) if held == sector => {
                    found = Some(ReadFrom::Page { spot, slot, in_place: false });
                }
                Slot::Hole(hole) if hole == sector => found = Some(ReadFrom::Nowhere),
                // A trim fills a page alone.
                Slot::Elsewhere(_) => {
                    return match self.mlc.read_trim(&mut self.flash, spot, Cause::Host) {
                        Ok(trim) => Ok(trim.covers(sector).then_some(ReadFrom::Nowhere)),
                        Err(Fault::Uncorrectable | Fault::Corrupt) => Ok(None),
                        Err(fault) => Err(fault),
                    };
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Finds the newest copy of a sector.
    #[inline]
    fn locate_newest(&mut self, sector: Sector) -> Result<ReadFrom, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        if let Some(log) = self.log.as_ref()
            && self.logged.get(logical)
            && let Some(found) = log.index.find(sector)
        {
            let proved = !self.unproved.get(logical);
            let newest = if proved { Some(found) } else { self.find_proved(logical, sector)? };
            if let (Some(at), Some(log)) = (newest, self.log.as_ref()) {
                let (spot, slot) = log.spot(at);
                return Ok(ReadFrom::Page { spot, slot, in_place: false });
            }
        }
        Ok(match self.mlc.find(&mut self.flash, logical, offset)? {
            NewestCopy::Nowhere => ReadFrom::Nowhere,
            NewestCopy::At { spot, slot } => ReadFrom::Page { spot, slot, in_place: false },
            NewestCopy::InPlace { spot, slot } => ReadFrom::Page { spot, slot, in_place: true },
        })
    }

    /// Where the log holds a sector, after its logical block was proved.
    #[cold]
    fn find_proved(
        &mut self,
        logical: LogicalBlock,
        sector: Sector,
    ) -> Result<Option<LogSlot>, Fault<D::Error>> {
        self.prove(logical)?;
        Ok(self.the_log()?.index.find(sector))
    }

    /// Reads consecutive sectors that are stored together.
    fn read_run(
        &mut self,
        source: ReadFrom,
        first: Sector,
        run: u16,
        chunk: &mut [u8],
    ) -> Result<(), StoreReadError<D::Error>> {
        let ReadFrom::Page { spot, slot, in_place } = source else {
            chunk.fill(0);
            return Ok(());
        };
        let page = match self.flash.read_here(spot, slot, chunk, Cause::Host) {
            Ok(Some(page)) => page,
            Ok(None) | Err(Fault::Uncorrectable) => return Err(self.lost(first)),
            Err(fault) => return Err(fault.into()),
        };
        let sector_bytes = self.shape.sector_bytes.as_usize();
        for at in 0..run {
            let sector = first + SectorCount::new(u32::from(at));
            match page.slot(slot + at) {
                Slot::Holds(held) if held == sector => {}
                Slot::Lost(held) if held == sector => return Err(self.lost(sector)),
                // Its newest copy was on a page that has been corrupted since.
                Slot::Elsewhere(held) if in_place && held == sector => {
                    return Err(self.lost(sector));
                }
                Slot::Hole(hole) if in_place && hole == sector => {
                    let start = usize::from(at) * sector_bytes;
                    if let Some(bytes) = chunk.get_mut(start..start + sector_bytes) {
                        bytes.fill(0);
                    }
                }
                _ => return Err(StoreReadError::Corrupt),
            }
        }
        Ok(())
    }

    #[cold]
    fn lost(&mut self, sector: Sector) -> StoreReadError<D::Error> {
        self.flash.failed.lost = self.flash.failed.lost.saturating_add(1);
        StoreReadError::Lost(sector)
    }
}
