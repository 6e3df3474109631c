//! Telling valid entries of the hash table from stale ones after a mount.
//!
//! A mount maps the newest copy of each sector *in the log*. A write that later went to the sector's chain is newer
//! still, but to know it the chain must be read. That is done when a logical block is first needed: its entries are
//! compared with its chain, stamp by stamp, and the stale ones are dropped.

use ftl_iface::{NandDevice, Sector};

use super::Ftl;
use crate::address::{ChainBlock, LogicalBlock};
use crate::error::Fault;
use crate::flash::Spot;
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
        if self.mlc.chains.first(logical).is_none() {
            return Ok(true);
        }
        let (spot, _) = self.the_log()?.spot(at);
        let tag = self.flash.read_tag(spot, Cause::Mount)?;
        let in_log = tag.ok_or(Fault::Corrupt)?.stamp;
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
                    let spot = Spot::chain(block.ok_or(Fault::Corrupt)?, page);
                    let tag = self.flash.read_tag(spot, Cause::Mount)?;
                    return Ok(Some(tag.ok_or(Fault::Corrupt)?.stamp));
                }
            }
        }
        let Some(data) = self.mlc.chains.data(logical) else {
            return Ok(None);
        };
        let (page, slot) = self.mlc.home(offset);
        let tag = self.flash.read_tag(Spot::chain(data, page), Cause::Mount)?;
        let tag = tag.ok_or(Fault::Corrupt)?;
        match self.flash.slot(usize::from(slot)) {
            Slot::Elsewhere(_) => Ok(None),
            _ => Ok(Some(tag.stamp)),
        }
    }

    /// The stamp of the newest trim of a sector that the chain's map says is trimmed.
    fn stamp_of_trim(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        let mut newest = None;
        let mut block = self.mlc.chains.first_log(logical);
        while let Some(at) = block {
            for page in 0..self.shape.chain.pages {
                match self.trim_at(at, page)? {
                    Page::Erased => break,
                    Page::Trim { stamp, from, to } if (from..to).contains(&offset) => {
                        newest = newest.max(Some(stamp));
                    }
                    Page::Trim { .. } | Page::Other => {}
                }
            }
            block = self.mlc.chains.next(at);
        }
        Ok(newest)
    }

    fn trim_at(&mut self, block: ChainBlock, page: u16) -> Result<Page, Fault<D::Error>> {
        let spot = Spot::chain(block, page);
        match self.flash.read_tag(spot, Cause::Mount)? {
            None => Ok(Page::Erased),
            Some(tag) if tag.kind == Kind::Trim => {
                let trim = self.mlc.read_trim(&mut self.flash, spot, Cause::Mount)?;
                let (_, from) = self.mlc.locate(trim.first);
                Ok(Page::Trim { stamp: tag.stamp, from, to: from.saturating_add(trim.count.get()) })
            }
            Some(_) => Ok(Page::Other),
        }
    }
}

/// A page of a log block, as far as trims are concerned.
enum Page {
    Erased,
    Trim { stamp: Stamp, from: u32, to: u32 },
    Other,
}
