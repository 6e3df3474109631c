//! The checks around a loss of power. Two steps each: what comes before, and what is looked at when power is back.
//!
//! The second step needs nothing of the first but the same blocks: run it with a new examiner, after a boot.

use ftl_iface::{Block, NandDevice, Page, ProgramError};

use crate::breach::{Location, Observed, Stopped};
use crate::clause::Clause;
use crate::examiner::{Checked, Examiner, KEPT, ReadResult, breach, pages};
use crate::pattern::Fill;

/// What is in flight when power fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum InFlight {
    /// Programs, through all lent blocks but the first.
    Programs,
    /// Erases of the last lent block.
    Erases,
}

impl<D: NandDevice> Examiner<'_, D> {
    /// Fills every lent block. Switch power off afterwards, and on again.
    pub fn before_power_off(&mut self) -> Checked<D::Error> {
        self.erase_all()?;
        self.fill_all(KEPT, self.blocks)
    }

    /// Sees whether everything that [`before_power_off`](Self::before_power_off) wrote is there, and whether the blocks
    /// of `marked` are bad: those that [`examine_marks`](Self::examine_marks) marked.
    pub fn after_power_off(&mut self, marked: &[Block]) -> Checked<D::Error> {
        for block in marked {
            self.expect_bad(*block, true, Clause::StaysWithoutPower)?;
        }
        self.expect_all(KEPT, self.blocks, Clause::StaysWithoutPower)
    }

    /// Makes the lent blocks ready for [`until_power_fails`](Self::until_power_fails). Power must not fail before it
    /// returns: let the board say so.
    pub fn before_power_fails(&mut self, what: InFlight) -> Checked<D::Error> {
        let Some((first, _)) = self.blocks.split_first() else { return Ok(()) };
        self.erase_all()?;
        match what {
            // A block that is to stay as it is, beside erased ones.
            InFlight::Programs => self.fill_all(KEPT, &[*first]),
            InFlight::Erases => self.fill_all(KEPT, self.blocks),
        }
    }

    /// Works until the driver fails, or all is done. To cut power meanwhile is the caller's job. Programs go once
    /// through all lent blocks but the first: a hundred blocks of an SPI NAND take some seconds. `times` counts
    /// erases.
    pub fn until_power_fails(&mut self, what: InFlight, times: u32) -> Checked<D::Error> {
        let Some((_, others)) = self.blocks.split_first() else { return Ok(()) };
        match what {
            InFlight::Programs => {
                for block in others {
                    let shape = *self.shape(*block);
                    for page in pages(*block, &shape) {
                        match self.program(page, KEPT) {
                            Ok(()) => {}
                            Err(ProgramError::Failed) => return Err(Stopped::BlockFailed(*block)),
                            Err(ProgramError::Driver(_)) => return Ok(()),
                        }
                    }
                }
            }
            InFlight::Erases => {
                let Some(last) = others.last() else { return Ok(()) };
                for _ in 0..times {
                    match self.erase(*last) {
                        Err(Stopped::Driver { .. }) => return Ok(()),
                        outcome => outcome?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Judges what a loss of power in [`until_power_fails`](Self::until_power_fails) left.
    pub fn after_power_failed(&mut self, what: InFlight) -> Checked<D::Error> {
        let Some((first, others)) = self.blocks.split_first() else { return Ok(()) };
        match what {
            InFlight::Programs => {
                self.expect_all(KEPT, &[*first], Clause::CutProgramChangesNothingElse)?;
                // Blocks were filled one after the other: the last that is not erased is the one that was cut.
                let mut reached = others.len();
                while reached > 0 && self.is_erased(others[reached - 1]) {
                    reached -= 1;
                }
                let Some((cut, full)) = others[..reached].split_last() else { return Ok(()) };
                self.expect_all(KEPT, full, Clause::CutProgramChangesNothingElse)?;
                self.judge_cut_programs(*cut)
            }
            // The block itself may read as anything until it is erased again.
            InFlight::Erases => {
                let Some((last, kept)) = self.blocks.split_last() else { return Ok(()) };
                self.expect_all(KEPT, kept, Clause::CutEraseChangesNothingElse)?;
                self.erase(*last)?;
                self.expect_all(Fill::Ones, &[*last], Clause::ErasedReadsAsOnes)
            }
        }
    }

    fn is_erased(&mut self, block: Block) -> bool {
        let shape = *self.shape(block);
        pages(block, &shape)
            .all(|page| matches!(self.look(page, Fill::Ones), ReadResult::AsExpected))
    }

    /// The page in flight is the last that does not read as erased, or the one after it, whose program left no trace.
    /// Before it, pages are whole but for those that share its cells; behind it, erased.
    fn judge_cut_programs(&mut self, block: Block) -> Checked<D::Error> {
        let shape = *self.shape(block);
        let mut in_flight: Option<Page> = None;
        for page in pages(block, &shape).rev() {
            if !matches!(self.look(page, Fill::Ones), ReadResult::AsExpected) {
                in_flight = Some(page);
                break;
            }
        }
        let Some(cut) = in_flight else { return Ok(()) };
        match self.look(cut, KEPT) {
            ReadResult::AsExpected | ReadResult::Otherwise(Observed::Uncorrectable) => {}
            ReadResult::Otherwise(found) => {
                return breach(Clause::CutProgramLeavesItsPageKnown, Location::Page(cut), found);
            }
            ReadResult::Failed(error) => {
                return Err(Stopped::Driver { place: Location::Page(cut), error });
            }
        }
        let next = pages(block, &shape).find(|page| page.index() > cut.index());
        let pages_per_block = shape.pages_per_block;
        for page in pages(block, &shape).take_while(|page| page.index() < cut.index()) {
            let shares = [Some(cut), next].into_iter().flatten().any(|torn| {
                let mut victims = shape.pairing.endangered(torn.index(), pages_per_block);
                victims.any(|victim| victim == page.index())
            });
            match self.look(page, KEPT) {
                ReadResult::AsExpected => {}
                ReadResult::Otherwise(_) if shares => {}
                ReadResult::Otherwise(found) => {
                    let clause = Clause::CutProgramChangesNothingElse;
                    return breach(clause, Location::Page(page), found);
                }
                ReadResult::Failed(error) => {
                    return Err(Stopped::Driver { place: Location::Page(page), error });
                }
            }
        }
        Ok(())
    }
}
