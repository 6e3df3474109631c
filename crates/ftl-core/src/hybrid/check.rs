//! The invariants, each as a named function. Only tests call them, between all steps.
//!
//! They read tags from the device, to compare the tables with the flash.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use ftl_iface::{NandDevice, Sector};

use crate::check::{Checked, Violation, ensure};
use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{Seen, Spot};
use crate::hybrid::mlc::maps::MapEntry;
use crate::hybrid::mount::Settled;
use crate::hybrid::slc::index::Entry;
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, PageNote, Slot, Stamp};
use crate::probe::{Cause, Probe};
use crate::table::{Row, word};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Checks every invariant.
    pub fn check(&mut self) -> Checked {
        if self.ensure_settled()? == Settled::ButForCopies {
            // What the copies replace may have become unreadable.
            return Ok(());
        }
        self.every_chain_block_is_in_one_place()?;
        self.free_blocks_are_erased()?;
        self.data_blocks_hold_their_sectors_in_place()?;
        self.maps_agree_with_the_tags()?;
        self.the_log_lies_between_tail_and_head()?;
        self.every_entry_points_to_its_sector()?;
        self.chains_are_in_order_of_birth()?;
        self.proved_entries_are_newest()?;
        self.chains_with_entries_are_logged()?;
        self.sectors_left_elsewhere_are_there()
    }

    /// Returns the number of blocks of the longest chain.
    pub fn longest_chain(&self) -> u32 {
        let lengths = self.logical_blocks().map(|logical| self.chain_of(logical).count());
        lengths.max().unwrap_or(0) as u32
    }

    fn chain_of(&self, logical: LogicalBlock) -> impl Iterator<Item = ChainBlock> + '_ {
        let limit = self.shape.chain.block_count().as_usize() + 1;
        core::iter::successors(self.mlc.chains.first(logical), |block| self.mlc.chains.next(*block))
            .take(limit)
    }

    fn logical_blocks(&self) -> impl Iterator<Item = LogicalBlock> + use<D, P> {
        (0..self.shape.logical_blocks).map(LogicalBlock::new)
    }

    /// Each block of the chain region is bad, free, the target of a fold, kept for a wear-leveling move, or in one
    /// chain once.
    fn every_chain_block_is_in_one_place(&mut self) -> Checked {
        let mut places: Vec<Vec<String>> =
            vec![Vec::new(); self.shape.chain.block_count().as_usize()];
        let mut put = |block: ChainBlock, place: String| {
            if let Some(found) = places.get_mut(block.index()) {
                found.push(place);
            }
        };
        for logical in self.logical_blocks() {
            for block in self.chain_of(logical) {
                put(block, format!("the chain of {logical:?}"));
            }
        }
        let limit = self.shape.chain.block_count().as_usize() + 1;
        let mut free = 0;
        for block in self.mlc.chains.free().take(limit) {
            free += 1;
            put(block, "the free blocks".into());
        }
        if let Some(job) = self.mlc.fold.job() {
            put(job.target, "the fold's target".into());
        }
        if let Some(moved) = self.wear_move.filter(|moved| !moved.under_way) {
            put(moved.worn, "the wear move".into());
        }
        for block in self.mlc.chains.stale().take(limit) {
            put(block, "the stale blocks".into());
        }
        for number in 0..self.shape.chain.blocks {
            let block = ChainBlock::new(number);
            if self.wear.is_retired(block) {
                put(block, "the bad blocks".into());
            }
        }
        for (number, found) in places.iter().enumerate() {
            ensure(found.len() == 1, || format!("chain block {number} is in {found:?}"))?;
        }
        let counted = word(self.mlc.chains.free_count()) as usize;
        ensure(free == counted, || format!("{free} blocks are free, {counted} are counted"))
    }

    /// A free block reads as erased.
    fn free_blocks_are_erased(&mut self) -> Checked {
        // Blocks that a power cut may have damaged are erased when they are taken.
        let suspects = word(self.mlc.chains.suspects()) as usize;
        let free: Vec<ChainBlock> = self.mlc.chains.free().skip(suspects).collect();
        for block in free {
            let seen = self.flash.look(Spot::chain(block, 0), Cause::Mount)?;
            ensure(seen.is_erased(), || format!("free block {block:?} holds {seen:?}"))?;
        }
        Ok(())
    }

    /// A data block has every page programmed, and each sector at its fixed slot.
    fn data_blocks_hold_their_sectors_in_place(&mut self) -> Checked {
        for logical in self.logical_blocks() {
            let Some(data) = self.mlc.chains.data(logical) else {
                continue;
            };
            for page in 0..self.shape.chain.pages {
                let spot = Spot::chain(data, page);
                let found = match self.flash.look(spot, Cause::Mount)? {
                    Seen::Page(found) => found,
                    Seen::Erased => {
                        let of = format!("data block {data:?} of {logical:?}");
                        return Err(Violation(format!("page {page} of {of} is erased")));
                    }
                    Seen::Unreadable => continue,
                };
                let kind = found.kind;
                ensure(matches!(kind, Kind::Data | Kind::ChainInPlace), || {
                    format!("page {page} of data block {data:?} of {logical:?} is {kind:?}")
                })?;
                for slot in 0..self.shape.chain.slots {
                    let offset = u32::from(page) * u32::from(self.shape.chain.slots);
                    let sector = self.mlc.sector(logical, offset + u32::from(slot));
                    let holds = found.slot(slot);
                    ensure(holds.place_of() == Some(sector), || {
                        format!(
                            "slot {slot} of page {page} of {data:?} holds {holds:?}, not {sector}"
                        )
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Returns what the tags of a chain's log blocks record: where each sector is, and its stamp. Unreadable pages are
    /// skipped.
    fn places_by_tags(
        &mut self,
        logical: LogicalBlock,
    ) -> Result<Vec<(MapEntry, Stamp)>, Violation> {
        let sectors = self.mlc.sectors_per_block().get() as usize;
        let mut places = vec![(MapEntry::InPlace, Stamp::ZERO); sectors];
        let logs: Vec<ChainBlock> = self.mlc.chains.logs(logical).collect();
        // Log blocks must be younger than the data block, or a mount would take them for stale.
        let mut newest = Stamp::ZERO;
        if let Some(data) = self.mlc.chains.data(logical)
            && let Some(tag) = self.flash.look(Spot::chain(data, 0), Cause::Mount)?.tag()
        {
            newest = tag.stamp;
        }
        for (ordinal, block) in logs.into_iter().enumerate() {
            for page in 0..self.shape.chain.pages {
                let spot = Spot::chain(block, page);
                let found = match self.flash.look(spot, Cause::Mount)? {
                    Seen::Page(found) => found,
                    Seen::Erased => {
                        if self.flash.may_be_left_out(spot) {
                            continue;
                        }
                        break;
                    }
                    Seen::Unreadable => continue,
                };
                let tag = found.tag();
                ensure(tag.stamp > newest, || format!("page {page} of {block:?} is out of order"))?;
                newest = tag.stamp;
                if tag.kind == Kind::Trim {
                    let trim = match self.mlc.read_trim(&mut self.flash, spot, Cause::Mount) {
                        Ok(trim) => trim,
                        // It was torn, and has become unreadable since its tag was read.
                        Err(Fault::Uncorrectable) => continue,
                        Err(fault) => return Err(fault.into()),
                    };
                    let start = self.mlc.locate(trim.first).1 as usize;
                    for place in places.iter_mut().skip(start).take(trim.count.as_usize()) {
                        *place = (MapEntry::Trimmed, tag.stamp);
                    }
                    continue;
                }
                for slot in 0..self.shape.chain.slots {
                    if let Some(sector) = found.slot(slot).copy_of() {
                        let (owner, offset) = self.mlc.locate(sector);
                        ensure(owner == logical, || format!("{sector} stands in {logical:?}"))?;
                        let place = MapEntry::Log { ordinal: ordinal as u16, page, slot };
                        places[offset as usize] = (place, tag.stamp);
                    }
                }
            }
        }
        Ok(places)
    }

    /// Every page of a chain's log blocks is younger than the page before it, and than the data block's first.
    fn chains_are_in_order_of_birth(&mut self) -> Checked {
        for logical in self.logical_blocks() {
            self.places_by_tags(logical)?;
        }
        Ok(())
    }

    /// A cached map equals what a scan would find, and no sketch omits a sector that is there.
    fn maps_agree_with_the_tags(&mut self) -> Checked {
        for logical in self.logical_blocks() {
            if !self.mlc.has_log(logical) {
                continue;
            }
            let places = self.places_by_tags(logical)?;
            for (offset, (place, _)) in places.iter().enumerate() {
                let known = self.mlc.sketches.may_hold(logical, offset as u32);
                ensure(known || *place == MapEntry::InPlace, || {
                    format!("sector {offset} of {logical:?} is not sketched, found {place:?}")
                })?;
            }
            let Some(map) = self.mlc.maps.peek(logical) else {
                continue;
            };
            for (offset, (place, _)) in places.iter().enumerate() {
                let mapped = self.mlc.maps.get(map, offset as u32);
                ensure(
                    mapped == *place || self.is_known_otherwise(logical, offset as u32, mapped)?,
                    || {
                        format!(
                            "sector {offset} of {logical:?} is mapped {mapped:?}, found {place:?}"
                        )
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Whether a map may know more than the readable tags: it names an unreadable page, or a lost page may have named
    /// the sector.
    fn is_known_otherwise(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
        mapped: MapEntry,
    ) -> Result<bool, Violation> {
        if let MapEntry::Log { ordinal, page, .. } = mapped {
            let block = self.mlc.chains.logs(logical).nth(usize::from(ordinal));
            let block = block.ok_or_else(|| Violation("a map names no block".into()))?;
            let seen = self.flash.look(Spot::chain(block, page), Cause::Mount)?;
            return Ok(matches!(seen, Seen::Unreadable));
        }
        Ok(mapped == MapEntry::Trimmed && self.may_have_stood_on_lost_page(logical, offset)?)
    }

    /// Whether the chain's log blocks have an unreadable page that may have held the sector: the next page's note names
    /// the sector or names none, or the page is the last that was programmed and no power cut may have torn it.
    fn may_have_stood_on_lost_page(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<bool, Violation> {
        let logs: Vec<ChainBlock> = self.mlc.chains.logs(logical).collect();
        for block in logs {
            let mut lost = None;
            for page in 0..self.shape.chain.pages {
                match self.flash.look(Spot::chain(block, page), Cause::Mount)? {
                    Seen::Erased => {}
                    Seen::Unreadable => lost = Some(page),
                    Seen::Page(found) => {
                        let tag = found.tag();
                        let note = lost.take().map(|lost| self.mlc.note_of_predecessor(tag, lost));
                        if note.is_some_and(|note| note == PageNote::Nothing || note.is_of(offset))
                        {
                            return Ok(true);
                        }
                    }
                }
            }
            if lost.is_some() && !self.mlc.sealed.get(logical) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tail, head and the count of blocks between them agree; the blocks between are programmed, the others erased.
    fn the_log_lies_between_tail_and_head(&mut self) -> Checked {
        let Some(log) = self.log.as_ref() else {
            return Ok(());
        };
        let ring = log.ring();
        let (good, used, head, tail) = (ring.good(), ring.used(), ring.head(), ring.tail());
        let full = log.data_pages();
        if good == 0 {
            return Ok(());
        }
        ensure((1..=good).contains(&used), || format!("{used} of {good} blocks are in use"))?;
        ensure(ring.head_page() <= full, || "the head is more than full".into())?;
        let mut blocks = vec![tail];
        while blocks.len() < usize::from(good) {
            blocks.push(ring.after(blocks[blocks.len() - 1]));
        }
        let at = blocks.iter().position(|block| *block == head);
        ensure(at == Some(usize::from(used) - 1), || {
            format!("the head is block {at:?} from the tail, but {used} are in use")
        })?;
        let head_empty = ring.head_page() == 0;
        let suspects = usize::from(ring.suspects());
        for (at, block) in blocks.into_iter().enumerate() {
            let seen = self.flash.look(Spot::log(block, 0), Cause::Mount)?;
            let programmed = at < usize::from(used) && !(block == head && head_empty);
            let suspect = (usize::from(used)..usize::from(used) + suspects).contains(&at);
            let agrees = match seen {
                Seen::Page(_) | Seen::Unreadable => programmed,
                // A power cut during the erase of a tail may leave any of its pages.
                Seen::Erased => !programmed || at == 0,
            };
            ensure(agrees || suspect, || {
                format!("log block {block:?}, number {at} from the tail, holds {seen:?}")
            })?;
        }
        Ok(())
    }

    fn entries(&self) -> Vec<(Sector, crate::hybrid::slc::index::LogSlot)> {
        let Some(log) = self.log.as_ref() else {
            return Vec::new();
        };
        log.index
            .iter()
            .filter_map(|(sector, entry)| match entry {
                Entry::Real(slot) => Some((sector, slot)),
                Entry::Virtual => None,
            })
            .collect()
    }

    /// The hash table is in order, and each real entry points to a page that holds its sector.
    fn every_entry_points_to_its_sector(&mut self) -> Checked {
        let Some(log) = self.log.as_ref() else {
            return Ok(());
        };
        log.index.check().map_err(|fault| Violation(format!("{fault}")))?;
        for (sector, at) in self.entries() {
            let log = self.log.as_ref().ok_or_else(|| Violation("no log".into()))?;
            let (spot, slot) = log.spot(at);
            let holds = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(found) => found.slot(slot),
                Seen::Erased => Slot::Empty,
                Seen::Unreadable => continue,
            };
            ensure(holds.copy_of() == Some(sector), || {
                format!("{sector} is mapped to {spot:?} slot {slot}, which holds {holds:?}")
            })?;
        }
        Ok(())
    }

    /// A sector that the log maps has no newer copy in its chain, once its logical block is proved.
    fn proved_entries_are_newest(&mut self) -> Checked {
        for (sector, at) in self.entries() {
            let (logical, offset) = self.mlc.locate(sector);
            if self.unproved.get(logical) {
                continue;
            }
            let log = self.log.as_ref().ok_or_else(|| Violation("no log".into()))?;
            let (spot, _) = log.spot(at);
            let Some(tag) = self.flash.look(spot, Cause::Mount)?.tag() else {
                continue;
            };
            let in_log = Some(tag.stamp);
            let (_, in_chain) = self.places_by_tags(logical)?[offset as usize];
            ensure(in_log > Some(in_chain), || {
                format!(
                    "the chain's copy of {sector} ({in_chain:?}) is newer than the log's ({in_log:?})"
                )
            })?;
        }
        Ok(())
    }

    /// No lookup in the log is skipped for a chain of which the log holds a sector.
    fn chains_with_entries_are_logged(&self) -> Checked {
        for (sector, _) in self.entries() {
            let (logical, _) = self.mlc.locate(sector);
            ensure(self.logged.get(logical), || {
                format!("the log holds {sector}, and nobody looks there for {logical:?}")
            })?;
        }
        Ok(())
    }

    /// A sector that a fold marked *elsewhere* is in the log or in a younger log block.
    fn sectors_left_elsewhere_are_there(&mut self) -> Checked {
        for logical in self.logical_blocks() {
            let Some(data) = self.mlc.chains.data(logical) else {
                continue;
            };
            let places = self.places_by_tags(logical)?;
            for (offset, (place, _)) in places.into_iter().enumerate() {
                let (page, slot) = self.mlc.home(offset as u32);
                let spot = Spot::chain(data, page);
                let Seen::Page(found) = self.flash.look(spot, Cause::Mount)? else {
                    continue;
                };
                let Slot::Elsewhere(sector) = found.slot(slot) else {
                    continue;
                };
                let in_log = self.log.as_ref().is_some_and(|log| log.index.find(sector).is_some());
                let stands = in_log
                    || place != MapEntry::InPlace
                    || self.may_have_stood_on_lost_page(logical, offset as u32)?;
                // It reads as lost. That is right if its newest copy was on a page that nothing else recorded.
                ensure(stands, || {
                    format!("{sector} is neither in {data:?} nor elsewhere, unless Uncorrectable")
                })?;
            }
        }
        Ok(())
    }
}
