//! Runs: a device, a seed, a plan; many of them in parallel.

use rayon::prelude::*;

use nand_model::{Chip, Content};

use crate::dice::{Share, mix};
use crate::fate::Cut;
use crate::faults::Faults;
use crate::history::History;
use crate::life::{self, Context, Findings, LifeState};
use crate::panics;
use crate::plan::{Cuts, Plan};
use crate::report::{Breach, Tally, Violation};
use crate::reserve::Reserve;
use crate::setup::Setup;
use crate::steps::{Step, Workload};
use crate::test_device::{Orders, Picks, TestDevice};
use crate::truth::{Compare, Truth};
use crate::unreadable_pages::UnreadablePages;
use crate::watch::{Unwatched, Watcher};

/// The result of a run, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The cuts tried.
    pub tally: Tally,
    /// The broken promises.
    pub violations: Vec<Violation>,
    /// Operations of the runs' own lives.
    pub operations: u64,
    /// Pairs of an operation and a fate that could be tried in them.
    pub choices: u64,
}

impl Outcome {
    /// Why a replay of these cuts tested nothing: it never reached one of them. `None` if it did, or found a violation.
    pub fn unmet(&self, cuts: &[Cut]) -> Option<String> {
        let met = self.tally.total().tried as usize;
        let missed = cuts.get(met).filter(|_| self.violations.is_empty())?;
        Some(match met.checked_sub(1) {
            None => format!(
                "the cut {missed} was not met: the workload has {} operations, counted from 0, and each kind of \
                 operation has fates of its own; see that device, system, seed, requests and faults are those of the \
                 failure",
                self.operations
            ),
            Some(before) => {
                format!("the cut {missed} was not met in the life that {} began", cuts[before])
            }
        })
    }

    /// Why a run that was to cut the power tested nothing. `None` if it did, found a violation, or was to cut nothing.
    pub fn untried(&self, plan: &Plan) -> Option<String> {
        let asked = matches!(plan.cuts, Cuts::Exhaustive | Cuts::Sample(1..));
        let nothing = self.tally.total().tried == 0 && self.violations.is_empty();
        (asked && nothing).then(|| match self.choices {
            0 => "no power cut was tried: the workload changes nothing on the device; give more requests".into(),
            choices => format!(
                "no power cut was tried: {choices} are possible in this workload, and so few were asked for that none \
                 was drawn; ask for more, or for `exhaustive`"
            ),
        })
    }

    fn merge(mut self, other: Self) -> Self {
        self.tally.merge(&other.tally);
        self.violations.extend(other.violations);
        self.operations += other.operations;
        self.choices += other.choices;
        self
    }
}

/// That many seeds from the first on.
pub fn seeds(first: u64, count: u64) -> Result<std::ops::Range<u64>, String> {
    let end = first.checked_add(count).ok_or_else(|| {
        format!(
            "the seed {first} is too large for {count} in a row: begin with {} or less",
            u64::MAX - count
        )
    })?;
    Ok(first..end)
}

/// Workers that share the cuts of one seed.
const LANES: u64 = 4;

/// Runs the plan on each of these setups, with each of these seeds, on all processors, until the watcher ends it.
pub fn torture(
    setups: &[Setup],
    seeds: std::ops::Range<u64>,
    plan: &Plan,
    watcher: &dyn Watcher,
) -> Outcome {
    let one = matches!(&plan.cuts, Cuts::At(_) | Cuts::Sample(0));
    let lanes = if one { 1 } else { LANES };
    let jobs: Vec<(&Setup, u64, u64)> = seeds
        .flat_map(|seed| setups.iter().map(move |setup| (setup, seed)))
        .flat_map(|(setup, seed)| (0..lanes).map(move |lane| (setup, seed, lane)))
        .collect();
    jobs.into_par_iter()
        .filter(|_| watcher.goes_on())
        .map(|(setup, seed, lane)| {
            let alone = Context { setup, plan, seed, share: Share::NONE, lane: (0, 1), watcher };
            let share = match plan.cuts {
                Cuts::Exhaustive => Share::ALL,
                Cuts::At(_) | Cuts::Sample(0) => Share::NONE,
                Cuts::Sample(wanted) => {
                    let dry = Plan { cuts: Cuts::Sample(0), ..plan.clone() };
                    let all = run(&Context { plan: &dry, ..alone }).choices;
                    Share::of(wanted, all.max(1))
                }
            };
            run(&Context { share, lane: (lane, lanes), ..alone })
        })
        .reduce(Outcome::default, Outcome::merge)
}

/// One run's own life, and a part of the cuts in it.
fn run(world: &Context<'_>) -> Outcome {
    let Context { setup, plan, seed, .. } = *world;
    let mut steps = Workload::whole(mix(seed, 5), setup.capacity(), plan.requests);
    lead(world, &mut steps)
}

/// Runs these steps on a device, without other cuts than those among them, for scripts of fuzzers and tests.
pub fn follow_script(
    setup: &Setup,
    plan: &Plan,
    seed: u64,
    steps: impl IntoIterator<Item = Step>,
) -> Outcome {
    let (share, lane) = (Share::NONE, (0, 1));
    let world = Context { setup, plan, seed, share, lane, watcher: &Unwatched };
    lead(&world, &mut steps.into_iter())
}

fn lead(world: &Context<'_>, steps: &mut dyn Iterator<Item = Step>) -> Outcome {
    let mut findings = Findings::default();
    let Context { setup, plan, seed, lane, .. } = *world;
    let broken = |breach| Violation::new(setup, plan, seed, "in the run's own life".into(), breach);
    let mut device = match prepared(world) {
        Ok(device) => device,
        Err(sentence) => {
            let violations = vec![broken(Breach::Unmountable(sentence))];
            return Outcome { violations, ..Outcome::default() };
        }
    };
    let compare = if plan.bytes { Compare::Bytes } else { Compare::Stamps };
    let truth = Truth::new(setup.capacity(), setup.sector_bytes(), compare);
    let may_be_blank = plan.format;
    let mut state = LifeState { world, truth, cuts: Vec::new(), data: Vec::new(), may_be_blank };
    let lived = panics::catch(|| {
        if plan.format {
            state.follow(device.take_branches(), &mut findings);
            return Ok(());
        }
        life::live(&mut device, &mut state, steps, &mut findings)
    });
    let verdict = lived.unwrap_or_else(|sentence| Err(Box::new(broken(Breach::Panic(sentence)))));
    let first = lane.0 == 0;
    // Every worker finds the violations of the run's own life; only one reports them.
    findings.violations.extend(
        verdict
            .err()
            .filter(|_| first)
            .map(|violation| Violation { history: device.history(), ..*violation }),
    );
    Outcome {
        tally: findings.tally,
        violations: findings.violations,
        operations: if first { device.operations() } else { 0 },
        choices: if first { device.choices() } else { 0 },
    }
}

/// A formatted device.
fn prepared(world: &Context<'_>) -> Result<TestDevice, String> {
    let Context { setup, plan, seed, lane, .. } = *world;
    let content = if plan.bytes { Content::Bytes } else { setup.stamps() };
    let chip = Chip::new(&setup.part, content).map_err(|error| error.to_string())?;
    let subject = &setup.subject;
    let chip = plan.faults.prepare(chip, &**subject, seed).map_err(|error| error.to_string())?;
    let orders = Orders {
        seed: mix(seed, 6),
        picks: Picks::Some(Share::NONE),
        lane,
        faults: Faults::NONE,
        lenient: false,
        forgotten: plan.forgotten,
        key: world.key(),
    };
    let reserve = Reserve::new(&**subject, &plan.faults);
    let mut device = TestDevice::new(chip, reserve, UnreadablePages::NONE, subject.clone(), orders);
    if plan.history {
        device = device.with_history(History::kept());
    }
    device.grant(u64::MAX);
    if plan.format {
        device.pick(world.picks(0).0);
    }
    subject.format(&mut device, world.key())?;
    if !plan.format {
        device.begin(plan.faults);
    }
    Ok(device)
}
