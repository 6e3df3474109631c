//! A life: a device is mounted, compared, used, and switched off; branches fork at every operation, each of which is a
//! life in turn.

use std::fmt::Display;

use ftl_iface::{Lifetime, PageCount, Sector, SectorCount, StoreWriteError, Work};

use crate::compared::compare_told;
use crate::dice::{Share, mix};
use crate::fate::Cut;
use crate::panics;
use crate::plan::{Cuts, Plan};
use crate::report::{Breach, Tally, Violation};
use crate::setup::Setup;
use crate::steps::{Power, Step, Workload};
use crate::subject::{Mounted, Unchecked, Unmounted};
use crate::test_device::{Branch, Halt, Orders, Picks, TestDevice};
use crate::truth::{Truth, Wrong};
use crate::watch::Watcher;

/// The context that all lives of a run share.
pub(crate) struct Context<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) plan: &'a Plan,
    pub(crate) seed: u64,
    /// The share of the pairs of an operation and a fate tried in the run's own life.
    pub(crate) share: Share,
    /// The number of this worker, and of all workers; each tries its part of them.
    pub(crate) lane: (u64, u64),
    /// Notified of each cut tried, and may end the run.
    pub(crate) watcher: &'a dyn Watcher,
}

/// The results so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) tally: Tally,
    pub(crate) violations: Vec<Violation>,
}

impl Context<'_> {
    /// The key of the device's tags.
    pub(crate) fn key(&self) -> u32 {
        self.seed as u32
    }

    /// How a life's operations are picked, in its mount and after it.
    pub(crate) fn picks(&self, depth: usize) -> (Picks, Picks) {
        let some = Picks::Some;
        if let Cuts::At(cuts) = &self.plan.cuts {
            let only = cuts.get(depth).map_or(some(Share::NONE), |cut| Picks::Only(*cut));
            return (only, only);
        }
        match (depth, self.plan.nested) {
            (0, _) => (some(self.share), some(self.share)),
            (_, Some(nested)) if depth <= nested.depth as usize => {
                (some(nested.mount), some(nested.after))
            }
            _ => (some(Share::NONE), some(Share::NONE)),
        }
    }
}

/// The state of a life besides its device.
pub(crate) struct LifeState<'a> {
    pub(crate) world: &'a Context<'a>,
    pub(crate) truth: Truth,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) data: Vec<u8>,
    /// Whether the device may be unformatted.
    pub(crate) may_be_blank: bool,
}

/// The violation, if there was one.
pub(crate) type Checked<T = ()> = Result<T, Box<Violation>>;

/// Runs the steps to their end; then mounts and compares the device once more.
pub(crate) fn live(
    device: &mut TestDevice,
    state: &mut LifeState<'_>,
    steps: &mut dyn Iterator<Item = Step>,
    findings: &mut Findings,
) -> Checked {
    let world = state.world;
    let (in_mount, after_it) = world.picks(state.cuts.len());
    let mut lived = Progress::Used;
    loop {
        device.power_on();
        device.grant(world.setup.mount_budget());
        device.pick(in_mount);
        let mut outcome = Ok(());
        let mounted = world.setup.subject.mount(device, &mut |ftl| {
            outcome = state.follow_mount(ftl, steps, findings, (&mut lived, after_it));
        });
        outcome?;
        match mounted {
            Ok(()) if lived == Progress::ToTheEnd => return Ok(()),
            Ok(()) => {}
            Err(Unmounted::Blank(_)) if state.may_be_blank => return Ok(()),
            Err(error) => {
                state.follow(device.take_branches(), findings);
                match device.halted() {
                    Some(Halt::PowerOff) => continue,
                    Some(Halt::OverBudget) => {
                        return Err(state.broken(&"mounting", Breach::Endless));
                    }
                    None => {
                        return Err(
                            state.broken(&"mounting", Breach::Unmountable(error.to_string()))
                        );
                    }
                }
            }
        }
        if device.halted().is_none() {
            device.switch_off();
        }
    }
}

/// The progress of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The steps continue after the next mount.
    Used,
    /// The steps have ended, and one mount is left.
    Through,
    /// That mount was compared, too.
    ToTheEnd,
}

impl LifeState<'_> {
    fn broken(&self, doing: &dyn Display, breach: Breach) -> Box<Violation> {
        let Context { setup, plan, seed, .. } = self.world;
        Box::new(Violation::new(setup, plan, *seed, doing.to_string(), breach))
    }

    /// Whether there are enough violations, or the watcher ends the run.
    fn has_enough(&self, findings: &Findings) -> bool {
        findings.violations.len() >= self.world.plan.violations_max || !self.world.watcher.goes_on()
    }

    /// Compares a mounted device, and then uses it.
    fn follow_mount(
        &mut self,
        ftl: &mut dyn Mounted,
        steps: &mut dyn Iterator<Item = Step>,
        findings: &mut Findings,
        (lived, picks): (&mut Progress, Picks),
    ) -> Checked {
        self.follow(ftl.device_mut().take_branches(), findings);
        self.may_be_blank = false;
        // The mount's work may continue in the first requests.
        let before = self.truth.clone();
        let state = self.inspect(ftl, "after the mount");
        self.follow_from(&before, ftl.device_mut().take_branches(), findings);
        ftl.device_mut().pick(picks);
        if let Power::Off = state? {
            return Ok(());
        }
        if *lived == Progress::Used && self.use_it(ftl, steps, findings)? {
            *lived = Progress::Through;
        } else if *lived == Progress::Through {
            *lived = Progress::ToTheEnd;
        }
        if self.has_enough(findings) {
            *lived = Progress::ToTheEnd;
        }
        Ok(())
    }

    /// Runs requests until power is off. Returns whether there are no more.
    fn use_it(
        &mut self,
        ftl: &mut dyn Mounted,
        steps: &mut dyn Iterator<Item = Step>,
        findings: &mut Findings,
    ) -> Checked<bool> {
        for step in &mut *steps {
            if step == Step::Rest {
                let before = self.truth.clone();
                self.inspect(ftl, "before it was switched off")?;
                self.follow_from(&before, ftl.device_mut().take_branches(), findings);
                return Ok(false);
            }
            if let Power::Off = self.step(ftl, step, findings)? {
                return Ok(false);
            }
            if step == Step::Stop {
                return Ok(false);
            }
            if self.has_enough(findings) {
                return Ok(true);
            }
        }
        ftl.device_mut().disarm();
        let before = self.truth.clone();
        self.inspect(ftl, "at the end")?;
        self.follow_from(&before, ftl.device_mut().take_branches(), findings);
        Ok(true)
    }

    /// Compares everything, and checks the invariants.
    fn inspect(&mut self, ftl: &mut dyn Mounted, when: &str) -> Checked<Power> {
        ftl.device_mut().grant(self.world.setup.request_budget() + self.world.setup.mount_budget());
        let compared = compare_told(&mut self.truth, ftl, |truth, ftl| truth.compare_all(ftl));
        self.judge(ftl, compared, &when)?;
        if ftl.device().halted().is_some() {
            return Ok(Power::Off);
        }
        let checked = ftl.check();
        match checked {
            Ok(()) => {
                allow(ftl);
                Ok(Power::On)
            }
            Err(_) if ftl.device().halted() == Some(Halt::PowerOff) => Ok(Power::Off),
            // Invariants over unreadable pages cannot be checked.
            Err(Unchecked::Unreadable(_)) if self.truth.has_unreadable() => Ok(Power::On),
            Err(Unchecked::Broken(sentence) | Unchecked::Unreadable(sentence)) => {
                Err(self.broken(&when, Breach::Invariant(sentence)))
            }
        }
    }

    /// Turns the result of a comparison into a verdict. After a power failure any error is expected.
    fn judge(
        &self,
        ftl: &dyn Mounted,
        compared: Result<(), Wrong>,
        doing: &dyn Display,
    ) -> Checked {
        match (compared, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(self.broken(doing, Breach::Endless)),
            (Ok(()), _) | (Err(_), Some(Halt::PowerOff)) => Ok(()),
            (Err(wrong), None) => Err(self.broken(doing, Breach::Content(wrong))),
        }
    }

    fn step(
        &mut self,
        ftl: &mut dyn Mounted,
        step: Step,
        findings: &mut Findings,
    ) -> Checked<Power> {
        ftl.device().unreadable_pages().tell(&mut self.truth);
        ftl.device_mut().grant(self.world.setup.request_budget());
        let request = self.truth.requests() + 1;
        let before = matches!(step, Step::Read { .. }).then(|| self.truth.clone());
        ftl.device_mut().say(|| format!("request {request}: {step}"));
        if let Step::Read { first, count } = step {
            let read = |truth: &mut Truth, ftl: &mut dyn Mounted| truth.compare(ftl, first, count);
            let compared = compare_told(&mut self.truth, ftl, read);
            self.judge(ftl, compared, &step)?;
        }
        let outcome = ask(ftl, step, Lifetime::Unknown, &mut self.truth, &mut self.data);
        let branches = ftl.device_mut().take_branches();
        match before {
            Some(before) => self.follow_from(&before, branches, findings),
            None => self.follow(branches, findings),
        }
        match (outcome, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(self.broken(&step, Breach::Endless)),
            (outcome, Some(Halt::PowerOff)) => match told_of_failure(step, &outcome) {
                Ok(()) => Ok(Power::Off),
                Err(breach) => Err(self.broken(&step, breach)),
            },
            (Ok(work), None) => {
                allow(ftl);
                if let Some(owed) = owed(ftl, work) {
                    return Err(self.broken(&step, Breach::Invariant(owed)));
                }
                if let Step::Write { first, count } | Step::Trim { first, count } = step {
                    self.truth.acknowledge(first, count);
                }
                Ok(Power::On)
            }
            (Err(StoreWriteError::ReadOnly), None) if ftl.device().reserve().is_gone() => {
                // From now on each sector of the request is old or new.
                let compared =
                    compare_told(&mut self.truth, ftl, |truth, ftl| truth.compare_all(ftl));
                self.judge(ftl, compared, &step)?;
                Ok(Power::On)
            }
            (Err(error), None) => {
                let sentence = format!("{error}; {}", ftl.health());
                Err(self.broken(&step, Breach::Refused(sentence)))
            }
        }
    }

    /// Follows branches of a comparison, with the truth before it: its findings were not yet known at the forks.
    fn follow_from(&mut self, truth: &Truth, branches: Vec<Branch>, findings: &mut Findings) {
        let known = std::mem::replace(&mut self.truth, truth.clone());
        self.follow(branches, findings);
        self.truth = known;
    }

    /// Follows each of these branches.
    pub(crate) fn follow(&mut self, branches: Vec<Branch>, findings: &mut Findings) {
        for branch in branches {
            if self.has_enough(findings) {
                return;
            }
            let (cut, cause, depth) = (branch.cut, branch.cause, self.cuts.len());
            let outcome = self.go_down(branch, findings);
            self.world.watcher.tried(1);
            let breach = outcome.as_ref().err().map(|violation| &violation.breach);
            findings.tally.add(cause, cut.fate, depth, breach);
            if let Err(mut violation) = outcome {
                violation.cuts = self.cuts.iter().copied().chain([cut]).collect();
                violation.cause = Some(cause);
                findings.violations.push(*violation);
            }
        }
    }

    fn go_down(&self, branch: Branch, findings: &mut Findings) -> Checked {
        let world = self.world;
        let cuts: Vec<Cut> = self.cuts.iter().copied().chain([branch.cut]).collect();
        // The steps after the cut depend on its position, so that lives differ.
        let fold = |seed, cut: &Cut| mix(mix(seed, cut.at), cut.fate.row() as u64);
        let seed = cuts.iter().fold(world.seed, fold);
        let orders = Orders {
            seed,
            picks: Picks::Some(Share::NONE),
            lane: (0, 1),
            faults: world.plan.faults,
            lenient: false,
            forgotten: None,
            key: world.key(),
        };
        let Branch { chip, reserve, unreadable_pages, history, .. } = branch;
        let subject = world.setup.subject.clone();
        let mut device =
            TestDevice::new(chip, reserve, unreadable_pages, subject, orders).with_history(history);
        let requests = (mix(seed, 3) % u64::from(world.plan.after.max(1))) as u32;
        let mut steps = Workload::after(mix(seed, 4), world.setup.capacity(), requests);
        let truth = self.truth.clone();
        let may_be_blank = self.may_be_blank;
        let mut state = LifeState { world, truth, cuts, data: Vec::new(), may_be_blank };
        let lived = panics::catch(|| live(&mut device, &mut state, &mut steps, findings));
        let verdict = lived.unwrap_or_else(|sentence| {
            Err(self.broken(&"in the life after it", Breach::Panic(sentence)))
        });
        verdict.map_err(|mut violation| {
            violation.history = device.history();
            violation
        })
    }
}

/// Sends a step that changes the device to the FTL, and records the expected result in the truth first. Of a write the
/// FTL is told that lifetime. Reads are left to the comparison. Returns whether idle work is left, if the step asked
/// for it.
pub(crate) fn ask(
    ftl: &mut dyn Mounted,
    step: Step,
    lifetime: Lifetime,
    truth: &mut Truth,
    data: &mut Vec<u8>,
) -> Result<Work, StoreWriteError<Halt>> {
    match step {
        Step::Write { first, count } => {
            truth.begin_write(first, count, data);
            ftl.write_hinted(Sector::new(first), data, lifetime)?;
        }
        Step::Trim { first, count } => {
            truth.begin_trim(first, count);
            ftl.trim(Sector::new(first), SectorCount::new(count))?;
        }
        Step::Maintain { budget } => return ftl.maintain(PageCount::new(budget)),
        Step::Flush => ftl.flush()?,
        Step::Settle => ftl.settle()?,
        Step::Scrub => {
            ftl.scrub();
            return ftl.maintain(PageCount::new(SCRUBBED));
        }
        Step::Stop => ftl.stop()?,
        Step::Cut { after, seed } => ftl.device_mut().cut_after(after.into(), seed),
        Step::Read { .. } | Step::Compare | Step::Rest => {}
    }
    Ok(Work::Left)
}

/// Whether a request in which power was cut says so: that the device has failed, with the driver's error.
pub(crate) fn told_of_failure(
    step: Step,
    outcome: &Result<Work, StoreWriteError<Halt>>,
) -> Result<(), Breach> {
    match (step, outcome) {
        // The comparison asked, and accepted what it was told.
        (Step::Read { .. } | Step::Compare, _) | (_, Err(StoreWriteError::Device(Some(_)))) => {
            Ok(())
        }
        (_, Ok(_)) => Err(Breach::Refused("power failed in it, and it succeeded".into())),
        (_, Err(error)) => {
            Err(Breach::Refused(format!("power failed in it, and it says: {error}")))
        }
    }
}

/// Pages read in idle time after a scrub was started.
const SCRUBBED: u32 = 50;

/// Work that the FTL still owes although it reports that no idle work is left.
pub(crate) fn owed(ftl: &dyn Mounted, work: Work) -> Option<String> {
    match work {
        Work::Done => ftl.owed(),
        Work::Left => None,
    }
}

/// Allows as many failures as the FTL reports to tolerate.
fn allow(ftl: &mut dyn Mounted) {
    let at_once = ftl.at_once();
    ftl.device_mut().allow(at_once);
}
