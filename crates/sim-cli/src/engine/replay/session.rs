//! One system's replay, in its own thread: from requests to times and counts.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use ftl_iface::{Region, SectorCount, Verb};
use nand_model::part::Nanos;
use nand_model::{Energy, Time};

use super::feed::Batch;
use super::outcome::{Details, Outcome};
use super::tally::Tally;
use super::under_way::{Pace, UnderWay, account};
use crate::base::{Failure, interrupt};
use crate::engine::host::{Host, PREPARED_AT_ONCE, SharedWitness};
use crate::engine::result::{
    self, ByCause, ByRequest, Pages, PartResult, RegionResult, Requests, RunResult, SCHEMA, Spread,
};
use crate::engine::systems::{Books, Hardware, PartState, Session, Spent, System, part_name};
use crate::input::trace::{Op, Request};

/// A replay.
pub(super) struct Replay {
    /// The system, as it was named.
    pub(super) name: String,
    pace: Pace,
    batches: Receiver<Batch>,
    /// Whether details for charts are wanted, too.
    detailed: bool,
    witness: SharedWitness,
    host: Option<Host>,
    /// Present once the replay is done.
    pub(super) outcome: Option<Outcome>,
}

/// How long a replay took in real time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocked {
    pub(super) whole: Duration,
    /// While there was a request to work on.
    pub(super) busy: Duration,
}

/// Requests announced to a system at a time: few enough that their table entries are still in the processor's cache at
/// the last one.
const FORESEEN: usize = 32;

/// A system's counts when the replay begins; the result is the difference.
pub(super) struct Before {
    hardware: Hardware,
    books: Books,
    verified: u64,
    now: Nanos,
    /// By [`Op`].
    spent: [Spent; 4],
}

impl Before {
    /// The present counts, with the number of verified sectors.
    pub(super) fn of(system: &dyn System, verified: u64) -> Self {
        Self {
            hardware: system.hardware(),
            books: system.books(),
            verified,
            now: system.now(),
            spent: Op::ALL.map(|op| system.spent(account(op))),
        }
    }
}

impl Session for Replay {
    /// Maps every logical block, by writing the unfilled part of the device in order.
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure> {
        let mut host = Host::new(system, filled, self.witness.clone());
        let capacity = host.capacity();
        let filled = u64::from(filled.get()) * u64::from(system.sector_bytes().get());
        for offset in (filled..capacity).step_by(PREPARED_AT_ONCE as usize) {
            if interrupt::is_requested() {
                let before = "the device was being prepared, and no request was served";
                return Err(Failure::Interrupted(before.into()));
            }
            let length = u64::from(PREPARED_AT_ONCE).min(capacity - offset);
            let request = Request { time: Nanos::ZERO, op: Op::Write, offset, length };
            host.serve(system, &request, &mut [].as_slice())?;
        }
        self.host = Some(host);
        Ok(())
    }

    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure> {
        let host = self.host.take().filter(Host::fits_witness);
        let Some(mut host) = host else {
            let what = "the system does not begin with all of the device's capacity written";
            return Err(Failure::Violation(what.into()));
        };
        // Operations of the preparation still running on other dies must not delay the first request.
        system.wait_until(system.hardware().at_rest);
        if self.detailed {
            system.sample_writes();
        }
        let before = Before::of(system, host.verified());
        let mut under_way = UnderWay::new(self.pace, before.now);
        let start = Instant::now();
        let mut busy = Duration::ZERO;
        let mut firsts = Vec::with_capacity(FORESEEN);
        for batch in &self.batches {
            let handed_over = Instant::now();
            let mut must = batch.must.as_slice();
            for requests in batch.requests.chunks(FORESEEN) {
                firsts.clear();
                firsts.extend(requests.iter().map(|request| host.first_sector(request)));
                system.foresee(&firsts);
                for request in requests {
                    let arrival = before.now + request.time;
                    under_way.serve(system, &mut host, request, arrival, &mut must)?;
                }
            }
            busy += handed_over.elapsed();
        }
        under_way.finish(system);
        let tally = under_way.tally;
        let clocked = Clocked { whole: start.elapsed(), busy };
        let after = Before::of(system, host.verified());
        let named = (self.name.as_str(), self.pace);
        let result = result(named, system, (&before, &after), &tally, clocked);
        let details = self.detailed.then(|| details(system, &before, &after, &tally));
        self.outcome = Some(Outcome { result, details });
        Ok(())
    }
}

impl Replay {
    pub(super) fn new(
        name: String,
        pace: Pace,
        detailed: bool,
        batches: Receiver<Batch>,
        witness: SharedWitness,
    ) -> Self {
        Self { name, pace, batches, detailed, witness, host: None, outcome: None }
    }
}

/// The result of what a system did between two moments.
pub(super) fn result(
    (name, pace): (&str, Pace),
    system: &dyn System,
    (before, after): (&Before, &Before),
    tally: &Tally,
    clocked: Clocked,
) -> RunResult {
    let requests = tally.requests();
    let done = done(before, after);
    let [slc, mlc] = Region::ALL.map(|region| region_result(region, &done));
    let slc_bytes = find(&done, Region::Slc).map_or(0, |part| part.bytes);
    RunResult {
        schema: SCHEMA,
        system: name.to_owned(),
        device: after.hardware.device.clone(),
        slc_bytes,
        parallel: after.hardware.time == Time::Overlapped,
        open_loop: pace.open_loop,
        queue_depth: pace.queue_depth.get(),
        trace: String::new(),
        passes: 1,
        seed: None,
        partial: false,
        skipped_lines: 0,
        bytes_touched: 0,
        bytes_written: tally.bytes_written(),
        response_us: tally.all_times(),
        read_us: tally.times(Op::Read),
        write_us: tally.times(Op::Write),
        elapsed_us: after.hardware.at_rest.since(before.now).as_micros_f64(),
        trim_us: tally.times(Op::Trim),
        response_by_cause_us: by_request(before, after, tally),
        write_amplification: write_amplification(&done, tally),
        slc,
        mlc,
        parts: done.iter().map(part_result).collect(),
        energy_mj: energy_millijoules(before, after),
        cost_usd: after.hardware.dollars,
        ram_bytes: system.ram_bytes(),
        factors: after.books.factors,
        filter: after.books.filter,
        log_writes: log_writes(before, after),
        throttle: after.books.throttle,
        hash: after.books.hash,
        figures: figures(&after.books),
        served: None,
        verified_reads: after.verified - before.verified,
        wall_s: clocked.whole.as_secs_f64(),
        busy_s: clocked.busy.as_secs_f64(),
        requests_per_s: per_second(requests.total(), clocked.whole),
        nand_ops_per_s: per_second(operations(&done), clocked.busy),
        requests,
    }
}

fn log_writes(before: &Before, after: &Before) -> Option<u64> {
    after.books.log_writes.map(|writes| writes - before.books.log_writes.unwrap_or(0))
}

fn by_request(before: &Before, after: &Before, tally: &Tally) -> ByRequest {
    let [reads, writes, trims, flushes] = Op::ALL.map(|op| {
        let spent = after.spent[op as usize].since(&before.spent[op as usize]);
        ByCause {
            waiting: tally.waited(op).as_micros_f64(),
            host: spent.host.as_micros_f64(),
            reclaim: spent.reclaim.as_micros_f64(),
            fold: spent.fold.as_micros_f64(),
            write_back: spent.write_back.as_micros_f64(),
            wear_leveling: spent.wear_leveling.as_micros_f64(),
            scan: spent.scan.as_micros_f64(),
            map: spent.map.as_micros_f64(),
            meta: spent.meta.as_micros_f64(),
        }
    });
    ByRequest { reads, writes, trims, flushes }
}

fn details(system: &dyn System, before: &Before, after: &Before, tally: &Tally) -> Details {
    let done = done(before, after);
    let erases = |region| find(&done, region).map_or_else(Vec::new, |part| part.wear.clone());
    Details {
        latencies: [tally.curve(Op::Read), tally.curve(Op::Write)],
        erases: Region::ALL.map(erases),
        chain_writes: system.sampled_writes().to_vec(),
    }
}

fn figures(books: &Books) -> BTreeMap<String, f64> {
    books.figures.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect()
}

/// The operations of every part between the two.
fn done(before: &Before, after: &Before) -> Vec<PartState> {
    let since = |part: &PartState| {
        let Some(earlier) = before.hardware.part(part.name) else {
            return part.clone();
        };
        let wear = part.wear.iter().zip(&earlier.wear).map(|(after, before)| after - before);
        let operations = part.operations.since(&earlier.operations);
        PartState { wear: wear.collect(), operations, ..part.clone() }
    };
    after.hardware.parts.iter().map(since).collect()
}

/// The part of that region.
fn find(parts: &[PartState], region: Region) -> Option<&PartState> {
    parts.iter().find(|part| part.name == part_name(region))
}

/// Bytes programmed per byte written.
fn write_amplification(done: &[PartState], tally: &Tally) -> Option<f64> {
    let programmed =
        done.iter().map(|part| part.operations.total(Verb::Program) * part.page_bytes).sum();
    result::ratio(programmed, tally.bytes_written())
}

fn region_result(region: Region, done: &[PartState]) -> RegionResult {
    let Some(part) = find(done, region) else {
        return RegionResult::default();
    };
    RegionResult {
        erases: part.wear.iter().map(|count| u64::from(*count)).sum(),
        erase_count: Spread::of(&part.wear),
        lifetime_years: None,
        pages: Pages::of(&part.operations),
    }
}

fn part_result(part: &PartState) -> (String, PartResult) {
    (part.name.to_owned(), PartResult::new(part.bytes, &part.wear, &part.operations))
}

fn energy_millijoules(before: &Before, after: &Before) -> f64 {
    let energy = |moment: &Before| moment.hardware.energy.attojoules();
    let spent = Energy::from_attojoules(energy(after) - energy(before));
    spent.as_microjoules_f64() / 1e3
}

/// Page and block operations of all parts.
fn operations(done: &[PartState]) -> u64 {
    let totals = done.iter().flat_map(|part| Verb::ALL.map(|verb| part.operations.total(verb)));
    totals.sum()
}

#[allow(clippy::cast_precision_loss)] // Rates are shown with few digits.
fn per_second(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// The requests in a result, to check that none is lost.
pub(super) const fn served(result: &RunResult) -> u64 {
    let Requests { reads, writes, trims, flushes, .. } = result.requests;
    reads + writes + trims + flushes
}
