//! The way back: the log's copy of a sector if there is one, else its chain's, else zeros.

use ftl_iface::{NandDevice, Sector, SectorCount, StoreReadError};

use super::Ftl;
use crate::error::Fault;
use crate::flash::Spot;
use crate::layout::Slot;
use crate::mlc::Found;
use crate::probe::{Cause, Probe};

/// Where a sector is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Nowhere: zeros.
    Nowhere,
    /// From this slot of this page.
    Page { spot: Spot, slot: u16, in_place: bool },
}

impl Source {
    /// Whether `next`, so many sectors on, is read with this one: it follows in the same page, or both are zeros.
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
        data: &mut [u8],
    ) -> Result<(), StoreReadError<D::Error>> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        let mut rest = data;
        let mut sector = first;
        let mut source = Source::Nowhere;
        if !rest.is_empty() {
            source = self.locate_newest(sector)?;
        }
        while !rest.is_empty() {
            let left = rest.len() / sector_bytes.max(1);
            let mut run: u16 = 1;
            let mut next = Source::Nowhere;
            while usize::from(run) < left {
                next = self.locate_newest(sector + SectorCount::new(u32::from(run)))?;
                if !source.is_followed_by(next, run) || run == u16::MAX {
                    break;
                }
                run += 1;
            }
            let (chunk, after) = core::mem::take(&mut rest)
                .split_at_mut_checked(usize::from(run) * sector_bytes)
                .ok_or(StoreReadError::Corrupt)?;
            self.read_run(source, sector, chunk)?;
            rest = after;
            sector = sector + SectorCount::new(u32::from(run));
            source = next;
        }
        Ok(())
    }

    /// Finds the newest copy of a sector.
    #[inline]
    fn locate_newest(&mut self, sector: Sector) -> Result<Source, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        if let Some(log) = &self.log {
            if let Some(at) = log.index.find(sector) {
                if !self.unproved.get(logical) {
                    let (spot, slot) = log.spot(at);
                    return Ok(Source::Page { spot, slot, in_place: false });
                }
                self.prove(logical)?;
                return self.locate_newest_proved(sector);
            }
        }
        Ok(match self.mlc.find(&mut self.flash, logical, offset)? {
            Found::Nowhere => Source::Nowhere,
            Found::At { spot, slot } => Source::Page { spot, slot, in_place: false },
            Found::InPlace { spot, slot } => Source::Page { spot, slot, in_place: true },
        })
    }

    fn locate_newest_proved(&mut self, sector: Sector) -> Result<Source, Fault<D::Error>> {
        let log = self.the_log()?;
        if let Some(at) = log.index.find(sector) {
            let (spot, slot) = log.spot(at);
            return Ok(Source::Page { spot, slot, in_place: false });
        }
        self.locate_newest(sector)
    }

    /// Reads sectors that stand together.
    fn read_run(
        &mut self,
        source: Source,
        first: Sector,
        chunk: &mut [u8],
    ) -> Result<(), StoreReadError<D::Error>> {
        let Source::Page { spot, slot, in_place } = source else {
            chunk.fill(0);
            return Ok(());
        };
        match self.flash.read(spot, slot, chunk, Cause::Host) {
            Ok(Some(_)) => {}
            Ok(None) => return Err(StoreReadError::Corrupt),
            Err(Fault::Uncorrectable) => return Err(StoreReadError::Lost(first)),
            Err(fault) => return Err(fault.into()),
        }
        let sector_bytes = self.shape.sector_bytes.as_usize().max(1);
        for (at, bytes) in chunk.chunks_mut(sector_bytes).enumerate() {
            let sector = first + SectorCount::new(at as u32);
            match self.flash.slot(usize::from(slot) + at) {
                Slot::Holds(held) if held == sector => {}
                Slot::Hole(hole) if in_place && hole == sector => bytes.fill(0),
                _ => return Err(StoreReadError::Corrupt),
            }
        }
        Ok(())
    }
}
