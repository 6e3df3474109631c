//! The device between FTL and chip, from which a branch can be forked at every operation.
//!
//! ```text
//!   FTL ──▶ TestDevice ──▶ FaultInjector<Chip>          the life continues
//!              │
//!              └──▶ a fork of the chip, in which the operation met one of its fates: a Branch,
//!                   to be mounted and compared once the request has returned
//! ```
//!
//! So a workload runs once, however many cuts are tried in it: a cut costs a fork of the chip, not a replay.

use std::sync::Arc;

use ftl_core::probe::Cause;
use ftl_iface::{BlockCount, Geometry, Page};
use nand_model::faults::FailedRead;
use nand_model::power::Tear;

use crate::account::Account;
use crate::dice::Share;
use crate::fate::{Cut, Fate};
use crate::faults::Faults;
use crate::history::{History, PageOperation};
use crate::memory::Memory;
use crate::on_flash::OnFlash;
use crate::played::{Play, Played};
use crate::reserve::Reserve;
use crate::unreadable_pages::{Device, UnreadablePages};

mod operations;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Power is off, or the driver failed: nothing more may be asked.
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

/// A power cut to come.
#[derive(Clone, Copy, Debug)]
struct PlannedCut {
    /// The operation.
    when: u64,
    /// Whether it comes before, in a program that takes other pages with it.
    pairs: bool,
    /// The seed of the operation's fate.
    seed: u64,
}

impl PlannedCut {
    const fn at(when: u64, seed: u64) -> Self {
        Self { when, pairs: false, seed }
    }
}

/// A chip in which power failed in one operation.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) chip: Device,
    pub(crate) reserve: Reserve,
    pub(crate) unreadable_pages: UnreadablePages,
    pub(crate) history: History,
    pub(crate) cut: Cut,
    pub(crate) cause: Cause,
}

/// What the device does at the next operations.
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
pub(crate) struct TestDevice {
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
    cut_taken: Option<(Cause, Fate)>,
    /// Pairs of an operation and a fate so far.
    choices: u64,
    /// Calls of any kind left before the FTL counts as looping endlessly.
    budget: u64,
    halted: Option<Halt>,
    /// Where power is to fail.
    cut: Option<PlannedCut>,
    /// Whether power was made to fail soon after a block failed or was marked.
    cut_followed: bool,
    /// Calls until the driver fails.
    fuse: Option<u64>,
    /// Whether the driver has failed since power was on.
    failed_driver: bool,
    /// Whether blocks of anchors fail often.
    ring_fails_often: bool,
    /// What a failed read leaves in the buffers.
    failed_reads: Play,
    played: Played,
    /// What is lent to the FTL.
    memory: Memory,
    /// The shape that the driver tells, if not the chip's.
    told: Option<Geometry>,
    reserve: Reserve,
    unreadable_pages: UnreadablePages,
    branches: Vec<Branch>,
    history: History,
}

impl TestDevice {
    pub(crate) fn new(
        chip: Device,
        reserve: Reserve,
        unreadable_pages: UnreadablePages,
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
            cut_taken: None,
            choices: 0,
            budget: 0,
            halted: None,
            cut: None,
            cut_followed: false,
            fuse: None,
            failed_driver: false,
            ring_fails_often: false,
            failed_reads: Play::ReadNoise,
            played: Played::default(),
            memory: Memory::default(),
            told: None,
            reserve,
            unreadable_pages,
            branches: Vec::new(),
            history: History::NONE,
        }
    }

    /// The device, continuing a history.
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
        let looked = PageOperation { page, cause, data, spare, subject, key };
        self.history.note(|| match verb {
            "read" => looked.line(verb),
            _ => format!("{}: {}", at - 1, looked.line(verb)),
        });
    }

    /// Switches power off between two requests.
    pub(crate) fn switch_off(&mut self) {
        self.chip.power_off();
    }

    /// The chip, for what happens to it while nobody asks for anything.
    pub(crate) const fn chip_mut(&mut self) -> &mut Device {
        &mut self.chip
    }

    /// The FTL's layout on it.
    pub(crate) fn subject(&self) -> Arc<dyn OnFlash> {
        self.subject.clone()
    }

    /// The key with which it is formatted.
    pub(crate) const fn key(&self) -> u32 {
        self.orders.key
    }

    /// It is formatted with another key from now on.
    pub(crate) const fn set_key(&mut self, key: u32) {
        self.orders.key = key;
    }

    /// Takes what is lent to the FTL.
    pub(crate) fn take_memory(&mut self) -> Memory {
        std::mem::take(&mut self.memory)
    }

    /// Gives what is lent to the FTL.
    pub(crate) fn give_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// Sets what failed reads leave in the buffers.
    pub(crate) const fn leave_in_buffers(&mut self, left: FailedRead) {
        self.chip.fail_reads_with(left);
        self.failed_reads = match left {
            FailedRead::Untouched => Play::ReadUntouched,
            FailedRead::Partly => Play::ReadPartly,
            FailedRead::Nearly => Play::ReadNearly,
            FailedRead::Noise => Play::ReadNoise,
        };
    }

    /// Notes that something was played.
    pub(crate) const fn play(&mut self, play: Play) {
        self.played.note(play);
    }

    /// What was played so far.
    pub(crate) const fn played(&self) -> &Played {
        &self.played
    }

    /// Lets blocks of anchors fail often, if blocks fail at all.
    pub(crate) const fn let_ring_fail_often(&mut self, is_sickly: bool) {
        self.ring_fails_often = is_sickly;
    }

    /// Lets the driver tell another shape, or the chip's.
    pub(crate) const fn tell_shape(&mut self, told: Option<Geometry>) {
        self.told = told;
    }

    /// Lets the driver fail after that many calls of any kind.
    pub(crate) const fn fail_driver_after(&mut self, calls: u64) {
        self.fuse = Some(calls);
    }

    /// Whether the driver has failed since power was on. Power may be on still.
    pub(crate) const fn has_failed_driver(&self) -> bool {
        self.failed_driver
    }

    /// Switches power on again, before a mount.
    pub(crate) fn power_on(&mut self) {
        self.halted = None;
        self.failed_driver = false;
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
        self.cut = Some(PlannedCut::at(self.operations + operations, seed));
    }

    /// Cancels a planned power cut, and a planned failure of the driver.
    pub(crate) const fn disarm(&mut self) {
        (self.cut, self.fuse) = (None, None);
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

    /// Whether power was made to fail soon after a block failed or was marked, since it was asked last.
    pub(crate) const fn take_cut_followed(&mut self) -> bool {
        std::mem::replace(&mut self.cut_followed, false)
    }

    /// The cause and the fate of the operation in which power failed last.
    pub(crate) const fn take_cut(&mut self) -> Option<(Cause, Fate)> {
        self.cut_taken.take()
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

    pub(crate) fn unreadable_pages(&self) -> &UnreadablePages {
        &self.unreadable_pages
    }

    pub(crate) fn unreadable_pages_mut(&mut self) -> &mut UnreadablePages {
        &mut self.unreadable_pages
    }

    pub(crate) fn take_branches(&mut self) -> Vec<Branch> {
        std::mem::take(&mut self.branches)
    }
}
