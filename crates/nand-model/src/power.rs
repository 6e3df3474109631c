//! The power cut: an operation stops midway, and every call fails until the device is taken back.

use std::fmt;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, Mode, ModeError, NandDevice, Page,
    ProgramError, ReadError, forward_nand,
};

use crate::clock::Timed;
use crate::part::Nanos;

/// What becomes of the page in flight. In every fate it counts as programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFate {
    /// The program had not begun: it reads as erased.
    Untouched,
    /// The program was done but for its acknowledgement.
    Complete,
    /// The error correction gives up on it.
    Uncorrectable,
    /// Enough cells are still empty for it to read as erased.
    ReadsErased,
    /// It reads well at first and is uncorrectable later.
    Unstable {
        /// Reads that go well.
        reads: u32,
    },
    /// It reads well, however often, until power is lost once more, and is uncorrectable from then on.
    Fading,
}

/// What becomes of the pages that share cells with the page in flight and were programmed before it
/// ([`Pairing::endangered`](ftl_iface::Pairing::endangered)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairFate {
    /// They are as they were.
    Kept,
    /// They are uncorrectable.
    Lost,
}

/// What becomes of a block whose erase is in flight. In every fate it must be erased again before it is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFate {
    /// Its pages read as before.
    Untouched,
    /// Its pages read as erased.
    Erased,
    /// Each of its pages reads as before, as erased, as bytes never written, or as uncorrectable, by the seed of
    /// the faults below.
    Garbage,
    /// Each of its pages reads as before, as erased, as uncorrectable, or well for a while and as uncorrectable later,
    /// by the seed of the faults below: what a weak erase leaves that moved the charge to where it does not stay.
    Fading,
}

/// What becomes of a block whose bad-block mark is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkFate {
    /// The mark had not begun.
    Untouched,
    /// It is set, and the block's pages read as before.
    Set,
    /// It is not set, but pages of the block are uncorrectable, by the seed of the faults below.
    PagesLost,
    /// It is set, and pages of the block are uncorrectable, by the seed of the faults below.
    SetAndPagesLost,
}

impl MarkFate {
    /// Whether the mark is set.
    pub const fn is_set(self) -> bool {
        matches!(self, Self::Set | Self::SetAndPagesLost)
    }

    /// Whether pages of the block are lost.
    pub const fn loses_pages(self) -> bool {
        matches!(self, Self::PagesLost | Self::SetAndPagesLost)
    }
}

/// A device whose operations can stop midway. [`FaultInjector`](crate::faults::FaultInjector) is one over any chip;
/// wrappers above it pass this on.
#[diagnostic::on_unimplemented(
    message = "power cannot be cut in `{Self}`: it does not say what a torn operation leaves",
    label = "this device cannot stop midway",
    note = "a chip tells the truth; what a cut left in its place is kept by a `FaultInjector`: \
            `PowerCut::new(FaultInjector::new(chip, seed), cut)`"
)]
pub trait Tear: NandDevice {
    /// A program that stops midway.
    fn tear_program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        fate: PageFate,
        pair: PairFate,
    ) -> Result<(), Self::Error>;

    /// An erase that stops midway. The block stays in the mode that it has, whichever it was to be erased into.
    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), Self::Error>;

    /// A bad-block mark that stops midway.
    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), Self::Error>;

    /// Power is lost between two operations, or after one that it tore: pages that were [fading](PageFate::Fading) are
    /// uncorrectable from now on. A page that the cut itself leaves fading lasts until the next time.
    fn power_off(&mut self);
}

impl<D: Tear + ?Sized> Tear for &mut D {
    #[track_caller]
    fn tear_program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        fate: PageFate,
        pair: PairFate,
    ) -> Result<(), Self::Error> {
        (**self).tear_program(page, data, spare, fate, pair)
    }

    #[track_caller]
    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), Self::Error> {
        (**self).tear_erase(block, fate)
    }

    #[track_caller]
    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), Self::Error> {
        (**self).tear_mark(block, fate)
    }

    fn power_off(&mut self) {
        (**self).power_off();
    }
}

/// What the cut does to whatever is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fates {
    /// To the page of a program.
    pub page: PageFate,
    /// To its paired pages.
    pub pair: PairFate,
    /// To the block of an erase.
    pub block: BlockFate,
    /// To the block of a bad-block mark.
    pub mark: MarkFate,
}

impl Fates {
    /// Each kind of fate with equal chance, the same for the same seed on every machine.
    pub fn from_seed(seed: u64) -> Self {
        /// A mount, its replay and a few host reads; beyond that a test would not meet the failure.
        const READS_MAX: u32 = 8;
        let mut dice = fastrand::Rng::with_seed(seed);
        let page = match dice.u32(0..6) {
            0 => PageFate::Untouched,
            1 => PageFate::Complete,
            2 => PageFate::Uncorrectable,
            3 => PageFate::ReadsErased,
            4 => PageFate::Fading,
            _ => PageFate::Unstable { reads: dice.u32(0..=READS_MAX) },
        };
        let pair = if dice.bool() { PairFate::Lost } else { PairFate::Kept };
        let block = match dice.u32(0..4) {
            0 => BlockFate::Untouched,
            1 => BlockFate::Erased,
            2 => BlockFate::Garbage,
            _ => BlockFate::Fading,
        };
        let mark = match (dice.bool(), dice.bool()) {
            (false, false) => MarkFate::Untouched,
            (true, false) => MarkFate::Set,
            (false, true) => MarkFate::PagesLost,
            (true, true) => MarkFate::SetAndPagesLost,
        };
        Self { page, pair, block, mark }
    }
}

/// When power fails, and what that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    at: Option<u64>,
    counts_reads: bool,
    fates: Fates,
}

impl Cut {
    /// Power never fails: the wrapper only counts.
    pub fn never() -> Self {
        Self { at: None, counts_reads: false, fates: Fates::from_seed(0) }
    }

    /// Power fails in the operation with that number, counted from zero, and does what is chosen.
    pub const fn chosen(at: u64, fates: Fates) -> Self {
        Self { at: Some(at), counts_reads: false, fates }
    }

    /// Power fails in the operation with that number, counted from zero, and does what the seed has for it.
    pub fn seeded(at: u64, seed: u64) -> Self {
        let mut mixed = fastrand::Rng::with_seed(seed);
        Self::chosen(at, Fates::from_seed(mixed.u64(..) ^ at))
    }

    /// Counts reads as operations too, so that power can fail in one.
    #[must_use]
    pub const fn counting_reads(self) -> Self {
        Self { counts_reads: true, ..self }
    }

    /// What it does to whatever is in flight.
    pub const fn fates(&self) -> &Fates {
        &self.fates
    }
}

/// Why a call failed below a [`PowerCut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerError<E> {
    /// Power failed, in this call or before it. Take the device back with [`PowerCut::into_inner`] and mount again.
    PoweredOff,
    /// The device below failed by itself.
    Device(E),
}

impl<E: fmt::Debug> fmt::Display for PowerError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoweredOff => f.write_str("power is off: take the device back and mount it"),
            Self::Device(error) => write!(f, "the device failed ({error:?}): mount it again"),
        }
    }
}

impl<E: fmt::Debug> std::error::Error for PowerError<E> {}

/// A device whose power fails at operation n: programs, erases and bad-block marks count, and reads if asked for.
///
/// To try a cut at every operation of a workload, raise n from zero until the workload ends with power on:
///
/// ```
/// # use ftl_iface::*;
/// # use nand_model::faults::FaultInjector;
/// # use nand_model::power::{Cut, PowerCut};
/// # use nand_model::{Chip, Content, Fork};
/// # let part = nand_model::datasheet::builtin("tiny")?;
/// # fn workload<D: NandDevice>(device: &mut D) -> Result<(), EraseError<D::Error>> {
/// #     (0..3).try_for_each(|block| device.erase(Block::new(Region::Slc, block)))
/// # }
/// let mut start = FaultInjector::new(Chip::new(&part, Content::Bytes)?, 1);
/// let mut cuts = 0;
/// loop {
///     let mut device = PowerCut::new(start.fork(), Cut::seeded(cuts, 42));
///     let _ = workload(&mut device);
///     if device.is_on() {
///         break;
///     }
///     let survivor = device.into_inner(); // Mount it, and compare.
///     # let _ = survivor;
///     cuts += 1;
/// }
/// assert_eq!(cuts, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PowerCut<D> {
    inner: D,
    cut: Cut,
    operations: u64,
    on: bool,
    asked_while_off: u64,
}

/// How an operation begins.
enum Begin {
    Whole,
    Torn,
}

impl<D> PowerCut<D> {
    /// The device under that cut. Operations count from here.
    ///
    /// A chip by itself cannot tear; the compiler says what to put between:
    ///
    /// ```compile_fail,E0277
    /// # use nand_model::{Chip, Content, PowerCut, power::Cut};
    /// # let part = nand_model::datasheet::builtin("tiny").unwrap();
    /// let chip = Chip::new(&part, Content::Bytes).unwrap();
    /// PowerCut::new(chip, Cut::never());
    /// ```
    pub const fn new(inner: D, cut: Cut) -> Self
    where
        D: Tear,
    {
        Self { inner, cut, operations: 0, on: true, asked_while_off: 0 }
    }

    /// The device below.
    pub const fn inner(&self) -> &D {
        &self.inner
    }

    /// The device below, for what is done beside its operations.
    pub const fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    /// Lets power fail by another cut from now on. Its operations count from here.
    pub const fn set_cut(&mut self, cut: Cut) {
        self.cut = cut;
        self.operations = 0;
    }

    /// Takes the device back: power is on again, and what was in flight met its fate.
    pub fn into_inner(self) -> D {
        self.inner
    }

    /// Operations since the cut was set, the cut one included.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Whether power has not failed yet.
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Calls that were made after power had failed: a caller that keeps the contract makes none.
    pub const fn asked_while_off(&self) -> u64 {
        self.asked_while_off
    }

    const fn alive<E>(&mut self) -> Result<(), PowerError<E>> {
        if self.on {
            return Ok(());
        }
        self.asked_while_off += 1;
        Err(PowerError::PoweredOff)
    }

    fn begin<E>(&mut self) -> Result<Begin, PowerError<E>>
    where
        D: Tear,
    {
        self.alive()?;
        let number = self.operations;
        self.operations += 1;
        if self.cut.at != Some(number) {
            return Ok(Begin::Whole);
        }
        self.on = false;
        // Before what the cut itself leaves: that lasts until the next time.
        self.inner.power_off();
        Ok(Begin::Torn)
    }
}

/// The error of a call that was under way: power failed, unless the device below failed first.
fn torn<E>(result: Result<(), E>) -> PowerError<E> {
    match result {
        Ok(()) => PowerError::PoweredOff,
        Err(error) => PowerError::Device(error),
    }
}

impl<D: Tear> NandDevice for PowerCut<D> {
    type Error = PowerError<D::Error>;

    forward_nand!(self => self.inner; geometry slc_mode_pages);

    #[track_caller]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        let begin =
            if self.cut.counts_reads { self.begin() } else { self.alive().map(|()| Begin::Whole) };
        if let Begin::Torn = begin.map_err(ReadError::Driver)? {
            return Err(ReadError::Driver(PowerError::PoweredOff));
        }
        self.inner.read(page, at, data, spare).map_err(|error| match error {
            ReadError::Uncorrectable => ReadError::Uncorrectable,
            ReadError::Driver(error) => ReadError::Driver(PowerError::Device(error)),
        })
    }

    #[track_caller]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        match self.begin().map_err(ProgramError::Driver)? {
            Begin::Whole => self.inner.program(page, data, spare).map_err(|error| match error {
                ProgramError::Failed => ProgramError::Failed,
                ProgramError::Driver(error) => ProgramError::Driver(PowerError::Device(error)),
            }),
            Begin::Torn => {
                let Fates { page: fate, pair, .. } = self.cut.fates;
                let result = self.inner.tear_program(page, data, spare, fate, pair);
                Err(ProgramError::Driver(torn(result)))
            }
        }
    }

    #[track_caller]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Self::Error>> {
        match self.begin().map_err(EraseError::Driver)? {
            Begin::Whole => self.inner.erase(block).map_err(|error| match error {
                EraseError::Failed => EraseError::Failed,
                EraseError::Driver(error) => EraseError::Driver(PowerError::Device(error)),
            }),
            Begin::Torn => {
                let result = self.inner.tear_erase(block, self.cut.fates.block);
                Err(EraseError::Driver(torn(result)))
            }
        }
    }

    #[track_caller]
    fn is_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.alive()?;
        self.inner.is_bad(block).map_err(PowerError::Device)
    }

    #[track_caller]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Self::Error>> {
        match self.begin().map_err(MarkError::Driver)? {
            Begin::Whole => self.inner.mark_bad(block).map_err(|error| match error {
                MarkError::Failed => MarkError::Failed,
                MarkError::Driver(error) => MarkError::Driver(PowerError::Device(error)),
            }),
            Begin::Torn => {
                let result = self.inner.tear_mark(block, self.cut.fates.mark);
                Err(MarkError::Driver(torn(result)))
            }
        }
    }

    #[track_caller]
    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<Self::Error>> {
        if mode == Mode::Slc && self.slc_mode_pages(block.region()).is_none() {
            self.alive().map_err(ModeError::Driver)?;
            return Err(ModeError::NoModes);
        }
        match self.begin().map_err(ModeError::Driver)? {
            Begin::Whole => self.inner.erase_into(block, mode).map_err(|error| match error {
                ModeError::NoModes => ModeError::NoModes,
                ModeError::Failed => ModeError::Failed,
                ModeError::Driver(error) => ModeError::Driver(PowerError::Device(error)),
            }),
            Begin::Torn => {
                let result = self.inner.tear_erase(block, self.cut.fates.block);
                Err(ModeError::Driver(torn(result)))
            }
        }
    }
}

impl<D: Timed> Timed for PowerCut<D> {
    fn now(&self) -> Nanos {
        self.inner.now()
    }
}
