//! Paired pages: those that share their cells with the page to be programmed.
//!
//! A cell of several bits belongs to several pages. If power fails while the later one is programmed, the earlier ones
//! are lost too, and they may have been acknowledged long ago. So before a page of a chain is programmed, the valid
//! data of its paired pages is backed up in the log, which must have single-bit cells for that. Pages of the current
//! request need no backup: until it is acknowledged, the older copies exist. If there is no such log, or no space in
//! it, the page is skipped: it stays erased, and the next one is tried.
//!
//! A fold needs none of this: its sources are in the frozen blocks until its last page is programmed. The log and
//! the meta area use only the first page of each word line.
//!
//! **What replaces a page that may be unstable is never endangered.** A page that was torn, or that failed to program,
//! may read well for a while. Its chain's map does not show it, because its content was written again behind it. If a
//! torn program corrupted that newer page, the map would show the old one, which dies between two reads. The newer page
//! needs no backup once the log has a still newer version, so its block takes no more pages instead.
//!
//! A backup is valid only if the page for which it was made may have been in flight. A mount sees this by the stamps:
//! nothing but that page can have been programmed after it. Then it is written to its chain again (`rescue`).

use ftl_iface::{NandDevice, PageCount, PageIndex, Pairing, Sector};

use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogBlock, LogicalBlock};
use crate::hybrid::flash::{Gathered, Seen, Spot};
use crate::hybrid::mlc::maps::{MapEntry, MapId};
use crate::hybrid::rules;
use crate::hybrid::shape::SLOTS_MAX;
use crate::hybrid::state::{Ftl, RequestStart, Youngest};
use crate::layout::{Kind, Slot, Slots, Stamp};
use crate::probe::{Cause, Probe};
use crate::quotient;

/// Backups that were made for one page: `count` pages of the log from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backups {
    block: LogBlock,
    page: u16,
    count: u16,
}

/// What a torn program of the next page would do to the pages that share its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Partners {
    /// They hold nothing that counts, or it is backed up.
    Safe,
    /// They hold something that cannot be backed up.
    Exposed,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Whether pages of the chains share cells and must be protected.
    #[inline]
    fn guards_pairs(&self) -> bool {
        !matches!(self.shape.guarded, Pairing::None)
    }

    /// The pages before a page of the chains that share its cells.
    fn endangered(&self, page: u16) -> impl Iterator<Item = u16> + use<D, P> {
        let pages = PageCount::new(u32::from(self.shape.chain.pages));
        self.shape.guarded.endangered(PageIndex::new(page), pages).map(PageIndex::get)
    }

    /// Notes that the chain's next page belongs to the request under way.
    #[inline]
    pub(crate) fn note_own_page(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<(), Fault<D::Error>> {
        if self.guards_pairs() {
            let block = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?.block;
            if self.request_start.is_none_or(|start| start.block != block) {
                self.request_start =
                    Some(RequestStart { block, from: self.mlc.maps.next_page(map) });
            }
        }
        Ok(())
    }

    /// Ensures that programming the chain's next page cannot corrupt acknowledged data: makes backups, or skips pages.
    /// Returns the chain's map, which may have been rebuilt; `None`: no page is left.
    #[inline]
    pub(crate) fn guard(
        &mut self,
        logical: LogicalBlock,
        mut map: MapId,
    ) -> Result<Option<MapId>, Fault<D::Error>> {
        if !self.guards_pairs() {
            return Ok(Some(map));
        }
        loop {
            let page = self.mlc.maps.next_page(map);
            if page >= self.shape.chain.pages {
                return Ok(None);
            }
            let partners = self.secure_partners(logical, page)?;
            // A proof that finds an unreadable trim has the chain scanned again.
            map = self.mlc.map(&mut self.flash, logical)?;
            if partners == Partners::Safe {
                return Ok(Some(map));
            }
            self.mlc.maps.set_next_page(map, page + 1, false);
        }
    }

    /// Backs up what a torn program of that page would corrupt.
    fn secure_partners(
        &mut self,
        logical: LogicalBlock,
        page: u16,
    ) -> Result<Partners, Fault<D::Error>> {
        let block = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?.block;
        // If all paired pages belong to the request itself, none needs a backup. Otherwise all do, because its pages
        // may have replaced data of the older ones.
        let own = self.request_start.filter(|start| start.block == block).map(|start| start.from);
        if self.endangered(page).all(|partner| own.is_some_and(|from| from <= partner)) {
            return Ok(Partners::Safe);
        }
        for partner in self.endangered(page) {
            if self.secure_page(logical, partner)? == Partners::Exposed {
                return Ok(Partners::Exposed);
            }
        }
        Ok(Partners::Safe)
    }

    /// Backs up the valid content of a page of the chain's last log block, if there is room.
    fn secure_page(
        &mut self,
        logical: LogicalBlock,
        page: u16,
    ) -> Result<Partners, Fault<D::Error>> {
        if !rules::must_back_up() {
            return Ok(Partners::Safe);
        }
        self.prove(logical)?;
        let map = self.mlc.map(&mut self.flash, logical)?;
        let end = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?;
        let spot = Spot::chain(end.block, page);
        let held = match self.flash.look(spot, Cause::Backup)? {
            Seen::Erased | Seen::Unreadable => return Ok(Partners::Safe),
            Seen::Page(page) if rules::must_not_be_endangered(page.kind) => {
                return Ok(Partners::Exposed);
            }
            Seen::Page(page) => Gathered::of(&page, 0, self.shape.chain.slots),
        };
        let mut current = [None; SLOTS_MAX];
        let mut count = 0;
        for ((slot, held), sector) in (0..).zip(held.list()).zip(&mut current) {
            let place = MapEntry::Log { ordinal: end.ordinal, page, slot };
            *sector = held.copy_of();
            *sector = sector.filter(|sector| self.is_newest_at(*sector, map, place));
            count += u16::from(sector.is_some());
        }
        if count == 0 {
            return Ok(Partners::Safe);
        }
        if !self.has_room_for_backup(count) {
            return Ok(Partners::Exposed);
        }
        match self.back_up(spot, &current) {
            // Backups are valid only if they are consecutive.
            Err(Fault::BlockFailed) => Ok(Partners::Exposed),
            outcome => outcome.map(|()| Partners::Safe),
        }
    }

    /// Whether the newest copy of a sector is at that place of its chain.
    fn is_newest_at(&self, sector: Sector, map: MapId, place: MapEntry) -> bool {
        let (_, offset) = self.mlc.locate(sector);
        self.mlc.maps.get(map, offset) == place
            && self.log.as_ref().is_none_or(|log| log.index.find(sector).is_none())
    }

    /// Whether the log has room for that many sectors, and some left for hot data. In a log with several bits per cell
    /// a backup is useless. During recovery from a power cut, or from a failed program, nothing is programmed to the
    /// log, because a mount looks for copies in one place.
    fn has_room_for_backup(&self, sectors: u16) -> bool {
        let one_bit = matches!(self.shape.word_lines, Pairing::None);
        self.log
            .as_ref()
            .filter(|log| one_bit && log.ring().turns())
            .filter(|_| self.unsettled.is_none() && self.failed_page.is_none())
            .is_some_and(|log| {
                let pages = quotient::ceil(sectors.into(), log.area().slots.into());
                log.free_pages() > pages + u32::from(log.data_pages() / 2)
            })
    }

    /// Backs up those sectors of a page in the log.
    fn back_up(
        &mut self,
        spot: Spot,
        sectors: &[Option<Sector>; SLOTS_MAX],
    ) -> Result<(), Fault<D::Error>> {
        let slots = self.shape.log.map_or(1, |area| area.slots);
        let mut page = Gathered::new();
        for (slot, sector) in (0..).zip(sectors) {
            let Some(sector) = *sector else {
                continue;
            };
            self.flash.gather(&mut page, (spot, slot), sector, Cause::Backup)?;
            if page.count() == slots {
                self.append_backup(page.list())?;
                page.clear();
            }
        }
        if page.count() > 0 {
            self.flash.leave_empty(&mut page, slots);
            self.append_backup(page.list())?;
        }
        Ok(())
    }

    fn append_backup(&mut self, holds: &[Slot]) -> Result<(), Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        log.append_backup(&mut self.flash, Slots::Listed(holds))
    }

    /// Ensures that nothing corrupts what was just written to that chain in place of a page that may be unstable.
    #[cold]
    pub(crate) fn protect_last_log(&mut self, logical: LogicalBlock) {
        if self.guards_pairs() && rules::must_seal_replacement(self.mlc.has_log(logical)) {
            self.mlc.seal(logical);
        }
    }

    /// The backups made for the page programmed last, or for an unreadable one that was begun after them.
    pub(crate) fn find_backups(
        &mut self,
        youngest: &Youngest,
    ) -> Result<Option<Backups>, Fault<D::Error>> {
        let Some(log) = self.log.as_ref().filter(|_| self.guards_pairs()) else {
            return Ok(None);
        };
        let (data_pages, summary_pages) = (log.data_pages(), log.area().pages - log.data_pages());
        let (tail, mut block, mut page) =
            (log.ring().tail(), log.ring().head(), log.ring().head_page());
        // The stamp of the page after this one; at first, of the page for which the backups were made.
        let mut after: Option<Stamp> = None;
        let mut found = None;
        let mut count = 0;
        loop {
            if page == 0 {
                let log = self.the_log()?;
                if block == tail {
                    break;
                }
                (block, page) = (log.ring().before(block), data_pages);
            }
            page -= 1;
            let seen = self.flash.look(Spot::log(block, page), Cause::Mount)?;
            let Some(tag) = seen.tag() else { break };
            // A block's last page is followed by its summary, unless it failed.
            let is_last = page + 1 == data_pages;
            let is_followed =
                is_last && !(rules::may_lack_summary() && self.is_summary_missing(block)?);
            let skipped = if is_followed { summary_pages } else { 0 };
            let next = tag.stamp.get() + u64::from(skipped) + 1;
            let follows = match after {
                Some(after) => after.get() == next,
                None => rules::do_backups_count(youngest.stamp, next),
            };
            if tag.kind != Kind::Backup || !follows {
                break;
            }
            count += 1;
            found = Some(Backups { block, page, count });
            after = Some(tag.stamp);
        }
        Ok(found)
    }

    /// Whether no page of a block's summary was begun.
    pub(crate) fn is_summary_missing(&mut self, block: LogBlock) -> Result<bool, Fault<D::Error>> {
        let log = self.the_log()?;
        for page in log.data_pages()..log.area().pages {
            let seen = self.flash.look(Spot::log(block, page), Cause::Mount)?;
            if rules::shows_begun_summary(seen) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The page of a backup with that number, from the first on.
    pub(crate) fn backup_spot(&self, backups: Backups, number: u16) -> Option<Spot> {
        let log = self.log.as_ref()?;
        let (mut block, mut page) = (backups.block, backups.page);
        for _ in 0..number {
            page += 1;
            if page == log.data_pages() {
                (block, page) = (log.ring().after(block), 0);
            }
        }
        Some(Spot::log(block, page))
    }

    /// Whether the pages that share cells with the last one of a block can be read.
    pub(crate) fn are_partners_readable(
        &mut self,
        block: ChainBlock,
    ) -> Result<bool, Fault<D::Error>> {
        if !self.guards_pairs() {
            return Ok(true);
        }
        for page in self.endangered(self.shape.chain.pages - 1) {
            let spot = Spot::chain(block, page);
            if rules::may_be_corrupted(self.flash.look(spot, Cause::Mount)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Backups {
    /// The number of pages.
    pub(crate) const fn count(self) -> u16 {
        self.count
    }
}
