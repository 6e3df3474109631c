//! Open blocks: the next page of each that can be programmed, and their end.

use ftl_iface::{NandDevice, PageIndex};

use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::shape::{Area, AreaShape};
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Open, Stream};
use crate::probe::Probe;

/// Returns the next page of an open block whose program cannot corrupt a page that is relied upon.
#[inline(never)]
fn next_safe(area: &AreaShape, open: Open) -> u16 {
    let endangered = |page| area.pairing.endangered(PageIndex::new(page), area.page_count());
    let mut pages = open.next..area.pages;
    let safe = pages.find(|page| rules::may_program(endangered(*page), open.relied));
    safe.unwrap_or(area.pages)
}

/// With so many free blocks beyond the reserve or fewer, streams lend their blocks.
pub(crate) const LENT_BEFORE: u32 = 1;
/// The pages that an open block must have left.
const LENT_MIN: u16 = 8;

/// The last free blocks of the main area, which are left for pages that must be repeated.
pub(crate) const LAST_BLOCKS: u32 = 2;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the next page of a stream's open block that can be programmed.
    #[inline]
    pub(crate) fn safe_page(&self, stream: Stream, open: Open) -> Option<u16> {
        self.safe_page_of(self.shape_of(stream), open)
    }

    #[inline]
    fn safe_page_of(&self, area: &AreaShape, open: Open) -> Option<u16> {
        let page = if self.shape.guards_area(area) { next_safe(area, open) } else { open.next };
        Some(page).filter(|page| *page < area.pages)
    }

    /// Skips the pages of a stream's open block before the next one.
    #[inline(never)]
    pub(crate) fn skip_to(&mut self, stream: Stream, open: Open, next: u16) -> Spot {
        self.note_skipped(stream, open, next);
        self.opens[stream as usize] = Some(Open { next, ..open });
        Spot { block: open.block, page: next }
    }

    /// Notes what is skipped of a stream's open block: its space is owed.
    pub(crate) fn note_skipped(&mut self, stream: Stream, open: Open, next: u16) {
        if self.area_of(stream) == Area::Main {
            self.skipped = self.skipped.saturating_add(next - open.next);
        }
    }

    /// Whether a block takes no page behind this one, if that is relied upon.
    pub(crate) fn is_full_behind(&self, spot: Spot) -> bool {
        let next = spot.page + 1;
        let open = Open { next, relied: next, ..Open::erased(spot.block) };
        self.safe_page_of(self.shape.area_at(spot.block), open).is_none()
    }

    /// Whether a stream's open block takes a further page.
    pub(crate) fn has_room(&self, stream: Stream) -> bool {
        self.opens[stream as usize].is_some_and(|open| self.safe_page(stream, open).is_some())
    }

    /// Notes what was programmed so far, if a block became free or was closed.
    ///
    /// The erase of a free block destroys older copies of what was programmed before it became free, and of nothing
    /// later. An anchor need not tell what was programmed last, but it tells all that is in closed blocks.
    #[inline]
    pub(crate) fn note_news(&mut self) {
        if self.shape.skips_pages() {
            self.note_block_news();
        }
    }

    #[inline(never)]
    fn note_block_news(&mut self) {
        let news = self.blocks.take_news();
        if news.freed {
            self.opens.iter_mut().flatten().for_each(|open| open.freed = open.next);
        }
        if rules::must_tell_closed(news.closed) || self.anchors.must_tell(self.flash.stamp()) {
            self.tell_all();
        }
    }

    /// Lets the next anchor tell all that was programmed so far.
    #[inline(never)]
    pub(crate) fn tell_all(&mut self) {
        self.opens.iter_mut().flatten().for_each(|open| open.told = open.next);
        self.anchors.tell_all(self.flash.stamp());
    }

    /// Marks as relied upon what was programmed before the last block became free.
    pub(crate) fn rely_on_what_freed(&mut self) {
        self.note_news();
        self.opens.iter_mut().flatten().for_each(|open| open.relied = open.relied.max(open.freed));
    }

    /// Marks as relied upon what the next anchor tells.
    pub(crate) fn rely_on_told(&mut self) {
        if rules::must_rely_on_records() {
            let opens = self.opens.iter_mut().flatten();
            opens.for_each(|open| open.relied = open.relied.max(open.told));
        }
    }

    /// Returns the stream that lends its open block to one whose block is full, if blocks are short: the nearest one.
    /// So streams that fill their blocks at the same time wait for no garbage collection.
    pub(crate) fn lender(&self, stream: Stream) -> Option<Stream> {
        let short = self.blocks.free(Area::Main) <= self.shape.reserve(Area::Main) + LENT_BEFORE;
        if !short || !self.shape.lends() {
            return None;
        }
        let away = |lender: &Stream| (*lender as usize).abs_diff(stream as usize);
        let room = |lender: &Stream| {
            let open = self.opens[*lender as usize];
            open.map_or(0, |open| self.shape.main.pages.saturating_sub(open.next))
        };
        let lenders = Stream::MAIN.into_iter().filter(|lender| room(lender) >= LENT_MIN);
        lenders.min_by_key(away)
    }

    /// Whether the open blocks take a page, and the map pages that it may need, although the main area is down to its
    /// reserve.
    pub(crate) fn open_blocks_do(&self) -> bool {
        let at_reserve = self.blocks.free(Area::Main) == self.shape.reserve(Area::Main);
        let room = |stream: Stream| {
            let open = self.opens[stream as usize];
            open.is_some_and(|open| self.shape.main.pages.saturating_sub(open.next) >= LENT_MIN)
        };
        let map = self.shape.has_fast() || room(Stream::Map);
        at_reserve && self.shape.lends() && map && Stream::MAIN.into_iter().any(room)
    }

    /// Returns the stream that takes copies: the fast area's if the main one has but two free blocks. Those are left
    /// for a page that must be repeated after a power cut, and again after the next one; otherwise cuts in a row, each
    /// soon after a mount, could use up all blocks for good.
    pub(crate) fn stream_for_copies(&self, stream: Stream) -> Stream {
        if self.blocks.free(Area::Main) > LAST_BLOCKS || !self.shape.has_fast() {
            return stream;
        }
        let main = Stream::MAIN.into_iter().any(|stream| self.has_room(stream));
        let fast = self.has_room(Stream::Hot) || self.blocks.free(Area::Fast) > 1;
        if fast && !main { Stream::Hot } else { stream }
    }

    /// Closes a stream's block, in which a program has failed.
    pub(crate) fn give_up_block(&mut self, stream: Stream, block: BlockNumber) {
        self.blocks.failed += 1;
        if rules::must_give_up_failed() {
            self.blocks.fail(block);
        }
        self.close(stream);
    }

    /// Closes the open blocks of an area that take no further page, so that they may be emptied.
    pub(crate) fn close_full(&mut self, area: Area) {
        for stream in Stream::ALL {
            if self.area_of(stream) == area && !self.has_room(stream) {
                self.close(stream);
            }
        }
    }

    /// Closes a stream's block.
    pub(crate) fn close(&mut self, stream: Stream) {
        if let Some(open) = self.opens[stream as usize].take() {
            self.blocks.close(open.block);
        }
    }
}
