//! What a good chip does not show in an hour: unreadable pages, corrected bits, failures, marks of the factory. Each is
//! put into the cells, and the driver must tell of it.

use ftl_conformance::Clause as Promise;
use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, NandDevice, Page, PageIndex, ProgramError,
    ReadError, Region,
};
use nand_model::faults::When;

use crate::blame::Blame;
use crate::clause::{Clause, JudgeClause};
use crate::log::Log;
use crate::watch::{Ended, Evidence, WatchedDriver};

const fn block(number: u32) -> Block {
    Block::new(Region::Slc, number)
}

const fn page(number: u32, index: u16) -> Page {
    block(number).page(PageIndex::new(index))
}

/// What a page holds in these trials.
fn content(page: Page, bytes: usize) -> Vec<u8> {
    let seed = page.block().index() * 64 + u32::from(page.index().get()) + 1;
    (0..bytes).map(|at| (at as u32).wrapping_mul(37).wrapping_add(seed * 11) as u8).collect()
}

const ALL_WELL: &str = "the driver says that all is well";

impl WatchedDriver<'_> {
    /// Every fault that the cells can be given.
    pub(crate) fn tell_of_faults(&mut self) -> Result<(), Ended> {
        self.unreadable_page()?;
        self.corrected_page()?;
        self.erased_page_with_flips()?;
        self.failing_program()?;
        self.failing_erase()?;
        self.failing_mark()?;
        self.factory_mark()
    }

    /// A part of a page that cannot be corrected, all of it, and its spare bytes; and the pages beside it.
    fn unreadable_page(&mut self) -> Result<(), Ended> {
        self.fill(4, 3)?;
        let lost = page(4, 1);
        self.judge.bus().cells().faults().lose(lost);
        let [all, spare] = self.sizes();
        for (at, data, spare) in
            [(0, all, spare), (0, all, 0), (all / 2, all / 4, 0), (0, 0, spare)]
        {
            self.expect_content(page(4, 0), Promise::DataReadBack)?;
            let (mut data, mut spare) = (vec![0; data], vec![0; spare]);
            match self.read(lost, Bytes::new(at as u32), &mut data, &mut spare) {
                Err(ReadError::Uncorrectable) => {}
                Err(ReadError::Driver(ended)) => return Err(ended),
                Ok(corrected) => {
                    let seen = format!("the driver returned {}", corrected.get());
                    let evidence = Evidence::of_page(lost, seen);
                    return Err(self.find(
                        JudgeClause::UncorrectableIsTold,
                        evidence,
                        Log::blame_status,
                    ));
                }
            }
        }
        self.expect_content(page(4, 2), Promise::DataReadBack).map(|_| ())
    }

    /// From one bit on to as many as are corrected.
    fn corrected_page(&mut self) -> Result<(), Ended> {
        self.fill(5, 2)?;
        let most = self.judge.chip().correctable_bits as u16;
        for bits in 1..=most {
            self.judge.bus().cells().correct(page(5, 1), bits);
            let told = self.expect_content(page(5, 1), JudgeClause::CorrectedReadsWell)?;
            // None means that the driver does not know.
            if told != 0 && !(bits..=most).contains(&told) {
                let seen =
                    format!("the driver told of {told} corrected bits, and there were {bits}");
                let evidence = Evidence::of_page(page(5, 1), seen);
                return Err(self.find(
                    JudgeClause::CorrectedReadsWell,
                    evidence,
                    Log::blame_status,
                ));
            }
            self.expect_content(page(5, 0), Promise::DataReadBack)?;
        }
        Ok(())
    }

    fn erased_page_with_flips(&mut self) -> Result<(), Ended> {
        if self.judge.chip().erased_corrected != 0 {
            return Ok(());
        }
        self.erase_well(block(6))?;
        let (flipped, [all, spare]) = (page(6, 3), self.sizes());
        let row = self.row(flipped);
        self.judge.bus().model().flip_erased(row, 1);
        let (mut data, mut spare) = (vec![0; all], vec![0; spare]);
        let clause = JudgeClause::ErasedWithFlipsReadsAsOnes;
        let seen = match self.read(flipped, Bytes::ZERO, &mut data, &mut spare) {
            Ok(_) if data.iter().chain(&spare).all(|byte| *byte == 0xFF) => {
                return self.power_again();
            }
            Ok(_) => "it reads as something else",
            Err(ReadError::Uncorrectable) => "it reads as uncorrectable",
            Err(ReadError::Driver(ended)) => return Err(ended),
        };
        let part = self.judge.bus().part();
        Err(self.find(clause, Evidence::of_page(flipped, seen), |log| log.blame_loss(part)))
    }

    fn failing_program(&mut self) -> Result<(), Ended> {
        self.fill(7, 2)?;
        let failing = page(7, 2);
        self.judge.bus().cells().faults().fail_program(failing, When::Always);
        match self.program_content(failing) {
            Err(ProgramError::Failed) => {}
            Err(ProgramError::Driver(ended)) => return Err(ended),
            Ok(()) => {
                let evidence = Evidence::of_page(failing, ALL_WELL);
                return Err(self.find(
                    JudgeClause::FailedProgramIsTold,
                    evidence,
                    Log::blame_outcome,
                ));
            }
        }
        self.judge.bus().cells().faults().lift_program_failures();
        self.program_well(page(7, 3))?;
        for index in [0, 1, 3] {
            self.expect_content(page(7, index), Promise::ProgramsChangeTheirPageAlone)?;
        }
        Ok(())
    }

    fn failing_erase(&mut self) -> Result<(), Ended> {
        self.judge.bus().cells().faults().fail_erase(block(8), When::Always);
        match self.erase(block(8)) {
            Err(EraseError::Failed) => {}
            Err(EraseError::Driver(ended)) => return Err(ended),
            Ok(()) => {
                let evidence = Evidence::of_block(block(8), ALL_WELL);
                return Err(self.find(
                    JudgeClause::FailedEraseIsTold,
                    evidence,
                    Log::blame_outcome,
                ));
            }
        }
        self.judge.bus().cells().faults().lift_erase_failures();
        self.erase_well(block(8))
    }

    /// A mark that does not take is told, or the block is bad nevertheless.
    fn failing_mark(&mut self) -> Result<(), Ended> {
        self.judge.bus().cells().faults().fail_mark(block(9));
        let claims_success = match self.mark_bad(block(9)) {
            Ok(()) => true,
            Err(MarkError::Failed) => false,
            Err(MarkError::Driver(ended)) => return Err(ended),
        };
        if claims_success && !self.is_bad(block(9))? {
            let evidence = Evidence::of_block(block(9), ALL_WELL);
            let blame = |log: &Log| log.changes.back().map_or_else(|| log.blame_last(), blame_mark);
            return Err(self.find(JudgeClause::FailedMarkIsTold, evidence, blame));
        }
        self.judge.bus().cells().faults().lift_mark_failures();
        Ok(())
    }

    fn factory_mark(&mut self) -> Result<(), Ended> {
        self.judge.bus().cells().faults().factory_bad(block(11));
        // A driver may look for marks when it starts.
        self.power_again()?;
        for (number, bad) in [(10, false), (11, true), (12, false)] {
            if self.is_bad(block(number))? != bad {
                let (seen, clause) = if bad {
                    ("the driver says that it is good", JudgeClause::FactoryMarkIsSeen.into())
                } else {
                    ("the driver says that it is bad", Clause::from(Promise::UnmarkedIsNotBad))
                };
                let part = self.judge.bus().part();
                let evidence = Evidence::of_block(block(number), seen);
                return Err(self.find(clause, evidence, |log| log.blame_read(part)));
            }
        }
        Ok(())
    }

    // What trials are made of.

    /// Bytes of a page, and the spare bytes that the driver gives.
    fn sizes(&self) -> [usize; 2] {
        let slc = self.geometry().slc();
        slc.map_or([0, 0], |slc| [slc.page_bytes.as_usize(), slc.spare_bytes.as_usize()])
    }

    /// Erases a block and fills its first pages.
    fn fill(&mut self, number: u32, pages: u16) -> Result<(), Ended> {
        self.erase_well(block(number))?;
        (0..pages).try_for_each(|index| self.program_well(page(number, index)))
    }

    fn erase_well(&mut self, block: Block) -> Result<(), Ended> {
        match self.erase(block) {
            Ok(()) => Ok(()),
            Err(EraseError::Driver(ended)) => Err(ended),
            Err(EraseError::Failed) => {
                Err(self.find_failure(|seen| Evidence::of_block(block, seen)))
            }
        }
    }

    fn program_content(&mut self, page: Page) -> Result<(), ProgramError<Ended>> {
        let [all, spare] = self.sizes();
        let content = content(page, all + spare);
        self.program(page, &content[..all], &content[all..])
    }

    fn program_well(&mut self, page: Page) -> Result<(), Ended> {
        match self.program_content(page) {
            Ok(()) => Ok(()),
            Err(ProgramError::Driver(ended)) => Err(ended),
            Err(ProgramError::Failed) => {
                Err(self.find_failure(|seen| Evidence::of_page(page, seen)))
            }
        }
    }

    /// Reads a page that is well. Returns how many corrected bits the driver tells of.
    fn expect_content(&mut self, page: Page, clause: impl Into<Clause>) -> Result<u16, Ended> {
        let [all, spare_bytes] = self.sizes();
        let (mut data, mut spare) = (vec![0; all], vec![0; spare_bytes]);
        let part = self.judge.bus().part();
        match self.read(page, Bytes::ZERO, &mut data, &mut spare) {
            Ok(corrected) if [data, spare].concat() == content(page, all + spare_bytes) => {
                Ok(Corrected::get(corrected))
            }
            Ok(_) => {
                let evidence = Evidence::of_page(page, "it reads as something else");
                Err(self.find(clause, evidence, |log| log.blame_read(part)))
            }
            Err(ReadError::Uncorrectable) => {
                let evidence = Evidence::of_page(page, "it reads as uncorrectable");
                Err(self.find(clause, evidence, |log| log.blame_loss(part)))
            }
            Err(ReadError::Driver(ended)) => Err(ended),
        }
    }
}

/// The look at the status that a call of `mark_bad` made, or did not.
fn blame_mark(call: &crate::log::Call) -> Blame {
    crate::blame::look_after(call, ftl_spi_nand::wire::Command::ProgramExecute)
}
