//! How faults are set and lifted, kind by kind.

use ftl_iface::{Block, BlockCount, NandDevice, Page, Region};

use super::FaultInjector;
use super::bit_errors::{Ageing, BitErrorsError};
use super::dice::{Chance, Subject, When, dice};
use super::erase_failure::EraseFailures;
use super::leeway::{FailedRead, FailingPart};
use super::mark_failure::MarkFailures;
use super::program_failure::ProgramFailures;
use super::torn::Remains;
use crate::part::{Ecc, Nanos};

impl<D: NandDevice> FaultInjector<D> {
    /// Makes that block bad from the factory.
    pub fn factory_bad(&mut self, block: Block) {
        self.faults.factory_bad.0.insert(block);
    }

    /// Makes that many blocks of a region bad, or all that it has, as the seed picks them. Parts promise that block 0
    /// is good; it is never picked.
    pub fn factory_bad_by_seed(&mut self, region: Region, count: BlockCount) {
        let blocks = self.geometry_blocks(region);
        let wanted = count.get().min(blocks.saturating_sub(1));
        let mut picks = dice(self.faults.seed, Subject::FactoryBad, Block::new(region, 0), 0, 0);
        let mut left = wanted;
        // Walks all blocks once and picks each with the chance that leaves the right number (Knuth's Algorithm S).
        for index in 1..blocks {
            if picks.u32(0..blocks - index) < left {
                self.faults.factory_bad.0.insert(Block::new(region, index));
                left -= 1;
            }
        }
    }

    /// Makes a factory-bad block good again.
    pub fn lift_factory_bad(&mut self, block: Block) {
        self.faults.factory_bad.0.remove(&block);
    }

    fn geometry_blocks(&self, region: Region) -> u32 {
        self.inner.geometry().region(region).map_or(0, |shape| shape.blocks.get())
    }
}

impl<D> FaultInjector<D> {
    /// Lets programs of that page fail.
    pub fn fail_program(&mut self, page: Page, when: When) {
        self.faults.program_failures.named.insert(page, when);
    }

    /// Lets programs fail by chance, at places that the seed picks.
    pub fn fail_programs(&mut self, chance: Chance) {
        self.faults.program_failures.chance = chance;
    }

    /// No program fails any more. What failed before stays as it is.
    pub fn lift_program_failures(&mut self) {
        self.faults.program_failures = ProgramFailures::default();
    }
}

impl<D> FaultInjector<D> {
    /// Lets erases of that block fail.
    pub fn fail_erase(&mut self, block: Block, when: When) {
        self.faults.erase_failures.named.insert(block, when);
    }

    /// Lets erases fail by chance, at places that the seed picks.
    pub fn fail_erases(&mut self, chance: Chance) {
        self.faults.erase_failures.chance = chance;
    }

    /// No erase fails any more. What failed before stays as it is.
    pub fn lift_erase_failures(&mut self) {
        self.faults.erase_failures = EraseFailures::default();
    }
}

impl<D> FaultInjector<D> {
    /// Lets every bad-block mark of that block fail.
    pub fn fail_mark(&mut self, block: Block) {
        self.faults.mark_failures.0.insert(block);
    }

    /// No mark fails any more.
    pub fn lift_mark_failures(&mut self) {
        self.faults.mark_failures = MarkFailures::default();
    }
}

impl<D> FaultInjector<D> {
    /// Sets what failed reads leave in the caller's buffers.
    pub const fn fail_reads_with(&mut self, left: FailedRead) {
        self.leeway.failed_reads = left;
    }

    /// Sets which reads of an unreadable page fail.
    pub const fn fail_reads_of(&mut self, part: FailingPart) {
        self.leeway.failing_part = part;
    }

    /// Lets bad-block marks destroy pages of their blocks by chance, whether they take or not.
    pub const fn destroy_by_marks(&mut self, chance: Chance) {
        self.leeway.destroying_marks = chance;
    }
}

impl<D> FaultInjector<D> {
    /// Makes that page uncorrectable whenever it is programmed, now and after later erases, until it is lifted.
    pub fn uncorrectable(&mut self, page: Page) {
        self.faults.uncorrectable.named.insert(page);
    }

    /// Loses what the page holds now, until its block is erased.
    pub fn lose(&mut self, page: Page) {
        self.faults.torn.leave(page, Some(Remains::Uncorrectable));
    }

    /// Lets pages lose by chance what they are programmed with, at places that the seed picks.
    pub fn uncorrectable_by_chance(&mut self, chance: Chance) {
        self.faults.uncorrectable.chance = chance;
    }

    /// Makes the page read as what it was meant to hold: it is no longer uncorrectable by name, and what a failure or
    /// a cut left of it is forgotten.
    pub fn lift(&mut self, page: Page) {
        self.faults.uncorrectable.named.remove(&page);
        self.faults.torn.lift(page);
    }
}

impl<D: NandDevice> FaultInjector<D> {
    /// Lets a region's bits decay. Blocks count as programmed at this moment where they were programmed before.
    pub fn age_region(
        &mut self,
        region: Region,
        ageing: Ageing,
        ecc: Ecc,
    ) -> Result<(), BitErrorsError> {
        let shape = self.inner.geometry().region(region).ok_or(BitErrorsError::NoRegion(region))?;
        if ecc.codeword_bytes == 0 {
            return Err(BitErrorsError::NoCodeword(region));
        }
        let errors = self.faults.bit_errors.get_or_insert_default();
        errors.age_region(region, shape, ageing, ecc);
        Ok(())
    }

    /// Lets the device lie on the shelf for that long. Operations are moments beside it: simulated time does not age.
    pub fn age(&mut self, time: Nanos) {
        if let Some(errors) = &mut self.faults.bit_errors {
            errors.pass_time(time);
        }
    }

    /// Bits no longer decay, and what had decayed reads well again.
    pub fn lift_bit_errors(&mut self) {
        self.faults.bit_errors = None;
    }
}
