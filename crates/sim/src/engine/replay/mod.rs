//! The replay, which all commands share.
//!
//! ```text
//!   workload ──▶ feed: batches of requests, read once ─┬─▶ session: host ─▶ system ─▶ chip    (a thread each)
//!                                                      └─▶ session: host ─▶ system ─▶ chip
//! ```
//!
//! Without the feature `threads`, one system replays after the other, each with a reader of its own.
//!
//! # What limits its speed
//!
//! The reader and the systems run in separate threads, so the slowest limits the speed. The reader also computes what
//! the reads must find; even with a CSV it takes less time than any write.
//!
//! *Page operations* cost some 800 instructions each on `conventional` and 950 on `hybrid`, from the host's request
//! to the chip's row. Of every hundred, 55 to 60 are the FTL's (a fold's pages, tags with their checks, the chains'
//! maps), 28 to 32 the chip's (rules, books, packing), 7 the meter's, 4 to 5 the host's. That is what callgrind counts
//! in `Replay::replay` for 60,000 requests of `synth:ntfs-1` on C3. Memory comes second: a read far from the one
//! before waits for its row, and so does `hybrid` for its hash table; the first write to a block has the system find
//! memory for it. So the FTL's own instructions bound a long run, then the machine's caches. Requests at places
//! without any pattern are bound by memory alone, and much slower.
//!
//! *The start* of `hybrid` and `conventional` has no cost per page: the device is filled by a formula
//! (`systems::filled`), which leaves a mount, with two reads per block. Others are written once, page by page.
//!
//! *Memory* grows only as blocks are written: to 16 bytes per MLC page of C3 in each system, and 4 bytes per sector for
//! all of them together. When every block has been written once, it stops growing.
//!
//! `cargo bench -p sim` measures the host, the meter and each system apart; `./ci speed` what each serves in a second
//! on the whole of C3, which `docs/RIVALS.md` has.
//!
//! # Modules
//!
//! - `options`: how a workload is replayed. `outcome`: the result of a run. `feed`: the reader. `batches`: from it to a
//!   system. `session`: one system's replay. `under_way`: outstanding requests. `served`: measurement for real hosts.
//!   `record`: requests and blocks one by one. `tally`: the counts. `measurement`: what is left of a replay at its end,
//!   and the result that is made of it. `fill`: what is written before. `run_observer`: who sees the system meanwhile;
//!   `looks`: and when. `window`: what of a run counts. `steady`: when a run has settled. `series`: the response time
//!   over a run.

use std::any::Any;
#[cfg(any(test, not(feature = "threads")))]
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "threads")]
use std::sync::mpsc::sync_channel;
#[cfg(feature = "threads")]
use std::thread::{self, ScopedJoinHandle};

use ftl_iface::Region;

use crate::base::{Failure, Observer, Stop};
use crate::engine::host::{SharedWitness, Witness};
use crate::engine::result::RunResult;
use crate::engine::systems;
use crate::engine::systems::Chosen;
use crate::input::device::{Fill, Setup};
use crate::input::trace::{AddressSpace, TraceError};
use crate::input::workload::Workload;

mod batches;
mod feed;
mod fill;
mod looks;
mod measurement;
mod options;
mod outcome;
mod record;
mod run_observer;
mod series;
mod served;
mod session;
mod steady;
mod tally;
mod under_way;
mod window;

#[cfg(feature = "threads")]
use batches::Piped;
#[cfg(any(test, not(feature = "threads")))]
use batches::Pulled;
#[cfg(feature = "threads")]
use feed::Batch;
use feed::{Arrivals, Fed, Feed, Placement, Repeats, Turns};
pub(crate) use fill::prepare;
pub use measurement::{Measurement, RunInputs};
pub use options::{Gaps, Options, Pace, Passes};
pub use outcome::{Details, Outcome};
pub use record::{Record, Responses};
pub use run_observer::{Answer, Look, RunObserver};
pub use series::Stretch;
pub use served::Served;
pub(crate) use session::rest;
use session::{Kind, Measured, Replay};
pub use steady::{MOST as ROUNDS_MOST, WINDOW, is_filling};
pub(crate) use under_way::account;

/// Replays the workload on one system.
pub fn run(
    workload: &Workload,
    options: &Options,
    setup: &Setup,
    system: &Chosen,
    observer: &dyn Observer,
) -> Result<RunResult, Failure> {
    let outcomes = run_all(workload, options, setup, std::slice::from_ref(system), observer)?;
    let outcome = outcomes.into_iter().next();
    outcome.map(|outcome| outcome.result).ok_or_else(|| system.violation(NOTHING))
}

/// Like [`run`], while the observer looks on.
pub fn run_watched(
    workload: &Workload,
    options: &Options,
    setup: &Setup,
    system: &Chosen,
    run_observer: &dyn RunObserver,
) -> Result<RunResult, Failure> {
    let run = ReplayTask {
        run_observer: Some(run_observer),
        ..ReplayTask::of(workload, options, setup, run_observer)
    };
    let outcomes = run.on(|| Ok(vec![system.clone()]))?;
    let outcome = outcomes.into_iter().next();
    outcome.map(|outcome| outcome.result).ok_or_else(|| system.violation(NOTHING))
}

/// Replays the workload on all systems, at once if there are threads. The outcomes are in the systems' order.
pub fn run_all(
    workload: &Workload,
    options: &Options,
    setup: &Setup,
    systems: &[Chosen],
    observer: &dyn Observer,
) -> Result<Vec<Outcome>, Failure> {
    run_chosen(workload, options, setup, || Ok(systems.to_vec()), observer)
}

/// Like [`run_all`], with systems that are chosen when the trace's first requests were found to be good: it may take
/// long to find out which of them fit a device.
pub fn run_chosen(
    workload: &Workload,
    options: &Options,
    setup: &Setup,
    choose: impl FnOnce() -> Result<Vec<Chosen>, Failure>,
    observer: &dyn Observer,
) -> Result<Vec<Outcome>, Failure> {
    ReplayTask::of(workload, options, setup, observer).on(choose)
}

/// What is replayed, and how.
struct ReplayTask<'a> {
    workload: &'a Workload,
    options: &'a Options,
    setup: &'a Setup,
    observer: &'a dyn Observer,
    run_observer: Option<&'a dyn RunObserver>,
}

impl<'a> ReplayTask<'a> {
    fn of(
        workload: &'a Workload,
        options: &'a Options,
        setup: &'a Setup,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { workload, options, setup, observer, run_observer: None }
    }

    /// Replays on the systems that are chosen when the first requests were found to be good.
    fn on(
        &self,
        choose: impl FnOnce() -> Result<Vec<Chosen>, Failure>,
    ) -> Result<Vec<Outcome>, Failure> {
        let space = address_space(self.setup);
        let page = largest_page(self.setup);
        let fit = self.workload.fit(self.options.fit, space, page, self.observer)?;
        let places = Placement { fit: &fit, space, page };
        let witness = SharedWitness::new(witness(self.setup, space.capacity));
        let mut reader = self.reader(places, &witness);
        // Most errors of a trace are found here, before devices are prepared.
        let first = reader.batch()?;
        if first.requests.is_empty() {
            return Err(TraceError::Empty(self.workload.sources().into()).into());
        }
        let systems = choose()?;
        #[cfg(feature = "threads")]
        let replayed = self.at_once(&systems, reader, first, &witness);
        #[cfg(not(feature = "threads"))]
        let replayed = self.one_by_one(&systems, places);
        self.observer.done();
        replayed?.into_iter().map(|(fed, measured)| self.outcome(&fed, measured)).collect()
    }

    /// A reader of the workload from its beginning on.
    fn reader<'p>(&self, places: Placement<'p>, witness: &SharedWitness) -> Feed<'p>
    where
        'a: 'p,
    {
        let passes = match self.options.passes {
            Passes::Times(times) => Some(times.get()),
            Passes::UntilSteady => None,
        };
        let Options { pace, gaps, .. } = self.options;
        let are_ignored = !pace.open_loop && *gaps == Gaps::Ignored;
        let arrivals = if are_ignored { Arrivals::Ignored } else { Arrivals::Matter };
        let repeats = Repeats { passes, arrivals };
        Feed::new(self.workload, places, repeats, witness.clone(), self.observer)
    }

    fn kind(&self, system: &Chosen, stop: Stop) -> Kind<'a> {
        let Options { pace, gaps, details: detailed, record: recorded, .. } = *self.options;
        let (name, fill, run_observer) = (system.name.clone(), self.setup.fill, self.run_observer);
        Kind { name, pace, gaps, fill, detailed, recorded, stop, run_observer }
    }

    /// Replays on every system in a thread of its own, while this one reads. Of each, also the counts of the reader.
    #[cfg(feature = "threads")]
    fn at_once(
        &self,
        systems: &[Chosen],
        reader: Feed<'_>,
        first: Batch,
        witness: &SharedWitness,
    ) -> Result<Vec<(Fed, Measured)>, Failure> {
        let turns = Turns::of(reader, systems.len());
        let told = if turns.has_rounds() { systems.len() } else { 0 };
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..told).map(|_| sync_channel(1)).unzip();
        let mut senders = senders.into_iter();
        let (setup, stop) = (self.setup, self.observer.stop());
        let (fed, measured) = thread::scope(|scope| {
            let (outlets, replays): (Vec<_>, Vec<_>) = systems
                .iter()
                .map(|system| {
                    let (outlet, batches) = sync_channel(feed::WAITING);
                    let piped = Piped { batches, tells: senders.next() };
                    let kind = self.kind(system, stop.clone());
                    let mut replay = Replay::new(kind, piped, witness.clone());
                    let run = move || system.run(setup, &mut replay).map(|()| replay.measured);
                    (outlet, scope.spawn(run))
                })
                .unzip();
            let fed = turns.run(first, &receivers, &outlets);
            drop(outlets);
            let ended = replays.into_iter().map(ScopedJoinHandle::join);
            let ended = systems.iter().zip(ended);
            (fed, ended.map(|(system, ended)| ended_well(system, ended)).collect::<Vec<_>>())
        });
        // A system's failure stops the feed, so it is the reason and is reported first.
        let measured = measured.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        let fed = fed?;
        Ok(measured.into_iter().map(|measured| (fed, measured)).collect())
    }

    /// Replays on one system after the other, each of which reads the workload anew.
    #[cfg(any(test, not(feature = "threads")))]
    fn one_by_one(
        &self,
        systems: &[Chosen],
        places: Placement<'_>,
    ) -> Result<Vec<(Fed, Measured)>, Failure> {
        let one = |system: &Chosen| {
            let witness = SharedWitness::new(witness(self.setup, places.space.capacity));
            let mut reader = self.reader(places, &witness);
            let first = reader.batch()?;
            let pulled = Pulled::new(Turns::of(reader, 1), first);
            let kind = self.kind(system, self.observer.stop());
            let mut replay = Replay::new(kind, pulled, witness);
            let ran = catch_unwind(AssertUnwindSafe(|| system.run(self.setup, &mut replay)));
            let Replay { measured, batches, .. } = replay;
            let measured = ended_well(system, ran.map(|ran| ran.map(|()| measured)))?;
            Ok((batches.fed()?, measured))
        };
        systems.iter().map(one).collect()
    }

    /// The outcome of a system, whole.
    fn outcome(&self, fed: &Fed, measured: Measured) -> Result<Outcome, Failure> {
        let Measured { measurement, details, record } = measured;
        all_served(&measurement.name, measurement.tally.requests().total(), fed.requests)?;
        let passes = match self.options.passes {
            Passes::Times(times) => times.get(),
            Passes::UntilSteady => fed.rounds.unwrap_or(0),
        };
        let result = measurement.result(RunInputs {
            trace: self.workload.name().into(),
            passes,
            fit: fed.fit,
            fill: self.setup.fill,
            settled: fed.settled,
            seed: self.workload.seed(),
            partial: fed.partial,
            skipped_lines: fed.skipped,
            bytes_touched: fed.touched,
            bytes_packed: fed.packed,
            bytes_a_day: self.options.bytes_a_day,
            served: None,
        });
        Ok(Outcome { result, details, record })
    }
}

/// The addresses of a device.
pub(crate) fn address_space(setup: &Setup) -> AddressSpace {
    let capacity = setup.part.exported_bytes;
    AddressSpace { capacity, largest: systems::largest_capacity(&setup.part) }
}

/// What the device holds before the replay.
pub(crate) fn witness(setup: &Setup, capacity: u64) -> Witness {
    let sector = u64::from(setup.part.sector_bytes.get());
    if setup.fill == Fill::Nothing {
        return Witness::of_empty_stores(sector, capacity);
    }
    let mut witness = Witness::of_full_stores(sector, capacity);
    let mut must = Vec::new();
    for request in fill::random_writes(setup.fill, capacity, sector) {
        witness.follow(&request, &mut must);
    }
    witness
}

const NOTHING: &str = "it ended without replaying anything";

/// What a session measured. A panic there is a breach of the chip's rules, or a defect of the system: a violation.
fn ended_well<T>(
    system: &Chosen,
    ended: Result<Result<Option<T>, Failure>, Box<dyn Any + Send>>,
) -> Result<T, Failure> {
    match ended {
        Ok(Ok(Some(measured))) => Ok(measured),
        Ok(Ok(None)) => Err(system.violation(NOTHING)),
        Ok(Err(failure)) => Err(failure),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(system.violation(said.unwrap_or("it stopped without a word")))
        }
    }
}

/// Checks that a system served as many requests as went in.
fn all_served(system: &str, served: u64, fed: u64) -> Result<(), Failure> {
    if served == fed {
        return Ok(());
    }
    let what = format!("{fed} requests went in, and {served} were served");
    Err(Failure::Violation(format!("{system}: {what}")))
}

pub(crate) fn largest_page(setup: &Setup) -> u64 {
    let shapes = Region::ALL.iter().filter_map(|region| setup.part.geometry.region(*region));
    shapes.map(|shape| u64::from(shape.page_bytes.get())).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::*;
    use crate::input::device::DeviceChoice;
    #[cfg(feature = "threads")]
    use crate::input::trace::fit::Fit;
    use crate::input::trace::{Op, Request};

    #[test]
    fn a_request_that_is_not_served_is_a_violation() {
        all_served("hybrid", 10, 10).unwrap();
        let lost = all_served("hybrid", 10, 11).unwrap_err();
        assert!(matches!(lost, Failure::Violation(_)), "{lost}");
        assert!(lost.to_string().contains("11 requests went in, and 10 were served"), "{lost}");
    }

    /// Why the system does not replay a workload on the device `tiny`.
    fn violation(system: &str) -> String {
        let workload = "synth:sequential?requests=200&reads=80&size=1KiB&footprint=4KiB&seed=2";
        let workload = Workload::synthetic(workload).unwrap();
        let setup = DeviceChoice::named("tiny").setup().unwrap();
        let system = Chosen::parse(system).unwrap();
        match run(&workload, &Options::default(), &setup, &system, &()) {
            Err(Failure::Violation(reason)) => reason,
            other => panic!("{other:?} is no violation"),
        }
    }

    #[test]
    fn a_write_that_is_lost_is_a_violation_told_with_its_sector() {
        let told = violation("broken");
        assert!(told.contains("sector") && told.contains("must hold write"), "{told}");
    }

    #[test]
    fn a_breach_of_rules_is_a_violation_too() {
        let told = violation("broken?breach=on");
        assert!(told.contains("breach") && told.starts_with("broken?breach=on: "), "{told}");
    }

    #[test]
    fn a_queue_that_is_kept_full_rests_where_the_record_does_if_it_is_told_to() {
        let request = |at: u64| {
            let seconds = if at < 40 { 0 } else { 5 };
            Request::new(Nanos::from_micros(seconds * 1_000_000), Op::Write, at * 2048, 2048)
        };
        let workload = Workload::of_requests("two copies", (0..80).map(request).collect()).unwrap();
        let tiny = DeviceChoice { capacity: Some(320 << 10), ..DeviceChoice::named("tiny") };
        let setup = Setup { fill: Fill::Nothing, ..tiny.setup().unwrap() };
        let system = Chosen::parse("pslc?dynamic=900").unwrap();
        let [ignored, rests] = [Gaps::Ignored, Gaps::Rests].map(|gaps| {
            let options = Options { gaps, ..Options::default() };
            run(&workload, &options, &setup, &system, &()).unwrap()
        });
        assert!(rests.elapsed_us > 5e6 && ignored.elapsed_us < 1e6, "{}", rests.elapsed_us);
        let emptied = |run: &RunResult| run.figures["pages_emptied_idle"];
        assert!(emptied(&rests) >= 30.0, "{}", emptied(&rests));
        assert!(emptied(&ignored) < 1.0, "{}", emptied(&ignored));
    }

    #[test]
    fn passes_may_last_longer_than_a_clock_counts_if_nobody_looks_at_it() {
        let decades = Nanos::from_micros(40 * 31_557_600 * 1_000_000);
        let write = |time| Request::new(time, Op::Write, 0, 2048);
        let workload = [Nanos::ZERO, decades].map(write).into();
        let workload = Workload::of_requests("two writes", workload).unwrap();
        let setup = DeviceChoice::named("tiny").setup().unwrap();
        let system = Chosen::parse("conventional").unwrap();
        let [closed, open] = [false, true].map(|open_loop| {
            let pace = Pace { open_loop, ..Pace::default() };
            let options = Options {
                pace,
                passes: Passes::Times(4.try_into().unwrap()),
                ..Options::default()
            };
            run(&workload, &options, &setup, &system, &())
        });
        assert_eq!(closed.unwrap().requests.writes, 8);
        let told = open.unwrap_err().to_string();
        assert!(told.contains("100 years") && told.contains("fewer passes"), "{told}");
    }

    /// Results without the times of this computer.
    #[cfg(feature = "threads")]
    fn of_device(outcomes: Vec<Outcome>) -> Vec<String> {
        let figures = outcomes.into_iter().map(|outcome| RunResult {
            wall_s: 0.0,
            busy_s: 0.0,
            requests_per_s: 0.0,
            nand_ops_per_s: 0.0,
            ..outcome.result
        });
        figures.map(|result| format!("{result:?}")).collect()
    }

    #[test]
    #[cfg(feature = "threads")]
    fn systems_that_replay_at_once_and_one_by_one_have_the_same_figures() {
        let workload = &Workload::synthetic("synth:zipf?requests=3000&size=2KiB").unwrap();
        let setup = &DeviceChoice::named("tiny").setup().unwrap();
        let capacity = setup.part.exported_bytes;
        let space = AddressSpace { capacity, largest: capacity };
        let places = Placement { fit: &Fit::AsIs, space, page: largest_page(setup) };
        let both = ["paged", "hybrid"].map(|name| Chosen::parse(name).unwrap());
        let thrice = Passes::Times(3.try_into().unwrap());
        for (passes, systems) in [(thrice, &both[..]), (Passes::UntilSteady, &both[..1])] {
            let options = &Options { passes, ..Options::default() };
            let at_once = run_all(workload, options, setup, systems, &()).unwrap();
            let run = ReplayTask::of(workload, options, setup, &());
            let alone = run.one_by_one(systems, places).unwrap().into_iter();
            let alone = alone.map(|(fed, measured)| run.outcome(&fed, measured).unwrap());
            assert_eq!(of_device(at_once), of_device(alone.collect()));
        }
    }
}
