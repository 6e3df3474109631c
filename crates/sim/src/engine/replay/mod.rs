//! The replay, which all commands share.
//!
//! ```text
//!   workload ──▶ feed: batches of requests, read once ─┬─▶ session: host ─▶ system ─▶ chip    (a thread each)
//!                                                      └─▶ session: host ─▶ system ─▶ chip
//! ```
//!
//! # What limits its speed
//!
//! The reader and the systems run in separate threads, so the slowest limits the speed. The reader also computes what
//! the reads must find; even with a CSV it takes less time than any write.
//!
//! *Page operations* cost some 690 instructions each on `conventional` and 800 on `hybrid`, from the host's request
//! to the chip's row. Of every hundred, 55 to 60 are the FTL's (a fold's pages, tags with their checks, the chains'
//! maps), 30 to 35 the chip's (rules, books, packing), 5 the host's. Memory comes second: a read far from the one
//! before waits for its row, and so does `hybrid` for its hash table; the first write to a block has the system find
//! memory for it, 3 to 4 % of a run. So the FTL's own instructions bound a long run, some three of them in each cycle
//! of the processor, then the machine's caches. Requests at places without any pattern are bound by memory alone, and
//! much slower.
//!
//! *The start* has no cost per page: the device is filled by a formula (`systems::filled`), which leaves a mount, with
//! two reads per block.
//!
//! *Memory* grows only as blocks are written: to 16 bytes per MLC page of C3 in each system, and 4 bytes per sector for
//! all of them together. When every block has been written once, it stops growing.
//!
//! Measured with the profile `measured` on two virtual processors of an idle x86-64 server, in processor time of the
//! whole process, reader and kernel included, and by its peak memory:
//!
//! | run | time | memory |
//! |---|--:|--:|
//! | `compare synth:ntfs-1?requests=1000000 --device c3 --slc 256MiB`, 60 million page operations | 3.0 s | 215 MB |
//! | the same on `conventional` alone: 35 million of them | 1.7 s | 133 MB |
//! | the same on `hybrid` alone: 25 million of them | 1.5 s | 131 MB |
//! | `compare synth:uniform?requests=3000000&size=4KiB`, which rewrites every block | 45 s | 238 MB |
//! | the same two devices with a single request: the beginning alone | 0.01 s | 14 MB |
//! | 3 million writes of a page, from a CSV, 95 % to the SLC: 6 million requests a second | 0.8 s | 18 MB |
//!
//! Page operations in a second of a system's own thread (`nand_ops_per_s`): `conventional` 24 million, `hybrid` 19.5,
//! in a replay of its own. In that comparison both threads and the reader share two processors and their cache: 23.4
//! and 18.0 million, 20.9 over both threads, 39 in a second by the clock.
//!
//! # Modules
//!
//! - `outcome`: the result of a run. `feed`: from the reader to the systems. `session`: one
//!   system's replay. `under_way`: outstanding requests. `served`: measurement for real hosts. `tally`: the counts.
//!   `measurement`: what is left of a replay at its end, and the result that is made of it. `fill`: what is written
//!   before. `window`: what of a run counts. `steady`: when a run has settled. `series`: the response time over a run.
//!   `progress`: who is told how far it is.

use std::any::Any;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread::{self, ScopedJoinHandle};

use ftl_iface::Region;

use crate::base::{Failure, files, interrupt, show};
use crate::engine::host::{SharedWitness, Witness};
use crate::engine::result::RunResult;
use crate::engine::systems;
use crate::engine::systems::Chosen;
use crate::input::device::{Fill, Setup};
use crate::input::options::Options;
use crate::input::trace::{AddressSpace, TraceError};
use crate::input::workload::Workload;

mod feed;
mod fill;
mod measurement;
mod outcome;
mod progress;
mod series;
#[cfg(unix)]
mod served;
mod session;
mod steady;
mod tally;
mod under_way;
mod window;

use feed::{Batch, Fed, Feed, Places};
pub(crate) use measurement::{Given, Measurement};
pub(crate) use outcome::{Details, Outcome};
pub(crate) use progress::Progress;
#[cfg(unix)]
pub(crate) use served::Served;
use session::{Kind, Replay};
pub(crate) use steady::WINDOW;

/// The end of a run after its results were shown: a failure if Ctrl-C stopped it, before any file was written.
pub(crate) fn ended<'a>(
    mut files: impl Iterator<Item = &'a Path>,
    mut results: impl Iterator<Item = &'a RunResult>,
) -> Result<(), Failure> {
    let Some(part) = results.find(|result| result.partial) else {
        return Ok(());
    };
    let served = show::count(part.requests.total());
    let mut done = format!("{served} requests were served, and all figures are of these");
    if files.any(|path| !files::is_output(path)) {
        done += "; no file was written";
    }
    Err(Failure::Interrupted(done))
}

/// Replays the workload on all systems at once, each in its own thread. The outcomes are in the systems' order.
pub(crate) fn run_all(
    options: &Options,
    setup: &Setup,
    systems: &[Chosen],
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, Failure> {
    run_chosen(options, setup, || Ok(systems.to_vec()), progress)
}

/// Like [`run_all`], with systems that are chosen when the trace's first requests were found to be good: it may take
/// long to find out which of them fit a device.
pub(crate) fn run_chosen(
    options: &Options,
    setup: &Setup,
    choose: impl FnOnce() -> Result<Vec<Chosen>, Failure>,
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, Failure> {
    interrupt::listen();
    let workload = Workload::new(&options.workload)?;
    let capacity = setup.part.exported_bytes;
    let space = AddressSpace { capacity, largest: systems::largest_capacity(&setup.part) };
    let fit = workload.fit(options.workload.fit, space, largest_page(setup))?;
    let setup = &Setup { fill: options.fill, ..setup.clone() };
    let witness = SharedWitness::new(witness(setup, capacity));
    let passes = (!options.workload.steady).then_some(options.workload.passes);
    let places = Places { fit, space, page: largest_page(setup) };
    let mut reader = Feed::new(&workload, places, passes, witness.clone());
    // Most errors of a trace are found here, before devices are prepared.
    let first = reader.batch()?;
    let trace = options.workload.traces.join(" ");
    if first.requests.is_empty() {
        return Err(TraceError::Empty(trace).into());
    }
    let systems = choose()?;
    let (fed, measured) = on_all(&systems, (options, setup), (reader, first), &witness, progress)?;
    let given = Given {
        trace,
        passes: fed.rounds.unwrap_or(options.workload.passes),
        fill: options.fill,
        settled: fed.settled,
        seed: workload.seed(),
        partial: fed.partial,
        skipped_lines: fed.skipped,
        bytes_touched: fed.touched,
        bytes_packed: fed.packed,
        bytes_a_day: options.bytes_a_day,
        part: Some(&setup.part),
        served: None,
    };
    let outcomes = measured.into_iter().map(|(measurement, details)| {
        all_served(&measurement.name, measurement.tally.requests().total(), fed.requests)?;
        Ok(Outcome { result: measurement.result(given.clone()), details })
    });
    outcomes.collect()
}

/// What a system's thread ends with.
type Measured = (Measurement, Option<Details>);

/// Replays on every system in a thread of its own, while this one reads.
fn on_all(
    systems: &[Chosen],
    (options, setup): (&Options, &Setup),
    (reader, first): (Feed<'_>, Batch),
    witness: &SharedWitness,
    progress: &dyn Progress,
) -> Result<(Fed, Vec<Measured>), Failure> {
    let told = if options.workload.steady { systems.len() } else { 0 };
    let (mouths, ears): (Vec<_>, Vec<_>) = (0..told).map(|_| sync_channel(1)).unzip();
    let mut mouths = mouths.into_iter();
    let (pace, detailed) = (options.pace, options.report.is_some());
    let (fed, measured) = thread::scope(|scope| {
        let (outlets, replays): (Vec<_>, Vec<_>) = systems
            .iter()
            .map(|system| {
                let (outlet, batches) = sync_channel(feed::WAITING);
                let (name, witness) = (system.name.clone(), witness.clone());
                let tells = mouths.next();
                let kind = Kind { name, pace, fill: setup.fill, detailed, tells };
                let mut replay = Replay::new(kind, batches, witness);
                let run = move || system.run(setup, &mut replay).map(|()| replay.measured);
                (outlet, scope.spawn(run))
            })
            .unzip();
        let fed = reader.run(first, &ears, &outlets, progress);
        drop(outlets);
        let ended = replays.into_iter().map(ScopedJoinHandle::join);
        (fed, ended.map(ended_well).collect::<Vec<_>>())
    });
    progress.done();
    // A system's failure stops the feed, so it is the reason and is reported first.
    let measured = measured.into_iter().collect::<Result<Vec<_>, Failure>>()?;
    Ok((fed?, measured))
}

/// What the device holds before the replay.
fn witness(setup: &Setup, capacity: u64) -> Witness {
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

/// What a thread measured. A panic there is a breach of the chip's rules, or a defect of the system: a violation.
fn ended_well<T>(
    ended: Result<Result<Option<T>, Failure>, Box<dyn Any + Send>>,
) -> Result<T, Failure> {
    let violation = |what: &str| Failure::Violation(what.into());
    match ended {
        Ok(Ok(Some(measured))) => Ok(measured),
        Ok(Ok(None)) => Err(violation("the system ended without replaying anything")),
        Ok(Err(failure)) => Err(failure),
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(violation(said.unwrap_or("the system stopped without a word")))
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

fn largest_page(setup: &Setup) -> u64 {
    let shapes = Region::ALL.iter().filter_map(|region| setup.part.geometry.region(*region));
    shapes.map(|shape| u64::from(shape.page_bytes.get())).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_not_served_is_a_violation() {
        all_served("hybrid", 10, 10).unwrap();
        let lost = all_served("hybrid", 10, 11).unwrap_err();
        assert_eq!(lost.exit_code(), 1);
        assert!(lost.to_string().contains("11 requests went in, and 10 were served"), "{lost}");
    }
}
