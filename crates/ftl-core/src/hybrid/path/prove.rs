//! Proving entries: which entries of the hash table are still valid after a mount.
//!
//! A mount maps the newest copy of each sector *in the log*. A later write to the sector's chain is newer
//! still, but to see it the chain must be read. That is done at the first access to a logical block: its entries are
//! compared with its chain, stamp by stamp, and the stale ones are dropped.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogBlock, LogicalBlock};
use crate::hybrid::flash::{Purpose, Seen, Spot};
use crate::hybrid::mlc::maps::MapEntry;
use crate::hybrid::rules;
use crate::hybrid::slc::index::{Entry, LogSlot};
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, Stamp, Tag};
use crate::probe::{Cause, Probe};

/// For how many sectors it is found out whether a block of the log holds the newest copy.
pub(crate) const TRIES_MAX: u16 = 4;

/// Where the newest copy of a sector is, of which there is one in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Newest {
    /// In the log.
    InLog,
    /// In the chain: the log's is stale.
    InChain,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Drops the stale entries of a logical block, unless that was done before.
    #[inline]
    pub(crate) fn prove(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        if self.log.as_ref().is_none() || !self.unproved.get(logical) {
            return Ok(());
        }
        for offset in 0..self.mlc.sectors_per_block().get() {
            let sector = self.mlc.sector(logical, offset);
            let Some(at) = self.the_log()?.index.find(sector) else {
                continue;
            };
            if self.newest_of(sector, at)? == Newest::InChain {
                self.the_log()?.index.remove(sector);
            }
        }
        self.unproved.set(logical, false);
        Ok(())
    }

    /// Which copy of a sector is the newest: the log's at that place, or the chain's.
    ///
    /// If the page of either cannot be read, its neighbours give the earliest and the latest stamp it can have. If that
    /// does not decide, the unreadable page counts as the newer one, so that the sector is reported as lost.
    pub(crate) fn newest_of(
        &mut self,
        sector: Sector,
        at: LogSlot,
    ) -> Result<Newest, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        if !rules::must_compare(self.mlc.chains.first(logical).is_some()) {
            return Ok(Newest::InLog);
        }
        let Some(chain) = self.date_in_chain(logical, offset)? else {
            return Ok(Newest::InLog);
        };
        let in_log = self.date_in_log(at)?;
        if rules::is_entry_sure(self.flash.is_of_this_mount(in_log.from)) {
            return Ok(Newest::InLog);
        }
        // They are not the same page. So a stamp that bounds both is not that of the unreadable one.
        if in_log.from >= chain.to || in_log.to <= chain.from {
            return Ok(if in_log.from >= chain.to { Newest::InLog } else { Newest::InChain });
        }
        if in_log.is_exact() {
            // An unreadable trim would read as zeros, which is worse than the data that it may have trimmed.
            return Ok(if chain.trims { Newest::InLog } else { Newest::InChain });
        }
        Ok(if self.is_newest_unread(at)? { Newest::InLog } else { Newest::InChain })
    }

    /// Whether an unreadable page of the log counts as the newest copy, if its stamp does not decide.
    fn is_newest_unread(&mut self, at: LogSlot) -> Result<bool, Fault<D::Error>> {
        let log = self.the_log()?;
        let ((block, page, _), pages) = (log.split(at), log.area().pages);
        let tail = log.ring().tail();
        let spot = |page| Spot::log(block, page);
        // If nothing follows it, it may have been torn: then a copy of it was written to the chain, or it was never
        // valid.
        let mut follows = false;
        for later in page + 1..rules::end_of_pages_behind(page, pages) {
            follows |= self.flash.look(spot(later), Cause::Mount)?.is_page();
        }
        // A tail may be half erased. Then a younger copy of all its valid data is elsewhere.
        Ok(follows
            && (block != tail
                || self.is_whole_but(spot(page), pages)?
                || rules::may_be_whole_by_copies() && self.holds_newest(block)?))
    }

    /// When the chain last wrote, copied or trimmed a sector, or recorded it as absent. `None`: it never did, or it
    /// recorded that the log had it.
    fn date_in_chain(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<Option<Dated>, Fault<D::Error>> {
        let pages = self.shape.chain.pages;
        if self.mlc.has_log(logical) {
            let mut map = self.mlc.map(&mut self.flash, logical)?;
            if self.mlc.maps.get(map, offset) == MapEntry::Trimmed {
                if let Some(dated) = self.date_of_trim(logical, offset)? {
                    return Ok(Some(dated));
                }
                // The trim was torn, and has become unreadable since the map was built: what it would have trimmed is
                // still valid.
                self.mlc.maps.forget(logical);
                map = self.mlc.map(&mut self.flash, logical)?;
            }
            match self.mlc.maps.get(map, offset) {
                MapEntry::InPlace => {}
                MapEntry::Trimmed => return Ok(None),
                MapEntry::Log { ordinal, page, .. } => {
                    let block = self.mlc.chains.logs(logical).nth(usize::from(ordinal));
                    let block = block.ok_or(Fault::Corrupt)?;
                    return self.date(Spot::chain(block, page), pages, None).map(Some);
                }
            }
        }
        let Some(data) = self.mlc.chains.data(logical) else {
            return Ok(None);
        };
        let (page, slot) = self.mlc.home(offset);
        let spot = Spot::chain(data, page);
        if let Seen::Page(page) = self.flash.look(spot, Cause::Mount)? {
            let is_copy = !rules::is_elsewhere(page.slot(slot));
            return Ok(is_copy.then(|| Dated::at(page.tag().stamp)));
        }
        self.date(spot, pages, None).map(Some)
    }

    /// When the page of the log was programmed in which that place is.
    fn date_in_log(&mut self, at: LogSlot) -> Result<Dated, Fault<D::Error>> {
        let log = self.the_log()?;
        let ((block, page, _), pages) = (log.split(at), log.area().pages);
        let ring = log.ring();
        let next = (block != ring.head()).then(|| Spot::log(ring.after(block), 0));
        self.date(Spot::log(block, page), pages, next)
    }

    /// When a page was programmed. If it cannot be read, the next page of the log records it; else it was after the
    /// last readable page before it, and before the next of its block or the page that was programmed after the block.
    fn date(
        &mut self,
        spot: Spot,
        pages: u16,
        next: Option<Spot>,
    ) -> Result<Dated, Fault<D::Error>> {
        let mut dated = Dated { from: Stamp::ZERO, to: self.flash.stamp(), trims: false };
        let later = (spot.page()..pages).map(|page| spot.beside(page)).chain(next);
        for at in later {
            let Some(tag) = self.flash.look(at, Cause::Mount)?.tag() else { continue };
            if at == spot {
                return Ok(Dated::at(tag.stamp));
            }
            let follows = at == spot.next();
            if let Some(stamp) = stamp_before(at, &tag).filter(|_| follows) {
                return Ok(Dated::at(stamp));
            }
            dated.to = tag.stamp;
            break;
        }
        for page in (0..spot.page()).rev() {
            if let Some(tag) = self.flash.look(spot.beside(page), Cause::Mount)?.tag() {
                dated.from = tag.stamp;
                break;
            }
        }
        Ok(dated)
    }

    /// Whether all programmed pages of a block but that one can be read.
    fn is_whole_but(&mut self, spot: Spot, pages: u16) -> Result<bool, Fault<D::Error>> {
        let mut ended = false;
        for page in (0..pages).filter(|page| *page != spot.page()) {
            match self.flash.look(spot.beside(page), Cause::Mount)? {
                Seen::Page(_) if !ended => {}
                Seen::Erased => ended = true,
                Seen::Page(_) | Seen::Unreadable => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether a block of the log certainly holds the newest copy of a sector, so that its erase was not begun. A few
    /// sectors are tried, the youngest first, because each may need the reads of a whole chain.
    fn holds_newest(&mut self, block: LogBlock) -> Result<bool, Fault<D::Error>> {
        let mut before = None;
        for _ in 0..TRIES_MAX {
            let Some((at, sector)) = self.last_entry(block, before)? else {
                break;
            };
            if self.is_certainly_newest(sector, at)? {
                return Ok(true);
            }
            before = Some(at);
        }
        Ok(false)
    }

    /// The last place of a block that the hash table has, and its sector; if another place is given, the last before
    /// that.
    fn last_entry(
        &mut self,
        block: LogBlock,
        before: Option<LogSlot>,
    ) -> Result<Option<(LogSlot, Sector)>, Fault<D::Error>> {
        let log = self.the_log()?;
        let real = log.index.iter().filter_map(|(sector, entry)| match entry {
            Entry::Real(at) => Some((at, sector)),
            Entry::Virtual => None,
        });
        let of_block = real.filter(|(at, _)| {
            log.block_of(*at) == block && before.is_none_or(|before| *at < before)
        });
        Ok(of_block.max_by_key(|(at, _)| *at))
    }

    /// Whether the log's copy of a sector, at that place, is certainly newer than the chain's, although the page of
    /// either may be unreadable.
    fn is_certainly_newest(
        &mut self,
        sector: Sector,
        at: LogSlot,
    ) -> Result<bool, Fault<D::Error>> {
        let (spot, _) = self.the_log()?.spot(at);
        if !rules::does_unreadable_page_show() && !self.flash.look(spot, Cause::Mount)?.is_page() {
            return Ok(false);
        }
        let (logical, offset) = self.mlc.locate(sector);
        if self.mlc.chains.first(logical).is_none() {
            return Ok(true);
        }
        let Some(chain) = self.date_in_chain(logical, offset)? else {
            return Ok(true);
        };
        Ok(chain.to <= self.date_in_log(at)?.from)
    }

    /// When the newest trim of a sector was programmed, which the chain's map lists as trimmed.
    fn date_of_trim(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<Option<Dated>, Fault<D::Error>> {
        let mut newest = None;
        if !rules::does_trim_count() {
            return Ok(newest);
        }
        let mut block = self.mlc.chains.first_log(logical);
        while let Some(at) = block {
            newest = self.date_of_trim_in(at, offset)?.or(newest);
            block = self.mlc.chains.next(at);
        }
        Ok(newest)
    }

    /// When the newest trim of the sector in one log block was programmed.
    fn date_of_trim_in(
        &mut self,
        block: ChainBlock,
        offset: u32,
    ) -> Result<Option<Dated>, Fault<D::Error>> {
        let pages = self.shape.chain.pages;
        let (mut newest, mut lost) = (None, None);
        for page in 0..pages {
            let spot = Spot::chain(block, page);
            let tag = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(page) => page.tag(),
                Seen::Unreadable => {
                    lost = Some(page);
                    continue;
                }
                Seen::Erased => {
                    if self.flash.may_be_left_out(spot) {
                        continue;
                    }
                    break;
                }
            };
            let before: Option<u16> = lost.take();
            let trims = |lost: &u16| self.mlc.note_of_predecessor(tag, *lost).trims(offset);
            if let Some(lost) = before.filter(trims) {
                let dated = self.date(Spot::chain(block, lost), pages, None)?;
                newest = Some(Dated { trims: true, ..dated });
            }
            if tag.kind == Kind::Trim {
                match self.does_trim(spot, offset) {
                    Ok(true) => newest = Some(Dated::at(tag.stamp)),
                    Ok(false) => {}
                    Err(Fault::Uncorrectable | Fault::Corrupt) => lost = Some(page),
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(newest)
    }

    /// Whether the trim at that page includes the sector with that offset.
    fn does_trim(&mut self, spot: Spot, offset: u32) -> Result<bool, Fault<D::Error>> {
        let trim = self.mlc.read_trim(&mut self.flash, spot, Cause::Mount)?;
        let (_, from) = self.mlc.locate(trim.first);
        Ok((from..from.saturating_add(trim.count.get())).contains(&offset))
    }
}

/// When the page before one of the log was programmed, in the same block, if the later one records it.
fn stamp_before(spot: Spot, tag: &Tag) -> Option<Stamp> {
    let distance = match (spot.purpose(), tag.kind) {
        (Purpose::Log, Kind::Log | Kind::Backup) => tag.note,
        // A summary is programmed directly after the last page of its block.
        (Purpose::Log, Kind::Summary) => 1,
        _ => 0,
    };
    (distance > 0).then(|| tag.stamp.before(distance))
}

/// When a page was programmed, as far as is known.
#[derive(Clone, Copy, Debug)]
struct Dated {
    from: Stamp,
    to: Stamp,
    /// Whether it is an unreadable trim.
    trims: bool,
}

impl Dated {
    /// A known stamp.
    const fn at(stamp: Stamp) -> Self {
        Self { from: stamp, to: stamp, trims: false }
    }

    fn is_exact(self) -> bool {
        self.from == self.to
    }
}
