//! The chip: cells with the true content, rules that are enforced, time and wear that are counted.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, Mode, ModeError, NandDevice, Page,
    PageCount, ProgramError, ReadError, Region,
};

use crate::cells::{BlockCells, Cells};
use crate::clock::{Clock, Done, Job, Label, Order, Time, Timed, Work};
use crate::content::{Content, ContentError};
use crate::part::{Nanos, Part, SlcMode, Timing};
use crate::preset::{Preset, PresetError};
use crate::rules::{self, Operation};
use crate::stats::{ChipStats, RegionStats, RegionTally};

mod check;
mod copies;

pub use self::check::ChipError;
pub use self::copies::{Fork, Truth};

/// A simulated NAND device. It holds the truth and never fails by chance:
/// [`FaultInjector`](crate::faults::FaultInjector) wraps it for that.
///
/// Bad-block marks cost no time: a driver keeps them in RAM. See the [crate's page](crate) for an example.
#[derive(Clone, Debug)]
pub struct Chip {
    part: Arc<Part>,
    content: Content,
    /// By [`Region`].
    regions: [Option<RegionState>; 2],
    clock: Clock,
}

/// One region: its cells and its books.
#[derive(Clone, Debug)]
pub(crate) struct RegionState {
    pub(crate) cells: Cells,
    timing: Timing,
    /// A whole page with its spare area.
    program_transfer: Nanos,
    pub(crate) tally: RegionTally,
    /// What blocks in SLC mode have in place of `timing`.
    slc_mode: Option<SlcMode>,
}

impl RegionState {
    /// The times of a block in its mode.
    #[inline]
    fn timing_of(&self, block: Block) -> &Timing {
        match &self.slc_mode {
            Some(slc) if self.is_in_slc_mode(block) => &slc.timing,
            _ => &self.timing,
        }
    }

    fn is_in_slc_mode(&self, block: Block) -> bool {
        let exists = (block.index() as usize) < self.cells.blocks().len();
        exists && self.cells.mode(block.index()) == Mode::Slc
    }
}

impl Chip {
    /// A fresh chip: all pages erased, no block bad, no time spent. Operations follow each other.
    pub fn new(part: &Part, content: Content) -> Result<Self, ChipError> {
        Self::check(part)?;
        let state = |region| Self::region_state(part, region, content, Cells::new);
        let regions = [state(Region::Slc)?, state(Region::Mlc)?];
        let clock = Clock::new(Time::Serial, part, Nanos::ZERO, Nanos::ZERO);
        Ok(Self { part: Arc::new(part.clone()), content, regions, clock })
    }

    /// The same chip under that kind of time. What was under way is waited for.
    #[must_use]
    pub fn with_time(mut self, time: Time) -> Self {
        let (now, active) = self.clock.at_rest();
        self.clock = Clock::new(time, &self.part, now, active);
        self
    }

    /// Makes erased blocks of a region whole, with what the formula tells. The chip must be in stamp mode. It takes no
    /// time and counts as no operation: the chip comes that way.
    pub fn preset(
        &mut self,
        region: Region,
        blocks: Range<u32>,
        formula: Arc<dyn Preset>,
    ) -> Result<(), PresetError> {
        let state = self.regions[region as usize].as_mut();
        state.ok_or(PresetError::OutOfRange(region))?.cells.preset(blocks, formula)
    }

    /// From now on, keeps the pages of a region in fewer bytes where the kept spare bytes of a block are alike, as an
    /// FTL's tags are. Nothing else can be told from it. A chip in bytes mode, and spare bytes that are no whole number
    /// of words, three at least, stay as they are.
    pub fn pack(&mut self, region: Region) {
        if let Some(state) = &mut self.regions[region as usize] {
            state.cells.pack();
        }
    }

    pub(crate) fn check(part: &Part) -> Result<(), ChipError> {
        check::layout(part)
    }

    pub(crate) fn region_state(
        part: &Part,
        region: Region,
        content: Content,
        cells: impl Fn(Region, &ftl_iface::RegionGeometry, Content) -> Result<Cells, ContentError>,
    ) -> Result<Option<RegionState>, ChipError> {
        let Some(shape) = part.geometry.region(region) else {
            return Ok(None);
        };
        let Some(figures) = part.region(region) else {
            return Err(ChipError::NoFigures { part: part.name.clone(), region });
        };
        check::figures(part, region, shape, figures)?;
        let mut cells = cells(region, shape, content)?;
        if let Some(mode) = figures.slc_mode {
            // No more than in full mode, whose pages are numbered in 16 bits.
            cells.allow_slc_mode(mode.pages_per_block.get() as u16);
        }
        let program_transfer = figures.timing.transfer(shape.page_bytes + shape.spare_bytes);
        let tally = RegionTally::default();
        let (timing, slc_mode) = (figures.timing, figures.slc_mode);
        Ok(Some(RegionState { cells, timing, program_transfer, tally, slc_mode }))
    }

    pub(crate) fn restored(
        part: Part,
        content: Content,
        regions: [Option<RegionState>; 2],
        clock: Clock,
    ) -> Self {
        Self { part: Arc::new(part), content, regions, clock }
    }

    /// The figures that the chip was made of.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// What it keeps of each page.
    pub const fn content(&self) -> Content {
        self.content
    }

    /// Whether its operations overlap.
    pub const fn time(&self) -> Time {
        self.clock.time()
    }

    /// What it did since it was made.
    pub fn stats(&self) -> ChipStats {
        let power = &self.part.power;
        let region = |region: Region| {
            let tally = self.regions[region as usize].as_ref().map(|state| state.tally);
            let tally = tally.unwrap_or_default();
            RegionStats { tally, energy: power.active(tally.busy) }
        };
        let (elapsed, active) = self.clock.at_rest();
        let stood_by = (elapsed * u64::from(self.part.dies())).since(active);
        ChipStats {
            slc: region(Region::Slc),
            mlc: region(Region::Mlc),
            elapsed,
            idle_energy: power.idle(stood_by),
        }
    }

    /// How often the block was erased.
    pub fn erase_count(&self, block: Block) -> u32 {
        self.block(block).erases()
    }

    /// The erase counts of a region's blocks, in order; none where the region is missing.
    pub fn erase_counts(&self, region: Region) -> impl Iterator<Item = u32> {
        let state = self.regions[region as usize].as_ref();
        state.into_iter().flat_map(|state| state.cells.blocks().iter().map(BlockCells::erases))
    }

    /// The mode into which the block was erased last.
    #[inline]
    pub fn mode(&self, block: Block) -> Mode {
        let state = self.regions[block.region() as usize].as_ref();
        state.map_or(Mode::Full, |state| state.cells.mode(block.index()))
    }

    /// How often each of a region's blocks was erased into SLC mode, in order. [`erase_counts`](Self::erase_counts)
    /// has these erases, too.
    pub fn slc_mode_erase_counts(&self, region: Region) -> impl Iterator<Item = u32> {
        let state = self.regions[region as usize].as_ref();
        state.into_iter().flat_map(|state| {
            let blocks = 0..state.cells.blocks().len() as u32;
            blocks.map(|block| state.cells.slc_mode_erases(block))
        })
    }

    /// The lowest page of the block that may be programmed next; the number of its pages when it is full.
    #[track_caller]
    pub fn next_page(&self, block: Block) -> u16 {
        self.block(block).next()
    }

    /// Lets time pass without operations until `moment`: the host has nothing to ask. A moment that has passed
    /// changes nothing.
    pub fn wait_until(&mut self, moment: Nanos) {
        self.clock.wait_until(moment);
    }

    /// Waits until the last die has come to rest.
    pub fn wait_for_all(&mut self) {
        self.clock.wait_until(self.clock.at_rest().0);
    }

    /// Starts a request at that moment, or now if that has passed, and returns its number. Operations are its until
    /// [`end_request`](Self::end_request); without a request, each is waited for. Where operations overlap, several
    /// requests can be under way: the next one begins when this one has asked for all that it needs.
    pub fn begin_request(&mut self, at: Nanos) -> u64 {
        self.clock.begin(at)
    }

    /// The request has asked for all that it needs.
    pub fn end_request(&mut self) {
        self.clock.end();
    }

    /// The next request that is over, in the order of their ends. Time passes until then, or until that moment.
    /// `None`: none is over by then, or none is under way.
    pub fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        self.clock.next_done(until)
    }

    /// Says of the operations to come what waits for them, and on whose account they go.
    #[inline]
    pub const fn set_order(&mut self, order: Order, label: Label) {
        self.clock.set_order(order, label);
    }

    /// The time of requests that went to that account, where operations overlap.
    pub fn charged(&self, label: Label) -> Nanos {
        self.clock.charged(label)
    }

    /// Memory that the content occupies in this process, but for the allocator's own. Blocks shared with a fork
    /// count in both.
    pub fn memory_bytes(&self) -> u64 {
        self.regions.iter().flatten().map(|state| state.cells.memory_bytes()).sum()
    }

    /// Blocks that were copied since this chip was made or forked, because they were written while shared.
    pub fn blocks_copied(&self) -> u64 {
        self.regions.iter().flatten().map(|state| state.cells.copies()).sum()
    }

    #[inline]
    #[track_caller]
    fn erase_as(&mut self, block: Block, mode: Mode) {
        let Some(state) = &mut self.regions[block.region() as usize] else {
            rules::out_of_range(Operation::Erase, block)
        };
        // The erase removes what the block holds in the mode that it leaves.
        let array = state.timing_of(block).erase;
        state.tally.erases += 1;
        state.tally.busy += array;
        self.clock.spend(array, || erase_of(block, array));
        state.cells.erase(block);
        state.cells.set_mode(block.index(), mode);
    }

    #[track_caller]
    fn block(&self, block: Block) -> &BlockCells {
        match &self.regions[block.region() as usize] {
            Some(state) => state.cells.block(Operation::IsBad, block),
            None => rules::out_of_range(Operation::IsBad, block),
        }
    }

    pub(crate) const fn regions(&self) -> &[Option<RegionState>; 2] {
        &self.regions
    }

    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }
}

fn erase_of(block: Block, array: Nanos) -> Job {
    Job { block, page: ftl_iface::PageIndex::new(0), work: Work::Erase { array } }
}

impl Fork for Chip {
    fn fork(&mut self) -> Self {
        let [slc, mlc] = &mut self.regions;
        let fork = |state: &mut Option<RegionState>| {
            state.as_mut().map(|state| RegionState { cells: state.cells.fork(), ..*state })
        };
        let regions = [fork(slc), fork(mlc)];
        let (part, clock) = (Arc::clone(&self.part), self.clock.clone());
        Self { part, content: self.content, regions, clock }
    }
}

impl Truth for Chip {
    #[track_caller]
    fn erase_count(&self, block: Block) -> u32 {
        self.block(block).erases()
    }

    fn is_programmed(&self, page: Page) -> bool {
        let state = self.regions[page.region() as usize].as_ref();
        state.is_some_and(|state| state.cells.is_programmed(page))
    }

    fn mode(&self, block: Block) -> Mode {
        Self::mode(self, block)
    }

    #[track_caller]
    fn attempt_erase(&mut self, block: Block) {
        let Some(state) = &mut self.regions[block.region() as usize] else {
            rules::out_of_range(Operation::Erase, block)
        };
        state.cells.wear(block);
        state.tally.erases += 1;
        let array = state.timing_of(block).erase;
        state.tally.busy += array;
        self.clock.spend(array, || erase_of(block, array));
    }
}

impl Timed for Chip {
    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl NandDevice for Chip {
    type Error = Infallible;

    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.part.geometry
    }

    #[inline]
    #[track_caller]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        let Some(state) = &mut self.regions[page.region() as usize] else {
            rules::out_of_range(Operation::Read, page)
        };
        // The books come before the cells: they do not wait for memory, so that the processor can be at several
        // operations at once. A breach ends the run, and its time with it.
        let bytes = Bytes::new((data.len() + spare.len()) as u32);
        let (array, transfer) = (state.timing_of(page.block()).read, state.timing.transfer(bytes));
        state.tally.reads += 1;
        state.tally.busy += array + transfer;
        self.clock.spend(array + transfer, || Job {
            block: page.block(),
            page: page.index(),
            work: Work::Read { array, transfer },
        });
        state.cells.read(page, at.as_usize(), data, spare);
        Ok(Corrected::NONE)
    }

    #[inline]
    #[track_caller]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        let Some(state) = &mut self.regions[page.region() as usize] else {
            rules::out_of_range(Operation::Program, page)
        };
        let (array, transfer) = (state.timing_of(page.block()).program, state.program_transfer);
        let work = Work::Program { array, transfer };
        let asked = || Job { block: page.block(), page: page.index(), work };
        state.tally.programs += 1;
        state.tally.busy += array + transfer;
        self.clock.spend(array + transfer, asked);
        state.cells.program(page, data, spare);
        Ok(())
    }

    #[inline]
    #[track_caller]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.erase_as(block, Mode::Full);
        Ok(())
    }

    fn slc_mode_pages(&self, region: Region) -> Option<PageCount> {
        self.part.region(region)?.slc_mode.map(|mode| mode.pages_per_block)
    }

    #[track_caller]
    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<Infallible>> {
        if mode == Mode::Slc && self.slc_mode_pages(block.region()).is_none() {
            return Err(ModeError::NoModes);
        }
        self.erase_as(block, mode);
        Ok(())
    }

    #[inline]
    #[track_caller]
    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        Ok(self.block(block).is_bad())
    }

    #[track_caller]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        match &mut self.regions[block.region() as usize] {
            Some(state) => state.cells.mark_bad(block),
            None => rules::out_of_range(Operation::MarkBad, block),
        }
        Ok(())
    }
}
