//! A life: a device is mounted, compared, used, and switched off; roads lead off it at every operation, each of which
//! is a life in turn.

use std::fmt::Display;

use ftl_core::layout::FormatKey;
use ftl_core::probe::Cause;
use ftl_core::{Ftl, MountError, OwnedRam};
use ftl_iface::{BlockStore, PageCount, Sector, SectorCount, StoreWriteError};

use crate::crossing::{Account, Branch, Crossing, Halt, Orders, Picks, Teller};
use crate::dice::{Share, mix};
use crate::fate::Cut;
use crate::panics;
use crate::plan::{Cuts, Plan};
use crate::report::{Breach, Tally, Violation};
use crate::setup::Setup;
use crate::steps::{Step, Workload};
use crate::truth::{Truth, Wrong};

/// What all lives of a run share.
pub(crate) struct World<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) plan: &'a Plan,
    pub(crate) account: &'a Account,
    pub(crate) seed: u64,
    /// Of the pairs of an operation and a fate in the run's own life.
    pub(crate) share: Share,
    /// This one of so many workers tries its part of them.
    pub(crate) lane: (u64, u64),
    /// Is told of each cut that was tried.
    pub(crate) tell: &'a (dyn Fn() + Sync),
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) tally: Tally,
    pub(crate) violations: Vec<Violation>,
}

impl World<'_> {
    /// The key of the device's tags.
    pub(crate) fn key(&self) -> FormatKey {
        FormatKey::new(self.seed as u32)
    }

    /// Calls that a mount may make: it looks at no page more than a few times.
    fn mount_budget(&self) -> u64 {
        16 * self.setup.pages() + 4_096
    }

    /// Calls that a request may make, far beyond the stated worst case.
    fn request_budget(&self) -> u64 {
        64 * self.setup.pages() + 16_384
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

    /// Lives within lives, the run's own included.
    pub(crate) fn depth(&self) -> usize {
        let nested = self.plan.nested.map_or(0, |nested| nested.depth as usize);
        match &self.plan.cuts {
            Cuts::At(cuts) => 1 + cuts.len(),
            Cuts::Exhaustive | Cuts::Sample(_) => 2 + nested,
        }
    }
}

/// What a life knows beside its device.
pub(crate) struct Mind<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) truth: Truth,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) data: Vec<u8>,
    /// Whether the device may turn out not to be formatted.
    pub(crate) may_be_blank: bool,
}

/// What is left after a step.
enum After {
    On,
    Off,
}

/// What broke, if anything did.
pub(crate) type Verdict<T = ()> = Result<T, Box<Violation>>;

type Mounted<'ram, 'c, 'a> = Ftl<'ram, &'c mut Crossing<'a>, Teller<'a>>;

/// Lives until the steps end; then the device is mounted and compared once more.
pub(crate) fn live<'a>(
    crossing: &mut Crossing<'a>,
    mind: &mut Mind<'a>,
    steps: &mut dyn Iterator<Item = Step>,
    memories: &mut [OwnedRam],
    findings: &mut Findings,
) -> Verdict {
    let world = mind.world;
    let Some((memory, deeper)) = memories.split_first_mut() else {
        return Ok(());
    };
    let picks = world.picks(mind.cuts.len());
    let mut ended = false;
    loop {
        crossing.power_on();
        crossing.grant(world.mount_budget());
        crossing.pick(picks.0);
        world.account.set(Cause::Mount);
        let teller = Teller(world.account);
        let mounted = Ftl::mount(&mut *crossing, &world.setup.config, memory.lend(), teller);
        let mut ftl = match mounted {
            Ok(ftl) => ftl,
            Err(MountError::NotFormatted | MountError::DamagedHeader) if mind.may_be_blank => {
                return Ok(());
            }
            Err(error) => {
                let error = error.to_string();
                let branches = crossing.take_branches();
                mind.follow(branches, deeper, findings);
                match crossing.halted() {
                    Some(Halt::PowerOff) => continue,
                    Some(Halt::OverBudget) => return Err(mind.broken(&"mounting", Breach::Endless)),
                    None => {
                        return Err(mind.broken(&"mounting", Breach::Unmountable(error)));
                    }
                }
            }
        };
        mind.follow(ftl.device_mut().take_branches(), deeper, findings);
        mind.may_be_blank = false;
        // The mount's work may go on in the first requests.
        let before = mind.truth.clone();
        let state = mind.inspect(&mut ftl, "after the mount");
        mind.follow_from(&before, ftl.device_mut().take_branches(), deeper, findings);
        ftl.device_mut().pick(picks.1);
        if let After::Off = state? {
            continue;
        }
        if ended {
            return Ok(());
        }
        ended = mind.use_it(&mut ftl, steps, deeper, findings)?;
        if findings.violations.len() >= world.plan.violations_max {
            return Ok(());
        }
    }
}

impl<'a> Mind<'a> {
    fn broken(&self, doing: &dyn Display, breach: Breach) -> Box<Violation> {
        let World { setup, plan, seed, .. } = self.world;
        Box::new(Violation::new(setup, plan, *seed, doing.to_string(), breach))
    }

    /// Requests until power goes off. Whether there are no more.
    fn use_it(
        &mut self,
        ftl: &mut Mounted<'_, '_, 'a>,
        steps: &mut dyn Iterator<Item = Step>,
        deeper: &mut [OwnedRam],
        findings: &mut Findings,
    ) -> Verdict<bool> {
        for step in &mut *steps {
            if step == Step::Rest {
                let before = self.truth.clone();
                self.inspect(ftl, "before it was switched off")?;
                self.follow_from(&before, ftl.device_mut().take_branches(), deeper, findings);
                return Ok(false);
            }
            if let After::Off = self.step(ftl, step, deeper, findings)? {
                return Ok(false);
            }
            if step == Step::Stop {
                return Ok(false);
            }
            if findings.violations.len() >= self.world.plan.violations_max {
                return Ok(true);
            }
        }
        ftl.device_mut().disarm();
        let before = self.truth.clone();
        self.inspect(ftl, "at the end")?;
        self.follow_from(&before, ftl.device_mut().take_branches(), deeper, findings);
        Ok(true)
    }

    /// Compares everything, and checks the invariants.
    fn inspect(&mut self, ftl: &mut Mounted<'_, '_, 'a>, when: &str) -> Verdict<After> {
        ftl.device().injured().tell(&mut self.truth);
        ftl.device_mut().grant(self.world.request_budget() + self.world.mount_budget());
        let known = ftl.device().injured().len();
        let mut compared = self.truth.compare_all(ftl);
        if compared.is_err() && ftl.device().injured().len() > known {
            // What set right the cut was injured itself.
            ftl.device().injured().tell(&mut self.truth);
            compared = self.truth.compare_all(ftl);
        }
        self.judge(ftl, compared, &when)?;
        if ftl.device().halted().is_some() {
            return Ok(After::Off);
        }
        let checked = ftl.check();
        match checked {
            Ok(()) => {
                allow(ftl);
                Ok(After::On)
            }
            Err(_) if ftl.device().halted() == Some(Halt::PowerOff) => Ok(After::Off),
            // What cannot be read cannot be checked.
            Err(violation) if self.truth.is_injured() && is_unreadable(&violation.to_string()) => {
                Ok(After::On)
            }
            Err(violation) => Err(self.broken(&when, Breach::Invariant(violation.to_string()))),
        }
    }

    /// A comparison fails as it must where power has failed.
    fn judge(
        &self,
        ftl: &Mounted<'_, '_, 'a>,
        compared: Result<(), Wrong>,
        doing: &dyn Display,
    ) -> Verdict {
        match (compared, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(self.broken(doing, Breach::Endless)),
            (Ok(()), _) | (Err(_), Some(Halt::PowerOff)) => Ok(()),
            (Err(wrong), None) => Err(self.broken(doing, Breach::Content(wrong))),
        }
    }

    fn step(
        &mut self,
        ftl: &mut Mounted<'_, '_, 'a>,
        step: Step,
        deeper: &mut [OwnedRam],
        findings: &mut Findings,
    ) -> Verdict<After> {
        ftl.device_mut().grant(self.world.request_budget());
        let request = self.truth.requests() + 1;
        let before = matches!(step, Step::Read { .. }).then(|| self.truth.clone());
        ftl.device_mut().say(|| format!("request {request}: {step}"));
        let outcome = match step {
            Step::Write { first, count } => {
                self.truth.begin_write(first, count, &mut self.data);
                ftl.write(Sector::new(first), &self.data)
            }
            Step::Trim { first, count } => {
                self.truth.begin_trim(first, count);
                ftl.trim(Sector::new(first), SectorCount::new(count))
            }
            Step::Read { first, count } => {
                ftl.device().injured().tell(&mut self.truth);
                let compared = self.truth.compare(ftl, first, count);
                self.judge(ftl, compared, &step)?;
                Ok(())
            }
            Step::Maintain { budget } => ftl.maintain(PageCount::new(budget)).map(drop),
            Step::Flush => ftl.flush(),
            Step::Cut { after, seed } => {
                ftl.device_mut().cut_after(after.into(), seed);
                Ok(())
            }
            Step::Stop => ftl.stop().map(drop),
            Step::Rest => Ok(()),
        };
        let branches = ftl.device_mut().take_branches();
        match before {
            Some(before) => self.follow_from(&before, branches, deeper, findings),
            None => self.follow(branches, deeper, findings),
        }
        match (outcome, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(self.broken(&step, Breach::Endless)),
            (_, Some(Halt::PowerOff)) => Ok(After::Off),
            (Ok(()), None) => {
                allow(ftl);
                if let Step::Write { first, count } | Step::Trim { first, count } = step {
                    self.truth.acknowledge(first, count);
                }
                Ok(After::On)
            }
            (Err(StoreWriteError::ReadOnly), None) if ftl.device().reserve().is_gone() => {
                // Each sector of it is old or new from now on.
                ftl.device().injured().tell(&mut self.truth);
                let compared = self.truth.compare_all(ftl);
                self.judge(ftl, compared, &step)?;
                Ok(After::On)
            }
            (Err(error), None) => Err(self.broken(&step, Breach::Refused(error.to_string()))),
        }
    }

    /// Goes down roads that lead off a comparison: what it found was not known to be found when they did.
    fn follow_from(
        &mut self,
        truth: &Truth,
        branches: Vec<Branch>,
        memories: &mut [OwnedRam],
        findings: &mut Findings,
    ) {
        let known = std::mem::replace(&mut self.truth, truth.clone());
        self.follow(branches, memories, findings);
        self.truth = known;
    }

    /// Goes down each of these roads.
    pub(crate) fn follow(
        &mut self,
        branches: Vec<Branch>,
        memories: &mut [OwnedRam],
        findings: &mut Findings,
    ) {
        for branch in branches {
            if findings.violations.len() >= self.world.plan.violations_max {
                return;
            }
            let (cut, cause, depth) = (branch.cut, branch.cause, self.cuts.len());
            let outcome = self.go_down(branch, memories, findings);
            (self.world.tell)();
            let breach = outcome.as_ref().err().map(|violation| &violation.breach);
            findings.tally.add(cause, cut.fate, depth, breach);
            if let Err(mut violation) = outcome {
                violation.cuts = self.cuts.iter().copied().chain([cut]).collect();
                violation.cause = Some(cause);
                findings.violations.push(*violation);
            }
        }
    }

    fn go_down(
        &self,
        branch: Branch,
        memories: &mut [OwnedRam],
        findings: &mut Findings,
    ) -> Verdict {
        let world = self.world;
        let cuts: Vec<Cut> = self.cuts.iter().copied().chain([branch.cut]).collect();
        // What happens after the cut depends on where it was, so that lives differ.
        let fold = |seed, cut: &Cut| mix(mix(seed, cut.at), cut.fate.row() as u64);
        let seed = cuts.iter().fold(world.seed, fold);
        let orders = Orders {
            seed,
            picks: Picks::Some(Share::NONE),
            lane: (0, 1),
            faults: world.plan.faults,
            sector_bytes: world.setup.sector_bytes(),
            lenient: false,
            forgotten: None,
            capacity: world.setup.capacity(),
            key: world.key(),
        };
        let Branch { chip, reserve, injured, history, .. } = branch;
        let mut crossing =
            Crossing::new(chip, reserve, injured, world.account, orders).with_history(history);
        let requests = (mix(seed, 3) % u64::from(world.plan.after.max(1))) as u32;
        let mut steps = Workload::after(mix(seed, 4), world.setup.capacity(), requests);
        let truth = self.truth.clone();
        let may_be_blank = self.may_be_blank;
        let mut mind = Mind { world, truth, cuts, data: Vec::new(), may_be_blank };
        let lived =
            panics::catch(|| live(&mut crossing, &mut mind, &mut steps, memories, findings));
        let verdict = lived.unwrap_or_else(|sentence| {
            Err(self.broken(&"in the life after it", Breach::Panic(sentence)))
        });
        verdict.map_err(|mut violation| {
            violation.history = crossing.history();
            violation
        })
    }
}

/// Faults may strike as the FTL says that it bears them.
fn allow(ftl: &mut Mounted<'_, '_, '_>) {
    let at_once = ftl.health().at_once;
    ftl.device_mut().allow(at_once);
}

/// Whether a check failed because a page cannot be read.
fn is_unreadable(sentence: &str) -> bool {
    sentence.contains("Uncorrectable")
}
