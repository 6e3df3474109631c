//! What a replay measured of a system, and the result that is made of it.

use std::collections::BTreeMap;
use std::time::Duration;

use ftl_iface::{Region, Verb};
use nand_model::part::Nanos;
use nand_model::{Energy, Time};

use super::options::Pace;
use super::outcome::Details;
use super::record::{Record, Responses};
use super::series::Stretch;
use super::tally::Tally;
use super::under_way::account;
use crate::engine::result::{
    self, ByCause, ByRequest, Pages, PartResult, RegionResult, Round, RunResult, SCHEMA,
    ServedResult, Spread, Steady, lifetime_years,
};
use crate::engine::systems::{
    Books, ChainWrite, Hardware, PartState, SLC_MODE, Spent, System, part_name,
};
use crate::input::device::Fill;
use crate::input::trace::Op;

/// How long a replay took on this computer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocked {
    pub(super) whole: Duration,
    /// Processor time for the requests.
    pub(super) busy: Duration,
}

/// A system's counts at a moment; a result is the difference of two.
pub(super) struct Moment {
    hardware: Hardware,
    books: Books,
    ram_bytes: u64,
    verified: u64,
    pub(super) now: Nanos,
    /// By [`Op`].
    spent: [Spent; 4],
}

impl Moment {
    /// The present counts, with the number of verified sectors.
    pub(super) fn of(system: &dyn System, verified: u64) -> Self {
        Self {
            hardware: system.hardware(),
            books: system.books(),
            ram_bytes: system.ram_bytes(),
            verified,
            now: system.now(),
            spent: Op::ALL.map(|op| system.spent(account(op))),
        }
    }

    /// The share of the memory that keeps the data that is programmed.
    pub(super) fn programmed_share(&self) -> Option<f64> {
        share_of_main(&self.hardware.parts, |part| part.programmed)
    }
}

/// What was measured of a system between two moments.
pub struct Measurement {
    /// The system, as it was named.
    pub(super) name: String,
    pub(super) pace: Pace,
    pub(super) before: Moment,
    pub(super) after: Moment,
    pub(super) tally: Tally,
    /// The rounds of a run that was to settle.
    pub(super) rounds: Option<Vec<Round>>,
    pub(super) clocked: Clocked,
}

/// What only those know who gave a system its requests.
#[derive(Clone)]
pub struct RunInputs {
    /// The trace, as it was named.
    pub trace: String,
    /// How often it was replayed.
    pub passes: u32,
    /// How its addresses were fitted into the device.
    pub fit: &'static str,
    /// What was written to the device before.
    pub fill: Fill,
    /// Whether a run that was to settle has settled.
    pub settled: bool,
    /// The seed of a synthetic workload.
    pub seed: Option<u64>,
    /// Whether it was stopped before its end.
    pub partial: bool,
    /// Bad lines that were skipped.
    pub skipped_lines: u64,
    /// Bytes of the disk that were written at least once.
    pub bytes_touched: u64,
    /// The bytes that the trace reads and writes, in whole pages.
    pub bytes_packed: u64,
    /// Bytes that a host writes each day, for lifetimes.
    pub bytes_a_day: u64,
    /// Figures of a disk that real hosts used.
    pub served: Option<ServedResult>,
}

impl Measurement {
    /// The whole result.
    pub fn result(&self, given: RunInputs) -> RunResult {
        let Self { before, after, tally, clocked, .. } = self;
        let requests = tally.requests();
        let done = done(before, after);
        let [slc, mlc] = self.regions(&done, given.bytes_a_day);
        let slc_bytes = find(&done, Region::Slc).map_or(0, |part| part.bytes);
        RunResult {
            schema: SCHEMA,
            system: self.name.clone(),
            device: after.hardware.device.clone(),
            slc_bytes,
            parallel: after.hardware.time == Time::Overlapped,
            open_loop: self.pace.open_loop,
            queue_depth: self.pace.queue_depth.get(),
            trace: given.trace,
            passes: given.passes,
            fit: given.fit.into(),
            fill: given.fill.name().into(),
            steady: self.rounds.clone().map(|rounds| Steady { settled: given.settled, rounds }),
            seed: given.seed,
            partial: given.partial,
            skipped_lines: given.skipped_lines,
            bytes_touched: given.bytes_touched,
            bytes_packed: given.bytes_packed,
            bytes_a_day: given.bytes_a_day,
            bytes_written: tally.bytes_written(),
            response_us: tally.all_times(),
            read_us: tally.times(Op::Read),
            write_us: tally.times(Op::Write),
            elapsed_us: after.hardware.at_rest.since(before.now).as_micros_f64(),
            trim_us: tally.times(Op::Trim),
            response_by_cause_us: by_request(before, after, tally),
            write_amplification: write_amplification(&done, tally),
            rewrite_amplification: rewrite_amplification(&done, tally, given.bytes_touched),
            times_over: times_over(&done),
            slc,
            mlc,
            parts: done.iter().map(|part| part_result(part, &before.hardware)).collect(),
            energy_mj: energy_millijoules(before, after),
            cost_usd: after.hardware.dollars,
            price_source: after.hardware.prices.to_string(),
            ram_bytes: after.ram_bytes,
            factors: after.books.factors,
            folding: after.books.folding,
            filter: after.books.filter,
            log_writes: log_writes(before, after),
            throttle: after.books.throttle,
            hash: after.books.hash,
            figures: figures(&after.books),
            served: given.served,
            verified_reads: after.verified - before.verified,
            wall_s: clocked.whole.as_secs_f64(),
            busy_s: clocked.busy.as_secs_f64(),
            requests_per_s: per_second(requests.total(), clocked.busy),
            nand_ops_per_s: per_second(operations(&done), clocked.busy),
            requests,
        }
    }

    fn regions(&self, done: &[PartState], a_day: u64) -> [RegionResult; 2] {
        Region::ALL.map(|region| {
            let worn =
                worn(region, [&self.before, &self.after].map(|moment| &moment.hardware.parts[..]));
            let lifetime_years = lifetime_years(worn, self.tally.bytes_written(), a_day);
            RegionResult { lifetime_years, ..region_result(region, done) }
        })
    }

    /// The record, with the requests that were recorded.
    pub(super) fn record(&self, responses: Responses) -> Record {
        let wear = done(&self.before, &self.after).into_iter().map(wear_of);
        Record { responses, wear: wear.collect() }
    }

    /// The data for charts, with the writes that the system kept for them.
    pub(super) fn details(&self, series: Vec<Stretch>, chain_writes: &[ChainWrite]) -> Details {
        let done = done(&self.before, &self.after);
        let erases = |region| find(&done, region).map_or_else(Vec::new, |part| part.wear.clone());
        Details {
            latencies: [self.tally.curve(Op::Read), self.tally.curve(Op::Write)],
            erases: Region::ALL.map(erases),
            series,
            chain_writes: chain_writes.to_vec(),
        }
    }
}

fn wear_of(part: PartState) -> (String, Vec<u32>) {
    (part.name.to_owned(), part.wear)
}

fn log_writes(before: &Moment, after: &Moment) -> Option<u64> {
    after.books.log_writes.map(|writes| writes - before.books.log_writes.unwrap_or(0))
}

fn by_request(before: &Moment, after: &Moment, tally: &Tally) -> ByRequest {
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

fn figures(books: &Books) -> BTreeMap<String, f64> {
    books.figures.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect()
}

/// The operations of every part between the two.
pub(super) fn done(before: &Moment, after: &Moment) -> Vec<PartState> {
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
pub(super) fn write_amplification(done: &[PartState], tally: &Tally) -> Option<f64> {
    result::ratio(bytes_programmed(done), tally.bytes_written())
}

/// The same without the first write of each address.
fn rewrite_amplification(done: &[PartState], tally: &Tally, first: u64) -> Option<f64> {
    let again = tally.bytes_written().saturating_sub(first);
    result::ratio(bytes_programmed(done).saturating_sub(first), again)
}

/// How often the memory that keeps the data was programmed over, its blocks in SLC mode, too; `None` without flash.
pub(super) fn times_over(done: &[PartState]) -> Option<f64> {
    share_of_main(done, programmed)
}

/// The share of all programmed bytes that went there.
pub(super) fn main_share(done: &[PartState]) -> Option<f64> {
    result::ratio(main_memory(done).map(programmed).sum(), bytes_programmed(done))
}

/// The memory that keeps the data, and its blocks in SLC mode.
fn main_memory(parts: &[PartState]) -> impl Iterator<Item = &PartState> {
    let main = find(parts, Region::Mlc).or_else(|| find(parts, Region::Slc));
    main.into_iter().chain(parts.iter().find(|part| part.name == SLC_MODE))
}

/// These bytes of it, each by its size; `None` without flash.
fn share_of_main(parts: &[PartState], bytes: impl Fn(&PartState) -> u64) -> Option<f64> {
    main_memory(parts)
        .filter_map(|part| result::ratio(bytes(part), part.bytes))
        .reduce(|one, other| one + other)
}

fn programmed(part: &PartState) -> u64 {
    part.operations.total(Verb::Program) * part.page_bytes
}

fn bytes_programmed(done: &[PartState]) -> u64 {
    done.iter().map(programmed).sum()
}

/// The share of a region's endurance that its blocks have lost, those of the MLC in SLC mode, too: by the blocks that
/// were begun, because an erase may be of what was there before, and what was begun will be erased.
fn worn(region: Region, [before, after]: [&[PartState]; 2]) -> f64 {
    let is_of = |part: &&PartState| {
        part.name == part_name(region) || region == Region::Mlc && part.name == SLC_MODE
    };
    let share = |part: &PartState| {
        let earlier = before.iter().find(|earlier| earlier.name == part.name);
        let earlier = earlier.map_or(0, PartState::begun);
        let cycles = result::ratio(part.begun().saturating_sub(earlier), part.wear.len() as u64)?;
        Some(cycles / f64::from(part.endurance?))
    };
    after.iter().filter(is_of).filter_map(share).sum()
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

fn part_result(part: &PartState, before: &Hardware) -> (String, PartResult) {
    let programmed_before = before.part(part.name).map_or(0, |earlier| earlier.programmed);
    let result = PartResult::new(part.bytes, programmed_before, &part.wear, &part.operations);
    (part.name.to_owned(), result)
}

fn energy_millijoules(before: &Moment, after: &Moment) -> f64 {
    let energy = |moment: &Moment| moment.hardware.energy.attojoules();
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

#[cfg(test)]
mod tests {
    use ftl_iface::Operations;

    use super::*;

    fn part(name: &'static str, erases: u32, pages: u16, endurance: u32) -> PartState {
        PartState {
            name,
            bytes: 0,
            page_bytes: 4096,
            wear: vec![erases; 4],
            endurance: Some(endurance),
            operations: Operations::NONE,
            programmed: 0,
            filled: vec![pages, 0, pages, 0],
        }
    }

    #[test]
    fn a_life_counts_the_blocks_that_were_begun_and_those_in_slc_mode() {
        // Two of four blocks of the SLC held data, and were erased: nothing was begun in them.
        let before = [part("slc", 7, 5, 100), part("mlc", 1, 0, 1_000)];
        let after =
            [part("slc", 8, 0, 100), part("mlc", 3, 9, 1_000), part(SLC_MODE, 100, 0, 10_000)];
        let [slc, mlc] = Region::ALL.map(|region| worn(region, [&before, &after]));
        // Of the SLC two were begun and erased; of the MLC eight, and two more have data.
        assert!((slc - 0.5 / 100.0).abs() < 1e-9, "{slc}");
        assert!((mlc - (2.5 / 1_000.0 + 100.0 / 10_000.0)).abs() < 1e-9, "{mlc}");
    }
}
