//! Telling valid entries of the hash table from stale ones after a mount.
//!
//! A mount maps the newest copy of each sector *in the log*. A write that later went to the sector's chain is newer
//! still, but to know it the chain must be read. That is done when a logical block is first needed: its entries are
//! compared with its chain, stamp by stamp, and the stale ones are dropped.

use ftl_iface::{NandDevice, Sector};

use super::Ftl;
use crate::address::LogicalBlock;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Seen, Spot};
use crate::layout::{Kind, Slot, Stamp};
use crate::mlc::maps::Place;
use crate::probe::{Cause, Probe};
use crate::slc::index::LogSlot;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Drops the stale entries of a logical block, unless that was done before.
    #[inline]
    pub(crate) fn prove(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        if self.log.is_none() || !self.unproved.get(logical) {
            return Ok(());
        }
        for offset in 0..self.mlc.sectors_per_block().get() {
            let sector = self.mlc.sector(logical, offset);
            let Some(at) = self.the_log()?.index.find(sector) else {
                continue;
            };
            if !self.is_newest_in_log(sector, at)? {
                self.the_log()?.index.remove(sector);
            }
        }
        self.unproved.set(logical, false);
        Ok(())
    }

    /// Whether the log's copy of a sector is newer than its chain's.
    pub(crate) fn is_newest_in_log(
        &mut self,
        sector: Sector,
        at: LogSlot,
    ) -> Result<bool, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        if self.mlc.chains.first(logical).is_none() || planted(Bug::ForgetStamps) {
            return Ok(true);
        }
        let log = self.the_log()?;
        let ((block, page, _), pages) = (log.split(at), log.part().pages);
        // A tail may be half erased. Then all that was newest in it stands elsewhere, and is younger.
        let end = if block == log.ring().tail() { page + 1 } else { pages };
        let near = self.stamp_near(|page| Spot::log(block, page), page, end)?;
        let in_log = near.unwrap_or(Stamp::ZERO);
        match self.stamp_in_chain(logical, offset)? {
            Some(in_chain) => Ok(in_log > in_chain),
            None => Ok(true),
        }
    }

    /// When the chain last wrote, copied or forgot a sector, or found it absent. `None`: it never did, or it knew that
    /// the log had it.
    fn stamp_in_chain(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        if self.mlc.has_log(logical) {
            let map = self.mlc.map(&mut self.flash, logical)?;
            match self.mlc.maps.get(map, offset) {
                Place::InPlace => {}
                Place::Trimmed => return self.stamp_of_trim(logical, offset),
                Place::Log { ordinal, page, .. } => {
                    let block = self.mlc.chains.logs(logical).nth(usize::from(ordinal));
                    let block = block.ok_or(Fault::Corrupt)?;
                    let pages = self.shape.chain.pages;
                    return self.stamp_near(|page| Spot::chain(block, page), page, pages);
                }
            }
        }
        let Some(data) = self.mlc.chains.data(logical) else {
            return Ok(None);
        };
        let (page, slot) = self.mlc.home(offset);
        match self.flash.look(Spot::chain(data, page), Cause::Mount)? {
            Seen::Page(tag) => match self.flash.slot(usize::from(slot)) {
                Slot::Elsewhere(_) if !planted(Bug::ForgetElsewhere) => Ok(None),
                _ => Ok(Some(tag.stamp)),
            },
            _ => self.stamp_near(|page| Spot::chain(data, page), page, self.shape.chain.pages),
        }
    }

    /// The stamp of a page; where it cannot be read, of the next page before `pages` that can, or of the last before
    /// it.
    fn stamp_near(
        &mut self,
        spot: impl Fn(u16) -> Spot,
        page: u16,
        pages: u16,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        for at in page..pages {
            match self.flash.look(spot(at), Cause::Mount)? {
                Seen::Page(tag) => return Ok(Some(tag.stamp)),
                Seen::Erased if !self.flash.may_be_left_out(spot(at)) => break,
                Seen::Erased | Seen::Unreadable => {}
            }
        }
        for at in (0..page).rev() {
            if let Seen::Page(tag) = self.flash.look(spot(at), Cause::Mount)? {
                return Ok(Some(tag.stamp));
            }
        }
        Ok(None)
    }

    /// The stamp of the newest trim of a sector that the chain's map says is trimmed.
    fn stamp_of_trim(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        let mut newest = None;
        if planted(Bug::ForgetTrimStamps) {
            return Ok(newest);
        }
        let mut block = self.mlc.chains.first_log(logical);
        while let Some(at) = block {
            let mut lost = None;
            for page in 0..self.shape.chain.pages {
                let spot = Spot::chain(at, page);
                match self.flash.look(spot, Cause::Mount)? {
                    Seen::Erased if !self.flash.may_be_left_out(spot) => break,
                    Seen::Erased => {}
                    Seen::Unreadable => lost = Some(page),
                    Seen::Page(tag) => {
                        let before = lost.take().map(|lost| self.mlc.said_before(tag, lost));
                        let trims = before.is_some_and(|said| said.trims(offset))
                            || tag.kind == Kind::Trim && self.trims_at(spot, offset)?;
                        if trims {
                            newest = newest.max(Some(tag.stamp));
                        }
                    }
                }
            }
            block = self.mlc.chains.next(at);
        }
        Ok(newest)
    }

    /// Whether the trim at that page forgets the sector with that offset.
    fn trims_at(&mut self, spot: Spot, offset: u32) -> Result<bool, Fault<D::Error>> {
        let trim = self.mlc.read_trim(&mut self.flash, spot, Cause::Mount)?;
        let (_, from) = self.mlc.locate(trim.first);
        Ok((from..from.saturating_add(trim.count.get())).contains(&offset))
    }
}
