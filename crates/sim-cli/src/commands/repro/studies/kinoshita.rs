//! The figures of Kinoshita, Matsui and Takeuchi.

use nand_model::Time;
use sim::Failure;
use sim::engine::result::RunResult;

use super::super::page::Page;
use super::{Load, ONE_BY_ONE, On, Published, Study, StudyResults, Trial, change, row};
use crate::output::plot::{Axis, Chart, Shape};

pub(in super::super) const KINOSHITA: Study = Study {
    page: ("kinoshita.md", "kinoshita"),
    loads: &LOADS,
    device: On::Builtin("c3", Time::Serial),
    trials,
    pace: ONE_BY_ONE,
    requests: 1_000_000,
    write,
};

/// The sizes of user data are the paper's, in bytes; shares of writes are those commonly published.
const LOADS: [Load; 4] = [
    Load {
        name: "prxy_0",
        stand_in: Some("synth:prxy_0"),
        capacity: 1 << 30,
        published: Published::trace("12.5 M", 97.0).of_gigabytes(0.98),
        assumed: "the size of requests; that it is hot is a skew of 0.99",
    },
    Load {
        name: "hm_0",
        stand_in: Some("synth:hm_0"),
        capacity: 5 << 30,
        published: Published::trace("3.99 M", 65.0).of_gigabytes(21.67),
        assumed: "the size of requests; that it is cold is a skew of 0.6; a quarter of its data",
    },
    Load {
        name: "prxy_1",
        stand_in: Some("synth:prxy_1"),
        capacity: 9 << 29,
        published: Published::trace("169 M", 35.0).of_gigabytes(4.51),
        assumed: "the size of requests; that it is hot is a skew of 0.99",
    },
    Load {
        name: "proj_3",
        stand_in: Some("synth:proj_3"),
        capacity: 6 << 30,
        published: Published::trace("2.24 M", 5.0).of_gigabytes(5.9),
        assumed: "the size of requests; that it is cold is a skew of 0.6",
    },
];

/// Percent of M-SCM.
const SHARES: [u32; 6] = [0, 2, 5, 8, 10, 20];

/// Cost per bit, TLC NAND = 1.
const COST: [f64; 2] = [20.0, 6.0];

/// The paper: best share of M-SCM, gain in IOPS over S-SCM alone; gain by leveling, and how.
const PAPER: [(&str, &str); 4] = [
    ("8 %: +104 %", "S-SCM only: +14 %"),
    ("10 %: +36 %", "S-SCM only: +7.6 %"),
    ("5 %: +134 %", "M-SCM only, weak: +10.7 %"),
    ("none", "S-SCM only: +0.6 %"),
];

/// The cases at 5 % of M-SCM, the first of which is the case with both leveled; and the second one with weak leveling.
const CASES: [(&str, &str); 5] = [
    ("1: both leveled", "leveling=both"),
    ("2: M-SCM only", "leveling=m"),
    ("3: S-SCM only", "leveling=s"),
    ("4: neither", "leveling=none"),
    ("2, weak", "leveling=m&interval=100"),
];

fn trials() -> Vec<Trial> {
    let shares = SHARES.map(|share| format!("multi-scm?share={share}"));
    let cases = CASES.map(|(_, leveling)| format!("multi-scm?share=5&{leveling}"));
    shares.into_iter().chain(cases).map(Trial::of).collect()
}

#[allow(clippy::cast_precision_loss)]
fn iops(run: &RunResult) -> f64 {
    run.requests.total() as f64 / run.response_us.total * 1e6
}

fn iops_per_cost(run: &RunResult, share: u32) -> f64 {
    let quick = f64::from(share) / 100.0;
    iops(run) / (quick * COST[0] + (1.0 - quick) * COST[1])
}

fn write(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.title("Kinoshita, Matsui and Takeuchi's figures, reproduced");
    page.say(
        "R. Kinoshita, C. Matsui and K. Takeuchi, \"Maximizing Performance/cost of SSD Composed of Memory-type and \
         Storage-type SCMs\" (Flash Memory Summit 2018). Made by `tandem repro kinoshita`: one request after the \
         other, every read verified. IOPS are requests by the memories' time alone. [How we read it](../RIVALS.md).",
    );
    by_share(page, brought)?;
    by_case(page, brought);
    by_load(page, brought);
    page.say(
        "What differs, and why: the paper's emulator has a bus and a controller, about which the slides say \
         nothing; here only the memories' own time counts. Moving a page there and back takes 64 accesses of the \
         large memory while the request waits; a request of 4 KiB takes eight. On cold loads, whose pages are \
         seldom used a third time, that never pays off. The paper contradicts itself on hm_0: one slide says that \
         all S-SCM is suitable, since its accesses do not center on few addresses, and the last one has a gain of \
         36 %; ours agrees with the former. On prxy_1 our gain is smaller, and best at less M-SCM, because a \
         million requests are one in 169 of its week, so that many pages enter the quick memory for the first \
         time. With six million, 2 % and 5 % bring +124 % and +119 %, for +112 % and +95 % with a million; the \
         paper has +134 % at 5 %.",
    );
    Ok(())
}

fn by_share(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.heading("IOPS and IOPS by cost, against all S-SCM");
    let heads = ["M-SCM", "2 %", "5 %", "8 %", "10 %", "20 %", "best by cost", "paper's best"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("IOPS by cost, all S-SCM = 1").from(0.0);
    let mut chart = Chart::new("IOPS by cost, by share of M-SCM", Axis::linear("% of M-SCM"), axis);
    for ((load, runs), (paper, _)) in LOADS.iter().zip(&brought.results).zip(PAPER) {
        let shares = || SHARES.into_iter().zip(runs);
        let base = (iops(&runs[0]), iops_per_cost(&runs[0], 0));
        let best = shares().max_by(|one, other| {
            iops_per_cost(one.1, one.0).total_cmp(&iops_per_cost(other.1, other.0))
        });
        let best = best.map_or(String::new(), |(share, run)| match share {
            0 => "none".into(),
            share => format!("{share} %: {}", change(iops(run), base.0)),
        });
        let speeds = shares().skip(1).map(|(_, run)| change(iops(run), base.0));
        rows.push(row(format!("{}, IOPS", load.name), speeds));
        let by_cost = shares().skip(1);
        let by_cost = by_cost.map(|(share, run)| change(iops_per_cost(run, share), base.1));
        rows.push(row(format!("{}, by cost", load.name), by_cost.chain([best, paper.into()])));
        let points =
            shares().map(|(share, run)| (share.into(), iops_per_cost(run, share) / base.1));
        chart = chart.with(load.name, Shape::Line, points.collect());
    }
    page.table(&rows);
    page.chart("share", "IOPS by cost, by share of M-SCM", &chart.svg())
}

fn by_case(page: &mut Page, brought: &StudyResults) {
    page.heading(
        "Leveling: IOPS against case 1, and most cycles of an M-SCM place when the S-SCM dies",
    );
    let names = CASES.map(|(name, _)| name);
    let heads = ["", names[1], names[2], names[3], names[4], "paper's best"];
    let mut rows = vec![heads.map(String::from)];
    for ((load, runs), (_, paper)) in LOADS.iter().zip(&brought.results).zip(PAPER) {
        let cases = &runs[SHARES.len()..];
        let mut gains = [const { String::new() }; 6];
        gains[0] = format!("{}, IOPS", load.name);
        gains[5] = paper.into();
        let mut cycles = [const { String::new() }; 6];
        cycles[0] = format!("{}, M-SCM cycles", load.name);
        for (at, run) in cases.iter().enumerate().skip(1) {
            gains[at] = change(iops(run), iops(&cases[0]));
            let most = |name: &str| run.figures.get(name).copied().unwrap_or(f64::NAN);
            let (quick, large) = (most("m_scm_cycles_most"), most("s_scm_cycles_most"));
            cycles[at] = format!("{:.0e}", quick / large * 1e5);
        }
        rows.extend([gains, cycles]);
    }
    page.table(&rows);
    page.say(
        "An S-SCM place endures 100,000 cycles, one of M-SCM 1,000,000,000: a case is sound while the figure stays \
         below that. Weak is an interval of 100 overwrites for 5. Cycles count the preparation, which writes \
         everything once.",
    );
}

#[allow(clippy::cast_precision_loss)]
fn by_load(page: &mut Page, brought: &StudyResults) {
    page.heading("How often each load overwrites and reads its data");
    let mut rows = vec![["", "average overwrite", "average read frequency"].map(String::from)];
    for (load, runs) in LOADS.iter().zip(&brought.results) {
        let Some(run) = runs.first() else { continue };
        let sectors = load.capacity as f64 / 2048.0;
        let times = |count: u64| format!("{:.3}", count as f64 / sectors);
        let requests = &run.requests;
        rows.push([
            load.name.into(),
            times(requests.sectors_written),
            times(requests.sectors_read),
        ]);
    }
    page.table(&rows);
    page.say(
        "For as many requests as were replayed. The paper's weeks, shown as bars without figures, have more.",
    );
}
