//! The options of every replaying command.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use sim::engine::replay::{self, Outcome, Passes};
use sim::engine::result::BYTES_A_DAY;
use sim::engine::systems::Chosen;
use sim::input::device::{Fill, Setup};
use sim::input::size;
use sim::{Failure, Observer};

use super::choices;
use super::device::DeviceArgs;
use super::numbers;
use super::workload::WorkloadArgs;
use crate::base::{files, interrupt};

/// When requests are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct PaceArgs {
    /// Issue requests at their recorded times, not when the previous one completes
    #[arg(long)]
    pub(crate) open_loop: bool,
    /// Keep this many requests outstanding: the next one is issued when one of them completes
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN, value_parser = numbers::any::<NonZeroU32>,
          conflicts_with = "open_loop")]
    pub(crate) queue_depth: NonZeroU32,
}

impl Default for PaceArgs {
    fn default() -> Self {
        Self { open_loop: false, queue_depth: NonZeroU32::MIN }
    }
}

impl PaceArgs {
    /// What these flags mean to a replay.
    pub(crate) const fn meant(self) -> replay::Pace {
        let Self { open_loop, queue_depth } = self;
        replay::Pace { open_loop, queue_depth }
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        match (self.open_loop, self.queue_depth.get()) {
            (true, _) => "as they arrive".into(),
            (false, 1) => "one after the other".into(),
            (false, depth) => format!("{depth} at a time"),
        }
    }
}

/// The options of every replaying command, besides its systems.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub(crate) workload: WorkloadArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// What is written to the device before the replay
    #[arg(long, value_parser = choices::fills(), default_value = Fill::InOrder.name(), value_name = "HOW")]
    pub(crate) fill: Fill,
    /// The bytes that a host writes each day, for lifetimes
    #[arg(long, default_value = "20GB", value_parser = size::a_day, value_name = "SIZE")]
    pub(crate) bytes_a_day: u64,
    /// Write the result as JSON to this file; `-` is standard output, which then replaces the table
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with tables and charts to this file, as one self-contained HTML file
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

impl Options {
    /// Checks that the requested files can be written, before anything runs.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.report.as_deref().is_some_and(files::is_output) {
            let reason = "a page goes to a file: give --report a file's name";
            return Err(Failure::Arguments(reason.into()));
        }
        self.files().filter(|path| !files::is_output(path)).try_for_each(files::check)
    }

    /// What these flags mean to a replay.
    pub(crate) fn meant(&self) -> replay::Options {
        let WorkloadArgs { fit, steady, passes, .. } = self.workload;
        let passes = NonZeroU32::new(passes).unwrap_or(NonZeroU32::MIN);
        replay::Options {
            fit,
            passes: if steady { Passes::UntilSteady } else { Passes::Times(passes) },
            pace: self.pace.meant(),
            gaps: replay::Gaps::Ignored,
            bytes_a_day: self.bytes_a_day,
            details: self.report.is_some(),
            record: false,
        }
    }

    /// The device, with what is written to it before.
    pub(crate) fn setup(&self) -> Result<Setup, Failure> {
        Ok(Setup { fill: self.fill, ..self.device.setup()? })
    }

    /// Replays the workload on all systems, until it ends or Ctrl-C stops it.
    pub(crate) fn run_all(
        &self,
        setup: &Setup,
        systems: &[Chosen],
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Failure> {
        self.run_chosen(setup, || Ok(systems.to_vec()), observer)
    }

    /// Like [`run_all`](Self::run_all), with systems that are chosen when the first requests were found to be good.
    pub(crate) fn run_chosen(
        &self,
        setup: &Setup,
        choose: impl FnOnce() -> Result<Vec<Chosen>, Failure>,
        observer: &dyn Observer,
    ) -> Result<Vec<Outcome>, Failure> {
        interrupt::listen();
        let (workload, options) = (self.workload.workload()?, self.meant());
        replay::run_chosen(&workload, &options, setup, choose, observer)
    }

    /// The requested files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.json.iter().chain(&self.report).map(PathBuf::as_path)
    }

    /// Options of a run whose result goes only to the caller.
    pub(crate) const fn quiet(workload: WorkloadArgs, device: DeviceArgs, pace: PaceArgs) -> Self {
        let bytes_a_day = BYTES_A_DAY;
        let fill = Fill::InOrder;
        Self { workload, device, pace, fill, bytes_a_day, json: None, report: None }
    }
}
