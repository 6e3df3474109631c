//! The figures of Ko, Suh, Park and Chung.

use std::num::NonZeroU32;

use nand_model::Time;
use sim::Failure;
use sim::engine::result::RunResult;

use super::super::page::Page;
use super::{Load, On, Published, Study, StudyResults, Trial, row, throughput};
use crate::flags::options::PaceArgs;
use crate::output::plot::{Axis, Bars, Chart, Shape};

pub(in super::super) const KO: Study = Study {
    page: ("ko.md", "ko"),
    loads: &LOADS,
    device: On::Builtin("ko", Time::Overlapped),
    trials,
    pace: PaceArgs { open_loop: false, queue_depth: DEPTH },
    requests: 40_000,
    write,
};

/// Enough for two ways of four planes.
const DEPTH: NonZeroU32 = NonZeroU32::new(8).expect("more than none");

/// All sizes are an eighth of the paper's, so that the requests of a run fill the SLC more than once.
const CAPACITY: u64 = (3900 << 20) / 8;
const SLC_BYTES: u64 = (128 << 20) / 8;
const SECTOR: u64 = 2048;

/// The paper names one of its four traces.
const LOADS: [Load; 5] = [
    Load {
        name: "photoshop",
        stand_in: Some("synth:photoshop?footprint=128MiB"),
        capacity: CAPACITY,
        published: Published::NOTHING,
        assumed: "all but that its requests are long",
    },
    Load {
        name: "desktop",
        stand_in: Some("synth:ntfs-1"),
        capacity: CAPACITY,
        published: Published::NOTHING,
        assumed: "all: the paper does not name it; as Chang tells of his laptop",
    },
    Load {
        name: "financial1",
        stand_in: Some("synth:financial1?footprint=128MiB"),
        capacity: CAPACITY,
        published: Published::trace("5.33 M", 77.0),
        assumed: "that it was one of the four; the size of requests; a skew of 0.9",
    },
    Load {
        name: "iozone",
        stand_in: Some("synth:iozone?footprint=256MiB"),
        capacity: CAPACITY,
        published: Published::NOTHING,
        assumed: "that it was one of the four; mostly writes, of places that are seldom the same",
    },
    // Recorded by this project, of the kind of financial1.
    Load {
        name: "ext4_server",
        stand_in: None,
        capacity: CAPACITY,
        published: Published::NOTHING,
        assumed: "",
    },
];

/// Update thresholds, the last of which no page exceeds; the fourth is the default of `ko`.
const THRESHOLDS: [u32; 5] = [0, 1, 4, 16, 255];
const USUAL: usize = 3;

/// The index of each among the trials.
const MLC: usize = 0;
const SLC: usize = 1;
const COMBO: usize = 2;
const FIRST_THRESHOLD: usize = 3;
const PROPOSED: usize = FIRST_THRESHOLD + USUAL;

fn trials() -> Vec<Trial> {
    let rivals = ["page-mlc?victims=cat", "page-slc?victims=cat", "combo"].map(Trial::of);
    let proposed = THRESHOLDS.map(|threshold| Trial::of(format!("ko?threshold={threshold}")));
    let on_an_eighth = |trial| Trial { slc: Some(SLC_BYTES), ..trial };
    rivals.into_iter().chain(proposed).map(on_an_eighth).collect()
}

fn megabytes(run: &RunResult) -> f64 {
    throughput(run, SECTOR)
}

fn write(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.title("Ko, Suh, Park and Chung's figures, reproduced");
    page.say(
        "S. Ko, H. Suh, S. Park and E. Chung, \"FTL for the effective use of SLC NAND flash memory in hybrid solid \
         state devices\" (2011; in Korean). Made by `tandem repro ko`: MLC of two ways of four planes and SLC of one \
         way of four planes beside it, all of which work at the same time, eight requests under way, every read \
         verified. The paper has 8,192 MLC blocks and 1,024 of SLC; all sizes here are an eighth of that, so that the \
         requests of a run fill the SLC more than once. It gives no times of its chips: ours are those of Chang's C3. \
         [How we read it](../RIVALS.md).",
    );
    wear(page, brought)?;
    thresholds(page, brought)?;
    systems(page, brought)
}

fn wear(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.heading("Figure 2: erases by SLC block");
    let mut rows = vec![["", "least", "mean", "most", "standard deviation"].map(String::from)];
    let axis = Axis::linear("erases").from(0.0);
    let mut chart = Chart::new("Erases by SLC block", Axis::linear("block"), axis);
    for ((load, runs), erases) in brought.each().zip(&brought.slc_erases) {
        let spread = &runs[PROPOSED].slc.erase_count;
        rows.push([
            load.name.into(),
            spread.min.to_string(),
            format!("{:.2}", spread.mean),
            spread.max.to_string(),
            format!("{:.2}", spread.stddev),
        ]);
        let points = erases[PROPOSED].iter().zip(0_u32..);
        let points = points.map(|(erases, block)| (f64::from(block), f64::from(*erases)));
        chart = chart.with(load.name, Shape::Points, points.collect());
    }
    page.table(&rows);
    page.chart("wear", "Erases by SLC block", &chart.svg())?;
    page.say(
        "The paper: victims in order wear all blocks alike without any leveling. The same holds here for all but a \
         few: blocks that are open for pages that stay fill slowly, because hardly any page stays, and meanwhile \
         miss the rounds of the others.",
    );
    Ok(())
}

fn thresholds(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.heading("Throughput by update threshold, MB/s");
    let mut rows = vec![["", "0", "1", "4", "16", "none stays"].map(String::from)];
    let axis = Axis::linear("throughput, threshold 0 = 1").from(0.0);
    let mut chart =
        Chart::new("Throughput by update threshold", Axis::linear("number of the threshold"), axis);
    for (load, runs) in brought.each() {
        let runs = &runs[FIRST_THRESHOLD..];
        rows.push(row(load.name, runs.iter().map(|run| format!("{:.1}", megabytes(run)))));
        let base = megabytes(&runs[0]);
        let points =
            runs.iter().zip(0_u32..).map(|(run, at)| (f64::from(at), megabytes(run) / base));
        chart = chart.with(load.name, Shape::Line, points.collect());
    }
    page.table(&rows);
    page.chart("thresholds", "Throughput by update threshold", &chart.svg())?;
    page.say(
        "The paper found by experiment, without giving figures, that a larger threshold is better: pages should \
         leave the SLC rather than be copied within it. Here it hardly matters: throughput changes by a tenth of a \
         megabyte a second at most, up on financial1 and down on iozone.",
    );
    Ok(())
}

fn systems(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.heading("Figure 3: throughput of four systems, MB/s");
    let heads =
        ["", "MLC alone", "combo", "ko", "SLC alone", "ko of SLC", "ko by MLC", "ko by combo"];
    let mut rows = vec![heads.map(String::from)];
    let mut bars: [Vec<f64>; 4] = Default::default();
    let mut best = [0.0_f64; 2];
    let mut by_combo = 0.0;
    for (load, runs) in brought.each() {
        let all = [MLC, COMBO, PROPOSED, SLC].map(|at| megabytes(&runs[at]));
        let [mlc, combo, ko, slc] = all;
        let ratios = [ko / slc, ko / mlc, ko / combo];
        // The paper's four.
        if load.stand_in.is_some() {
            best = [best[0].max(ratios[0]), best[1].max(ratios[1])];
            by_combo += ratios[2] / 4.0;
        }
        let speeds = all.map(|figure| format!("{figure:.1}"));
        let shares = ratios.map(|ratio| format!("{:.0} %", 100.0 * ratio));
        rows.push(row(load.name, speeds.into_iter().chain(shares)));
        for (bar, figure) in bars.iter_mut().zip(all) {
            bar.push(figure);
        }
    }
    let [most_of_slc, most_by_mlc] = best.map(|ratio| format!("{:.0} %", 100.0 * ratio));
    let mean = format!("{:.0} %", 100.0 * by_combo);
    let none = || String::from("-");
    rows.push([
        "best; mean of the last".into(),
        none(),
        none(),
        none(),
        none(),
        most_of_slc,
        most_by_mlc,
        mean,
    ]);
    rows.push(
        ["paper", "-", "-", "-", "-", "up to 95 %", "up to 340 %", "177 %"].map(String::from),
    );
    page.table(&rows);
    let names = brought.loads.iter().map(|load| load.name);
    let names_of = ["MLC alone", "combo", "ko", "SLC alone"];
    let chart = Bars::grouped("Throughput of four systems", Axis::linear("MB/s").from(0.0), names);
    let chart =
        names_of.into_iter().zip(bars).fold(chart, |chart, (name, bar)| chart.with(name, bar));
    page.chart("systems", "Throughput of four systems", &chart.svg())?;
    tell_systems(page, brought);
    Ok(())
}

fn tell_systems(page: &mut Page, brought: &StudyResults) {
    page.say(
        "All of the paper's percentages are read as ratios: 340 % is 3.4 times the throughput of MLC alone, 177 % \
         is 1.77 times that of Combo in the mean. What holds: `ko` is faster than Combo on every load, though only \
         slightly on desktop; it comes close to SLC alone; and the long requests of photoshop gain nothing over \
         MLC alone. Its gains are smaller here because the MLC behind both `ko` and Combo must collect on a full \
         disk. On financial1 it is faster than SLC alone: that collects over a whole full disk, while the few \
         blocks of `ko`'s SLC hold hot pages, which are rewritten before they are collected.",
    );
    if brought.loads.iter().any(|load| load.stand_in.is_none()) {
        page.say(
            "ext4_server is none of the paper's: a small office server, recorded by this project (`traces/own`). \
             The best and the mean leave it out.",
        );
    }
}
