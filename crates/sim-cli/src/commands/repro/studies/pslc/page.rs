//! The page: the fills, published and ours; other fill levels; a full disk; and what is not modelled.

use sim::Failure;

use super::super::super::page::Page;
use super::super::row;
use super::copy::Copied;
use super::curve;
use super::drives::{DIVISOR, Phase, SoldDrive};
use super::full_disk;
use super::tasks::CacheResults;
use crate::output::plot::{Axis, Chart, Shape};

pub(super) fn write(
    page: &mut Page,
    drives: &[SoldDrive],
    results: &CacheResults,
) -> Result<(), Failure> {
    page.title("The cache as sold");
    page.say(
        "No paper has this system: it is what today's disks do with blocks in SLC mode. A copy enters the cache; when \
         it is full, it goes straight to TLC while there is clean TLC; then to TLC while the cache is folded, that \
         is, emptied into TLC, to make room. Made by `tandem repro pslc`; channels, dies and planes work at the same \
         time.",
    );
    fills(page, drives, results)?;
    levels(page, drives, results);
    full_disk(page, results)?;
    in_place(page);
    Ok(())
}

fn fills(page: &mut Page, drives: &[SoldDrive], results: &CacheResults) -> Result<(), Failure> {
    page.heading("Four drives, filled from empty");
    page.say(&format!(
        "Published: TechPowerUp's tests, in which a copy of 1-MB requests by a single thread fills an erased drive. \
         Ours: device files of these drives, {DIVISOR:.0} times smaller (`crates/sim-cli/parts`), filled in requests \
         as large as a row of pages over all planes, eight under way, which stand for the buffer of a drive. Bytes \
         are told as of the drives as sold. Per cent: ours against the published figure."
    ));
    let heads =
        ["", "cache", "speed in it", "then", "until", "then", "mean of the fill"].map(String::from);
    let mut rows = vec![heads];
    for (drive, fill) in drives.iter().zip(&results.fills) {
        let phases = phases(fill, results);
        rows.push(published(drive));
        rows.push(ours(drive, &phases, fill.mean));
    }
    page.table(&rows);
    sources(page);
    for (drive, fill) in drives.iter().zip(&results.fills) {
        let title = format!("{}: speed by how much was written", drive.name);
        let axis = Axis::linear("GB/s").from(0.0);
        let points = as_sold(&curve::speeds(&fill.steps), results);
        let chart = Chart::new(&title, Axis::linear("GB written").from(0.0), axis)
            .with("published", Shape::Steps, told(drive, &phases(fill, results)))
            .with("ours", Shape::Line, points);
        page.chart(drive.short, &title, &chart.svg())?;
    }
    Ok(())
}

/// The phases of a copy, with the bytes of a drive as sold.
pub(super) fn phases(copied: &Copied, results: &CacheResults) -> Vec<Phase> {
    curve::phases(&as_sold(&curve::speeds(&copied.steps), results))
}

fn as_sold(points: &[(f64, f64)], results: &CacheResults) -> Vec<(f64, f64)> {
    let divisor = results.shape.divisor();
    points.iter().map(|(at, speed)| (at * divisor, *speed)).collect()
}

/// The published curve. A phase whose end is not told ends where ours does.
fn told(drive: &SoldDrive, ours: &[Phase]) -> Vec<(f64, f64)> {
    let end = |at: usize| {
        let until = |phases: &[Phase]| phases.get(at).and_then(|phase| phase.until);
        until(drive.phases).or_else(|| until(ours)).unwrap_or(drive.gigabytes)
    };
    let begins = [0.0].into_iter().chain((0..).map(end));
    let mut points: Vec<(f64, f64)> =
        begins.zip(drive.phases).map(|(begin, phase)| (begin, phase.speed)).collect();
    points.extend(drive.phases.last().map(|last| (drive.gigabytes, last.speed)));
    points
}

fn published(drive: &SoldDrive) -> [String; 7] {
    let of = |at: usize| drive.phases.get(at);
    let speed = |at| of(at).map_or("-".into(), |phase: &Phase| format!("{} GB/s", phase.speed));
    let until = |at| of(at).and_then(|phase: &Phase| phase.until);
    let size = |at| until(at).map_or("-".into(), |size| format!("{size:.0} GB"));
    let mean = format!("{} GB/s", drive.mean);
    [drive.name.into(), size(0), speed(0), speed(1), size(1), speed(2), mean]
}

fn ours(drive: &SoldDrive, phases: &[Phase], mean: f64) -> [String; 7] {
    let beside = |ours: f64, published: Option<f64>| {
        published.map_or_else(String::new, |published| {
            format!(" ({:+.0} %)", 100.0 * (ours / published - 1.0))
        })
    };
    let speed = |at: usize| {
        let published = drive.phases.get(at).map(|phase| phase.speed);
        let ours = phases.get(at).map(|phase| phase.speed);
        ours.map_or("-".into(), |ours| format!("{ours:.2} GB/s{}", beside(ours, published)))
    };
    let size = |at: usize| {
        let published = drive.phases.get(at).and_then(|phase| phase.until);
        let ours = phases.get(at).and_then(|phase| phase.until);
        ours.map_or("-".into(), |ours| format!("{ours:.0} GB{}", beside(ours, published)))
    };
    let mean = format!("{mean:.2} GB/s{}", beside(mean, Some(drive.mean)));
    ["ours".into(), size(0), speed(0), speed(1), size(1), speed(2), mean]
}

/// Which figures were put in, and which came out.
fn sources(page: &mut Page) {
    page.say(
        "No maker publishes the times of its dies, so the files fit them: the time of a program to the speeds of the \
         first two phases, the size of the cache to where the first one ends. What comes out, then, are the ends of \
         the second phase, the speeds of the third one and the means, with these exceptions. For the 980 Pro the time \
         of a program in TLC is fitted to the mean: 1.5 GB/s after the cache would make a mean of 1.6, so the drive \
         must be faster at times (the review says that it gets faster as it fills; ours does not); that it folds a \
         page for each four which go past the cache (`fold=25`) is fitted to the 1.5. For the Atom 50, which has no \
         DRAM, the time of a read in SLC mode is fitted to the third phase: with the 25 us of a die it would have \
         0.87 GB/s there, for 0.5.",
    );
    page.say(
        "What drives do in the third phase is not published. With writes past the cache, which is folded beside them \
         (`full=beside`, the default), the third phases of the M480 Play and the NM800 Pro come out; but also where \
         writes enter the cache again (`full=direct`) the NM800 Pro has 0.97 GB/s, so the curves do not tell which it \
         is. The Atom 50, slower than both, is given the latter. Where the second phase of the NM800 Pro ends is not \
         published either: its chart has our end, and the published mean makes it 1,056 GB.",
    );
}

fn levels(page: &mut Page, drives: &[SoldDrive], results: &CacheResults) {
    page.heading("By fill level, and after a rest");
    page.say(
        "Each drive was filled to a level so slowly that it could fold meanwhile, and rested. Then a copy filled it \
         to the end: the bytes that it took at the speed of the cache, the speed after them and until when, and the \
         mean. In another run a copy filled the cache alone, and after a pause the next one began: the bytes that it \
         wrote at that speed. All of it is known to two to four gigabytes.",
    );
    let heads = ["cache", "after it", "until", "mean of the rest"].map(String::from);
    let pauses = results.shape.pauses.iter().map(|pause| format!("back after {pause:.0} s"));
    let mut rows: Vec<[String; 8]> = vec![row("", heads.into_iter().chain(pauses))];
    let size = |bytes: f64| format!("{:.0} GB", bytes * results.shape.divisor() / 1e9);
    for (drive, levels) in drives.iter().zip(&results.levels) {
        for at in levels {
            let name = format!("{}, {}", drive.name, at.level.name);
            let phases = phases(&at.rest, results);
            let second = phases.get(1).map_or(0.0, |phase| phase.speed);
            let until = phases.get(1).and_then(|phase| phase.until);
            let until = until.map_or("the end".into(), |until| format!("{until:.0} GB"));
            let told = [
                size(at.cached),
                format!("{second:.2} GB/s"),
                until,
                format!("{:.2} GB/s", at.rest.mean),
            ];
            rows.push(row(name, told.into_iter().chain(at.again.iter().map(|bytes| size(*bytes)))));
        }
    }
    page.table(&rows);
    page.say(
        "The cache has a share of the blocks that hold no data outside it, so it shrinks as the disk fills. While the \
         host is idle it is folded, as many pages at a time as there are planes, and what is folded is there for the \
         next copy. The reviews say that drives recover within seconds: a part of their cache.",
    );
}

fn full_disk(page: &mut Page, results: &CacheResults) -> Result<(), Failure> {
    page.heading("The cliff on a full disk");
    page.say(
        "A copy onto 32 GiB of `tlc-pslc` that is full of data, its cache empty at first; four requests of 256 KiB \
         under way. Little of the disk is free, so the cache is small: 1 % of the blocks, and a quarter of what is \
         free.",
    );
    let heads = ["cache", "at first", "at last", "the cliff: after", "last by first"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("MB/s").from(0.0);
    let mut chart =
        Chart::new("Speed of one long copy", Axis::linear("MB written").from(0.0), axis);
    for ((name, system), copied) in full_disk::SYSTEMS.iter().zip(&results.full_disk) {
        let points: Vec<(f64, f64)> = curve::speeds(&copied.steps)
            .into_iter()
            .map(|(at, speed)| (at * 1e3, speed * 1e3))
            .collect();
        let (Some(first), Some(last)) = (points.get(1), points.last()) else { continue };
        let fallen = points.iter().find(|point| point.1 < 0.75 * first.1);
        rows.push([
            format!("{name}: `{system}`"),
            format!("{:.0} MB/s", first.1),
            format!("{:.0} MB/s", last.1),
            fallen.map_or("none".into(), |point| format!("{:.0} MB", point.0)),
            format!("{:.0} %", 100.0 * last.1 / first.1),
        ]);
        chart = chart.with(*name, Shape::Line, points);
    }
    page.table(&rows);
    page.chart("cliff", "Speed of one long copy", &chart.svg())?;
    page.say(
        "A cache that is folded for each write when it is full costs two programs for each, in SLC mode and in TLC, \
         and a read between them: such a disk is slower than one without a cache. The papers' designs differ in what \
         they let into the SLC: a copy like this one never enters it in `hybrid` or `ko`.",
    );
    Ok(())
}

/// What is not modelled, and what it would give.
fn in_place(page: &mut Page) {
    page.heading("Not modelled: reprogramming in place");
    page.say(
        "Yang and others (arXiv 2409.14360) do not copy a full cache: a word line in SLC mode gets its two other \
         pages where it is, and is a word line of TLC. They claim write latency down to 0.75 times and write \
         amplification down to 0.53 times that of a cache which is folded. Here it is arithmetic alone, on \
         `tlc-pslc`. Of three pages that are written through a cache which is folded, each is programmed twice, in \
         200 us and 750 us, and read once in 25 us: 975 us a page, write amplification 2. In place, one of them is \
         programmed in SLC mode and two as those of a word line of TLC: (200 + 2 x 750) / 3 = 567 us a page, write \
         amplification 1. That is 0.58 times the time and 0.5 times the amplification: the latter is within 20 % of \
         the claim, the former is not, as their loads have idle time in which the cache is folded, and this \
         arithmetic has none.",
    );
    page.say(
        "To simulate it, three rules would have to change. `NandDevice` promises that pages are programmed in rising \
         order, each once after an erase, and a block's mode is that of its erase: a program of the second page of a \
         word line after the first page of the next one is misuse, which the chip refuses. A page would need two \
         times, by what its word line holds. And a power cut in a reprogram may cost the page that was acknowledged \
         when it was in SLC mode, so an FTL that is safe would have to keep a copy of it, which is what the method is \
         to save. A system that broke these rules for itself alone would be compared on a chip that the others do not \
         have.",
    );
}
