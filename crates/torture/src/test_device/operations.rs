//! The operations of the device: each is counted, forked, cut, or made to fail.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, PageIndex,
    ProgramError, ReadError,
};
use nand_model::faults::When;
use nand_model::power::{PageFate, PairFate, Tear};
use nand_model::{Fork, Stamp};

use super::{Branch, Device, Halt, Picks, PlannedCut, TestDevice};
use crate::account::cause_name;
use crate::dice::{Dice, mix};
use crate::fate::{Change, Cut, Fate};
use crate::on_flash::{LostProgram, Purpose};
use crate::played::Play;
use crate::reserve::DrawnFault;

impl TestDevice {
    /// Counts a call.
    fn count(&mut self) -> Result<(), Halt> {
        if let Some(halt) = self.halted {
            self.asked_while_off += u64::from(halt == Halt::PowerOff);
            return Err(halt);
        }
        let Some(left) = self.budget.checked_sub(1) else {
            self.halted = Some(Halt::OverBudget);
            return Err(Halt::OverBudget);
        };
        self.budget = left;
        Ok(())
    }

    /// Counts a call that changes nothing. The driver may fail in it.
    fn spend(&mut self) -> Result<(), Halt> {
        self.count()?;
        if self.driver_fails() {
            self.history.note(|| "the driver fails".into());
            return Err(Halt::PowerOff);
        }
        Ok(())
    }

    /// Whether the driver fails in this call.
    fn driver_fails(&mut self) -> bool {
        match &mut self.fuse {
            Some(0) => {
                (self.fuse, self.failed_driver) = (None, true);
                self.halted = Some(Halt::PowerOff);
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }

    /// Counts an operation, and forks the picked branches. `tear` does the operation on a chip, with a fate.
    fn cross(&mut self, verb: Change, tear: impl Fn(&mut Device, Fate)) -> Result<(), Halt> {
        self.count()?;
        let at = self.operations;
        self.operations += 1;
        if self.driver_fails() {
            // Whatever became of the operation, as in a power cut, but power stays on.
            let fate = drawn_fate(verb, mix(self.orders.seed, at));
            tear(&mut self.chip, fate);
            self.history.note(|| format!("{at}: the driver fails: {fate}"));
            return Err(Halt::PowerOff);
        }
        for (number, fate) in verb.fates().enumerate() {
            self.choices += 1;
            let taken = match self.orders.picks {
                Picks::Some(share) => {
                    let drawn = mix(mix(self.orders.seed, at), number as u64);
                    let (lane, lanes) = self.orders.lane;
                    share.takes(drawn) && drawn % lanes == lane
                }
                Picks::Only(cut) => cut == Cut { at, fate },
            };
            if taken {
                self.branch(Cut { at, fate }, &tear);
            }
        }
        match self.cut {
            Some(cut) if cut.is_due(at, verb) => {
                self.cut = None;
                self.halted = Some(Halt::PowerOff);
                let fate = cut.fate(verb);
                self.chip.power_off();
                tear(&mut self.chip, fate);
                self.history.note(|| format!("{at}: power fails: {fate}"));
                self.cut_taken = Some((self.account.get(), fate));
                Err(Halt::PowerOff)
            }
            _ => Ok(()),
        }
    }

    fn branch(&mut self, cut: Cut, tear: &impl Fn(&mut Device, Fate)) {
        let mut chip = self.chip.fork();
        chip.power_off();
        tear(&mut chip, cut.fate);
        let (reserve, unreadable_pages) = (self.reserve.clone(), self.unreadable_pages.clone());
        let mut history = self.history.clone();
        history.note(|| format!("{}: power fails: {}", cut.at, cut.fate));
        let cause = self.account.get();
        self.branches.push(Branch { chip, reserve, unreadable_pages, history, cut, cause });
    }

    /// The fault that affects the running operation, if any.
    fn fails(&self, one_in: u32, subject: u64, block: Block) -> bool {
        let has_failed = self.orders.faults.again > 0 && self.reserve.has_failed(block);
        let often_fails = self.ring_fails_often && self.subject.purpose(block) == Purpose::Anchors;
        let one_in = match (has_failed, often_fails && one_in > 0) {
            (true, _) => self.orders.faults.again,
            (false, true) => FAILING_BLOCK,
            (false, false) => one_in,
        };
        self.is_drawn(one_in, subject) && self.reserve.may_fail(block)
    }

    /// Whether a fault with that rate occurs now.
    fn is_drawn(&self, one_in: u32, subject: u64) -> bool {
        let thrown = mix(mix(self.orders.seed, subject), self.operations - self.before);
        one_in > 0 && thrown.is_multiple_of(u64::from(one_in))
    }

    fn fail(&mut self, block: Block) {
        self.reserve.fail(block);
        if self.subject.purpose(block) == Purpose::Anchors {
            self.played.note(Play::AnchorFails);
        }
        self.cut_soon(15);
        if self.is_drawn(self.orders.faults.mark, 13) && self.reserve.may_take_no_mark(block) {
            self.reserve.take_no_mark(block);
            self.chip.fail_mark(block);
        }
    }

    /// Power may fail within the next operations, as a failing block or a mark may have caused.
    fn cut_soon(&mut self, subject: u64) {
        if self.is_drawn(self.orders.faults.then_cut, subject) {
            let drawn = mix(self.orders.seed, self.operations - self.before);
            let within = |most| self.operations + mix(drawn, 16) % most;
            self.cut = Some(match drawn % 4 {
                0 => PlannedCut::at(within(1), drawn),
                1 => PlannedCut::at(within(3), drawn),
                2 => PlannedCut::at(within(8), drawn),
                _ => PlannedCut::of_pairs(self.operations, drawn),
            });
            self.cut_followed = true;
            self.played.note(Play::CutFollows);
        }
    }

    fn intact_pages(&self, block: Block) -> usize {
        let pages = (0..self.chip.inner().next_page(block)).map(PageIndex::new);
        pages.filter(|page| self.chip.is_intact(block.page(*page))).count()
    }

    fn endangers(&self, page: Page) -> bool {
        let shape = self.chip.geometry().region(page.region());
        shape.is_some_and(|shape| {
            shape.pairing.endangered(page.index(), shape.pages_per_block).next().is_some()
        })
    }

    fn fault_of_program(&self, page: Page, data: &[u8], spare: &[u8]) -> DrawnFault {
        let faults = &self.orders.faults;
        if self.fails(faults.program, 11, page.block()) {
            return DrawnFault::Fails;
        }
        if !self.is_drawn(faults.uncorrectable, 14) {
            return DrawnFault::None;
        }
        // The FTL's own records have no other copy, so their loss is not tested like a sector's.
        let mut sectors = data.chunks(self.subject.sector_bytes().as_usize());
        if !sectors.any(|sector| Stamp::read_from(sector).is_some()) {
            return DrawnFault::None;
        }
        let lost = LostProgram { chip: self.chip.inner(), page, data, spare, key: self.orders.key };
        self.subject.unreadable_page(&lost).map_or(DrawnFault::None, DrawnFault::Unreadable)
    }
}

/// Of how many programs or erases of a ring that often fails one fails.
const FAILING_BLOCK: u32 = 8;

impl PlannedCut {
    /// In the first program within some operations that may take other pages with it, and then it does; or in the last
    /// of these operations.
    const fn of_pairs(now: u64, seed: u64) -> Self {
        const WITHIN: u64 = 12;
        Self { when: now + WITHIN, pairs: true, seed }
    }

    fn is_due(self, at: u64, verb: Change) -> bool {
        at >= self.when || self.pairs && verb == Change::Program { paired: true }
    }

    fn fate(self, verb: Change) -> Fate {
        match drawn_fate(verb, self.seed) {
            Fate::Program(page, _) if self.pairs && verb == Change::Program { paired: true } => {
                Fate::Program(page, PairFate::Lost)
            }
            fate => fate,
        }
    }
}

/// The fate that a seed picks. An unstable page lives or dies at each read.
fn drawn_fate(verb: Change, seed: u64) -> Fate {
    let nth = mix(seed, 8) % verb.fates().count() as u64;
    let fate = verb.fates().nth(nth as usize).unwrap_or(Fate::Before);
    match fate {
        Fate::Program(PageFate::Unstable { .. }, pair) => {
            Fate::Program(PageFate::Unstable { reads: reads_lived(mix(seed, 9)) }, pair)
        }
        other => other,
    }
}

/// How many reads an unstable page survives that dies in one of two, four or sixteen.
fn reads_lived(seed: u64) -> u32 {
    /// More than those of a life.
    const READS_MAX: u32 = 200;
    let mut dice = Dice::new(seed);
    let one_in = dice.pick(&[2, 4, 16]);
    (0..READS_MAX).find(|_| dice.below(one_in) == 0).unwrap_or(READS_MAX)
}

/// A torn operation of a model always returns.
fn tear_program(chip: &mut Device, page: Page, data: &[u8], spare: &[u8], fate: Fate) {
    if let Fate::Program(fate, pair) = fate {
        let Ok(()) = chip.tear_program(page, data, spare, fate, pair);
    }
}

impl NandDevice for TestDevice {
    type Error = Halt;

    fn geometry(&self) -> &Geometry {
        self.told.as_ref().unwrap_or_else(|| self.chip.geometry())
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Halt>> {
        self.spend().map_err(ReadError::Driver)?;
        match self.chip.read(page, at, data, spare) {
            Ok(corrected) => {
                self.note(page, data, spare, "read");
                Ok(corrected)
            }
            Err(ReadError::Uncorrectable) => {
                self.history.note(|| format!("read {page}: uncorrectable"));
                self.played.note(self.failed_reads);
                self.unreadable_pages.meet(&self.chip, page, self.account.get());
                Err(ReadError::Uncorrectable)
            }
            Err(ReadError::Driver(never)) => match never {},
        }
    }

    fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ProgramError<Halt>> {
        let verb = Change::Program { paired: self.endangers(page) };
        self.cross(verb, |chip, fate| tear_program(chip, page, data, spare, fate))
            .map_err(ProgramError::Driver)?;
        self.note(page, data, spare, "program");
        if self.orders.lenient && page.index().get() < self.chip.inner().next_page(page.block()) {
            return Err(ProgramError::Failed);
        }
        if self.orders.forgotten == Some(self.operations - 1) {
            return Ok(());
        }
        let fault = self.fault_of_program(page, data, spare);
        match fault {
            DrawnFault::None => {}
            DrawnFault::Fails => {
                self.history.note(|| "which fails".into());
                self.played.note(Play::ProgramFails);
                self.unreadable_pages.fail(page);
                self.chip.fail_program(page, When::Nth(1));
                self.fail(page.block());
            }
            DrawnFault::Unreadable(lost) => {
                self.played.note(Play::PageLost);
                self.unreadable_pages.note(lost);
                let fate = Fate::Program(PageFate::Uncorrectable, PairFate::Kept);
                tear_program(&mut self.chip, page, data, spare, fate);
                self.history.note(|| "which cannot be read back".into());
                return Ok(());
            }
        }
        self.chip.program(page, data, spare).map_err(|error| match error {
            ProgramError::Failed => ProgramError::Failed,
            ProgramError::Driver(never) => match never {},
        })
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Halt>> {
        self.cross(Change::Erase, |chip, fate| {
            if let Fate::Erase(fate) = fate {
                let Ok(()) = chip.tear_erase(block, fate);
            }
        })
        .map_err(EraseError::Driver)?;
        let (at, cause) = (self.operations - 1, cause_name(self.account.get()));
        self.history.note(|| format!("{at}: erase {block} for {cause}"));
        if self.fails(self.orders.faults.erase, 12, block) {
            self.history.note(|| "which fails".into());
            self.played.note(Play::EraseFails);
            self.chip.fail_erase(block, When::Nth(1));
            self.fail(block);
        }
        self.unreadable_pages.erased(block);
        self.chip.erase(block).map_err(|error| match error {
            EraseError::Failed => EraseError::Failed,
            EraseError::Driver(never) => match never {},
        })
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Halt> {
        self.spend()?;
        let Ok(bad) = self.chip.is_bad(block);
        Ok(bad)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Halt>> {
        self.cross(Change::Mark, |chip, fate| {
            if let Fate::Mark(fate) = fate {
                let Ok(()) = chip.tear_mark(block, fate);
            }
        })
        .map_err(MarkError::Driver)?;
        let at = self.operations - 1;
        self.history.note(|| format!("{at}: mark {block} bad"));
        self.cut_soon(17);
        let before = self.intact_pages(block);
        let marked = self.chip.mark_bad(block);
        if self.intact_pages(block) < before {
            self.played.note(Play::MarkDestroys);
        }
        marked.map_err(|error| match error {
            MarkError::Failed => {
                self.played.note(Play::MarkFails);
                MarkError::Failed
            }
            MarkError::Driver(never) => match never {},
        })
    }
}
