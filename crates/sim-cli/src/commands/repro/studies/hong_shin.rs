//! The figures of Hong and Shin.

use std::num::NonZeroU32;

use nand_model::Time;
use sim::Failure;
use sim::engine::result::{RunResult, lifetime_years};

use super::super::page::Page;
use super::{Load, On, Published, Study, StudyResults, Trial, change, row};
use crate::flags::options::PaceArgs;
use crate::output::plot::{Axis, Chart, Shape};

pub(in super::super) const HONG_SHIN: Study = Study {
    page: ("hong-shin.md", "hong-shin"),
    loads: &LOADS,
    device: On::Builtin("c3", Time::Serial),
    trials,
    pace: PaceArgs { open_loop: true, queue_depth: NonZeroU32::MIN },
    requests: 100_000,
    write,
};

/// The used part of the disk. The cache is an eighth of the paper's, so that the requests of a run fill it more than
/// once.
const DISK: u64 = 512 << 20;

/// A disk serves a random request in some 18 ms, so arrivals are slower than that.
const LOADS: [Load; 4] = [
    Load {
        name: "bonnie",
        stand_in: Some("synth:bonnie?footprint=256MiB&interval_us=150000"),
        capacity: DISK,
        published: Published::NOTHING,
        assumed: "all but its name: long requests in order, half of them reads",
    },
    Load {
        name: "desktop",
        stand_in: Some("synth:ntfs-1?interval_us=500000"),
        capacity: DISK,
        published: Published::NOTHING,
        assumed: "that it is as Chang tells of his laptop",
    },
    Load {
        name: "financial1",
        stand_in: Some("synth:financial1?footprint=256MiB&interval_us=50000"),
        capacity: DISK,
        published: Published::trace("5.33 M", 77.0),
        assumed: "the size of requests; a skew of 0.9 gives the busiest tenth of the places of 10,000 requests 47 % of \
                  them, as in the first 10,000 of the trace",
    },
    Load {
        name: "financial2",
        stand_in: Some("synth:financial2?footprint=256MiB&interval_us=50000"),
        capacity: DISK,
        published: Published::trace("3.70 M", 18.0),
        assumed: "the size of requests; the skew of the other",
    },
];

/// Percent of the blocks in SLC mode; the last one is the SLC alone.
const SHARES: [u32; 5] = [0, 25, 50, 75, 100];
const POLICIES: [u32; 3] = [1, 2, 3];

/// The index of each among the systems.
const ALONE: usize = 0;
const FIRST_SHARE: usize = 1;
const HALF: usize = FIRST_SHARE + 2;
const SLC_ALONE: usize = FIRST_SHARE + SHARES.len() - 1;
const FIRST_POLICY: usize = FIRST_SHARE + SHARES.len();

const CACHE: &str = "disk-cache?chip=paper&blocks=256&dram=64KiB";

fn trials() -> Vec<Trial> {
    let alone = format!("{CACHE}&policy=none");
    let shares = SHARES.map(|share| format!("{CACHE}&share={share}"));
    let policies = POLICIES.map(|policy| format!("{CACHE}&policy={policy}"));
    [alone].into_iter().chain(shares).chain(policies).map(Trial::of).collect()
}

fn read_latency(run: &RunResult) -> f64 {
    run.read_us.mean.unwrap_or(f64::NAN)
}

/// Years until the kind of block that wears out first has done so, with even wear.
#[allow(clippy::cast_precision_loss)]
fn lifespan(run: &RunResult, share: u32) -> f64 {
    let kinds =
        [("slc-mode", f64::from(share), 50_000.0), ("mlc", 100.0 - f64::from(share), 10_000.0)];
    let years = kinds.into_iter().filter_map(|(part, percent, endurance)| {
        // The wear of a part is spread over all blocks, of whichever kind.
        let erases = run.parts.get(part)?.wear.mean * 100.0 / percent;
        (percent > 0.0)
            .then(|| lifetime_years(erases / endurance, run.bytes_written, run.bytes_a_day))?
    });
    years.fold(f64::INFINITY, f64::min)
}

fn days(years: f64) -> String {
    if years.is_finite() { format!("{:.0}", years * 365.25) } else { "not worn".into() }
}

fn write(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.title("Hong and Shin's figures, reproduced");
    page.say(
        "S. Hong and D. Shin, \"NAND Flash-based Disk Cache Using SLC/MLC Combined Flash Memory\" (2010): a chip of \
         blocks of either kind before a hard disk. The cache is an eighth of the paper's (256 blocks, 64 KiB of \
         DRAM), so that the requests of a run fill it more than once; of the disk, which has 80 GB there, 512 MiB are \
         used. Made by `tandem repro hong-shin`. Requests come as they arrive; every read is verified. Two of the \
         paper's four traces are not public, and the others are made up unless `--traces` has them: ranges, not \
         single figures, can be compared. [How we read it](../RIVALS.md).",
    );
    against_the_disk(page, brought);
    by_share(page, brought)?;
    by_policy(page, brought);
    Ok(())
}

fn against_the_disk(page: &mut Page, brought: &StudyResults) {
    page.heading("The disk with the cache, against the disk alone");
    let heads = ["half of the blocks SLC", "read latency", "alone", "change", "energy, change"];
    let mut rows = vec![heads.map(String::from)];
    rows.push(["paper, four loads", "-", "-", "-52 to -97 %", "-4 to -71 %"].map(String::from));
    for (load, runs) in LOADS.iter().zip(&brought.results) {
        let [alone, half] = [&runs[ALONE], &runs[HALF]].map(read_latency);
        rows.push([
            load.name.into(),
            format!("{:.2} ms", half / 1e3),
            format!("{:.2} ms", alone / 1e3),
            change(half, alone),
            change(runs[HALF].energy_mj, runs[ALONE].energy_mj),
        ]);
    }
    page.table(&rows);
    page.say(
        "Reads gain somewhat less than in the paper at both ends. Energy improves far less than at best in the \
         paper: our loads hardly ever leave the disk idle for the ten seconds after which it stops, and spinning \
         alone takes 0.85 W, about four fifths of what the disk takes without a cache. Under desktop it does stop, \
         but spinning up again takes more than that saves. The paper does not say how long its loads pause.",
    );
}

fn by_share(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.heading("By the share of SLC");
    let heads = ["", "0 %", "25 %", "50 %", "75 %", "SLC alone"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("read latency, SLC alone = 1").from(0.0);
    let mut chart =
        Chart::new("Read latency by share of SLC", Axis::linear("% of the blocks"), axis);
    for (load, runs) in LOADS.iter().zip(&brought.results) {
        let runs = &runs[FIRST_SHARE..=SLC_ALONE];
        let mut tell = |told: &str, figure: &dyn Fn(&RunResult, u32) -> String| {
            let cells = runs.iter().zip(SHARES).map(|(run, share)| figure(run, share));
            rows.push(row(format!("{}, {told}", load.name), cells));
        };
        tell("reads, ms", &|run, _| format!("{:.2}", read_latency(run) / 1e3));
        tell("energy, J", &|run, _| format!("{:.0}", run.energy_mj / 1e3));
        tell("lifespan, days", &|run, share| days(lifespan(run, share)));
        let base = read_latency(&runs[SHARES.len() - 1]);
        let points = SHARES.into_iter().zip(runs);
        let points = points.map(|(share, run)| (f64::from(share), read_latency(run) / base));
        chart = chart.with(load.name, Shape::Line, points.collect());
    }
    page.table(&rows);
    page.chart("share", "Read latency by share of SLC", &chart.svg())?;
    page.say(
        "The paper: with more SLC, read latency and energy rise, since the cache becomes smaller, and so does \
         lifespan. Ours: reads of financial1 and financial2, which often find their data in the cache, become \
         slower with more SLC on the whole. Those of bonnie and desktop seldom do, and wait for the cache's own \
         work: there SLC alone is fastest, because it moves nothing to an MLC. For the same reason policy 2 below \
         is faster than policy 0. Energy hardly changes. With more SLC the lifespan mostly becomes shorter, \
         because the MLC becomes smaller and still takes what leaves the SLC; it is longest with SLC alone. It is \
         that of the kind of block that wears out first, at 20 GB a day.",
    );
    best_share(page, brought);
    Ok(())
}

/// The paper's choice: the share with the fastest reads among those that live at least as long as the SLC alone.
fn best_share(page: &mut Page, brought: &StudyResults) {
    let mut rows = vec![["", "best share", "read latency against SLC alone"].map(String::from)];
    rows.push(["paper", "-", "-67 %"].map(String::from));
    for (load, runs) in LOADS.iter().zip(&brought.results) {
        let base = &runs[SLC_ALONE];
        let limit = lifespan(base, 100);
        let runs = SHARES.into_iter().zip(&runs[FIRST_SHARE..=SLC_ALONE]);
        let long_lived = runs.filter(|(share, run)| lifespan(run, *share) >= limit);
        let best =
            long_lived.min_by(|one, other| read_latency(one.1).total_cmp(&read_latency(other.1)));
        if let Some((share, run)) = best {
            let better = change(read_latency(run), read_latency(base));
            rows.push([load.name.into(), format!("{share} %"), better]);
        }
    }
    page.table(&rows);
    page.say(
        "As in the paper, only shares whose lifespan is no shorter than that of SLC alone are considered. The \
         paper's gain of 67 % is not reproduced: here no mixed chip lasts as long as SLC alone. Whatever leaves a \
         full SLC is written once more to the MLC, whose blocks endure a fifth, and the smaller the MLC, the more \
         often each of its blocks is erased. Under the paper's loads more data must have become invalid in the \
         SLC.",
    );
}

fn by_policy(page: &mut Page, brought: &StudyResults) {
    page.heading("Policies 1 to 3, against policy 0");
    let heads = ["", "policy 1", "policy 2", "policy 3"];
    let mut rows = vec![heads.map(String::from)];
    for (load, runs) in LOADS.iter().zip(&brought.results) {
        let mut tell = |told: &str, figure: &dyn Fn(&RunResult) -> f64| {
            let base = figure(&runs[HALF]);
            let cells = runs[FIRST_POLICY..].iter().map(figure).map(|figure| {
                let both = figure.is_finite() && base.is_finite();
                if both { change(figure, base) } else { "-".into() }
            });
            rows.push(row(format!("{}, {told}", load.name), cells));
        };
        tell("reads", &read_latency);
        tell("energy", &|run| run.energy_mj);
        tell("lifespan", &|run| lifespan(run, 50));
    }
    page.table(&rows);
    page.say(
        "The paper's sentences that compare these are garbled, so the table has only our results. A lifespan \
         without a figure means that no flash was erased.",
    );
}
