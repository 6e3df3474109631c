//! What the chip does by itself: from cells to cache and back, erases, marks.

use core::time::Duration;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, NandDevice, Page, PageIndex, ProgramError,
    ReadError, Region,
};

use super::{BusError, Misuse, SpiNandModel};
use crate::change::Change;
use crate::onfi;
use crate::part::{EccStatus, SPARE_MAX};
use crate::wire::{self, Command};

/// Stands for what an uncorrectable page holds: bytes that were never written.
const GARBAGE: u8 = 0xA5;

impl<N: NandDevice> SpiNandModel<'_, N> {
    fn page_bytes(&self) -> usize {
        self.part.geometry.slc().map_or(0, |slc| slc.page_bytes.as_usize())
    }

    fn locate(&self, row: u32) -> Result<Page, BusError> {
        let pages = self.part.geometry.slc().map_or(1, |slc| slc.pages_per_block.get());
        let page = Block::new(Region::Slc, row / pages).page(PageIndex::new((row % pages) as u16));
        if self.part.geometry.contains(page) {
            Ok(page)
        } else {
            Err(BusError::Misuse(Misuse::NoSuchRow(row)))
        }
    }

    fn corrects(&self) -> bool {
        self.configuration & wire::ECC_ENABLE != 0
    }

    pub(super) fn reset(&mut self) {
        /// tRST of a chip at rest (W25N01GV datasheet, "AC Electrical Characteristics": 5 us).
        const RESET: Duration = Duration::from_micros(5);
        self.status = 0;
        self.plane = None;
        self.occupy(Command::Reset, RESET);
    }

    /// Each plane has a cache of its own: a column must name the plane of the block that is read or programmed.
    pub(super) fn check_plane(&self, column: u16) -> Result<(), BusError> {
        match (self.plane, self.part.plane_bit) {
            (Some(plane), Some(bit)) if column >> bit != plane => {
                Err(BusError::Misuse(Misuse::Column(column)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn page_read(&mut self, row: u32) -> Result<(), BusError> {
        self.occupy(Command::PageRead, self.times.read);
        self.set_verdict(Some(Corrected::NONE));
        if self.configuration & wire::OTP_ENABLE != 0 {
            self.read_beside_the_array(row);
            if self.corrects() && self.judges_parameters {
                self.set_verdict(None);
            }
            return Ok(());
        }
        let page = self.locate(row)?;
        let page_bytes = self.page_bytes();
        let mut user = [0xFF; SPARE_MAX];
        let user_bytes = self.cells.geometry().slc().map_or(0, |slc| slc.spare_bytes.as_usize());
        let (data, area) = self.cache.split_at_mut(page_bytes);
        area.fill(0xFF);
        let read = self.cells.read(page, Bytes::ZERO, data, &mut user[..user_bytes]);
        self.part.scatter(&user[..user_bytes], area);
        let verdict = match read {
            Ok(corrected) => Some(corrected),
            Err(ReadError::Uncorrectable) => {
                data.fill(GARBAGE);
                area.fill(GARBAGE);
                None
            }
            Err(ReadError::Driver(_)) => return Err(self.power_off()),
        };
        let bad = self.cells.is_bad(page.block()).map_err(|_| BusError::PoweredOff)?;
        if page.index().get() == 0 {
            // The byte of the mark is not the user's.
            area[0] = if bad { 0 } else { 0xFF };
        }
        let flipped = self.flipped.filter(|(flipped, _)| *flipped == row);
        if let Some((_, bits)) = flipped {
            for bit in 0..usize::from(bits) {
                // Spread over the page, so that they fall into several codewords.
                self.cache[bit * 97 % page_bytes] &= !(1 << (bit % 8));
            }
        }
        if self.corrects() {
            self.set_verdict(verdict.filter(|_| flipped.is_none()));
        }
        self.plane =
            Some(page.block().index() as u16 & 1).filter(|_| self.part.plane_bit.is_some());
        Ok(())
    }

    /// The parameter page, in three copies, where this maker has it; erased pages elsewhere.
    fn read_beside_the_array(&mut self, row: u32) {
        let [most, gigadevice] = onfi::ROWS;
        self.cache.fill(0xFF);
        if row != if self.is_gigadevice() { gigadevice } else { most } {
            return;
        }
        let page = self.parameter_page().emit();
        let copies = self.cache.chunks_exact_mut(onfi::BYTES).take(onfi::COPIES.into());
        for (number, copy) in copies.enumerate() {
            copy.copy_from_slice(&page);
            if number < self.damaged_copies.into() {
                copy[onfi::BYTES / 2] ^= 1;
            }
        }
    }

    /// Puts what the correction did into the registers, as the part tells it.
    fn set_verdict(&mut self, verdict: Option<Corrected>) {
        let report = &self.part.ecc;
        let values = usize::from(report.mask) + 1;
        let told = report.verdicts.iter().take(values).position(|told| match (told, verdict) {
            (EccStatus::Clean, Some(corrected)) => corrected == Corrected::NONE,
            (EccStatus::Corrected(most), Some(corrected)) => {
                corrected != Corrected::NONE && corrected.get() <= u16::from(*most)
            }
            (EccStatus::SeeDetail, Some(corrected)) => {
                let most = report.detail.map_or(0, |detail| detail.mask + detail.plus);
                corrected != Corrected::NONE && corrected.get() <= u16::from(most)
            }
            (EccStatus::Uncorrectable, verdict) => verdict.is_none(),
            (_, None) => false,
        });
        // What no value can tell is beyond this part's correction.
        let beyond = || report.verdicts.iter().position(|told| *told == EccStatus::Uncorrectable);
        let field = told.or_else(beyond).unwrap_or(values - 1) as u8;
        self.status = self.status & !(report.mask << report.shift) | field << report.shift;
        if let (Some(detail), Some(corrected)) = (report.detail, verdict) {
            let value = (corrected.get() as u8).saturating_sub(detail.plus) & detail.mask;
            self.detail = value << detail.shift;
        }
    }

    pub(super) fn program_execute(&mut self, row: u32) -> Result<(), BusError> {
        let page = self.begin_change(Command::ProgramExecute, row)?;
        self.occupy(Command::ProgramExecute, self.times.program);
        if self.protection != 0 {
            self.status |= wire::PROGRAM_FAILED;
            return Ok(());
        }
        let change = if self.corrects() { self.program(page)? } else { self.mark(page)? };
        self.status &= !wire::PROGRAM_FAILED;
        if change == Change::Failed {
            self.status |= wire::PROGRAM_FAILED;
        }
        Ok(())
    }

    /// Programs the cache. Only the user's spare bytes may be in it.
    fn program(&mut self, page: Page) -> Result<Change, BusError> {
        let (data, area) = self.cache.split_at(self.page_bytes());
        let mut user = [0xFF; SPARE_MAX];
        let user_bytes = self.cells.geometry().slc().map_or(0, |slc| slc.spare_bytes.as_usize());
        self.part.gather(area, &mut user[..user_bytes]);
        let mut users = [0xFF; SPARE_MAX];
        self.part.scatter(&user[..user_bytes], &mut users);
        if area != &users[..area.len()] {
            return Err(BusError::Misuse(Misuse::ForeignSpareBytes));
        }
        match self.cells.program(page, data, &user[..user_bytes]) {
            Ok(()) => Ok(Change::Done),
            Err(ProgramError::Failed) => Ok(Change::Failed),
            Err(ProgramError::Driver(_)) => Err(self.power_off()),
        }
    }

    /// Without correction, only a mark makes sense: the cells below keep no bytes of the correction's.
    fn mark(&mut self, page: Page) -> Result<Change, BusError> {
        let place = self.page_bytes();
        let mut rest = self.cache.iter().enumerate().filter(|(at, _)| *at != place);
        let alone = rest.all(|(_, byte)| *byte == 0xFF) && self.cache[place] == 0;
        if !alone || page.index().get() != 0 {
            return Err(BusError::Misuse(Misuse::ProgramWithoutCorrection));
        }
        match self.cells.mark_bad(page.block()) {
            Ok(()) => Ok(Change::Done),
            Err(MarkError::Failed) => Ok(Change::Failed),
            Err(MarkError::Driver(_)) => Err(self.power_off()),
        }
    }

    pub(super) fn block_erase(&mut self, row: u32) -> Result<(), BusError> {
        let page = self.begin_change(Command::BlockErase, row)?;
        self.occupy(Command::BlockErase, self.times.erase);
        self.status |= wire::ERASE_FAILED;
        if self.protection != 0 {
            return Ok(());
        }
        match self.cells.erase(page.block()) {
            Ok(()) => self.status &= !wire::ERASE_FAILED,
            Err(EraseError::Failed) => {}
            Err(EraseError::Driver(_)) => return Err(self.power_off()),
        }
        Ok(())
    }

    /// What programs and erases have in common: allowed once, in the array, in the plane that was loaded.
    fn begin_change(&mut self, command: Command, row: u32) -> Result<Page, BusError> {
        if self.status & wire::WRITE_ENABLED == 0 {
            return Err(BusError::Misuse(Misuse::NotEnabled(command)));
        }
        self.status &= !wire::WRITE_ENABLED;
        if self.configuration & wire::OTP_ENABLE != 0 {
            return Err(BusError::Misuse(Misuse::OtpIsReadOnly));
        }
        let page = self.locate(row)?;
        let plane = page.block().index() as u16 & 1;
        let loaded = self.loaded_plane.filter(|_| command == Command::ProgramExecute);
        if loaded.is_some_and(|loaded| loaded != plane) {
            return Err(BusError::Misuse(Misuse::Column(loaded.unwrap_or(0))));
        }
        self.plane = None;
        Ok(page)
    }

    /// The device below failed: nothing answers from now on.
    fn power_off(&mut self) -> BusError {
        self.powered = false;
        BusError::PoweredOff
    }
}
