//! The stored content: what each page was programmed with, how far each block is programmed, its erases and its bad
//! mark.
//!
//! A block's pages are stored together, record after record ([`content`](crate::content) describes a record) or in
//! shorter rows (`packing`, `rows`), so that a page costs one memory access. How far the block is programmed is stored
//! beside it: an erase resets that number and touches no page. Pages that a program skips get an explicit state.
//!
//! Plain blocks are owned or shared. [`fork`](Cells::fork) makes them shared and copies pointers. The first to write
//! to a shared block makes its own copy, or takes it over if there is no other owner. A block has records from its
//! first program to its erase, which leaves them to the block that is programmed next. So memory is used only for
//! blocks in use, and new records are probably still in the processor's caches. A fork copies the rows of packed
//! blocks.

use std::borrow::Cow;
use std::sync::Arc;

use ftl_iface::{Block, Mode, Page, PageIndex, Region, RegionGeometry};

use crate::content::{Content, ContentError, Format};
use crate::preset::Preset;
use crate::rules::{self, Operation};
use crate::stamp::{ERASED, State};

mod block;
mod forms;
mod packing;
mod rows;
mod whole;

pub(crate) use self::block::BlockCells;
use self::block::{Form, Storage};
use self::rows::Rows;
use self::whole::WholePages;

/// The cells of one region.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    region: Region,
    format: Format,
    pages: u16,
    blocks: Vec<BlockCells>,
    /// Data of the pages that are kept whole.
    whole: WholePages,
    /// What preset blocks hold.
    preset: Option<Arc<dyn Preset>>,
    /// Packed blocks, if blocks are packed.
    rows: Option<Rows>,
    /// What erased plain blocks held.
    unused: Vec<Box<[u8]>>,
    /// Shared blocks that were copied to be written.
    copies: u64,
    /// Where blocks may be in SLC mode.
    modes: Option<Modes>,
}

/// Which blocks are in SLC mode, and how often each was erased into it.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    pages: u16,
    blocks: Vec<(Mode, u32)>,
}

impl Cells {
    pub(crate) fn new(
        region: Region,
        shape: &RegionGeometry,
        content: Content,
    ) -> Result<Self, ContentError> {
        let mut cells = Self::without_blocks(region, shape, content)?;
        let fresh = || BlockCells::restored(Box::default(), 0, 0, false);
        cells.blocks.resize_with(shape.blocks.as_usize(), fresh);
        Ok(cells)
    }

    /// Cells to which [`push_block`](Self::push_block) gives blocks, one by one as an image brings them.
    pub(crate) fn without_blocks(
        region: Region,
        shape: &RegionGeometry,
        content: Content,
    ) -> Result<Self, ContentError> {
        let format = Format::new(region, shape, content)?;
        // The geometry holds at most 65,535 pages a block.
        let pages = shape.pages_per_block.get() as u16;
        let (blocks, whole, unused) = (Vec::new(), WholePages::default(), Vec::new());
        Ok(Self {
            region,
            format,
            pages,
            blocks,
            whole,
            preset: None,
            rows: None,
            unused,
            copies: 0,
            modes: None,
        })
    }

    pub(crate) fn push_block(&mut self, mut block: BlockCells, whole: Vec<(u16, Arc<[u8]>)>) {
        let index = self.blocks.len() as u32;
        block.has_whole = !whole.is_empty();
        for (page, data) in whole {
            self.whole.keep(index, page, &data);
        }
        self.blocks.push(block);
    }

    pub(crate) fn fork(&mut self) -> Self {
        let blocks = self.blocks.iter_mut().map(BlockCells::fork).collect();
        Self {
            region: self.region,
            format: self.format,
            pages: self.pages,
            blocks,
            whole: self.whole.clone(),
            preset: self.preset.clone(),
            rows: self.rows.clone(),
            unused: Vec::new(),
            copies: 0,
            modes: self.modes.clone(),
        }
    }

    /// From now on, blocks may be erased into SLC mode, in which they have that many pages.
    pub(crate) fn allow_slc_mode(&mut self, pages: u16) {
        self.modes = Some(Modes { pages, blocks: vec![(Mode::Full, 0); self.blocks.len()] });
    }

    /// The mode of a block.
    #[inline]
    pub(crate) fn mode(&self, block: u32) -> Mode {
        self.modes.as_ref().map_or(Mode::Full, |modes| modes.blocks[block as usize].0)
    }

    /// Whether blocks may be in SLC mode.
    pub(crate) const fn has_modes(&self) -> bool {
        self.modes.is_some()
    }

    /// Whose cells they are.
    pub(crate) const fn region(&self) -> Region {
        self.region
    }

    /// How often the block was erased into SLC mode.
    pub(crate) fn slc_mode_erases(&self, block: u32) -> u32 {
        self.modes.as_ref().map_or(0, |modes| modes.blocks[block as usize].1)
    }

    /// As an image has it.
    pub(crate) fn restore_mode(&mut self, block: u32, mode: Mode, erases: u32) {
        if let Some(modes) = &mut self.modes {
            modes.blocks[block as usize] = (mode, erases);
        }
    }

    /// The block is erased into that mode.
    #[inline]
    pub(crate) fn set_mode(&mut self, block: u32, mode: Mode) {
        if let Some(modes) = &mut self.modes {
            let (of, erases) = &mut modes.blocks[block as usize];
            *of = mode;
            *erases = erases.saturating_add(u32::from(mode == Mode::Slc));
        }
    }

    /// Pages of a block in its mode.
    #[inline]
    pub(crate) fn pages_of(&self, block: u32) -> u16 {
        match &self.modes {
            Some(modes) if self.mode(block) == Mode::Slc => modes.pages,
            _ => self.pages,
        }
    }

    #[inline]
    pub(crate) const fn format(&self) -> &Format {
        &self.format
    }

    #[inline]
    #[track_caller]
    pub(crate) fn block(&self, verb: Operation, block: Block) -> &BlockCells {
        match self.blocks.get(block.index() as usize) {
            Some(cells) => cells,
            None => rules::out_of_range(verb, block),
        }
    }

    pub(crate) const fn whole(&self) -> &WholePages {
        &self.whole
    }

    pub(crate) fn blocks(&self) -> &[BlockCells] {
        &self.blocks
    }

    pub(crate) const fn copies(&self) -> u64 {
        self.copies
    }

    /// Memory that the cells occupy, but for the allocator's own.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let used = self.blocks.iter().map(|block| block.held().len());
        let records: usize = used.chain(self.unused.iter().map(|held| held.len())).sum();
        let rows = self.rows.as_ref().map_or(0, Rows::memory_bytes);
        let whole = self.whole.memory_bytes();
        (self.blocks.capacity() * size_of::<BlockCells>() + records + rows + whole) as u64
    }

    pub(crate) fn is_programmed(&self, page: Page) -> bool {
        let index = page.index().get();
        self.blocks.get(page.block().index() as usize).is_some_and(|block| {
            let start = usize::from(index) * self.format.record();
            let state = || State::from_code(block.held()[start]);
            index < block.next && (block.form != Form::Plain || state() != Some(State::Skipped))
        })
    }

    #[inline]
    #[track_caller]
    pub(crate) fn read(&self, page: Page, at: usize, data: &mut [u8], spare: &mut [u8]) {
        let index = page.index().get();
        let Some(block) = self.blocks.get(page.block().index() as usize) else {
            rules::out_of_range(Operation::Read, page)
        };
        self.check_read(page, at, data.len(), spare.len());
        if index >= block.next {
            self.read_erased(page, data, spare);
            return;
        }
        match (block.form, &self.rows) {
            (Form::Preset, _) => self.read_preset(page, at, data, spare),
            (Form::Packed(place), Some(rows)) => {
                self.check_whole_sectors(page, at, data.len());
                rows.packing.load(rows.get(place), index, at, data, spare);
            }
            _ => self.read_record(block, page, at, data, spare),
        }
    }

    #[inline(never)]
    #[track_caller]
    fn read_erased(&self, page: Page, data: &mut [u8], spare: &mut [u8]) {
        // What is programmed lies within the block.
        if page.index().get() >= self.pages_of(page.block().index()) {
            rules::out_of_range(Operation::Read, page);
        }
        data.fill(ERASED);
        spare.fill(ERASED);
    }

    #[inline]
    #[track_caller]
    fn read_preset(&self, page: Page, at: usize, data: &mut [u8], spare: &mut [u8]) {
        self.check_whole_sectors(page, at, data.len());
        if let Some(preset) = &self.preset {
            self.format.load_preset(preset.as_ref(), page, at, data, spare);
        }
    }

    /// Reads a page of a plain block: one that was left out, or is kept whole, or is in its record.
    #[inline]
    #[track_caller]
    fn read_record(
        &self,
        block: &BlockCells,
        page: Page,
        at: usize,
        data: &mut [u8],
        spare: &mut [u8],
    ) {
        let index = page.index().get();
        let Some(record) = self.record(block, index) else {
            return self.read_erased(page, data, spare);
        };
        match State::from_code(record[0]) {
            Some(State::Kept) => {
                self.check_whole_sectors(page, at, data.len());
                self.format.load_spare(record, spare);
                self.format.load_data(record, at, data);
            }
            Some(State::Whole) => {
                self.format.load_spare(record, spare);
                self.whole.load(page.block().index(), index, at, data);
            }
            _ => self.read_erased(page, data, spare),
        }
    }

    /// The page's record in a plain block.
    #[inline]
    fn record<'a>(&self, block: &'a BlockCells, page: u16) -> Option<&'a [u8]> {
        let start = usize::from(page) * self.format.record();
        block.held().get(start..start + self.format.record())
    }

    #[inline]
    #[track_caller]
    fn check_whole_sectors(&self, page: Page, at: usize, length: usize) {
        if !self.format.is_readable(at, length) {
            rules::read_of_part_of_a_sector(page, at, length);
        }
    }

    #[inline]
    #[track_caller]
    fn check_read(&self, page: Page, at: usize, length: usize, spare: usize) {
        if at + length > self.format.page_bytes() {
            rules::read_beyond_data(page, at, length, self.format.page_bytes());
        }
        if spare > self.format.spare_bytes() {
            rules::read_beyond_spare(page, spare, self.format.spare_bytes());
        }
    }

    #[inline]
    #[track_caller]
    fn check_program(&self, page: Page, data: &[u8], spare: &[u8]) {
        let in_geometry = page.index().get() < self.pages;
        if !in_geometry || self.modes.is_some() && self.is_beyond_mode(page) {
            rules::out_of_range(Operation::Program, page);
        }
        if data.len() != self.format.page_bytes() {
            rules::data_length(page, data.len(), self.format.page_bytes());
        }
        if spare.len() != self.format.spare_bytes() {
            rules::spare_length(page, spare.len(), self.format.spare_bytes());
        }
        if !self.format.spare_fits(spare) {
            rules::spare_not_kept(page);
        }
    }

    /// Whether the block has no such page in its mode.
    fn is_beyond_mode(&self, page: Page) -> bool {
        let block = page.block().index();
        (block as usize) < self.blocks.len() && page.index().get() >= self.pages_of(block)
    }

    #[inline]
    #[track_caller]
    pub(crate) fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) {
        self.check_program(page, data, spare);
        let index = page.index().get();
        let Some(block) = self.blocks.get_mut(page.block().index() as usize) else {
            rules::out_of_range(Operation::Program, page)
        };
        if block.bad {
            rules::block_is_bad(Operation::Program, page);
        }
        if index < block.next {
            rules::out_of_order(page, block.next);
        }
        if block.next == 0 {
            block.form = self.rows.as_mut().map_or(Form::Plain, |rows| Form::Packed(rows.take()));
        }
        if let (Form::Packed(place), Some(rows)) = (block.form, &mut self.rows) {
            let (follows, packing) = (index == block.next, rows.packing);
            if follows && packing.store(rows.get_mut(place), index, data, spare) {
                block.next = index + 1;
                return;
            }
            self.make_plain(page.block().index());
        }
        self.program_plain(page, data, spare);
    }

    /// The records of a block's pages; as many as are programmed, at least.
    pub(crate) fn records(&self, block: u32) -> Cow<'_, [u8]> {
        let cells = &self.blocks[block as usize];
        let write = |record: &mut [u8], page: u16| match (cells.form, &self.preset, &self.rows) {
            (Form::Preset, Some(preset), _) => {
                let page = Block::new(self.region, block).page(PageIndex::new(page));
                self.format.store_preset(record, preset.as_ref(), page);
            }
            (Form::Packed(place), _, Some(rows)) => {
                rows.packing.unpack(rows.get(place), page, record);
            }
            _ => {}
        };
        if cells.form == Form::Plain {
            return Cow::Borrowed(cells.held());
        }
        let mut records = vec![0; usize::from(cells.next) * self.format.record()];
        for (record, page) in records.chunks_exact_mut(self.format.record()).zip(0..) {
            write(record, page);
        }
        Cow::Owned(records)
    }

    /// Gives a packed block records, since a page does not fit its rows.
    #[cold]
    #[inline(never)]
    fn make_plain(&mut self, block: u32) {
        let records = self.records(block).into_owned();
        let cells = &mut self.blocks[block as usize];
        let form = std::mem::replace(&mut cells.form, Form::Plain);
        cells.storage = Storage::Own(records.into());
        if let (Form::Packed(place), Some(rows)) = (form, &mut self.rows) {
            rows.give_back(place);
        }
    }

    /// Programs a page of a plain block.
    #[inline]
    fn program_plain(&mut self, page: Page, data: &[u8], spare: &[u8]) {
        let (index, record) = (page.index().get(), self.format.record());
        let block = &mut self.blocks[page.block().index() as usize];
        let length = usize::from(self.pages) * record;
        let next = usize::from(block.next);
        let records = block.own(length, &mut self.unused, &mut self.copies);
        for skipped in next..usize::from(index) {
            records[skipped * record] = State::Skipped.code();
        }
        let start = usize::from(index) * record;
        let state = self.format.store(&mut records[start..start + record], data, spare);
        block.next = index + 1;
        if state == State::Whole {
            block.has_whole = true;
            self.whole.keep(page.block().index(), index, data);
        }
        if block.has_whole && index + 1 == self.pages_of(page.block().index()) {
            self.whole.fill(page.block().index());
        }
    }

    /// Counts an erase.
    #[inline]
    #[track_caller]
    pub(crate) fn wear(&mut self, block: Block) -> &mut BlockCells {
        let Some(cells) = self.blocks.get_mut(block.index() as usize) else {
            rules::out_of_range(Operation::Erase, block)
        };
        if cells.bad {
            rules::block_is_bad(Operation::Erase, block);
        }
        // A loaded image may hold any count.
        cells.erases = cells.erases.saturating_add(1);
        cells
    }

    #[inline]
    #[track_caller]
    pub(crate) fn erase(&mut self, block: Block) {
        let cells = self.wear(block);
        cells.next = 0;
        let has_whole = std::mem::take(&mut cells.has_whole);
        let form = std::mem::replace(&mut cells.form, Form::Plain);
        if let Storage::Own(held) = cells.take() {
            self.keep_unused(held);
        }
        if let (Form::Packed(place), Some(rows)) = (form, &mut self.rows) {
            rows.give_back(place);
        }
        if has_whole {
            self.whole.forget(block.index());
        }
    }

    /// Keeps what a plain block held for one that is programmed next.
    #[inline]
    fn keep_unused(&mut self, held: Box<[u8]>) {
        if held.len() == usize::from(self.pages) * self.format.record() {
            self.unused.push(held);
        }
    }

    #[track_caller]
    pub(crate) fn mark_bad(&mut self, block: Block) {
        match self.blocks.get_mut(block.index() as usize) {
            Some(cells) => cells.bad = true,
            None => rules::out_of_range(Operation::MarkBad, block),
        }
    }
}
