//! The device between FTL and chip, from which a branch can be forked at every operation.
//!
//! ```text
//!   FTL ──▶ Crossing ──▶ FaultInjector<Chip>          the life continues
//!              │
//!              └──▶ a fork of the chip, in which the operation met one of its fates: a Branch,
//!                   to be mounted and compared once the request has returned
//! ```
//!
//! So a workload runs once, however many cuts are tried in it: a cut costs a fork of the chip, not a replay.

use std::sync::Arc;

use ftl_core::probe::Cause;
use ftl_iface::{
    Block, BlockCount, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page,
    ProgramError, ReadError,
};
use nand_model::faults::{FaultInjector, When};
use nand_model::power::{PageFate, PairFate, Tear};
use nand_model::{Chip, Fork, Stamp};

use crate::account::{Account, cause_name};
use crate::dice::{Share, mix};
use crate::fate::{Change, Cut, Fate};
use crate::faults::Faults;
use crate::history::{History, Looked};
use crate::injury::Injuries;
use crate::on_flash::{OnFlash, Struck};
use crate::reserve::{Blow, Reserve};

/// A chip with injected faults.
pub(crate) type Device = FaultInjector<Chip>;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Power is off.
    PowerOff,
    /// More operations were done than any request or mount needs: the FTL is in an endless loop.
    OverBudget,
}

/// At which operations branches are forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picks {
    /// This share of all pairs of an operation and a fate.
    Some(Share),
    /// Only this cut.
    Only(Cut),
}

/// A chip in which power failed in one operation.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) chip: Device,
    pub(crate) reserve: Reserve,
    pub(crate) injured: Injuries,
    pub(crate) history: History,
    pub(crate) cut: Cut,
    pub(crate) cause: Cause,
}

/// What the crossing does at the next operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders {
    pub(crate) seed: u64,
    pub(crate) picks: Picks,
    /// The number of this worker, and of all workers; each takes its part of the picked pairs.
    pub(crate) lane: (u64, u64),
    pub(crate) faults: Faults,
    /// Whether a program out of order fails, instead of being a breach: on inconsistent flash the order is unknowable.
    pub(crate) lenient: bool,
    /// A program that is acknowledged but not done.
    pub(crate) forgotten: Option<u64>,
    /// The key with which the device was formatted.
    pub(crate) key: u32,
}

/// The device that the FTL sees.
#[derive(Debug)]
pub(crate) struct Crossing {
    chip: Device,
    subject: Arc<dyn OnFlash>,
    account: Account,
    orders: Orders,
    /// Programs, erases and marks so far.
    operations: u64,
    /// Operations before the moment from which faults count them.
    before: u64,
    /// Calls made since power failed: there must be none.
    asked_while_off: u64,
    /// Where power failed last.
    struck: Option<(Cause, Fate)>,
    /// Pairs of an operation and a fate so far.
    choices: u64,
    /// Calls of any kind left before the FTL counts as looping endlessly.
    budget: u64,
    halted: Option<Halt>,
    /// The operation in which power is to fail, and the seed of its fate.
    cut: Option<(u64, u64)>,
    reserve: Reserve,
    injured: Injuries,
    branches: Vec<Branch>,
    history: History,
}

impl Crossing {
    pub(crate) fn new(
        chip: Device,
        reserve: Reserve,
        injured: Injuries,
        subject: Arc<dyn OnFlash>,
        orders: Orders,
    ) -> Self {
        Self {
            chip,
            subject,
            account: Account::new(),
            orders,
            operations: 0,
            before: 0,
            asked_while_off: 0,
            struck: None,
            choices: 0,
            budget: 0,
            halted: None,
            cut: None,
            reserve,
            injured,
            branches: Vec::new(),
            history: History::NONE,
        }
    }

    /// The crossing, continuing a history.
    pub(crate) fn with_history(self, history: History) -> Self {
        Self { history, ..self }
    }

    /// The account that the probe of the FTL above updates.
    pub(crate) fn account(&self) -> Account {
        self.account.clone()
    }

    /// The chip, at the end.
    pub(crate) fn into_chip(self) -> Device {
        self.chip
    }

    /// Adds a line to the history.
    pub(crate) fn say(&mut self, line: impl FnOnce() -> String) {
        self.history.note(line);
    }

    /// The last operations on the device.
    pub(crate) fn history(&self) -> Vec<String> {
        self.history.lines()
    }

    fn note(&mut self, page: Page, data: &[u8], spare: &[u8], verb: &str) {
        let (at, cause) = (self.operations, self.account.get());
        let (subject, key) = (&*self.subject, self.orders.key);
        let looked = Looked { page, cause, data, spare, subject, key };
        self.history.note(|| match verb {
            "read" => looked.line(verb),
            _ => format!("{}: {}", at - 1, looked.line(verb)),
        });
    }

    /// Switches power off between two requests.
    pub(crate) fn switch_off(&mut self) {
        self.chip.power_off();
    }

    /// Switches power on again, before a mount.
    pub(crate) fn power_on(&mut self) {
        self.halted = None;
        self.asked_while_off = 0;
        self.account.set(Cause::Mount);
        self.history.note(|| "power is on".into());
    }

    pub(crate) const fn halted(&self) -> Option<Halt> {
        self.halted
    }

    /// Calls that the FTL may make from now on.
    pub(crate) const fn grant(&mut self, budget: u64) {
        self.budget = budget;
    }

    /// Lets power fail after that many operations, in the next one, with a fate that the seed picks.
    pub(crate) const fn cut_after(&mut self, operations: u64, seed: u64) {
        self.cut = Some((self.operations + operations, seed));
    }

    /// Cancels a planned power cut.
    pub(crate) const fn disarm(&mut self) {
        self.cut = None;
    }

    /// From now on faults are drawn by that seed and the number of operations since: whatever is left out before this
    /// moment, the same faults follow.
    pub(crate) const fn draw_by(&mut self, seed: u64, faults: Faults) {
        self.orders.seed = seed;
        self.orders.faults = faults;
        self.before = self.operations;
    }

    /// Calls made since power failed.
    pub(crate) const fn asked_while_off(&self) -> u64 {
        self.asked_while_off
    }

    /// The cause and the fate of the operation in which power failed last.
    pub(crate) const fn struck(&mut self) -> Option<(Cause, Fate)> {
        self.struck.take()
    }

    /// Sets how operations are picked from now on.
    pub(crate) const fn pick(&mut self, picks: Picks) {
        self.orders.picks = picks;
    }

    /// Begins after the format: operations are counted from here, and faults are active.
    pub(crate) const fn begin(&mut self, faults: Faults) {
        self.orders.faults = faults;
        self.operations = 0;
        self.before = 0;
        self.choices = 0;
    }

    pub(crate) const fn operations(&self) -> u64 {
        self.operations
    }

    pub(crate) const fn choices(&self) -> u64 {
        self.choices
    }

    pub(crate) const fn reserve(&self) -> &Reserve {
        &self.reserve
    }

    /// Sets how many blocks of bounded parts may fail in the next request.
    pub(crate) fn allow(&mut self, at_once: BlockCount) {
        self.reserve.allow(at_once);
    }

    pub(crate) fn injured(&self) -> &Injuries {
        &self.injured
    }

    pub(crate) fn take_branches(&mut self) -> Vec<Branch> {
        std::mem::take(&mut self.branches)
    }

    fn spend(&mut self) -> Result<(), Halt> {
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

    /// Counts an operation, and forks the picked branches. `tear` does the operation on a chip, with a fate.
    fn cross(&mut self, verb: Change, tear: impl Fn(&mut Device, Fate)) -> Result<(), Halt> {
        self.spend()?;
        let at = self.operations;
        self.operations += 1;
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
            Some((when, seed)) if at >= when => {
                self.cut = None;
                self.halted = Some(Halt::PowerOff);
                let nth = mix(seed, 8) % verb.fates().count() as u64;
                if let Some(fate) = verb.fates().nth(nth as usize) {
                    self.chip.power_off();
                    tear(&mut self.chip, fate);
                    self.history.note(|| format!("{at}: power fails: {fate}"));
                    self.struck = Some((self.account.get(), fate));
                }
                Err(Halt::PowerOff)
            }
            _ => Ok(()),
        }
    }

    fn branch(&mut self, cut: Cut, tear: &impl Fn(&mut Device, Fate)) {
        let mut chip = self.chip.fork();
        chip.power_off();
        tear(&mut chip, cut.fate);
        let (reserve, injured) = (self.reserve.clone(), self.injured.clone());
        let mut history = self.history.clone();
        history.note(|| format!("{}: power fails: {}", cut.at, cut.fate));
        let cause = self.account.get();
        self.branches.push(Branch { chip, reserve, injured, history, cut, cause });
    }

    /// The fault that affects the running operation, if any.
    fn blow(&self, one_in: u32, subject: u64, block: Block) -> bool {
        let has_failed = self.orders.faults.again > 0 && self.reserve.has_failed(block);
        let one_in = if has_failed { self.orders.faults.again } else { one_in };
        self.strikes(one_in, subject) && self.reserve.may_fail(block)
    }

    /// Whether a fault with that rate occurs now.
    fn strikes(&self, one_in: u32, subject: u64) -> bool {
        let thrown = mix(mix(self.orders.seed, subject), self.operations - self.before);
        one_in > 0 && thrown.is_multiple_of(u64::from(one_in))
    }

    fn fail(&mut self, block: Block) {
        self.reserve.fail(block);
        if self.strikes(self.orders.faults.then_cut, 15) {
            let drawn = mix(self.orders.seed, self.operations - self.before);
            self.cut = Some((self.operations + drawn % 8, drawn));
        }
        if self.strikes(self.orders.faults.mark, 13) && self.reserve.may_take_no_mark(block) {
            self.reserve.take_no_mark(block);
            self.chip.fail_mark(block);
        }
    }

    fn endangers(&self, page: Page) -> bool {
        let shape = self.chip.geometry().region(page.region());
        shape.is_some_and(|shape| {
            shape.pairing.endangered(page.index(), shape.pages_per_block).next().is_some()
        })
    }

    fn blow_to_program(&self, page: Page, data: &[u8], spare: &[u8]) -> Blow {
        let faults = &self.orders.faults;
        if self.blow(faults.program, 11, page.block()) {
            return Blow::Fails;
        }
        if !self.strikes(faults.uncorrectable, 14) {
            return Blow::None;
        }
        // The FTL's own records have no other copy, so their loss is not tested like a sector's.
        let mut sectors = data.chunks(self.subject.sector_bytes().as_usize());
        if !sectors.any(|sector| Stamp::read_from(sector).is_some()) {
            return Blow::None;
        }
        let struck = Struck { chip: self.chip.inner(), page, data, spare, key: self.orders.key };
        self.subject.injury(&struck).map_or(Blow::None, Blow::Unreadable)
    }
}

/// A torn operation of a model always returns.
fn tear_program(chip: &mut Device, page: Page, data: &[u8], spare: &[u8], fate: Fate) {
    if let Fate::Program(fate, pair) = fate {
        let Ok(()) = chip.tear_program(page, data, spare, fate, pair);
    }
}

impl NandDevice for Crossing {
    type Error = Halt;

    fn geometry(&self) -> &Geometry {
        self.chip.geometry()
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
                self.injured.meet(self.chip.inner(), page, self.account.get());
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
        let blow = self.blow_to_program(page, data, spare);
        match blow {
            Blow::None => {}
            Blow::Fails => {
                self.history.note(|| "which fails".into());
                self.chip.fail_program(page, When::Nth(1));
                self.fail(page.block());
            }
            Blow::Unreadable(injury) => {
                self.injured.note(injury);
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
        if self.blow(self.orders.faults.erase, 12, block) {
            self.history.note(|| "which fails".into());
            self.chip.fail_erase(block, When::Nth(1));
            self.fail(block);
        }
        self.injured.erased(block);
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
            if fate == Fate::Mark(true) {
                // A mark that fails equals one that was cut before it began.
                let _ = chip.mark_bad(block);
            }
        })
        .map_err(MarkError::Driver)?;
        let at = self.operations - 1;
        self.history.note(|| format!("{at}: mark {block} bad"));
        self.chip.mark_bad(block).map_err(|error| match error {
            MarkError::Failed => MarkError::Failed,
            MarkError::Driver(never) => match never {},
        })
    }
}
