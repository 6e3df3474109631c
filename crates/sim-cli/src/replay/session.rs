//! One system's replay, in its own thread: requests in, times and books out.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use ftl_iface::{PageCount, Region, RegionGeometry, SectorCount, Work};
use nand_model::part::Nanos;
use nand_model::{ChipStats, Time, Timed};

use super::feed::Batch;
use super::tally::Tally;
use super::{Details, Outcome};
use crate::host::{Host, PREPARED_AT_ONCE, SharedWitness};
use crate::result::{
    self, ByCause, ByRequest, Pages, RegionResult, Requests, RunResult, SCHEMA, Spread, Times,
};
use crate::systems::{Account, Books, Session, Spent, System};
use crate::trace::{Op, Request};
use crate::{Failure, interrupt};

/// When requests are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// The next one when the one before is answered.
    Closed,
    /// When they arrive, or when the one before is answered, whatever is later. Meanwhile the system may work
    /// for itself.
    Open,
}

/// A replay.
pub(super) struct Replay {
    /// The system, as it was named.
    pub(super) name: String,
    pub(super) pace: Pace,
    pub(super) batches: Receiver<Batch>,
    /// Whether the details are wanted, too.
    detailed: bool,
    witness: SharedWitness,
    host: Option<Host>,
    /// Present once the replay is done.
    pub(super) outcome: Option<Outcome>,
}

/// How long a replay took by the clock.
#[derive(Clone, Copy, Debug)]
struct Clocked {
    whole: Duration,
    /// While there was a request to work on.
    busy: Duration,
}

/// What a system's books say when the replay begins; the result is what comes on top.
struct Before {
    stats: ChipStats,
    erases: [Vec<u32>; 2],
    books: Books,
    verified: u64,
    now: Nanos,
    /// By [`Op`].
    spent: [Spent; 4],
}

impl Before {
    fn of(system: &dyn System, host: &Host) -> Self {
        Self {
            stats: system.chip().stats(),
            erases: Region::ALL.map(|region| system.chip().erase_counts(region).collect()),
            books: system.books(),
            verified: host.verified(),
            now: system.chip().now(),
            spent: Op::ALL.map(|op| system.spent(account(op))),
        }
    }
}

impl Session for Replay {
    /// Maps every logical block, by writing in order what of the device is not filled.
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
        // What the preparation left under way on other dies is no concern of the first request's.
        system.wait_until(system.chip().stats().elapsed);
        if self.detailed {
            system.sample_writes();
        }
        let before = Before::of(system, &host);
        let mut tally = Tally::new();
        let start = Instant::now();
        let mut busy = Duration::ZERO;
        for batch in &self.batches {
            let handed_over = Instant::now();
            let mut must = batch.must.as_slice();
            for request in &batch.requests {
                let submitted = self.wait(system, before.now + request.time)?;
                let waited = system.chip().now().since(submitted);
                system.account(account(request.op));
                let sectors = host.serve(system, request, &mut must)?;
                tally.note(request, sectors, system.chip().now().since(submitted), waited);
            }
            busy += handed_over.elapsed();
        }
        let clocked = Clocked { whole: start.elapsed(), busy };
        let after = Before::of(system, &host);
        let result = self.result(system, &before, &after, &tally, clocked);
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

    /// Waits for the request, and says from when on its response time counts.
    #[inline]
    fn wait(&self, system: &mut dyn System, arrival: Nanos) -> Result<Nanos, Failure> {
        if self.pace == Pace::Closed {
            return Ok(system.chip().now());
        }
        system.account(Account::Idle);
        while system.chip().now() < arrival {
            let work = system.maintain(PageCount::new(1));
            let work =
                work.map_err(|error| Failure::Violation(format!("idle work failed: {error}")));
            if work? == Work::Done {
                system.wait_until(arrival);
                break;
            }
        }
        Ok(arrival)
    }

    fn result(
        &self,
        system: &dyn System,
        before: &Before,
        after: &Before,
        tally: &Tally,
        clocked: Clocked,
    ) -> RunResult {
        let part = system.chip().part();
        let requests = tally.requests();
        let region = |region| region_result(region, before, after);
        let [slc, mlc] = Region::ALL.map(region);
        let slc_bytes = part.geometry.slc().map_or(0, RegionGeometry::capacity_bytes);
        RunResult {
            schema: SCHEMA,
            system: self.name.clone(),
            device: part.name.clone(),
            slc_bytes,
            parallel: system.chip().time() == Time::Overlapped,
            open_loop: self.pace == Pace::Open,
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
            trim_us: tally.times(Op::Trim),
            response_by_cause_us: by_request(before, after, tally),
            write_amplification: write_amplification(system, &slc.pages, &mlc.pages, tally),
            slc,
            mlc,
            energy_mj: energy_millijoules(before, after),
            cost_usd: part.cost_dollars(),
            ram_bytes: system.ram_bytes(),
            factors: after.books.factors,
            filter: after.books.filter,
            throttle: after.books.throttle,
            hash: after.books.hash,
            verified_reads: after.verified - before.verified,
            wall_s: clocked.whole.as_secs_f64(),
            busy_s: clocked.busy.as_secs_f64(),
            requests_per_s: per_second(requests.total(), clocked.whole),
            nand_ops_per_s: per_second(operations(after) - operations(before), clocked.busy),
            requests,
        }
    }
}

/// The account of a request.
const fn account(op: Op) -> Account {
    match op {
        Op::Read => Account::Read,
        Op::Write => Account::Write,
        Op::Trim => Account::Trim,
        Op::Flush => Account::Flush,
    }
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
            meta: spent.meta.as_micros_f64(),
        }
    });
    ByRequest { reads, writes, trims, flushes }
}

fn details(system: &dyn System, before: &Before, after: &Before, tally: &Tally) -> Details {
    Details {
        latencies: [tally.curve(Op::Read), tally.curve(Op::Write)],
        erases: Region::ALL.map(|region| erases(region, before, after)),
        chain_writes: system.sampled_writes().to_vec(),
    }
}

/// Erases of each block of a region.
fn erases(region: Region, before: &Before, after: &Before) -> Vec<u32> {
    let at = region as usize;
    let erases = before.erases[at].iter().zip(&after.erases[at]);
    erases.map(|(before, after)| after - before).collect()
}

/// Bytes programmed a byte written.
fn write_amplification(
    system: &dyn System,
    slc: &Pages,
    mlc: &Pages,
    tally: &Tally,
) -> Option<f64> {
    let geometry = &system.chip().part().geometry;
    let page = |region| geometry.region(region).map_or(0, |shape| shape.page_bytes.get().into());
    let programmed = slc.programs() * page(Region::Slc) + mlc.programs() * page(Region::Mlc);
    result::ratio(programmed, tally.bytes_written())
}

fn region_result(region: Region, before: &Before, after: &Before) -> RegionResult {
    let at = region as usize;
    let erases = erases(region, before, after);
    RegionResult {
        erases: erases.iter().map(|count| u64::from(*count)).sum(),
        erase_count: spread(&erases),
        lifetime_years: None,
        pages: after.books.pages[at].since(&before.books.pages[at]),
    }
}

#[allow(clippy::cast_precision_loss)] // A device has fewer blocks than 2^32.
fn spread(counts: &[u32]) -> Spread {
    if counts.is_empty() {
        return Spread::default();
    }
    let blocks = counts.len() as f64;
    let mean = counts.iter().map(|count| f64::from(*count)).sum::<f64>() / blocks;
    let variance = counts.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum::<f64>();
    Spread {
        min: counts.iter().copied().min().unwrap_or(0),
        mean,
        max: counts.iter().copied().max().unwrap_or(0),
        stddev: (variance / blocks).sqrt(),
    }
}

fn energy_millijoules(before: &Before, after: &Before) -> f64 {
    let energy = |moment: &Before| moment.stats.energy().attojoules();
    let spent = nand_model::Energy::from_attojoules(energy(after) - energy(before));
    spent.as_microjoules_f64() / 1e3
}

/// Page and block operations of the chip so far.
fn operations(moment: &Before) -> u64 {
    let of = |region| {
        let tally = &moment.stats.region(region).tally;
        tally.reads + tally.programs + tally.erases
    };
    Region::ALL.into_iter().map(of).sum()
}

#[allow(clippy::cast_precision_loss)] // Rates are shown with few digits.
fn per_second(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// Requests that a result counts, for the check that none is lost.
pub(super) const fn served(result: &RunResult) -> u64 {
    let Requests { reads, writes, trims, flushes, .. } = result.requests;
    reads + writes + trims + flushes
}

/// Whether any response was measured.
pub(super) const fn is_measured(times: &Times) -> bool {
    times.mean.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_that_of_all_blocks() {
        let spread = spread(&[2, 4, 4, 4, 5, 5, 7, 9]);
        let expected = Spread { min: 2, mean: 5.0, max: 9, stddev: 2.0 };
        assert_eq!(spread, expected);
    }
}
