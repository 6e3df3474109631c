//! The chains, from the first page of each block.
//!
//! A block was born with the stamp of its first page. The youngest whole data block of a logical block leads its chain:
//! all blocks born before it are stale, because a fold gathers everything that is older, and so does a log block that
//! was written through in order. Log blocks born after it follow by age.

use ftl_iface::NandDevice;

use super::MountError;
use crate::address::{ChainBlock, LogicalBlock};
use crate::error::Fault;
use crate::flash::Spot;
use crate::ftl::Ftl;
use crate::layout::{Kind, Stamp};
use crate::probe::{Cause, Probe};

/// A block of a chain, as its first page describes it.
#[derive(Clone, Copy, Debug)]
struct Member {
    block: ChainBlock,
    logical: LogicalBlock,
    born: Stamp,
    /// Whether it holds every sector in its place.
    whole: bool,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    pub(super) fn mount_chains(&mut self) -> Result<(), MountError<D::Error>> {
        let mut known: u32 = 0;
        for number in 0..self.shape.chain.blocks {
            let block = ChainBlock::new(number);
            let spot = Spot::chain(block, 0);
            if self.flash.is_bad(spot)? {
                continue;
            }
            let Some(tag) = self.flash.read_tag(spot, Cause::Mount)? else {
                if self.flash.was_erased() {
                    self.mlc.chains.give_free(block);
                } else {
                    self.mlc.chains.give_stale(block);
                }
                continue;
            };
            self.flash.raise_stamp(tag.stamp);
            self.wear.restore(block, tag.wear);
            known += 1;
            let logical = self.flash.any_place().map(|sector| self.mlc.locate(sector).0);
            let known = logical.filter(|logical| logical.get() < self.shape.logical_blocks);
            match (known, self.is_whole(block)?, tag.kind) {
                (Some(logical), whole, Kind::Data | Kind::ChainInPlace) if whole => {
                    self.lead(Member { block, logical, born: tag.stamp, whole })?;
                }
                (Some(logical), _, Kind::Chain | Kind::ChainInPlace | Kind::Trim) => {
                    self.follow(Member { block, logical, born: tag.stamp, whole: false })?;
                }
                // A fold that was cut short, or nothing of ours.
                _ => self.mlc.chains.give_stale(block),
            }
        }
        self.estimate_wear(known);
        Ok(())
    }

    /// Gives the free blocks, which are erased and so carry no count, the mean of the `known` that do. Free blocks are
    /// those in use; taken for new ones they would be worn on at each mount. The mean is not moved by it, however often
    /// the device is mounted, and where wear is leveled it is a few erases off.
    fn estimate_wear(&mut self, known: u32) {
        let mean = self.wear.total_erases().checked_div(u64::from(known)).unwrap_or(0);
        for block in self.mlc.chains.free() {
            self.wear.restore(block, mean as u32);
        }
    }

    /// Whether the block's last page says that every sector stands in its place. Notes the stamp of the last page
    /// programmed on the way.
    fn is_whole(&mut self, block: ChainBlock) -> Result<bool, Fault<D::Error>> {
        let last = self.shape.chain.pages - 1;
        let tag = self.flash.read_tag(Spot::chain(block, last), Cause::Mount)?;
        if let Some(tag) = tag {
            self.flash.raise_stamp(tag.stamp);
            return Ok(matches!(tag.kind, Kind::Data | Kind::ChainInPlace));
        }
        // Partly filled: the last page that is programmed lies between the first and here.
        let (mut programmed, mut free) = (0, last);
        while programmed + 1 < free {
            let middle = programmed + (free - programmed) / 2;
            match self.flash.read_tag(Spot::chain(block, middle), Cause::Mount)? {
                Some(tag) => {
                    self.flash.raise_stamp(tag.stamp);
                    programmed = middle;
                }
                None => free = middle,
            }
        }
        Ok(false)
    }

    /// When the block was born: its first page's stamp.
    fn born(&mut self, block: ChainBlock) -> Result<Stamp, Fault<D::Error>> {
        let tag = self.flash.read_tag(Spot::chain(block, 0), Cause::Mount)?;
        Ok(tag.ok_or(Fault::Corrupt)?.stamp)
    }

    /// A whole data block: it leads, unless a younger one does.
    fn lead(&mut self, member: Member) -> Result<(), Fault<D::Error>> {
        debug_assert!(member.whole);
        if let Some(data) = self.mlc.chains.data(member.logical)
            && self.born(data)? > member.born
        {
            self.mlc.chains.give_stale(member.block);
            return Ok(());
        }
        let mut older = 0;
        let mut next = self.mlc.chains.first(member.logical);
        while let Some(block) = next {
            if self.born(block)? > member.born {
                break;
            }
            older += 1;
            next = self.mlc.chains.next(block);
        }
        let mut stale = self.mlc.chains.lead_with(member.logical, member.block, older);
        for _ in 0..older {
            let Some(block) = stale else {
                break;
            };
            stale = self.mlc.chains.next(block);
            self.mlc.chains.give_stale(block);
        }
        Ok(())
    }

    /// A log block: it follows those born before it.
    fn follow(&mut self, member: Member) -> Result<(), Fault<D::Error>> {
        let mut after = None;
        if let Some(data) = self.mlc.chains.data(member.logical) {
            if self.born(data)? > member.born {
                self.mlc.chains.give_stale(member.block);
                return Ok(());
            }
            after = Some(data);
        }
        let mut next = self.mlc.chains.first_log(member.logical);
        while let Some(block) = next {
            if self.born(block)? > member.born {
                break;
            }
            after = Some(block);
            next = self.mlc.chains.next(block);
        }
        self.mlc.chains.insert_log_after(member.logical, after, member.block);
        Ok(())
    }

    /// Erases what the mount found stale. Only now, when everything else is known, is anything changed.
    pub(super) fn clear_stale(&mut self) -> Result<(), MountError<D::Error>> {
        while let Some(block) = self.mlc.chains.take_stale() {
            self.free_block(block, Cause::Mount)?;
        }
        Ok(())
    }
}
