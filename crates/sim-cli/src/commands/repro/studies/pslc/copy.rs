//! A copy: its requests, its run, and what it came to.

use std::num::NonZeroU32;

use sim::Failure;
use sim::engine::replay::{self, Gaps, Options, Outcome, Pace};
use sim::engine::systems::Chosen;
use sim::input::device::Setup;
use sim::input::trace::Request;
use sim::input::workload::Workload;

use super::curve::{self, CurveStep};
use super::drives::DIVISOR;
use crate::base::terminal::Terminal;

/// How large the drives are, and what is tried on them.
#[derive(Clone, Copy)]
pub(super) struct DriveScale {
    /// The device files are made so many times smaller.
    pub(super) smaller: u64,
    /// Requests of a copy onto a full disk.
    pub(super) copied: u64,
    pub(super) levels: &'static [Level],
    /// Seconds of rest between two copies, for a drive as sold.
    pub(super) pauses: &'static [f64],
}

/// A level to which a drive is filled, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) name: &'static str,
    pub(super) percent: u64,
}

impl DriveScale {
    /// The device files as they are.
    pub(super) const SOLD: Self = Self {
        smaller: 1,
        copied: 3_200,
        levels: &[
            Level { name: "empty", percent: 0 },
            Level { name: "half full", percent: 50 },
            Level { name: "nine tenths full", percent: 90 },
        ],
        pauses: &[10.0, 60.0, 300.0],
    };

    /// How many times smaller the simulated drives are.
    #[allow(clippy::cast_precision_loss)] // It is small.
    pub(super) fn divisor(self) -> f64 {
        DIVISOR * self.smaller as f64
    }
}

/// What a copy came to.
pub(super) struct Copied {
    pub(super) steps: Vec<CurveStep>,
    /// Gigabytes per second, over all of it.
    pub(super) mean: f64,
}

/// A run: requests of which so many are under way. Where their times move on, the host rests.
pub(super) struct CopyRun {
    pub(super) setup: Setup,
    pub(super) system: &'static str,
    pub(super) requests: Vec<Request>,
    pub(super) depth: NonZeroU32,
    /// The first request of the copy that is told.
    pub(super) from: usize,
}

impl CopyRun {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let workload = Workload::of_requests("a copy", self.requests.clone())?;
        let pace = Pace { open_loop: false, queue_depth: self.depth };
        let options = Options { pace, gaps: Gaps::Rests, record: true, ..Options::default() };
        let system = Chosen::parse(self.system).map_err(Failure::Arguments)?;
        let outcomes = replay::run_all(&workload, &options, &self.setup, &[system], &Terminal)?;
        let outcome = outcomes.into_iter().next();
        outcome.ok_or_else(|| Failure::Violation("a run brought no result".into()))
    }

    /// What its copy came to.
    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    pub(super) fn copied(&self, outcome: &Outcome) -> Copied {
        let each = self.requests.first().map_or(0, |request| request.length);
        let times = outcome.record.iter().flat_map(|record| &record.responses.times);
        let times: Vec<f64> = times.skip(self.from).map(|time| time.as_micros_f64()).collect();
        let took = times.iter().sum::<f64>() / f64::from(self.depth.get());
        let mean = times.len() as f64 * each as f64 / took / 1e3;
        Copied { steps: curve::steps(&times, each, self.depth.get()), mean }
    }
}
