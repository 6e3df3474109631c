//! Faults, kept apart from the truth: one file a kind.
//!
//! ```text
//!   read ──▶ inner device: the truth ──▶ torn: what a cut or a failure left instead
//!                                    ──▶ uncorrectable ──▶ bit_errors ──▶ caller
//!   program ──▶ factory_bad, torn: allowed? ──▶ inner device ──▶ program_failure, uncorrectable ──▶ caller
//!   erase ────▶ factory_bad: allowed? ──▶ erase_failure ──▶ inner device ──▶ caller
//!   mark_bad ─▶ mark_failure ──▶ inner device ──▶ caller
//!   leeway: what a failed read leaves in buffers, and what a mark does to its block's pages
//! ```
//!
//! Each fault comes from a seed or at a named place. A seeded one depends on the seed, the place and the block's erase
//! count alone: neither the order of operations elsewhere nor the machine changes it. Since the inner device always
//! takes what was meant to be programmed, a fault can be lifted and the truth compared.

mod allowed;
pub mod bit_errors;
mod dice;
mod erase_failure;
mod factory_bad;
mod leeway;
mod mark_failure;
mod program_failure;
mod setting;
mod torn;
mod uncorrectable;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, Mode, ModeError, NandDevice, Page, PageCount,
    PageIndex, ProgramError, ReadError, forward_nand,
};

pub use bit_errors::{Ageing, BitErrorsError};
pub use dice::{Chance, When};
pub use leeway::{FailedRead, FailingPart};
pub use torn::Remains;

use crate::chip::{Fork, Truth};
use crate::clock::Timed;
use crate::part::Nanos;
use crate::power::{BlockFate, MarkFate, PageFate, PairFate, Tear};
use crate::rules::{self, Operation};

/// All faults and what they left behind. Everything that an image keeps beside the chip.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Faults {
    seed: u64,
    factory_bad: factory_bad::FactoryBad,
    program_failures: program_failure::ProgramFailures,
    erase_failures: erase_failure::EraseFailures,
    mark_failures: mark_failure::MarkFailures,
    uncorrectable: uncorrectable::Uncorrectable,
    pub(crate) bit_errors: Option<bit_errors::BitErrors>,
    torn: torn::Torn,
}

impl Faults {
    /// Whether the next read of the page may fail.
    #[inline]
    fn may_lose(&self, page: Page) -> bool {
        self.torn.touches(page) || self.uncorrectable.is_named(page) || self.bit_errors.is_some()
    }
}

/// A device that fails as it is told, or as a seed has it, over one that tells the truth. Without any fault set it
/// passes everything on.
///
/// ```
/// # use ftl_iface::*;
/// # use nand_model::faults::{FaultInjector, When};
/// # use nand_model::{Chip, Content};
/// # let part = nand_model::datasheet::builtin("tiny")?;
/// let mut device = FaultInjector::new(Chip::new(&part, Content::Bytes)?, 1);
/// let page = Block::new(Region::Slc, 3).page(PageIndex::new(0));
/// device.fail_program(page, When::Always);
/// let failed = device.program(page, &[7; 1024], &[7; 32]);
/// assert_eq!(failed, Err(ProgramError::Failed));
/// // The fault hides what was meant to be there. Lifted, it shows.
/// device.lift(page);
/// let mut data = [0; 1024];
/// device.read(page, Bytes::ZERO, &mut data, &mut []).unwrap();
/// assert_eq!(data, [7; 1024]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FaultInjector<D> {
    inner: D,
    pub(crate) faults: Faults,
    leeway: leeway::Leeway,
}

impl<D> FaultInjector<D> {
    /// A device without faults as yet. All that is left to chance comes from `seed`.
    pub fn new(inner: D, seed: u64) -> Self {
        Self::with_faults(inner, Faults { seed, ..Faults::default() })
    }

    pub(crate) fn with_faults(inner: D, faults: Faults) -> Self {
        Self { inner, faults, leeway: leeway::Leeway::default() }
    }

    /// The device below: the truth.
    pub const fn inner(&self) -> &D {
        &self.inner
    }

    /// The device below, to compare with or to change past all faults.
    pub const fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    /// Gives the device below back. The faults and what they left are gone.
    pub fn into_inner(self) -> D {
        self.inner
    }

    /// Lifts every fault of every kind and what they left: from now on the truth is read. The seed stays.
    pub fn lift_all(&mut self) {
        self.faults = Faults { seed: self.faults.seed, ..Faults::default() };
        self.leeway = leeway::Leeway::default();
    }
}

impl<D: Truth> FaultInjector<D> {
    /// Whether the page was programmed, and reads as what it was programmed with, but for bit errors.
    pub fn is_intact(&self, page: Page) -> bool {
        let faults = &self.faults;
        let touched = faults.torn.touches(page) || faults.uncorrectable.is_named(page);
        !touched && self.inner.is_programmed(page)
    }

    #[track_caller]
    fn refuse_bad(&self, verb: Operation, block: Block, place: impl std::fmt::Display) {
        if self.faults.factory_bad.contains(block) {
            rules::block_is_bad(verb, place);
        }
    }

    #[track_caller]
    fn refuse_unerased(&self, page: Page) {
        if self.faults.torn.is_unerased(page.block()) {
            rules::block_not_erased(page);
        }
    }
}

impl<D: Truth> NandDevice for FaultInjector<D> {
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
        let before = if self.faults.may_lose(page) { self.leeway.save(data, spare) } else { None };
        let corrected = self.inner.read(page, at, data, spare)?;
        let read = leeway::FailingRead { seed: self.faults.seed, page, at };
        let remains = self.faults.torn.read(page);
        match remains {
            Some(Remains::Uncorrectable) if self.leeway.fails(data) => {
                self.leeway.show(read, before.as_ref(), data, spare);
                return Err(ReadError::Uncorrectable);
            }
            None | Some(Remains::Uncorrectable) => {}
            Some(remains) => remains.show(self.faults.seed, page, at, data, spare),
        }
        // What was never programmed has no content that could be lost or decay.
        let programmed = remains.is_none() && self.inner.is_programmed(page);
        let (faults, cycles) = (&mut self.faults, self.inner.erase_count(page.block()));
        let lost = faults.uncorrectable.is_named(page);
        let decayed = match &mut faults.bit_errors {
            Some(errors) => errors.read(faults.seed, page, cycles, at, data.len()),
            None => Some(corrected),
        };
        match decayed {
            _ if !programmed => Ok(corrected),
            Some(bits) if !lost => Ok(corrected.max(bits)),
            _ if !self.leeway.fails(data) => Ok(corrected),
            _ => {
                self.leeway.show(read, before.as_ref(), data, spare);
                Err(ReadError::Uncorrectable)
            }
        }
    }

    #[track_caller]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<D::Error>> {
        self.refuse_bad(Operation::Program, page.block(), page);
        self.refuse_unerased(page);
        self.inner.program(page, data, spare)?;
        let cycles = self.inner.erase_count(page.block());
        let faults = &mut self.faults;
        if let Some(errors) = &mut faults.bit_errors {
            errors.programmed(page.block());
        }
        if faults.program_failures.strikes(faults.seed, page, cycles) {
            let remains = Remains::of_a_failed_program(faults.seed, page, cycles);
            faults.torn.leave(page, remains);
            return Err(ProgramError::Failed);
        }
        if faults.uncorrectable.strikes(faults.seed, page, cycles) {
            faults.torn.leave(page, Some(Remains::Uncorrectable));
        }
        Ok(())
    }

    #[track_caller]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<D::Error>> {
        self.begin_erase(block)?;
        self.inner.erase(block)?;
        self.end_erase(block);
        Ok(())
    }

    #[track_caller]
    fn erase_into(&mut self, block: Block, mode: Mode) -> Result<(), ModeError<D::Error>> {
        if mode == Mode::Slc && self.slc_mode_pages(block.region()).is_none() {
            return Err(ModeError::NoModes);
        }
        self.begin_erase(block)?;
        self.inner.erase_into(block, mode)?;
        self.end_erase(block);
        Ok(())
    }

    #[track_caller]
    fn is_bad(&mut self, block: Block) -> Result<bool, D::Error> {
        Ok(self.inner.is_bad(block)? || self.faults.factory_bad.contains(block))
    }

    #[track_caller]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<D::Error>> {
        if self.leeway.destroys(self.faults.seed, block, self.inner.erase_count(block)) {
            self.destroy(block);
        }
        if self.faults.mark_failures.strikes(block) {
            return Err(MarkError::Failed);
        }
        self.inner.mark_bad(block)
    }
}

impl<D: Truth> FaultInjector<D> {
    /// Whether an erase, into whichever mode, continues to the device below. One that fails leaves the block in its
    /// mode.
    #[track_caller]
    fn begin_erase(&mut self, block: Block) -> Result<(), EraseError<D::Error>> {
        self.refuse_bad(Operation::Erase, block, block);
        let cycles = self.inner.erase_count(block);
        let faults = &mut self.faults;
        if !faults.erase_failures.strikes(faults.seed, block, cycles) {
            return Ok(());
        }
        self.inner.attempt_erase(block);
        if torn::fades(self.faults.seed, block, cycles) {
            self.leave_fading(block);
        } else {
            self.leave_half_erased(block);
        }
        Err(EraseError::Failed)
    }

    fn end_erase(&mut self, block: Block) {
        self.faults.torn.erased(block);
        if let Some(errors) = &mut self.faults.bit_errors {
            errors.erased(block);
        }
    }

    /// Each page of the block reads as before or as anything, by the seed.
    fn leave_half_erased(&mut self, block: Block) {
        let (cycles, pages) = (self.inner.erase_count(block), self.pages(block));
        self.faults.torn.half_erased(self.faults.seed, block, cycles, pages);
    }

    /// Each page of the block reads as before, for good or for a while, or is gone, by the seed.
    fn leave_fading(&mut self, block: Block) {
        let (cycles, pages) = (self.inner.erase_count(block), self.pages(block));
        self.faults.torn.faded(self.faults.seed, block, cycles, pages);
    }

    /// All programmed pages of the block are lost, or some, by the seed.
    fn destroy(&mut self, block: Block) {
        let (seed, cycles) = (self.faults.seed, self.inner.erase_count(block));
        let mut dice = dice::dice(seed, dice::Subject::DestroyedPages, block, cycles, 0);
        let spares = dice.bool();
        for index in 0..self.pages(block).get() as u16 {
            let page = block.page(PageIndex::new(index));
            let is_spared = spares && dice.bool();
            if self.inner.is_programmed(page) && !is_spared {
                self.faults.torn.leave(page, Some(Remains::Uncorrectable));
            }
        }
    }

    fn pages(&self, block: Block) -> PageCount {
        let shape = self.inner.geometry().region(block.region());
        shape.map(|shape| shape.pages_per_block).unwrap_or_default()
    }
}

impl<D: Truth> Tear for FaultInjector<D> {
    #[track_caller]
    fn tear_program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        fate: PageFate,
        pair: PairFate,
    ) -> Result<(), D::Error> {
        self.refuse_bad(Operation::Program, page.block(), page);
        self.refuse_unerased(page);
        // The truth is what the page was meant to hold; it counts as programmed in every fate.
        match self.inner.program(page, data, spare) {
            Ok(()) | Err(ProgramError::Failed) => {}
            Err(ProgramError::Driver(error)) => return Err(error),
        }
        if let Some(errors) = &mut self.faults.bit_errors {
            errors.programmed(page.block());
        }
        self.faults.torn.leave(page, Remains::of_a_torn_program(fate));
        // In SLC mode a page shares its cells with none.
        if pair == PairFate::Lost
            && self.inner.mode(page.block()) == Mode::Full
            && let Some(shape) = self.inner.geometry().region(page.region()).copied()
        {
            for victim in shape.pairing.endangered(page.index(), shape.pages_per_block) {
                let victim = page.block().page(victim);
                if self.inner.is_programmed(victim) {
                    self.faults.torn.leave(victim, Some(Remains::Uncorrectable));
                }
            }
        }
        Ok(())
    }

    #[track_caller]
    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), D::Error> {
        if self.is_bad(block)? {
            rules::block_is_bad(Operation::Erase, block);
        }
        match fate {
            BlockFate::Untouched => {}
            BlockFate::Erased => {
                // Into the mode that it has: nothing shows that the other one has begun.
                match self.inner.erase_into(block, self.inner.mode(block)) {
                    Ok(()) | Err(ModeError::NoModes | ModeError::Failed) => {}
                    Err(ModeError::Driver(error)) => return Err(error),
                }
                self.faults.torn.erased(block);
            }
            BlockFate::Garbage => self.leave_half_erased(block),
            BlockFate::Fading => self.leave_fading(block),
        }
        self.faults.torn.erase_again(block);
        Ok(())
    }

    #[track_caller]
    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), D::Error> {
        if fate.loses_pages() {
            self.destroy(block);
        }
        if !fate.is_set() || self.faults.mark_failures.strikes(block) {
            return Ok(());
        }
        match self.inner.mark_bad(block) {
            Ok(()) | Err(MarkError::Failed) => Ok(()),
            Err(MarkError::Driver(error)) => Err(error),
        }
    }

    fn power_off(&mut self) {
        self.faults.torn.power_off();
    }
}

impl<D: Truth> Truth for FaultInjector<D> {
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
    }
}

impl<D: Timed> Timed for FaultInjector<D> {
    fn now(&self) -> Nanos {
        self.inner.now()
    }
}

impl<D: Fork> Fork for FaultInjector<D> {
    fn fork(&mut self) -> Self {
        Self { inner: self.inner.fork(), faults: self.faults.clone(), leeway: self.leeway }
    }
}
