//! Recovery after a mount. The page that was programmed last may be damaged by a power cut. The mount ignores it, and
//! it is programmed again (*repeated*) here, before anything else is programmed; then a *proof* is programmed, an
//! empty page. Only then is the host served.
//!
//! The page is read into the page buffer once, in the mount. So whether it is readable was decided once. Until it is
//! repeated, the tables in RAM show the state before it, so no block counts as free because of it.
//!
//! A repeated page names the stamp of the *first* attempt. If its program is cut in turn, the next mount ignores it
//! together with everything since the first, and keeps the blocks of all attempts, because one of them may have been
//! acknowledged, and only that one is sure to be good. If blocks are short, the block of the first attempt is enough:
//! if that was not acknowledged, the host was never told about it, and was not served since.
//!
//! If the page programmed last is a proof, everything before it was acknowledged, and nothing needs to be repeated. The
//! proof may be torn itself, and be gone at the next mount; then what it proved is repeated once more, with the same
//! result.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::layout::{Slot, Stamp};
use crate::paged::flash::{PagedKind, Seen};
use crate::paged::plan::address::{Mapped, Spot};
use crate::paged::plan::numbers;
use crate::paged::plan::shape::{Area, AreaShape};
use crate::paged::program::flush::Differs;
use crate::paged::program::opens::LAST_BLOCKS;
use crate::paged::program::page::{Before, Content, Written};
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{MapPages, Stream, Suspect, What};
use crate::probe::{Cause, Probe};
use ftl_iface::StoreWriteError;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Repairs what a power cut may have damaged. The first request does it if the host does not.
    ///
    /// A device without a free block for that says [`StoreWriteError::ReadOnly`]: everything can be read.
    pub fn settle(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.flash.alive()?;
        self.settle_if_possible()?;
        if self.read_only { Err(StoreWriteError::ReadOnly) } else { Ok(()) }
    }

    /// Does the same, and counts the references that the mount left to the next requests, so that none of them takes
    /// longer for it: for who has time now, or measures requests. Idle work counts them, too.
    pub fn settle_fully(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.flash.alive()?;
        self.count_rest()?;
        self.settle()
    }

    /// Repairs what is to be repaired. A device without a free block for it is read-only, and serves what it has found.
    pub(crate) fn settle_if_possible(&mut self) -> Result<(), Fault<D::Error>> {
        if self.settled {
            return Ok(());
        }
        self.count_if_short()?;
        self.mend_headers()?;
        if let Some(suspect) = self.suspect {
            self.set_right(suspect)?;
            self.suspect = None;
        }
        if !self.read_only {
            self.enter_rest()?;
        }
        if rules::may_write_pages(self.read_only) {
            self.renew_last_pages()?;
            self.prove_map_page()?;
        }
        match self.prove_rewrite() {
            Err(Fault::ReadOnly) => self.read_only = true,
            done => done?,
        }
        self.settled = true;
        Ok(())
    }

    /// Writes the leaves anew whose page is the last one of its block, if a later page of the map is dead.
    fn renew_last_pages(&mut self) -> Result<(), Fault<D::Error>> {
        if rules::must_renew_last_pages(self.map_pages == MapPages::Gap) {
            self.write_last_pages()?;
            self.map_pages = MapPages::Whole;
        }
        Ok(())
    }

    /// Proves the map page that was programmed last, if that took the place of another, and its block has space.
    fn prove_map_page(&mut self) -> Result<(), Fault<D::Error>> {
        let freed_some = self.map.replaced.is_some();
        let stream = self.shared(Stream::Map);
        if !rules::must_prove_map_page(freed_some) || !self.has_room(stream) {
            return Ok(());
        }
        match self.put_proof(Stream::Map) {
            Err(Fault::ReadOnly) => Ok(()),
            done => done,
        }
    }

    /// Kept out of line: the usual recovery needs none of its stack.
    #[cold]
    #[inline(never)]
    fn write_last_pages(&mut self) -> Result<(), Fault<D::Error>> {
        for leaf in self.map.leaves() {
            let Some(spot) = self.map.spot(leaf) else { continue };
            if !self.is_last_of_block(spot)? {
                continue;
            }
            match self.write_leaf(leaf) {
                // It stays where it is, as long as it can be read.
                Err(Fault::ReadOnly) => {
                    self.read_only = self.failing.is_some();
                    break;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Whether nothing that can be read was programmed behind a page.
    fn is_last_of_block(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        for page in spot.page + 1..self.shape.area_at(spot.block).pages {
            if let Seen::Page(_) = self.flash.look(Spot { page, ..spot }, Cause::Mount)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Repeats the page and proves it, as far as there are blocks for it.
    fn set_right(&mut self, suspect: Suspect) -> Result<(), Fault<D::Error>> {
        let stream = match self.with_few_pins(suspect, |ftl| ftl.do_again(suspect)) {
            Err(Fault::ReadOnly) => {
                self.read_only = true;
                return self.believe(suspect);
            }
            done => done?,
        };
        if !rules::must_prove_repetition() {
            self.blocks.unpin_all();
            return Ok(());
        }
        match self.with_few_pins(suspect, |ftl| ftl.put_proof(stream)) {
            Ok(()) => self.blocks.unpin_all(),
            // The repetition is on flash; the next mount repeats it once more.
            Err(Fault::ReadOnly) => self.read_only = true,
            Err(fault) => return Err(fault),
        }
        Ok(())
    }

    /// Does something that takes a block. If there is none, it is tried again with fewer pinned blocks: a series of
    /// power cuts leaves blocks with one page each, and those can be reused.
    fn with_few_pins<T>(
        &mut self,
        suspect: Suspect,
        act: impl Fn(&mut Self) -> Result<T, Fault<D::Error>>,
    ) -> Result<T, Fault<D::Error>> {
        match act(self) {
            Err(Fault::ReadOnly) if self.counting.is_some() => {
                self.count_rest()?;
                self.with_few_pins(suspect, act)
            }
            Err(Fault::ReadOnly) if !self.has_rest() => {
                self.blocks.unpin_all();
                self.blocks.pin(suspect.origin.unwrap_or(suspect.spot).block);
                self.pin_places();
                self.release_erased(suspect)?;
                act(self)
            }
            done => done,
        }
    }

    /// Releases the previous places of the suspect's sectors that hold them no more: a block to which nothing but
    /// these refers can be reused. The sectors are mapped to the suspect page until it is repeated.
    fn release_erased(&mut self, suspect: Suspect) -> Result<(), Fault<D::Error>> {
        if suspect.what != What::Sectors {
            return Ok(());
        }
        for slot in 0..self.shape.area_at(suspect.spot.block).slots {
            let Some(sector) = self.held_sector(slot) else { continue };
            if self.table.get(sector).is_some() {
                continue;
            }
            let Mapped::At(before) = self.mapped(sector, Cause::Mount)? else { continue };
            let (spot, at) = self.shape.spot(before);
            if !rules::still_holds(self.flash.look(spot, Cause::Mount)?, at, sector) {
                let place = self.place(suspect.spot, slot);
                self.remember(sector, place, Before::In(spot.block))?;
            }
        }
        Ok(())
    }

    /// Repeats the page, and returns its stream. The page buffer keeps the content, because the program may fail and be
    /// tried again.
    fn do_again(&mut self, suspect: Suspect) -> Result<Stream, Fault<D::Error>> {
        let sectors = self.stream_for_repetition(self.shape.area_of(suspect.spot.block));
        let stream = match suspect.what {
            What::Sectors => {
                if self.takes_held(sectors) {
                    let again = Written::Again(PagedKind::RepeatedSectors, suspect.first);
                    let spot = self.program(sectors, again, Content::Buffer, Cause::Mount)?;
                    self.adopt(spot)?;
                } else {
                    self.do_again_in_parts(suspect.first, sectors)?;
                }
                sectors
            }
            What::Map(leaf) => {
                let before = self.map.load(&mut self.flash, leaf, Cause::Mount)?;
                let page = self.map.vacate(Some(before));
                self.fill_from_buffer(page);
                let again = Written::Again(PagedKind::RepeatedMap, suspect.first);
                self.install((leaf, again), Differs::Anywhere, before, page)?;
                Stream::Map
            }
        };
        self.rely();
        Ok(stream)
    }

    /// Returns the stream that takes the repetition of a page of sectors: its area's, or the other one's if its area is
    /// out of free blocks, or down to the last ones, and the other has more.
    fn stream_for_repetition(&self, area: Area) -> Stream {
        let [main, fast] = [Area::Main, Area::Fast].map(|area| self.blocks.free(area));
        match area {
            Area::Main if main <= LAST_BLOCKS && fast > main => Stream::Hot,
            Area::Fast if fast > 0 || main <= LAST_BLOCKS => Stream::Hot,
            Area::Main | Area::Fast => self.copies(),
        }
    }

    /// Whether a page of the stream takes all the held slots.
    fn takes_held(&self, stream: Stream) -> bool {
        let slots = self.shape_of(stream).slots;
        (slots..self.shape.slots_max()).all(|slot| self.flash.held(slot) == Slot::Empty)
    }

    /// Repeats a page in several smaller ones. Until a proof follows, a mount repeats the page itself once more.
    ///
    /// Kept out of line: the usual recovery needs none of its stack.
    #[cold]
    #[inline(never)]
    fn do_again_in_parts(&mut self, first: Stamp, stream: Stream) -> Result<(), Fault<D::Error>> {
        self.flash.keep_held(&mut self.kept);
        let whole = core::mem::take(&mut self.buffer);
        let done = self.program_parts(first, stream, whole);
        self.buffer = whole;
        self.flash.hold_kept(&self.kept);
        done
    }

    fn program_parts(
        &mut self,
        first: Stamp,
        stream: Stream,
        whole: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        let AreaShape { slots, page_bytes, .. } = *self.shape_of(stream);
        let (mut from, mut rest) = (0, whole);
        while from < self.shape.slots_max()
            && let Some((content, after)) = rest.split_at_checked(page_bytes.as_usize())
        {
            self.flash.hold_part(&self.kept, from, slots);
            if (0..slots).any(|slot| self.flash.held(slot) != Slot::Empty) {
                let part = Written::Part(first);
                let spot = self.program(stream, part, Content::Host(content), Cause::Mount)?;
                self.adopt(spot)?;
            }
            (from, rest) = (from + slots, after);
        }
        Ok(())
    }

    fn fill_from_buffer(&mut self, page: crate::paged::tables::map::Cached) {
        let bytes = self.map.bytes_mut(page);
        if let Some(content) = self.buffer.get(..bytes.len()) {
            numbers::copy(bytes, content);
        }
    }

    /// How many entries the table will have more when the suspect page is repeated.
    pub(crate) fn entries_to_come(&mut self) -> u32 {
        let Some(Suspect { spot, what: What::Sectors, .. }) = self.suspect else { return 0 };
        let mut to_come = 0;
        for slot in 0..self.shape.area_at(spot.block).slots {
            if let Some(sector) = self.held_sector(slot) {
                to_come += u32::from(self.table.get(sector).is_none());
            }
        }
        to_come
    }

    /// Returns the sector of which a held slot is a copy.
    fn held_sector(&self, slot: u16) -> Option<Sector> {
        self.flash.held(slot).copy_of().filter(|sector| *sector < self.shape.end())
    }

    /// Maps the sectors in the held slots to a page.
    fn adopt(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let slots = self.shape.area_at(spot.block).slots;
        for slot in 0..slots {
            if let Some(sector) = self.held_sector(slot) {
                // Its previous place may be erased by now, so that no victim's tag would ever lead to its release.
                let before = self.placed_before(sector)?;
                self.remember(sector, self.place(spot, slot), before)?;
            }
        }
        Ok(())
    }

    /// Accepts the page as it is, on a device that takes no more writes. A page torn by a power cut may become
    /// unreadable at any time, so its content is served from RAM.
    fn believe(&mut self, suspect: Suspect) -> Result<(), Fault<D::Error>> {
        let kind = match suspect.what {
            What::Sectors => {
                self.adopt(suspect.spot)?;
                PagedKind::Sectors
            }
            What::Map(leaf) => {
                let page = self.map.vacate(None);
                self.fill_from_buffer(page);
                self.map.set_spot(leaf, suspect.spot);
                self.map.give(page, Some(leaf));
                let (first, sectors) = self.shape.sectors_of(leaf);
                self.table.remove_run(first, ftl_iface::SectorCount::new(sectors));
                self.count_references()?;
                PagedKind::Map
            }
        };
        // From now on it counts.
        let stamp = self.stamp_at(suspect.spot)?.unwrap_or(suspect.first).max(suspect.first);
        self.part.ceiling = stamp.next();
        let bytes = core::mem::take(&mut self.buffer);
        self.flash.believe(suspect.spot, (kind, suspect.first), bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, Sector};
    use nand_model::{Chip, Fork};

    use super::*;
    use crate::paged::flash::{Extent, first_attempt};
    use crate::paged::plan::address::{Leaf, Mapped};
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};
    use crate::paged::{OwnedPagedRam, PagedConfig};

    type Store<'ram> = PageFtl<'ram, Chip>;

    const SECTORS: u32 = 44;

    fn with_entries(dirty_entries: u32) -> PagedConfig {
        PagedConfig { anchor_blocks: 0, dirty_entries, ..config(SECTORS) }
    }

    fn write(ftl: &mut Store<'_>, sector: u32) {
        ftl.write(Sector::new(sector), &[sector as u8; 1024]).expect("written");
    }

    /// Formats the chip, and writes a sector and its map page.
    fn with_map_page<'ram>(
        chip: Chip,
        config: &PagedConfig,
        ram: &'ram mut OwnedPagedRam,
    ) -> Store<'ram> {
        let mut ftl = formatted(chip, config, ram);
        write(&mut ftl, 0);
        ftl.write_leaf(Leaf::new(0)).expect("a map page");
        ftl
    }

    #[test]
    fn a_device_that_lacks_the_blocks_for_the_rest_stays_read_only() {
        let (chip, large) = (chip("tiny-slc"), with_entries(184));
        let mut ram = memory(&chip, &large);
        let mut ftl = with_map_page(chip, &large, &mut ram);
        // The last page is the one to be repeated: without it the sector's copy before counts.
        for sector in (0..SECTORS).chain([SECTORS - 1]) {
            write(&mut ftl, sector);
        }
        let chip = ftl.device_mut().fork();
        // The table is smaller now, and no block is free for the map page that would empty it.
        let small = with_entries(32);
        let mut ram = memory(&chip, &small);
        let mut ftl = mounted(chip, &small, &mut ram);
        assert!(ftl.has_rest());
        ftl.suspect = None;
        ftl.map_pages = MapPages::Gap;
        for block in ftl.blocks.all() {
            if ftl.blocks.is_free(block) {
                ftl.blocks.retire(block);
            }
        }
        assert_eq!(ftl.settle(), Err(StoreWriteError::ReadOnly));
        for sector in 0..SECTORS {
            let mut data = [0; 1024];
            ftl.read(Sector::new(sector), &mut data).expect("it is readable");
            assert!(data == [sector as u8; 1024], "{sector}");
        }
    }

    #[test]
    fn a_map_page_that_was_written_anew_is_not_doubted() {
        let (chip, config) = (chip("tiny-slc"), with_entries(184));
        let mut ram = memory(&chip, &config);
        let mut ftl = with_map_page(chip, &config, &mut ram);
        ftl.begin_epoch();
        ftl.begin_epoch();
        let (first, horizon) = (ftl.map.spot(Leaf::new(0)), ftl.epoch.horizon);
        assert!(horizon > Stamp::ZERO);
        (ftl.settled, ftl.map_pages) = (false, MapPages::Gap);
        ftl.settle().expect("it is writable");
        let renewed = ftl.map.spot(Leaf::new(0));
        assert!(first != renewed);
        let chip = ftl.device_mut().fork();
        let ftl = mounted(chip, &config, &mut ram);
        assert_eq!((ftl.suspect, ftl.map.spot(Leaf::new(0))), (None, renewed));
        assert_eq!(ftl.epoch.horizon, horizon, "the proof has none");
    }

    #[test]
    fn a_repetition_says_what_it_repeats() {
        let (chip, config) = (chip("tiny-slc"), with_entries(184));
        let mut ram = memory(&chip, &config);
        let mut ftl = with_map_page(chip, &config, &mut ram);
        write(&mut ftl, 1);
        let first = ftl.flash.stamp();
        let chip = ftl.device_mut().fork();
        let mut ftl = mounted(chip, &config, &mut ram);
        ftl.settle().expect("it is writable");
        ftl.begin_epoch();
        assert!(ftl.epoch.horizon < first, "no map page has it");
        let mapped = ftl.lookup(Sector::new(1)).expect("the map can be read");
        let Mapped::At(place) = mapped else { panic!("{mapped:?}") };
        let seen = ftl.flash.look(ftl.shape.spot(place).0, Cause::Mount).expect("a page");
        let tag = seen.tag().expect("it is readable");
        assert!(tag.kind.is_repeated() && tag.stamp > first);
        assert_eq!(first_attempt(tag), (first, Extent::Whole));
    }
}
