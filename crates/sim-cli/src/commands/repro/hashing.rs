//! Figure 11: how many writes the hash table rejects, and what that costs.

use sim::engine::result::RunResult;
use sim::{Failure, show};

use super::page::Page;
use super::paper::Workload;
use super::runs::{self, IN_MANY_RUNS, Results, Run, SLC};
use crate::output::plot::{Axis, Chart, Scale, Shape};

/// Sectors, in bytes. The 512 of section 5.4 contradict Table 3 (`docs/FIT.md`).
const SECTOR: u32 = 2048;

const ENTRIES: [u32; 3] = [16_384, 32_768, 65_536];
const PROBES: [u32; 6] = [1, 2, 4, 8, 16, 32];
const PROBINGS: [&str; 2] = ["linear", "quadratic"];

fn hybrid(workload: Workload, entries: u32, probing: &str, probes: u32) -> Run {
    // The first entry is the same one.
    let probing = if probes == 1 { PROBINGS[0] } else { probing };
    let system = format!("hybrid?entries={entries}&probing={probing}&probes={probes}");
    Run { system, one_in: IN_MANY_RUNS, ..Run::hybrid(workload, "c3", SLC) }
}

/// All lines of one workload.
fn lines() -> impl Iterator<Item = (u32, &'static str)> {
    ENTRIES.into_iter().flat_map(|entries| PROBINGS.map(|probing| (entries, probing)))
}

pub(super) fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    for workload in Workload::ALL {
        for (entries, probing) in lines() {
            runs.extend(PROBES.map(|probes| hybrid(workload, entries, probing, probes)));
        }
    }
    let bases: Vec<Run> = runs.iter().take(1).chain(runs.last()).map(runs::base_of).collect();
    [bases, runs].concat()
}

pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 11: the hash table");
    page.say(&format!(
        "Writes that the table rejected, with RS in brackets; C3, 256 MiB of SLC, sectors of 2 KiB, since \
         the 512 bytes of section 5.4 [contradict Table 3](FIT.md#an-entry-is-a-sector-of-2-kib). Columns: entries \
         probed per sector.{}",
        results.length.of_many_runs(),
    ));
    for workload in Workload::ALL {
        of(page, results, workload)?;
    }
    page.say(
        "The paper: with 16,384 entries many writes are rejected, and more with quadratic probing than with linear; \
         with 32,768 their number \"decreases significantly\", and RS grows; with more it begins to level off, and \
         more than eight probes gain little. It recommends 32,768 entries and eight linear probes. Ours with eight \
         linear probes:",
    );
    let mut rows = vec![
        [
            "",
            "turned away",
            "of those by half the table",
            "valid data at the end",
            "RS, by entries",
        ]
        .map(String::from),
    ];
    for workload in Workload::ALL {
        rows.push(recommended(results, workload)?);
    }
    page.table(&rows);
    page.say(
        "The workloads are fitted, over a month, to between 32 and 64 MiB of valid data, and to at most half as many \
         rejected writes as with 16,384 entries.",
    );
    Ok(())
}

/// Of the table that the paper recommends: the share of writes that it rejects, also of those that one half as large
/// rejects, the valid data at the end, and RS with each size.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Few digits are told.
fn recommended(results: &Results, workload: Workload) -> Result<[String; 5], Failure> {
    let with = |entries| hybrid(workload, entries, PROBINGS[0], PROBES[3]);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let [half, run, _] = ENTRIES.map(with);
    let (half, run) = (results.result(&half)?, results.result(&run)?);
    let rejected = |run: &RunResult| run.hash.map_or(0, |hash| hash.rejected_writes);
    let valid = run.hash.and_then(|hash| hash.valid);
    let bytes = valid.map(|share| share * f64::from(ENTRIES[1]) * f64::from(SECTOR));
    let share = |of| sim::engine::result::ratio(rejected(run), of);
    let speeds = ENTRIES.map(|entries| results.rs(&with(entries)).map(|rs| format!("{rs:.2}")));
    let speeds = speeds.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok([
        workload.name().into(),
        show::maybe(share(run.requests.writes), percent),
        show::maybe(share(rejected(half)), percent),
        show::maybe(bytes, |bytes| show::about(bytes as u64)),
        speeds.join(", "),
    ])
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

#[allow(clippy::cast_precision_loss)] // Counts of a chart.
fn of(page: &mut Page, results: &Results, workload: Workload) -> Result<(), Failure> {
    let mut rows = vec![[workload.name(), "1", "2", "4", "8", "16", "32"].map(String::from)];
    let probes = || Axis::new("probes at most", Scale::Log2, whole);
    let turned_away = Axis::linear("writes turned away").from(0.0);
    let title = |what: &str| format!("{what}, {}", workload.name());
    let mut rejected = Chart::new(title("Writes turned away"), probes(), turned_away);
    let mut speed = Chart::new(title("Speed-up"), probes(), Axis::linear("RS"));
    for (entries, probing) in lines() {
        let name = format!("{}, {probing}", show::count(entries));
        let mut row = [const { String::new() }; 7];
        row[0].clone_from(&name);
        let (mut writes, mut ratios) = (Vec::new(), Vec::new());
        for (cell, probes) in row[1..].iter_mut().zip(PROBES) {
            let run = hybrid(workload, entries, probing, probes);
            let (hash, rs) = (results.result(&run)?.hash, results.rs(&run)?);
            let count = hash.map_or(0, |hash| hash.rejected_writes);
            *cell = format!("{} ({rs:.2})", show::count(count));
            writes.push((f64::from(probes), count as f64));
            ratios.push((f64::from(probes), rs));
        }
        rows.push(row);
        rejected = rejected.with(name.clone(), Shape::Line, writes);
        speed = speed.with(name, Shape::Line, ratios);
    }
    page.table(&rows);
    let name = workload.name();
    page.chart(&format!("fig11-writes-{name}"), "Figure 11, writes turned away", &rejected.svg())?;
    page.chart(&format!("fig11-speed-{name}"), "Figure 11, RS", &speed.svg())
}
