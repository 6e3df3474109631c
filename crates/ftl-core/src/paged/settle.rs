//! After a mount: the page that was programmed last may be what a cut left. It is forgotten by the mount, and done
//! again here, before anything else is programmed. Where that page itself did something again, it is forgotten with all
//! that it did again: its tag says which stamp came first.
//!
//! All that is read of it stands in the page buffer since the mount. So whether it can be read was decided once; and
//! what the FTL knows meanwhile is as if it had never been, so that no block is taken for free because of it. Where the
//! new page is cut in turn, the next mount finds one of the two, or neither: then nobody has seen it.

use ftl_iface::NandDevice;

use super::address::{Leaf, Mapped, Spot};
use super::ftl::{PageFtl, Stream};
use super::shape::Area;
use super::write::{Before, Content, Written};
use crate::error::Fault;
use crate::layout::{Kind, Stamp};
use crate::probe::{Cause, Probe};
use ftl_iface::StoreWriteError;

/// The page programmed last before the mount. Its content is in the page buffer, its slots are held at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) spot: Spot,
    pub(super) what: What,
    /// The stamp of the page that did it first: this one, or the one that this one does again.
    pub(super) first: Stamp,
}

/// What it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Sectors.
    Sectors,
    /// The map page of a leaf.
    Map(Leaf),
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Sets right what a power cut may have touched. The first request does it, if the host does not.
    pub fn settle(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.door.alive()?;
        Ok(self.settle_if_possible()?)
    }

    /// The same; a device without a block for it is read-only, and believes what it has found.
    pub(super) fn settle_if_possible(&mut self) -> Result<(), Fault<D::Error>> {
        if self.settled {
            return Ok(());
        }
        self.mend_headers()?;
        if let Some(suspect) = self.suspect {
            match self.do_again(suspect) {
                Ok(()) => {}
                Err(Fault::ReadOnly) => {
                    self.read_only = true;
                    self.believe(suspect)?;
                }
                Err(fault) => return Err(fault),
            }
            self.suspect = None;
        }
        self.blocks.unpin_all();
        self.settled = true;
        Ok(())
    }

    /// Pins the blocks of the page that is to be done again and those that it leads to: until it is done they are not
    /// free, whatever was before.
    pub(super) fn pin(&mut self) {
        let Some(suspect) = self.suspect else { return };
        self.blocks.pin(suspect.spot.block);
        if let What::Map(leaf) = suspect.what {
            for at in 0..self.shape.sectors_of(leaf).1 {
                if let Mapped::At(place) = self.map.entry(self.buffer, at) {
                    self.blocks.pin(self.shape.spot(place).0.block);
                }
            }
        }
    }

    /// Does again what the page did.
    fn do_again(&mut self, suspect: Suspect) -> Result<(), Fault<D::Error>> {
        match suspect.what {
            What::Sectors => {
                let again = Written::Again(Kind::Rescue, suspect.first);
                let stream = match self.shape.area_of(suspect.spot.block) {
                    Area::Fast => Stream::Hot,
                    Area::Main => self.copies(),
                };
                let spot = self.program(stream, again, Content::Buffer, Cause::Mount)?;
                self.rely();
                self.adopt(spot)
            }
            What::Map(leaf) => {
                let before = self.map.load(&mut self.door, leaf, Cause::Mount)?;
                let page = self.map.vacate(Some(before));
                self.fill_from_buffer(page);
                self.install((leaf, Written::Again(Kind::Commit, suspect.first)), before, page)
            }
        }
    }

    fn fill_from_buffer(&mut self, page: super::map::Cached) {
        let bytes = self.map.bytes_mut(page);
        if let Some(content) = self.buffer.get(..bytes.len()) {
            bytes.copy_from_slice(content);
        }
    }

    /// Notes that the sectors held at the door stand in that page.
    fn adopt(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let slots = self.shape.area(self.shape.area_of(spot.block)).slots;
        for slot in 0..slots {
            if let Some(sector) = self.door.held(slot).copy_of()
                && sector.get() < self.shape.capacity.get()
            {
                self.remember(sector, self.place(spot, slot), Before::Unknown)?;
            }
        }
        Ok(())
    }

    /// Takes the page as it is, on a device that takes no writes any more.
    fn believe(&mut self, suspect: Suspect) -> Result<(), Fault<D::Error>> {
        match suspect.what {
            What::Sectors => self.adopt(suspect.spot),
            What::Map(leaf) => {
                let page = self.map.vacate(None);
                self.fill_from_buffer(page);
                self.map.set_spot(leaf, suspect.spot);
                self.map.give(page, Some(leaf));
                let (first, sectors) = self.shape.sectors_of(leaf);
                for sector in first.run(ftl_iface::SectorCount::new(sectors)) {
                    self.table.take(sector);
                }
                Ok(())
            }
        }
    }
}
