//! The next anchor, built in RAM, and the layout of an anchor: a head, and records.

use ftl_iface::Sector;

use super::blocks::Known;
use super::times::Tick;
use super::under_way::Stream;
use crate::layout::{FormatKey, Stamp};
use crate::paged::plan::address::{BlockNumber, Place, Spot};
use crate::paged::plan::anchor_page::{
    LISTED, Listed, RECORD, ahead, in_page, programs_between, record_at,
};
use crate::paged::plan::numbers;
use crate::paged::plan::shape::PagedShape;

/// The offset of the open and the listed blocks, behind a map page's head and the other fields of [`Head`].
const BLOCKS_AT: usize = 28;

/// Means no anchor.
const NO_NUMBER: u32 = u32::MAX;
/// The numbers with which a sequence of anchors may begin.
const NUMBERS: u32 = u32::MAX >> 1;
/// Means a bad block, in place of an erase count.
const BAD: u32 = u32::MAX;
const VALUE: u32 = (1 << 30) - 1;

/// Returns the key under which an anchor is checked that leaves pages untold. A version that does not know of them
/// takes it for damaged, and reads every block.
pub(crate) const fn key_if_untold(key: FormatKey) -> FormatKey {
    FormatKey::new(key.get() ^ 0x746F_6C64)
}

/// The location of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Its number in the sequence of anchors.
    pub(crate) number: u32,
    /// Its block of the ring.
    pub(crate) block: u16,
    pub(crate) page: u16,
}

/// The head of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) number: u32,
    pub(crate) base: Option<Site>,
    pub(crate) horizon: Stamp,
    pub(crate) records: u16,
    /// The tick of the main area's clock.
    pub(crate) tick: Tick,
    /// The open blocks, and the next page of each.
    pub(crate) opens: [Option<Spot>; Stream::ALL.len()],
    pub(crate) listed: Listed,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// Consecutive sectors are in consecutive places: the first place, the first sector, the number of sectors.
    Sectors(u32, u32, u32),
    /// A leaf's page was written: the leaf, and the page's number in the directory. None of its entries is dirty.
    Written(u32, u32),
    /// A leaf's page is at this address.
    Stands(u32, u32),
    /// The state of a block; `None`: it is bad.
    Block(u32, Option<Known>),
}

impl Record {
    /// The most consecutive sectors in one record.
    pub(crate) const RUN_MAX: u16 = 4;

    #[inline]
    fn words(self) -> (u32, u32) {
        match self {
            Self::Sectors(place, sector, run) => (place, sector | (run - 1) << 30),
            Self::Written(leaf, page) => (1 << 30 | leaf, page),
            Self::Stands(leaf, page) => (2 << 30 | leaf, page),
            Self::Block(block, known) => (3 << 30 | block, known.map_or(BAD, Known::word)),
        }
    }

    fn parse(first: u32, second: u32) -> Self {
        let number = first & VALUE;
        match first >> 30 {
            0 => Self::Sectors(number, second & VALUE, (second >> 30) + 1),
            1 => Self::Written(number, second),
            2 => Self::Stands(number, second),
            _ => Self::Block(number, (second != BAD).then_some(Known::of_word(second))),
        }
    }
}

/// Dirty entries of consecutive sectors in consecutive places, as one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    place: Place,
    sector: Sector,
    count: u16,
}

impl Run {
    pub(crate) const fn of(sector: Sector, place: Place) -> Self {
        Self { place, sector, count: 1 }
    }

    /// Returns the run with one more entry, if that follows and the record takes it.
    pub(crate) fn with(self, sector: Sector, place: Place) -> Option<Self> {
        let count = u32::from(self.count);
        let follows = sector.get() == self.sector.get() + count
            && place.get() == self.place.get() + count
            && self.count < Record::RUN_MAX;
        follows.then_some(Self { count: self.count + 1, ..self })
    }

    pub(crate) fn record(self) -> Record {
        Record::Sectors(self.place.get(), self.sector.get(), self.count.into())
    }
}

/// The position of the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    /// The anchor in which it began; none before it begins.
    pub(crate) begun: Option<Site>,
    /// The next leaf to record.
    pub(crate) leaf: u32,
    /// The first sector whose dirty entry, if it has one, is not recorded.
    pub(crate) sector: Sector,
    /// The next block to record.
    pub(crate) block: u32,
}

/// What shows that the last anchor is out of date, where no other can be written. A page does whose stamp is beyond
/// those that the anchor covers, in a block that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trace {
    /// Nothing: it is not out of date.
    NotNeeded,
    /// Nothing yet.
    Missing,
    /// Such a page.
    Left,
}

/// The state of the anchors in RAM.
#[derive(Debug)]
pub(crate) struct Anchors<'ram> {
    /// The next anchor, with its records so far.
    pub(crate) page: &'ram mut [u8],
    /// Bytes per block number.
    block_bytes: u8,
    /// The number of records per page.
    most: u16,
    /// Space for this many should stay free.
    ahead: u16,
    pub(crate) records: u16,
    /// The next anchor tells so many of them.
    told: u16,
    /// Records at the end of the page, which the anchor being written does not tell.
    aside: u16,
    pub(crate) number: u32,
    pub(crate) base: Option<Site>,
    pub(crate) walk: Walk,
    /// No new walk begins before the anchor of this number, unless there is no base.
    pub(crate) rests_to: u32,
    /// The stamp of the last anchor.
    last: Stamp,
    /// What has this stamp or an older one is told by the next anchor.
    pub(crate) told_to: Stamp,
    /// The next anchor is due before the program with this stamp; it may come earlier, or be held back.
    pub(crate) due_at: Stamp,
    /// The ring block of the last anchor.
    pub(crate) block: Option<u16>,
    /// The page for the next anchor in that block; none after a mount, because pages behind the last anchor may be
    /// torn.
    pub(crate) next: Option<u16>,
    /// A block of the ring, not that of the last anchor, that may have held a later anchor before the mount.
    pub(crate) doubtful: Option<u16>,
    /// Whether the last anchor shows to be out of date, where the ring was given up.
    pub(crate) trace: Trace,
    /// Whether an anchor must be written before anything else.
    pub(crate) due: bool,
    /// Whether the last anchor was void.
    pub(crate) void: bool,
    pub(crate) listed: Listed,
    /// Whether there may be blocks marked bad on the device that the tables do not know.
    pub(crate) unsure: bool,
}

impl<'ram> Anchors<'ram> {
    pub(crate) fn new(page: &'ram mut [u8], shape: &PagedShape) -> Self {
        let most = in_page(page.len(), shape.block_bytes) as u16;
        Self {
            page,
            block_bytes: shape.block_bytes,
            most,
            ahead: ahead(shape.slots_max()),
            records: 0,
            told: 0,
            aside: 0,
            number: 0,
            base: None,
            walk: Walk::default(),
            rests_to: 0,
            last: Stamp::ZERO,
            told_to: Stamp::ZERO,
            due_at: Stamp::ZERO,
            block: None,
            next: None,
            doubtful: None,
            trace: Trace::NotNeeded,
            due: true,
            void: false,
            listed: [[None; LISTED]; 2],
            unsure: false,
        }
    }

    /// Notes that a page was programmed, with a stamp beyond those that an out-of-date anchor covers.
    #[inline]
    pub(crate) fn leave_trace(&mut self) {
        if self.trace == Trace::Missing {
            self.trace = Trace::Left;
        }
    }

    pub(crate) const fn page_mut(&mut self) -> &mut [u8] {
        self.page
    }

    /// Returns the number of records that still fit.
    pub(crate) const fn room(&self) -> usize {
        (self.most as usize).saturating_sub(self.records as usize + self.aside as usize)
    }

    /// Whether the records of a few more programs fit.
    #[inline]
    pub(crate) const fn has_room(&self) -> bool {
        self.records + self.ahead <= self.most
    }

    /// Whether the last anchor is on flash for certain, and a mount may go by it.
    pub(crate) const fn stands(&self) -> bool {
        !self.due && !self.void && matches!(self.trace, Trace::NotNeeded)
    }

    /// Returns the stamp of the last anchor.
    pub(crate) const fn last(&self) -> Stamp {
        self.last
    }

    pub(crate) const fn set_last(&mut self, stamp: Stamp) {
        self.last = stamp;
        self.due_at = Stamp::new(stamp.get() + programs_between(self.page.len()));
    }

    /// Starts the numbers after a mount that found no anchor: above all that were ever used, because each anchor took
    /// more stamps than one.
    pub(crate) const fn renumber(&mut self, now: Stamp) {
        self.number = now.get() as u32 & NUMBERS;
    }

    pub(crate) const fn forget_records(&mut self) {
        (self.records, self.told) = (0, 0);
    }

    /// Lets the next anchor tell all records so far, up to the page with this stamp.
    pub(crate) const fn tell_all(&mut self, last: Stamp) {
        self.told = self.records;
        self.told_to = last;
    }

    /// Whether the next anchor tells something that was programmed since the last one.
    pub(crate) fn tells(&self) -> bool {
        self.told_to > self.last
    }

    /// Returns the most programs that an anchor leaves untold: half of those between two.
    pub(crate) const fn untold_most(&self) -> u64 {
        programs_between(self.page.len()) / 2
    }

    /// Whether the next anchor should tell all that came before the program with this stamp: the first one halfway
    /// from the last anchor to the next.
    #[inline]
    pub(crate) fn must_tell(&self, stamp: Stamp) -> bool {
        let half = self.due_at.get().saturating_sub(self.untold_most());
        stamp.get() >= half && self.told_to.get() < half
    }

    /// Whether the next anchor does not tell all records.
    pub(crate) const fn keeps_back(&self) -> bool {
        self.told < self.records
    }

    /// Whether the anchor being written leaves records untold.
    pub(crate) const fn leaves_untold(&self) -> bool {
        self.aside > 0
    }

    /// Moves the records that are not told to the end of the page, so that the anchor can be completed before them.
    /// Returns how many are told.
    pub(crate) fn set_aside(&mut self) -> u16 {
        self.aside = self.records.saturating_sub(self.told);
        self.records -= self.aside;
        self.move_records(self.records, self.most.saturating_sub(self.aside));
        self.records
    }

    /// Moves them back, behind the first `told` records.
    pub(crate) fn take_back(&mut self, told: u16) {
        self.move_records(self.most.saturating_sub(self.aside), told);
        (self.records, self.told) = (told + self.aside, told);
        self.aside = 0;
    }

    #[inline(never)]
    fn move_records(&mut self, from: u16, to: u16) {
        for step in 0..self.aside {
            // The places may overlap.
            let number = if to > from { self.aside - 1 - step } else { step };
            let [from, to] = [from, to].map(|first| record_at(self.block_bytes, first + number));
            let record = self.page.get(from..).and_then(<[u8]>::first_chunk::<RECORD>).copied();
            if let Some(record) = record {
                self.put(to, record);
            }
        }
    }

    /// Adds a record. If it does not fit, anchors are void from here on until another walk is complete.
    #[inline]
    pub(crate) fn record(&mut self, record: Record) {
        let (first, second) = record.words();
        self.put_record(first, second);
    }

    #[inline(never)]
    fn put_record(&mut self, first: u32, second: u32) {
        let at = record_at(self.block_bytes, self.records);
        let Some(field) = self.page.get_mut(at..).and_then(<[u8]>::first_chunk_mut) else {
            self.base = None;
            self.walk = Walk::default();
            return;
        };
        *field = (u64::from(first) | u64::from(second) << 32).to_le_bytes();
        self.records += 1;
    }

    /// Returns a record of the anchor in the page.
    pub(crate) fn nth_record(&self, number: u16) -> Option<Record> {
        let at = record_at(self.block_bytes, number);
        Some(Record::parse(self.word(at)?, self.word(at + 4)?))
    }

    fn word(&self, at: usize) -> Option<u32> {
        self.page.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    fn half(&self, at: usize) -> Option<u16> {
        self.page.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
    }

    /// Returns the block whose number ends at `end`.
    fn block_before(&self, end: usize) -> Option<BlockNumber> {
        let width = self.block_bytes;
        // The number is the upper bytes of the word that ends with it.
        let number = self.word(end - 4)? >> ((32 - 8 * u32::from(width)) & 31);
        (number != numbers::largest(width)).then_some(BlockNumber::new(number))
    }

    /// Writes a number, in the bytes from `at` on.
    fn put<const BYTES: usize>(&mut self, at: usize, number: [u8; BYTES]) {
        if let Some(field) = self.page.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *field = number;
        }
    }

    /// Writes a block's number, or all ones for none, so that it ends at `end`.
    fn put_block_before(&mut self, end: usize, block: Option<BlockNumber>) {
        let number = block.map_or(u32::MAX, BlockNumber::get);
        numbers::put_before(self.page, end, self.block_bytes, number);
    }

    /// Returns the head of the anchor in the page.
    pub(crate) fn head(&self) -> Option<Head> {
        let site = |at: usize| {
            let site = Site {
                number: self.word(at)?,
                block: self.half(at + 4)?,
                page: self.half(at + 6)?,
            };
            Some(site).filter(|site| site.number != NO_NUMBER)
        };
        let low = self.word(4)?;
        let high = self.word(8)?;
        let mut head = Head {
            number: self.word(12)?,
            base: site(16),
            horizon: Stamp::new(u64::from(high) << 32 | u64::from(low)),
            records: self.half(24)?,
            tick: Tick::new(self.half(26)?),
            opens: [None; Stream::ALL.len()],
            listed: [[None; LISTED]; 2],
        };
        let width = usize::from(self.block_bytes);
        let mut at = BLOCKS_AT;
        for open in &mut head.opens {
            at += width;
            let page = self.half(at)?;
            *open = self.block_before(at).map(|block| Spot { block, page });
            at += 2;
        }
        for listed in head.listed.iter_mut().flatten() {
            at += width;
            *listed = self.block_before(at);
        }
        Some(head)
    }

    pub(crate) fn put_head(&mut self, head: &Head) {
        let none = Site { number: NO_NUMBER, block: 0, page: 0 };
        let base = head.base.unwrap_or(none);
        self.put(12, head.number.to_le_bytes());
        self.put(16, base.number.to_le_bytes());
        self.put(20, base.block.to_le_bytes());
        self.put(22, base.page.to_le_bytes());
        self.put(24, head.records.to_le_bytes());
        self.put(26, head.tick.get().to_le_bytes());
        let width = usize::from(self.block_bytes);
        let mut at = BLOCKS_AT;
        for open in head.opens {
            at += width;
            self.put_block_before(at, open.map(|spot| spot.block));
            self.put(at, open.map_or(0, |spot| spot.page).to_le_bytes());
            at += 2;
        }
        for listed in head.listed.iter().flatten() {
            at += width;
            self.put_block_before(at, *listed);
        }
    }
}
