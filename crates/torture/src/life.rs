//! A life: a device is mounted, compared, used, and switched off; roads lead off it at every operation, each of which
//! is a life in turn.

use std::fmt::Display;

use ftl_iface::{PageCount, Sector, SectorCount, StoreWriteError, Work};

use crate::crossing::{Branch, Crossing, Halt, Orders, Picks};
use crate::dice::{Share, mix};
use crate::fate::Cut;
use crate::panics;
use crate::plan::{Cuts, Plan};
use crate::report::{Breach, Tally, Violation};
use crate::setup::Setup;
use crate::steps::{Step, Workload};
use crate::subject::{Mounted, Unchecked, Unmounted};
use crate::truth::{Truth, Wrong};
use crate::watch::Watcher;

/// What all lives of a run have in common.
pub(crate) struct Context<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) plan: &'a Plan,
    pub(crate) seed: u64,
    /// Of the pairs of an operation and a fate in the run's own life.
    pub(crate) share: Share,
    /// This one of that many workers tries its part of them.
    pub(crate) lane: (u64, u64),
    /// Is told of each cut that was tried, and may end the run.
    pub(crate) watcher: &'a dyn Watcher,
}

/// What was found so far.
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

/// What a life knows beside its device.
pub(crate) struct Mind<'a> {
    pub(crate) world: &'a Context<'a>,
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

/// Lives until the steps end; then the device is mounted and compared once more.
pub(crate) fn live(
    crossing: &mut Crossing,
    mind: &mut Mind<'_>,
    steps: &mut dyn Iterator<Item = Step>,
    findings: &mut Findings,
) -> Verdict {
    let world = mind.world;
    let (in_mount, after_it) = world.picks(mind.cuts.len());
    let mut lived = Lived::Used;
    loop {
        crossing.power_on();
        crossing.grant(world.setup.mount_budget());
        crossing.pick(in_mount);
        let mut outcome = Ok(());
        let mounted = world.setup.subject.mount(crossing, &mut |ftl| {
            outcome = mind.follow_mount(ftl, steps, findings, (&mut lived, after_it));
        });
        outcome?;
        match mounted {
            Ok(()) if lived == Lived::ToTheEnd => return Ok(()),
            Ok(()) => {}
            Err(Unmounted::Blank(_)) if mind.may_be_blank => return Ok(()),
            Err(Unmounted::Blank(error) | Unmounted::Failed(error)) => {
                mind.follow(crossing.take_branches(), findings);
                match crossing.halted() {
                    Some(Halt::PowerOff) => continue,
                    Some(Halt::OverBudget) => return Err(mind.broken(&"mounting", Breach::Endless)),
                    None => return Err(mind.broken(&"mounting", Breach::Unmountable(error))),
                }
            }
        }
        if crossing.halted().is_none() {
            crossing.switch_off();
        }
    }
}

/// How far a life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lived {
    /// The steps continue with the next mount.
    Used,
    /// They have ended, and one mount is left.
    Through,
    /// That was compared, too.
    ToTheEnd,
}

impl Mind<'_> {
    fn broken(&self, doing: &dyn Display, breach: Breach) -> Box<Violation> {
        let Context { setup, plan, seed, .. } = self.world;
        Box::new(Violation::new(setup, plan, *seed, doing.to_string(), breach))
    }

    /// Whether there are violations enough, or whoever watches has.
    fn has_enough(&self, findings: &Findings) -> bool {
        findings.violations.len() >= self.world.plan.violations_max || !self.world.watcher.goes_on()
    }

    /// A device that has mounted is compared, and then used.
    fn follow_mount(
        &mut self,
        ftl: &mut dyn Mounted,
        steps: &mut dyn Iterator<Item = Step>,
        findings: &mut Findings,
        (lived, picks): (&mut Lived, Picks),
    ) -> Verdict {
        self.follow(ftl.device_mut().take_branches(), findings);
        self.may_be_blank = false;
        // The mount's work may continue in the first requests.
        let before = self.truth.clone();
        let state = self.inspect(ftl, "after the mount");
        self.follow_from(&before, ftl.device_mut().take_branches(), findings);
        ftl.device_mut().pick(picks);
        if let After::Off = state? {
            return Ok(());
        }
        if *lived == Lived::Used && self.use_it(ftl, steps, findings)? {
            *lived = Lived::Through;
        } else if *lived == Lived::Through {
            *lived = Lived::ToTheEnd;
        }
        if self.has_enough(findings) {
            *lived = Lived::ToTheEnd;
        }
        Ok(())
    }

    /// Requests until power is lost. Whether there are no more.
    fn use_it(
        &mut self,
        ftl: &mut dyn Mounted,
        steps: &mut dyn Iterator<Item = Step>,
        findings: &mut Findings,
    ) -> Verdict<bool> {
        for step in &mut *steps {
            if step == Step::Rest {
                let before = self.truth.clone();
                self.inspect(ftl, "before it was switched off")?;
                self.follow_from(&before, ftl.device_mut().take_branches(), findings);
                return Ok(false);
            }
            if let After::Off = self.step(ftl, step, findings)? {
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
    fn inspect(&mut self, ftl: &mut dyn Mounted, when: &str) -> Verdict<After> {
        ftl.device().injured().tell(&mut self.truth);
        ftl.device_mut().grant(self.world.setup.request_budget() + self.world.setup.mount_budget());
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
            Err(Unchecked::Unreadable(_)) if self.truth.is_injured() => Ok(After::On),
            Err(Unchecked::Broken(sentence) | Unchecked::Unreadable(sentence)) => {
                Err(self.broken(&when, Breach::Invariant(sentence)))
            }
        }
    }

    /// A comparison fails as it must where power has failed.
    fn judge(
        &self,
        ftl: &dyn Mounted,
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
        ftl: &mut dyn Mounted,
        step: Step,
        findings: &mut Findings,
    ) -> Verdict<After> {
        ftl.device_mut().grant(self.world.setup.request_budget());
        let request = self.truth.requests() + 1;
        let before = matches!(step, Step::Read { .. }).then(|| self.truth.clone());
        ftl.device_mut().say(|| format!("request {request}: {step}"));
        if let Step::Read { first, count } = step {
            ftl.device().injured().tell(&mut self.truth);
            let compared = self.truth.compare(ftl, first, count);
            self.judge(ftl, compared, &step)?;
        }
        let outcome = ask(ftl, step, &mut self.truth, &mut self.data);
        let branches = ftl.device_mut().take_branches();
        match before {
            Some(before) => self.follow_from(&before, branches, findings),
            None => self.follow(branches, findings),
        }
        match (outcome, ftl.device().halted()) {
            (_, Some(Halt::OverBudget)) => Err(self.broken(&step, Breach::Endless)),
            (_, Some(Halt::PowerOff)) => Ok(After::Off),
            (Ok(work), None) => {
                allow(ftl);
                if let Some(owed) = owed(ftl, work) {
                    return Err(self.broken(&step, Breach::Invariant(owed)));
                }
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
            (Err(error), None) => {
                let sentence = format!("{error}; {}", ftl.health());
                Err(self.broken(&step, Breach::Refused(sentence)))
            }
        }
    }

    /// Goes down roads that lead off a comparison: what it found was not known to be found when they did.
    fn follow_from(&mut self, truth: &Truth, branches: Vec<Branch>, findings: &mut Findings) {
        let known = std::mem::replace(&mut self.truth, truth.clone());
        self.follow(branches, findings);
        self.truth = known;
    }

    /// Goes down each of these roads.
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

    fn go_down(&self, branch: Branch, findings: &mut Findings) -> Verdict {
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
            lenient: false,
            forgotten: None,
            key: world.key(),
        };
        let Branch { chip, reserve, injured, history, .. } = branch;
        let subject = world.setup.subject.clone();
        let mut crossing =
            Crossing::new(chip, reserve, injured, subject, orders).with_history(history);
        let requests = (mix(seed, 3) % u64::from(world.plan.after.max(1))) as u32;
        let mut steps = Workload::after(mix(seed, 4), world.setup.capacity(), requests);
        let truth = self.truth.clone();
        let may_be_blank = self.may_be_blank;
        let mut mind = Mind { world, truth, cuts, data: Vec::new(), may_be_blank };
        let lived = panics::catch(|| live(&mut crossing, &mut mind, &mut steps, findings));
        let verdict = lived.unwrap_or_else(|sentence| {
            Err(self.broken(&"in the life after it", Breach::Panic(sentence)))
        });
        verdict.map_err(|mut violation| {
            violation.history = crossing.history();
            violation
        })
    }
}

/// Asks the FTL for what changes the device; the truth notes before it what must be there. Reads are for whoever
/// compares them. Returns whether idle work is left, where that was asked for.
pub(crate) fn ask(
    ftl: &mut dyn Mounted,
    step: Step,
    truth: &mut Truth,
    data: &mut Vec<u8>,
) -> Result<Work, StoreWriteError<Halt>> {
    match step {
        Step::Write { first, count } => {
            truth.begin_write(first, count, data);
            ftl.write(Sector::new(first), data)?;
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

/// Pages that are read in idle time once a scrub was asked for.
const SCRUBBED: u32 = 50;

/// Work that is left although the FTL reports that no idle work is left.
pub(crate) fn owed(ftl: &dyn Mounted, work: Work) -> Option<String> {
    match work {
        Work::Done => ftl.owed(),
        Work::Left => None,
    }
}

/// Faults may occur as far as the FTL reports that it tolerates them.
fn allow(ftl: &mut dyn Mounted) {
    let at_once = ftl.at_once();
    ftl.device_mut().allow(at_once);
}
