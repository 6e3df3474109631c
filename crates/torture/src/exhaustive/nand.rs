//! The device of a walk: an image that an FTL works on, photographed before each operation.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};

use super::content::Contents;
use super::fates::{Alternative, Moment, Op, count_as_programmed};
use super::grid::Grid;
use super::image::{BlockState, Cell, FlashImage, Read};

/// Why the device stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NandHalt {
    /// More calls than any request may make.
    Endless,
}

/// Something that could have gone otherwise, and how it went.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChoicePoint {
    pub(super) moment: Moment,
    pub(super) alternatives: &'static [Alternative],
    /// Zero: as usual; else the number of the alternative, counted from one.
    pub(super) taken: u8,
}

/// The flash before an operation.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) image: FlashImage,
    pub(super) op: Op,
    /// The number of the operation in this life.
    pub(super) number: u16,
    /// Things met before it that could have gone otherwise.
    pub(super) met: usize,
    /// Failures before it.
    pub(super) failures: u8,
}

/// The device.
#[derive(Debug)]
pub(super) struct Nand {
    pub(super) grid: Grid,
    pub(super) contents: Contents,
    pub(super) image: FlashImage,
    pub(super) photos: Vec<Snapshot>,
    pub(super) met: Vec<ChoicePoint>,
    /// How the first of them go.
    tape: Vec<u8>,
    /// Whether photographs are taken.
    pub(super) records: bool,
    /// Whether anything may go otherwise.
    pub(super) is_free: bool,
    /// What goes otherwise in a script.
    planned: Vec<(Moment, Alternative)>,
    /// Unstable pages that may still die.
    deaths_left: u8,
    /// Failures of operations that may still happen.
    failures_left: u8,
    failures: u8,
    /// Operations so far that change the flash.
    ops: u16,
    /// Reads so far of unstable pages.
    unstable_reads: u16,
    calls_left: u32,
    /// The operations in words, if somebody wants to read them.
    pub(super) history: Option<Vec<String>>,
}

/// Calls that a life may make: many times what any takes.
const CALLS: u32 = 60_000;

/// Unstable pages that may die in one life. If there are more of them, as in a block whose erase was cut, only one may:
/// the fates of an erase have the blocks of which several pages are lost.
const DEATHS: usize = 2;

impl Nand {
    pub(super) fn new(grid: Grid) -> Self {
        Self {
            grid,
            contents: Contents::default(),
            image: FlashImage::new(),
            photos: Vec::new(),
            met: Vec::new(),
            tape: Vec::new(),
            planned: Vec::new(),
            records: false,
            is_free: true,
            deaths_left: 0,
            failures_left: 0,
            failures: 0,
            ops: 0,
            unstable_reads: 0,
            calls_left: CALLS,
            history: None,
        }
    }

    /// Begins a life on this flash.
    pub(super) fn begin(&mut self, image: &FlashImage, tape: &[u8], failures_left: u8) {
        self.image.clone_from(image);
        self.photos.clear();
        self.met.clear();
        self.tape.clear();
        self.tape.extend_from_slice(tape);
        (self.records, self.is_free) = (false, true);
        (self.failures_left, self.failures) = (failures_left, 0);
        let unstable = image.held(&self.grid).filter(|(_, cell)| cell.is_unstable()).count();
        self.deaths_left = if unstable > DEATHS { 1 } else { DEATHS as u8 };
        (self.ops, self.unstable_reads, self.calls_left) = (0, 0, CALLS);
    }

    /// Lets these things go otherwise in this life, and nothing else.
    pub(super) fn plan(&mut self, planned: Vec<(Moment, Alternative)>) {
        (self.planned, self.is_free) = (planned, false);
    }

    /// Failures of this life.
    pub(super) const fn failures(&self) -> u8 {
        self.failures
    }

    /// Adds a line to the history, if there is one.
    pub(super) fn say(&mut self, line: impl FnOnce(&Grid) -> String) {
        if let Some(history) = &mut self.history {
            history.push(line(&self.grid));
        }
    }

    fn call(&mut self) -> Result<(), NandHalt> {
        self.calls_left = self.calls_left.checked_sub(1).ok_or(NandHalt::Endless)?;
        Ok(())
    }

    /// Decides how something goes that could go otherwise.
    fn choose(
        &mut self,
        moment: Moment,
        alternatives: &'static [Alternative],
    ) -> Option<Alternative> {
        let chosen = if self.is_free {
            let taken = self.tape.get(self.met.len()).copied().unwrap_or(0);
            self.met.push(ChoicePoint { moment, alternatives, taken });
            alternatives.get(usize::from(taken).checked_sub(1)?).copied()
        } else {
            let planned = self
                .planned
                .iter()
                .find(|(when, what)| *when == moment && alternatives.contains(what));
            planned.map(|(_, what)| *what)
        };
        if let Some(chosen) = chosen {
            self.say(|_| format!("  {chosen}"));
        }
        chosen
    }

    /// Decides how an operation goes that may fail, if another may.
    fn choose_failure(&mut self, alternatives: &'static [Alternative]) -> Option<Alternative> {
        if self.is_free && self.failures == self.failures_left {
            return None;
        }
        let chosen = self.choose(Moment::Op(self.ops - 1), alternatives);
        self.failures += u8::from(chosen.is_some());
        chosen
    }

    fn operate(&mut self, op: Op) {
        self.say(|grid| op.told(grid));
        if self.records {
            self.photos.push(Snapshot {
                image: self.image.clone(),
                op,
                number: self.ops,
                met: self.met.len(),
                failures: self.failures,
            });
        }
        self.ops += 1;
    }
}

impl NandDevice for Nand {
    type Error = NandHalt;

    fn geometry(&self) -> &Geometry {
        &self.grid.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<NandHalt>> {
        self.call().map_err(ReadError::Driver)?;
        let page = self.grid.page(page);
        let mut cell = self.image.cell(page);
        if cell.is_unstable() {
            self.say(|grid| format!("read {}, which is unstable", grid.page_name(page)));
            let moment = Moment::Read(self.unstable_reads);
            self.unstable_reads += 1;
            let may_die = !self.is_free || self.deaths_left > 0;
            if may_die && self.choose(moment, Alternative::OF_READ).is_some() {
                self.deaths_left = self.deaths_left.saturating_sub(1);
                cell = Cell::DEAD;
                self.image.set_cell(&self.contents, page, cell);
            }
        }
        match cell.read() {
            // The buffers stay as they are: a driver need not touch them.
            Read::Dead => return Err(ReadError::Uncorrectable),
            Read::Erased => {
                data.fill(0xFF);
                spare.fill(0xFF);
            }
            Read::Noise => {
                let noise = page as u8 ^ 0x5A;
                data.fill(noise);
                spare.fill(noise);
            }
            Read::Content(id) => {
                let content = self.contents.get(id);
                data.copy_from_slice(&content.data()[at.as_usize()..][..data.len()]);
                spare.copy_from_slice(&content.spare()[..spare.len()]);
            }
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<NandHalt>> {
        self.call().map_err(ProgramError::Driver)?;
        let (at, index) = (self.grid.page(page), page.index().get());
        let block = self.image.block(self.grid.block_of(at));
        assert!(!block.bad, "breach: {page} is programmed in a block that is marked bad");
        assert!(!block.torn, "breach: {page} is programmed, and its block must be erased first");
        assert!(u16::from(block.next) <= index, "breach: {page} is programmed a second time");
        let id = self.contents.id(data, spare);
        self.operate(Op::Program(at, id));
        let failure = self.choose_failure(Alternative::OF_PROGRAM);
        let cell = match failure {
            None => Cell::holding(id),
            Some(Alternative::FailsUnstable) => Cell::holding(id).unstable(),
            Some(Alternative::FailsErased) => Cell::ERASED,
            Some(_) => Cell::DEAD,
        };
        self.image.set_cell(&self.contents, at, cell);
        count_as_programmed(&mut self.image, &self.grid, at);
        if failure.is_none() { Ok(()) } else { Err(ProgramError::Failed) }
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<NandHalt>> {
        self.call().map_err(EraseError::Driver)?;
        let at = self.grid.block(block);
        let state = self.image.block(at);
        assert!(!state.bad, "breach: {block} is erased and is marked bad");
        self.operate(Op::Erase(at));
        let failure = self.choose_failure(Alternative::OF_ERASE);
        let all = (&self.grid, &self.contents);
        self.image.fill_block(all, at, |_, cell| match failure {
            None => Cell::ERASED,
            Some(Alternative::EraseFailsFading) => cell.unstable(),
            Some(_) => Cell::DEAD,
        });
        let state = match failure {
            None => BlockState::default(),
            Some(_) => BlockState { torn: true, ..state },
        };
        self.image.set_block(at, state);
        if failure.is_none() { Ok(()) } else { Err(EraseError::Failed) }
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, NandHalt> {
        self.call()?;
        Ok(self.image.block(self.grid.block(block)).bad)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<NandHalt>> {
        self.call().map_err(MarkError::Driver)?;
        let at = self.grid.block(block);
        self.operate(Op::Mark(at));
        let chosen = self.choose(Moment::Op(self.ops - 1), Alternative::OF_MARK);
        if chosen == Some(Alternative::MarkFails) {
            return Err(MarkError::Failed);
        }
        if chosen == Some(Alternative::Destroys) {
            self.image.fill_block((&self.grid, &self.contents), at, |_, _| Cell::DEAD);
        }
        let state = self.image.block(at);
        self.image.set_block(at, BlockState { bad: true, ..state });
        Ok(())
    }
}
