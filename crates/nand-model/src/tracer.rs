//! The tracer: every operation as a readable line.

use std::fmt::{self, Write as _};

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, Mode, ModeError, NandDevice, Page,
    ProgramError, ReadError, forward_nand,
};

use crate::chip::Truth;
use crate::clock::Timed;
use crate::part::Nanos;
use crate::power::{BlockFate, MarkFate, PageFate, PairFate, Tear};
use crate::rules::Operation;

/// A device that tells of each operation: its number, what it was, where, what came of it, and when it was done where
/// the device below keeps time.
///
/// ```
/// # use ftl_iface::*;
/// # use nand_model::tracer::Tracer;
/// # use nand_model::{Chip, Content};
/// # let part = nand_model::datasheet::builtin("tiny")?;
/// let mut lines = String::new();
/// let chip = Chip::new(&part, Content::Bytes)?;
/// let mut device = Tracer::new(chip, |line: &str| lines += line).timed();
/// device.erase(Block::new(Region::Slc, 3)).unwrap();
/// let _ = device.into_inner();
/// assert_eq!(lines, "      0 erase    SLC block 3: ok, done at 1500.000 us\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tracer<D, S> {
    inner: D,
    sink: S,
    now: Option<fn(&D) -> Nanos>,
    operations: u64,
    line: String,
}

impl<D, S: FnMut(&str)> Tracer<D, S> {
    /// The device under the eyes of `sink`, which gets each line with its end.
    pub const fn new(inner: D, sink: S) -> Self {
        Self { inner, sink, now: None, operations: 0, line: String::new() }
    }

    /// Adds to each line the moment at which the caller may continue.
    #[must_use]
    pub fn timed(mut self) -> Self
    where
        D: Timed,
    {
        self.now = Some(D::now);
        self
    }

    /// The device below.
    pub const fn inner(&self) -> &D {
        &self.inner
    }

    /// Gives the device below back.
    pub fn into_inner(self) -> D {
        self.inner
    }

    /// Operations so far, reads and questions included.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    fn tell(&mut self, verb: &str, place: impl fmt::Display, outcome: impl fmt::Display) {
        let Self { operations, line, .. } = self;
        line.clear();
        // Writing to a string does not fail.
        let _ = write!(line, "{operations:7} {verb:<8} {place}: {outcome}");
        if let Some(now) = self.now {
            let _ = write!(self.line, ", done at {}", now(&self.inner));
        }
        self.line.push('\n');
        (self.sink)(&self.line);
        self.operations += 1;
    }
}

/// How the outcome of an operation reads.
struct Shown<'a, T, E>(&'a Result<T, E>);

impl<E: fmt::Display> fmt::Display for Shown<'_, (), E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(()) => f.write_str("ok"),
            Err(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Shown<'_, Corrected, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(Corrected::NONE) => f.write_str("ok"),
            Ok(corrected) => write!(f, "ok, {} bits corrected", corrected.get()),
            Err(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl<D: NandDevice, S: FnMut(&str)> NandDevice for Tracer<D, S> {
    type Error = D::Error;

    forward_nand!(self => self.inner; geometry slc_mode_pages);

    #[track_caller]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<D::Error>> {
        let result = self.inner.read(page, at, data, spare);
        let (from, length, spare) = (at.get(), data.len(), spare.len());
        let outcome = Shown(&result);
        let verb = Operation::Read.name();
        self.tell(verb, format_args!("{page}, {length} bytes from {from}, {spare} spare"), outcome);
        result
    }

    #[track_caller]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<D::Error>> {
        let result = self.inner.program(page, data, spare);
        self.tell(Operation::Program.name(), page, Shown(&result));
        result
    }

    #[track_caller]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<D::Error>> {
        let result = self.inner.erase(block);
        self.tell(Operation::Erase.name(), block, Shown(&result));
        result
    }

    #[track_caller]
    fn is_bad(&mut self, block: Block) -> Result<bool, D::Error> {
        let result = self.inner.is_bad(block);
        match &result {
            Ok(true) => self.tell(Operation::IsBad.name(), block, "yes"),
            Ok(false) => self.tell(Operation::IsBad.name(), block, "no"),
            Err(error) => {
                let outcome = format!("the driver failed ({error:?})");
                self.tell(Operation::IsBad.name(), block, outcome);
            }
        }
        result
    }

    #[track_caller]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<D::Error>> {
        let result = self.inner.mark_bad(block);
        self.tell(Operation::MarkBad.name(), block, Shown(&result));
        result
    }

    #[track_caller]
    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<D::Error>> {
        let result = self.inner.erase_into(block, mode);
        let verb = Operation::Erase.name();
        match mode {
            Mode::Full => self.tell(verb, block, Shown(&result)),
            Mode::Slc => self.tell(verb, format_args!("{block} into SLC mode"), Shown(&result)),
        }
        result
    }
}

impl<D: Tear, S: FnMut(&str)> Tear for Tracer<D, S> {
    #[track_caller]
    fn tear_program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        fate: PageFate,
        pair: PairFate,
    ) -> Result<(), D::Error> {
        let result = self.inner.tear_program(page, data, spare, fate, pair);
        let outcome = format!("power failed, page {fate:?}, pair {pair:?}");
        self.tell(Operation::Program.name(), page, outcome);
        result
    }

    #[track_caller]
    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), D::Error> {
        let result = self.inner.tear_erase(block, fate);
        self.tell(Operation::Erase.name(), block, format!("power failed, block {fate:?}"));
        result
    }

    #[track_caller]
    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), D::Error> {
        let result = self.inner.tear_mark(block, fate);
        self.tell(Operation::MarkBad.name(), block, format!("power failed, mark {fate:?}"));
        result
    }

    fn power_off(&mut self) {
        self.inner.power_off();
    }
}

impl<D: Truth, S: FnMut(&str)> Truth for Tracer<D, S> {
    #[track_caller]
    fn erase_count(&self, block: Block) -> u32 {
        self.inner.erase_count(block)
    }

    fn is_programmed(&self, page: Page) -> bool {
        self.inner.is_programmed(page)
    }

    fn mode(&self, block: Block) -> Mode {
        self.inner.mode(block)
    }

    #[track_caller]
    fn attempt_erase(&mut self, block: Block) {
        self.inner.attempt_erase(block);
        self.tell(Operation::Erase.name(), block, "attempted in vain");
    }
}

impl<D: Timed, S> Timed for Tracer<D, S> {
    fn now(&self) -> Nanos {
        self.inner.now()
    }
}
