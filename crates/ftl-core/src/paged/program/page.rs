//! Programming a page: in an open block, in another one if that fails; then the table is updated.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::layout::Stamp;
use crate::paged::flash::{Extent, PagedKind, note_repeated};
use crate::paged::plan::address::{BlockNumber, Leaf, Mapped, Place, Spot};
use crate::paged::plan::shape::Area;
use crate::paged::program::opens::LAST_BLOCKS;
use crate::paged::rules;
use crate::paged::tables::bins::Full;
use crate::paged::tables::dirty::{Dirty, Entry, Old};
use crate::paged::tables::map::Cached;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Begun, Stream};
use crate::probe::{Cause, Probe};

/// Attempts to program a page, each in another block, before the device becomes read-only.
const TRIES: u32 = 16;

/// The source of a page's content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// The host's buffer: a whole page of it.
    Host(&'a [u8]),
    /// The page buffer.
    Buffer,
    /// A map page in RAM.
    Cached(Cached),
}

/// The kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A new page.
    New(PagedKind),
    /// A repetition of the page with that stamp.
    Again(PagedKind, Stamp),
    /// A part of one that does not fit in a page.
    Part(Stamp),
}

/// Whether a sector's previous place is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It was in this block. If there is no dirty entry, the address is in its map page, and is counted.
    In(BlockNumber),
    /// It is not known.
    Unknown,
}

/// Returns what is programmed after an attempt with that stamp has failed.
fn again(what: Written, failed: Stamp) -> Written {
    match what {
        Written::New(_) if !rules::is_rewrite_a_repetition() => what,
        Written::New(PagedKind::Sectors) => Written::Again(PagedKind::RepeatedSectors, failed),
        Written::New(PagedKind::Map) => Written::Again(PagedKind::RepeatedMap, failed),
        // A proof holds nothing.
        Written::New(_) | Written::Again(..) | Written::Part(_) => what,
    }
}

/// Whether a page was programmed again after a failure, so that a proof of it is due.
fn rewritten(original: Written, tried: u32) -> bool {
    let proof = original == Written::New(PagedKind::Proof);
    tried > 0 && !proof && matches!(original, Written::New(_))
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Programs the next page of a stream with the held slots, in another block if one fails.
    pub(crate) fn program(
        &mut self,
        stream: Stream,
        what: Written,
        content: Content<'_>,
        cause: Cause,
    ) -> Result<Spot, Fault<D::Error>> {
        let (original, mut what) = (what, what);
        for tried in 0..TRIES {
            if !rules::failure_voids_anchor(self.failing.is_some()) {
                self.anchor_if_due()?;
            }
            let stream = self.shared(stream);
            let spot = self.next_page(stream)?;
            self.note_news();
            let data = match content {
                Content::Host(data) => data,
                Content::Buffer => {
                    let bytes = self.shape_of(stream).page_bytes.as_usize();
                    self.buffer.get(..bytes).unwrap_or(&[])
                }
                Content::Cached(page) => self.map.bytes(page),
            };
            let (kind, note) = match what {
                Written::New(kind) => (kind, u32::from(self.blocks.wear(spot.block))),
                Written::Again(kind, first) => (kind, self.note_repeated(Extent::Whole, first)),
                Written::Part(first) => {
                    (PagedKind::RepeatedSectors, self.note_repeated(Extent::Part, first))
                }
            };
            match self.flash.program(spot, kind, note, data, cause) {
                Ok(()) => {
                    self.failing = None;
                    if let Some(open) = &mut self.opens[stream as usize] {
                        open.note(kind);
                    }
                    self.record_page(spot, kind);
                    self.anchors.leave_trace();
                    self.rewritten = rewritten(original, tried).then_some(stream);
                    self.map.replaced = None;
                    match self.area_of(stream) {
                        Area::Fast => self.fast_balance = self.fast_balance.saturating_sub(1),
                        Area::Main => self.blocks.times.note_program(),
                    }
                    if rules::must_rely_on_rewrite(tried) {
                        self.rely_on(stream);
                    }
                    return Ok(spot);
                }
                Err(Fault::BlockFailed) => {
                    self.give_up_block(stream, spot.block);
                    self.failing = Some(stream);
                    what = again(what, self.flash.stamp());
                }
                Err(fault) => return Err(fault),
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Returns the note of the next page if it repeats the one with that stamp.
    fn note_repeated(&self, extent: Extent, first: Stamp) -> u32 {
        let last = self.flash.stamp();
        let first = rules::first_attempt_told(first, last.next());
        note_repeated(extent, last.distance_to_next(first.low()))
    }

    /// Programs a proof: an empty page, which shows that everything before it was acknowledged.
    pub(crate) fn put_proof(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        self.flash.hold_nothing();
        self.buffer.fill(0xFF);
        let proof = Written::New(PagedKind::Proof);
        self.program(stream, proof, Content::Buffer, Cause::Mount).map(|_| ())
    }

    /// Proves a page that was programmed again after a failure, unless something was programmed since.
    pub(crate) fn prove_rewrite(&mut self) -> Result<(), Fault<D::Error>> {
        match self.rewritten.take() {
            Some(stream) if rules::must_prove_rewrite() => self.put_proof(stream),
            _ => Ok(()),
        }
    }

    /// Returns the stream that takes the page: another one when blocks are short and its own has none, so that fewer
    /// blocks are open.
    #[inline]
    pub(crate) fn shared(&mut self, stream: Stream) -> Stream {
        if self.has_room(stream) { stream } else { self.lender_or(stream) }
    }

    #[inline(never)]
    fn lender_or(&mut self, stream: Stream) -> Stream {
        let lender = match stream {
            Stream::Hot => return stream,
            Stream::Map => return self.begun_by_repetition(stream).unwrap_or(stream),
            _ => self.lender(stream).or_else(|| self.begun_by_repetition(stream)),
        };
        let lender = lender.or_else(|| self.other_in_need(stream));
        self.shares |= lender.is_some();
        lender.unwrap_or(stream)
    }

    /// Returns the stream whose open block begins with a repetition, if blocks are short: it takes what any stream
    /// programs. Otherwise power cuts in a row, each soon after a mount, would leave several hardly filled blocks each.
    fn begun_by_repetition(&self, stream: Stream) -> Option<Stream> {
        let (free, few) = (self.blocks.free(Area::Main), self.shape.few_blocks());
        if !rules::may_share_repetition(free, few) {
            return None;
        }
        let begun = |other: &Stream| {
            let open = self.opens[*other as usize];
            open.is_some_and(|open| open.begun == Begun::Repetition) && self.has_room(*other)
        };
        let mixes = self.shape.mixes();
        let others = Stream::MAIN.into_iter().filter(|_| mixes || stream != Stream::Map);
        others.chain(Some(Stream::Map).filter(|_| mixes)).find(begun)
    }

    /// Returns the stream whose open block takes sectors of one that has none, if blocks are short.
    fn other_in_need(&self, stream: Stream) -> Option<Stream> {
        /// With so few free blocks, streams are not kept apart.
        const FEW: u32 = 2;
        let few = self.blocks.free(Area::Main) <= FEW + self.shape.more_streams;
        let open = |stream: Stream| self.opens[stream as usize].is_some();
        if !few || open(stream) {
            return None;
        }
        let other = Stream::MAIN.into_iter().find(|other| open(*other));
        other.or_else(|| self.map_block_in_need())
    }

    /// Returns the stream of the map if its open block must take sectors, too: those two are the last blocks of a
    /// single area. After a power cut the page to be repeated may be one of the map, and take the last free block.
    fn map_block_in_need(&self) -> Option<Stream> {
        let short = self.blocks.free(Area::Main) <= LAST_BLOCKS;
        Some(Stream::Map).filter(|map| self.shape.mixes() && short && self.has_room(*map))
    }

    /// Returns the page that a stream programs next. Pages that could corrupt pages that are relied upon are skipped.
    pub(crate) fn next_page(&mut self, stream: Stream) -> Result<Spot, Fault<D::Error>> {
        loop {
            if let Some(open) = self.opens[stream as usize] {
                match self.safe_page(stream, open) {
                    Some(page) if page == open.next => return Ok(Spot { block: open.block, page }),
                    Some(page) => return Ok(self.skip_to(stream, open, page)),
                    None => self.note_skipped(stream, open, self.shape_of(stream).pages),
                }
                self.close(stream);
            }
            self.open_block(stream)?;
        }
    }

    /// Returns a sector's previous place, from its map page if there is no dirty entry.
    pub(crate) fn placed_before(&mut self, sector: Sector) -> Result<Before, Fault<D::Error>> {
        if self.table.get(sector).is_some() {
            return Ok(Before::Unknown);
        }
        Ok(match self.mapped(sector, Cause::Map)? {
            Mapped::At(place) => Before::In(self.shape.block_of(place)),
            Mapped::Nowhere | Mapped::Lost => Before::Unknown,
        })
    }

    /// Stores the address of a sector's newest copy, and releases the old address.
    pub(crate) fn remember(
        &mut self,
        sector: Sector,
        place: Place,
        before: Before,
    ) -> Result<(), Fault<D::Error>> {
        self.blocks.refer(self.shape.block_of(place), 1);
        let gap = match self.table.search(sector) {
            Ok(Dirty { cell, entry, .. }) => {
                let block = self.shape.block_of(entry.place);
                let replaced = rules::references_replaced(self.blocks.references(block));
                match before {
                    Before::In(_) => self.blocks.release(block, replaced),
                    Before::Unknown => self.blocks.lose(block, replaced),
                }
                self.table.renew(cell, Entry { place, ..entry });
                return Ok(());
            }
            Err(gap) => gap,
        };
        let (leaf, at) = self.shape.leaf_of(sector);
        self.map.note_dirty(leaf);
        let old = self.release_before((leaf, at), before);
        self.table.add(gap, sector, Entry { place, old }).map_err(|Full| Fault::Corrupt)
    }

    /// Releases the address in a sector's map page if that needs no read.
    fn release_before(&mut self, (leaf, at): (Leaf, u32), before: Before) -> Old {
        if !rules::changes_counts(self.is_counted(leaf)) {
            return Old::Released;
        }
        if let Before::In(block) = before {
            self.blocks.release(block, 1);
            return Old::Released;
        }
        match self.map.cached(leaf) {
            Some(page) => self.release_at(self.map.get(page, at)),
            None if self.map.spot(leaf).is_none() => {}
            None => return Old::Counted,
        }
        Old::Released
    }

    /// Releases an address of a map page.
    pub(crate) fn release_at(&mut self, mapped: Mapped) {
        if let Mapped::At(place) = mapped {
            self.blocks.lose(self.shape.block_of(place), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::BlockStore;
    use nand_model::faults::When;
    use nand_model::{FaultInjector, Fork};

    use super::*;
    use crate::paged::flash::{Seen, first_attempt};
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};

    #[test]
    fn with_few_free_blocks_what_follows_a_repetition_shares_its_block() {
        let (chip, config) = (chip("tiny-slc"), config(32));
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        ftl.write(Sector::new(0), &[1; 1024]).expect("written");
        let chip = ftl.device_mut().fork();
        let mut ftl = mounted(chip, &config, &mut ram);
        assert!(ftl.suspect.is_some(), "it may be torn");
        ftl.count_rest().expect("the chip works");
        let few = ftl.shape.few_blocks();
        for block in ftl.blocks.all() {
            if ftl.blocks.is_free(block) && ftl.blocks.free(Area::Main) > few {
                ftl.blocks.retire(block);
            }
        }
        ftl.settle().expect("it is writable");
        let repeated = ftl.copies();
        assert!(ftl.has_room(repeated));
        for stream in Stream::MAIN.into_iter().chain([Stream::Map]) {
            assert_eq!(ftl.shared(stream), repeated);
        }
        let free = ftl.blocks.free(Area::Main);
        ftl.write_leaf(Leaf::new(0)).expect("written");
        assert_eq!(ftl.blocks.free(Area::Main), free);
    }

    #[test]
    fn a_page_programmed_again_after_a_failure_says_what_it_repeats() {
        let (chip, config) = (chip("tiny-slc"), config(32));
        let mut ram = memory(&chip, &config);
        let device = FaultInjector::new(chip, 7);
        let mut ftl = formatted(device, &config, &mut ram);
        ftl.write(Sector::new(0), &[1; 1024]).expect("written");
        let open = ftl.opens[Stream::Host as usize].expect("it is open");
        let failed = ftl.shape.main.page(Spot { block: open.block, page: open.next });
        ftl.device_mut().fail_program(failed, When::Always);
        let before = ftl.flash.stamp();
        ftl.write(Sector::new(1), &[2; 1024]).expect("written in another block");
        let place = ftl.table.get(Sector::new(1)).expect("it is dirty").place;
        let (spot, _) = ftl.shape.spot(place);
        let Seen::Page(page) = ftl.flash.look(spot, Cause::Mount).expect("the chip works") else {
            panic!("it is readable")
        };
        let tag = page.tag();
        assert_eq!(tag.kind, PagedKind::RepeatedSectors);
        assert_eq!(first_attempt(tag), (before.next(), Extent::Whole));
    }
}
