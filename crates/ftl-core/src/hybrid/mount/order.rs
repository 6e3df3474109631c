//! The chains after a mount without a checkpoint: which blocks are free, in which order they follow each other, and
//! which are stale.
//!
//! A data block is first in its chain, and everything older is stale: a fold collects all that is older, and so does a
//! log block that was fully written in order. Log blocks follow by age.

use ftl_iface::{NandDevice, PageCount};

use crate::error::Fault;
use crate::health::mean;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{Seen, Spot};
use crate::hybrid::mlc::fold::Attempt;
use crate::hybrid::rules;
use crate::hybrid::state::{Ftl, SecondFold};
use crate::layout::{Kind, Tag};
use crate::probe::{Cause, Probe};
use crate::table::BlockNumber;

/// The role of a block in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// All blocks before it are stale.
    Leads,
    /// It holds data newer than that of the blocks before it.
    Follows,
    /// It belongs to a fold that was not completed.
    Stale,
}

/// The first readable page of a block.
#[derive(Clone, Copy, Debug)]
struct First {
    page: u16,
    /// Its tag, with the stamp of the block's first page if the tag records it.
    tag: Tag,
    /// The logical block that it belongs to.
    owner: Option<LogicalBlock>,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Examines the blocks that are not data blocks: free ones, log blocks, an interrupted fold.
    pub(crate) fn look_into_open_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        let mut worn = 0;
        let mut known = self.wear.in_use().fold(0, |count: BlockNumber, _| count + 1);
        for _ in 0..self.mlc.chains.stale_count() {
            let block = self.mlc.chains.take_stale().ok_or(Fault::Corrupt)?;
            let found = self.first_tag(block)?;
            let owned = found.and_then(|first| Some((first, first.owner?)));
            let Some((First { page, tag, .. }, logical)) = owned else {
                self.mlc.chains.give_free(block);
                known -= 1;
                continue;
            };
            if page == 0 && tag.kind == Kind::Data {
                worn = Attempt::wear_of(tag.note);
            } else if page == 0 || tag.kind == Kind::ChainInPlace {
                worn = tag.note;
            }
            // If the page that records its wear cannot be read, the wear of the previous block is assumed.
            self.wear.restore(block, worn);
            let filled = self.filled_pages(block)?;
            for page in (0..filled).rev() {
                let spot = Spot::chain(block, page);
                if let Some(tag) = self.flash.look(spot, Cause::Mount)?.tag() {
                    self.meet(spot, &tag);
                    break;
                }
            }
            if rules::is_interrupted(tag.kind, filled, self.shape.chain.pages) {
                let again = page == 0 && Attempt::of_note(tag.note) == Attempt::Again;
                if let Some(state) = self.unsettled.as_mut().filter(|_| again) {
                    state.again = Some(SecondFold { logical, target: block, born: tag.stamp });
                }
                self.mlc.chains.give_stale(block);
                continue;
            }
            self.mlc.chains.push_first(logical, block);
            self.mlc.chains.set_has_data(logical, tag.kind == Kind::Data);
        }
        self.mlc.chains.suspect_free();
        self.estimate_wear(known);
        Ok(())
    }

    /// Sets the erase counts of the free blocks, which are erased and so record none, to the mean of the `known`
    /// counts. Free blocks are the ones in rotation; counted as new they would be worn further after each mount. This
    /// leaves the mean unchanged, however often the device is mounted, and with wear leveling it is wrong by only a few
    /// erases.
    fn estimate_wear(&mut self, known: BlockNumber) {
        let mean = mean(self.wear.total_erases(), known);
        for block in self.mlc.chains.free() {
            self.wear.restore(block, mean);
        }
    }

    /// The first readable page of a block.
    fn first_tag(&mut self, block: ChainBlock) -> Result<Option<First>, Fault<D::Error>> {
        for page in 0..self.shape.chain.pages {
            let spot = Spot::chain(block, page);
            match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(found) => {
                    let (mut tag, owner) = (found.tag(), self.mlc.owner(&found));
                    let last = page + 1 == self.shape.chain.pages;
                    if tag.kind == Kind::Data && page > 0 && !last {
                        tag.stamp = tag.stamp.before(tag.note);
                    }
                    return Ok(Some(First { page, tag, owner }));
                }
                Seen::Erased => {
                    if !self.flash.may_be_left_out(spot) {
                        return Ok(None);
                    }
                }
                Seen::Unreadable => {}
            }
        }
        Ok(None)
    }

    /// How many pages a block has up to the last that does not read as erased.
    fn filled_pages(&mut self, block: ChainBlock) -> Result<u16, Fault<D::Error>> {
        let pages = self.shape.chain.pages;
        let pairing = self.flash.chain_pairing();
        // The first page of a word line is never skipped.
        let (mut filled, mut free) =
            (0, pairing.word_lines(PageCount::new(pages.into())).get() as u16);
        let lines = free;
        while filled < free {
            let middle = filled + (free - filled) / 2;
            let spot = Spot::chain(block, pairing.nth_first_page(middle).get());
            if self.flash.look(spot, Cause::Mount)?.is_erased() {
                free = middle;
            } else {
                filled = middle + 1;
            }
        }
        let Some(last) = filled.checked_sub(1) else {
            return Ok(0);
        };
        let mut end = if filled < lines { pairing.nth_first_page(filled).get() } else { pages };
        while end > pairing.nth_first_page(last).get() + 1
            && self.flash.look(Spot::chain(block, end - 1), Cause::Mount)?.is_erased()
        {
            end -= 1;
        }
        Ok(end)
    }

    /// Sorts each chain, and removes stale blocks.
    pub(crate) fn order_chains(&mut self) -> Result<(), Fault<D::Error>> {
        self.doubt_rescued_blocks()?;
        for number in 0..self.shape.logical_blocks {
            let logical = LogicalBlock::new(number);
            let Some(first) = self.mlc.chains.first(logical) else {
                continue;
            };
            if self.mlc.chains.next(first).is_some() {
                self.sort(logical)?;
                self.find_leader(logical)?;
            } else if self.is_youngest(Spot::chain(first, self.shape.chain.pages - 1)) {
                self.doubt_only_block(logical)?;
            }
            let seals = rules::must_seal(self.mlc.has_log(logical));
            self.mlc.sealed.set(logical, seals);
        }
        Ok(())
    }

    /// Looks again at data blocks that are alone in a chain to which a copy is written again. Such a block may also
    /// belong to a fold that was interrupted while the copy was written.
    fn doubt_rescued_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        let rescued = self.unsettled.and_then(|state| state.rescued);
        let Some(rescued) = rescued.filter(|_| rules::must_doubt_rescued_blocks()) else {
            return Ok(());
        };
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                for sector in self.sectors_of_copy(Spot::meta(copy.block, page))? {
                    self.doubt_only_block(self.mlc.locate(sector).0)?;
                }
            }
        }
        Ok(())
    }

    /// Finds out whether a block that is alone in its chain is a data block.
    fn doubt_only_block(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        let only = self.mlc.chains.data(logical).filter(|_| !self.mlc.chains.is_long(logical));
        let Some(block) = only else {
            return Ok(());
        };
        match self.role(block, 0)? {
            Role::Leads => {}
            Role::Follows => self.mlc.chains.set_has_data(logical, false),
            Role::Stale => {
                self.mlc.chains.unlink(logical, None, block);
                self.mlc.chains.give_stale(block);
            }
        }
        Ok(())
    }

    /// Sorts the blocks of a chain by age.
    fn sort(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        let mut rest = self.mlc.chains.take_all(logical);
        while let Some(block) = rest {
            rest = self.mlc.chains.next(block);
            let age = self.first_tag(block)?.map(|first| first.tag.stamp);
            let mut after = None;
            let mut next = self.mlc.chains.first(logical);
            while let Some(other) = next {
                let other_age = self.first_tag(other)?.map(|first| first.tag.stamp);
                if !rules::is_before(other_age, age) {
                    break;
                }
                after = Some(other);
                next = self.mlc.chains.next(other);
            }
            self.mlc.chains.insert_after(logical, after, block);
        }
        Ok(())
    }

    /// Finds the first valid block of a chain that is sorted by age, and removes the stale ones.
    fn find_leader(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        let mut leads = false;
        let mut older = 0;
        let mut before = None;
        let mut next = self.mlc.chains.first(logical);
        while let Some(block) = next {
            next = self.mlc.chains.next(block);
            let mut role = self.role(block, older)?;
            if leads && role == Role::Leads && self.may_be_given_up(logical, block)? {
                role = Role::Stale;
            }
            match role {
                Role::Stale => {
                    self.mlc.chains.unlink(logical, before, block);
                    self.mlc.chains.give_stale(block);
                    continue;
                }
                Role::Leads => {
                    for _ in 0..older {
                        let stale = self.mlc.chains.first(logical).ok_or(Fault::Corrupt)?;
                        self.mlc.chains.unlink(logical, None, stale);
                        self.mlc.chains.give_stale(stale);
                    }
                    (leads, older) = (true, 0);
                }
                Role::Follows => {}
            }
            older += 1;
            before = Some(block);
        }
        self.mlc.chains.set_has_data(logical, leads);
        Ok(())
    }

    /// Whether a fold was completed by the page programmed last, which is not in the valid rescue copy for lack of
    /// room, and the data block that it was to replace is still complete. That block is the first to be erased, so then
    /// all frozen blocks still exist.
    fn may_be_given_up(
        &mut self,
        logical: LogicalBlock,
        block: ChainBlock,
    ) -> Result<bool, Fault<D::Error>> {
        let Some(state) = self.unsettled else {
            return Ok(false);
        };
        let last = Spot::chain(block, self.shape.chain.pages - 1);
        let covered = state.ended.is_some_and(|(ended, _)| ended == block);
        let fold = state.youngest.is_some_and(|youngest| youngest.kind == Kind::Data);
        if state.rescued.is_none() || covered || !fold || !self.is_youngest(last) {
            return Ok(false);
        }
        let Some(old) = self.mlc.chains.first(logical) else {
            return Ok(false);
        };
        for page in 0..self.shape.chain.pages {
            if !self.flash.look(Spot::chain(old, page), Cause::Mount)?.is_page() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether another fold of the chain was begun because that page had failed.
    fn is_folded_again(&self, logical: Option<LogicalBlock>, end: Tag) -> bool {
        let again = self.unsettled.and_then(|state| state.again);
        again.is_some_and(|again| {
            logical == Some(again.logical) && rules::is_begun_again(end.stamp, again.born)
        })
    }

    /// The role of a block in its chain, in which `older` blocks are older.
    fn role(&mut self, block: ChainBlock, older: u16) -> Result<Role, Fault<D::Error>> {
        let Some(First { tag: Tag { kind, stamp, .. }, owner, .. }) = self.first_tag(block)? else {
            // Its torn page has become unreadable since it was read.
            return Ok(Role::Stale);
        };
        // With a copy of its last page a data block is valid, whatever state the page is in.
        let ended = self.unsettled.and_then(|state| state.ended);
        let ended = ended.is_some_and(|(ended, copied)| ended == block && stamp < copied);
        let since_copy = self.unsettled.and_then(|state| state.copied_before);
        if kind == Kind::Data && older == 0 && rules::may_lead_alone(stamp, since_copy) {
            return Ok(Role::Leads);
        }
        let last = Spot::chain(block, self.shape.chain.pages - 1);
        let end = self.flash.look(last, Cause::Mount)?.tag();
        // If its last page had been torn, pages that share its cells would be unreadable.
        let ended = rules::is_ended_by_copy(ended, kind);
        let is_void = |end: Tag| older > 0 && self.is_folded_again(owner, end);
        let ends = |end: Tag| match end.kind {
            Kind::Data => !is_void(end),
            kind => kind == Kind::ChainInPlace,
        };
        let whole = ended || end.is_some_and(ends) && self.are_partners_readable(block)?;
        Ok(match (kind, whole) {
            (Kind::Data | Kind::ChainInPlace, true) => Role::Leads,
            (Kind::Data, false) => Role::Stale,
            _ => Role::Follows,
        })
    }
}
