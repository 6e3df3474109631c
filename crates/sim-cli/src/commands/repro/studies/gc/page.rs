//! The page.

use sim::{Failure, show};

use super::super::super::page::Page;
use super::super::{Loads, row};
use super::grid::{CHIP, DiskShape, PASSES, SCHEMES};
use super::runs::{LoadResults, Programs};
use crate::output::plot::{Axis, Chart, Shape};

const COLUMNS: usize = SCHEMES.len() + 1;

pub(super) fn write(
    page: &mut Page,
    loads: &Loads<'_>,
    results: &[LoadResults],
) -> Result<(), Failure> {
    introduce(page, loads, results);
    page.heading("The usual disk");
    let Some((usual, _)) = results.first().and_then(|load| load.by_shape.first()) else {
        return Err(Failure::Violation("no load was replayed".into()));
    };
    page.say(&format!(
        "Pages programmed for each page that the host wrote, with {} spare and blocks of {} pages: a GiB of flash for \
         a GB of data.",
        percent(*usual),
        usual.pages
    ));
    let rows =
        results.iter().filter_map(|load| Some((load.load.name.into(), load.by_shape.first()?)));
    page.table(&table(rows.map(|(name, (_, cells))| (name, &cells[..]))));
    charts(page, results)?;
    page.heading("By spare and by block size");
    let (busy, calm): (Vec<_>, Vec<_>) = results.iter().partition(|load| most(load) > CALM);
    for load in busy {
        page.say(&format!("`{}`:", load.load.name));
        let rows = load.by_shape.iter().map(|(shape, cells)| (shape.words(), &cells[..]));
        page.table(&table(rows));
    }
    if !calm.is_empty() {
        let names = calm.iter().map(|load| format!("`{}`", load.load.name));
        let most = calm.iter().map(|load| most(load)).fold(1.0, f64::max);
        page.say(&format!(
            "On the others, {}, no scheme programs more than {most:.2} pages for each that the host writes, on any of \
             the disks.",
            show::listed(names, "and")
        ));
    }
    page.heading("The claims beside ours");
    claims(page, results);
    page.heading("What differs");
    differs(page);
    Ok(())
}

/// Loads that are amplified less than that on all disks have no table of their own.
const CALM: f64 = 1.1;

/// The most that a load is amplified.
fn most(load: &LoadResults) -> f64 {
    let cells = load.by_shape.iter().flat_map(|(_, cells)| cells).flatten();
    cells.map(|programs| programs.amplification()).fold(1.0, f64::max)
}

fn percent(shape: DiskShape) -> String {
    format!("{:.1} %", 100.0 * shape.spare)
}

fn introduce(page: &mut Page, loads: &Loads<'_>, results: &[LoadResults]) {
    page.title("Schemes of garbage collection");
    let traces = if loads.folder.is_some() { " --traces traces/own" } else { "" };
    page.say(&format!(
        "What the field compares with now, on the same disks and loads, every read verified. Made by `tandem repro \
         gc{traces}`: disks of one region of blocks like those of `{CHIP}`, with 4-KiB pages, as large as the load; \
         filled once in order, which is not counted, then the load: writes of 4 KiB to a GB of data, or {PASSES} \
         passes of a trace whose extents were moved together. Write amplification is all that is programmed during \
         the load, maps and wear leveling included, by the pages that the host wrote."
    ));
    let mut rows = vec![["", "what it does", "as a system"].map(String::from)];
    rows.extend(SCHEMES.iter().map(|scheme| {
        let system = match scheme.system {
            super::grid::Built::Named(name) => format!("`{name}`"),
            super::grid::Built::Foreseeing(_) => "of `repro gc` alone".into(),
        };
        [scheme.name.into(), scheme.title.into(), system]
    }));
    page.words(&rows);
    page.say(
        "All but `paged` have their map in RAM and lose data when power fails. FK has the future from a first run of \
         the same requests, whose diary it reads; its checks fail if a write comes at another time than foreseen.",
    );
    let mut rows = vec![["load", "pages of the disk", "pages written"].map(String::from)];
    rows.extend(results.iter().filter_map(|load| {
        let Programs { filled, written, .. } =
            load.by_shape.iter().flat_map(|(_, cells)| cells).flatten().next()?;
        Some([load.load.name.into(), show::count(*filled), show::count(*written)])
    }));
    page.table(&rows);
}

/// A table of amplifications, a column for each scheme.
fn table<'a>(
    rows: impl Iterator<Item = (String, &'a [Option<Programs>])>,
) -> Vec<[String; COLUMNS]> {
    let heads = row("", SCHEMES.iter().map(|scheme| scheme.name.to_owned()));
    let told = |cell: &Option<Programs>| {
        cell.map_or("-".into(), |programs| format!("{:.2}", programs.amplification()))
    };
    let rows = rows.map(|(name, cells)| row(name, cells.iter().map(told)));
    std::iter::once(heads).chain(rows).collect()
}

/// Zipf's law by spare, and by the size of blocks.
fn charts(page: &mut Page, results: &[LoadResults]) -> Result<(), Failure> {
    let Some(zipf) = results.iter().find(|load| load.load.name == "zipf") else { return Ok(()) };
    let usual = zipf.by_shape[0].0;
    let axis = || Axis::linear("write amplification").from(0.0);
    let of =
        |is_shown: &dyn Fn(&DiskShape) -> bool, x: &dyn Fn(&DiskShape) -> f64, mut chart: Chart| {
            for (at, scheme) in SCHEMES.iter().enumerate() {
                let shown = zipf.by_shape.iter().filter(|(shape, _)| is_shown(shape));
                let points =
                    shown.filter_map(|(shape, cells)| Some((x(shape), cells[at]?.amplification())));
                chart = chart.with(scheme.name, Shape::Line, points.collect());
            }
            chart
        };
    let by_spare = of(
        &|shape| shape.pages == usual.pages,
        &|shape| 100.0 * shape.spare,
        Chart::new("Zipf's law, by spare", Axis::linear("% spare").from(0.0), axis()),
    );
    page.chart("spare", "Write amplification by spare", &by_spare.svg())?;
    let by_pages = of(
        &|shape| (shape.spare - usual.spare).abs() < 1e-9,
        &|shape| f64::from(shape.pages),
        Chart::new("Zipf's law, by block size", Axis::linear("pages of a block").from(0.0), axis()),
    );
    page.chart("pages", "Write amplification by block size", &by_pages.svg())
}

/// The result of a scheme for a load, on the disk of so many pages in a block with the usual spare.
fn cell(results: &[LoadResults], load: &str, pages: u32, scheme: &str) -> Option<Programs> {
    let found = results.iter().find(|result| result.load.name == load)?;
    let usual = found.by_shape.first()?.0;
    let is_meant =
        |shape: &DiskShape| shape.pages == pages && (shape.spare - usual.spare).abs() < 1e-9;
    let (_, cells) = found.by_shape.iter().find(|(shape, _)| is_meant(shape))?;
    let at = SCHEMES.iter().position(|known| known.name == scheme)?;
    cells[at]
}

/// By how much a scheme amplifies more than another, on each load.
fn against(results: &[LoadResults], loads: &[&str], pages: u32, [one, other]: [&str; 2]) -> String {
    let change = |load: &&str| {
        let [one, other] = [one, other].map(|scheme| cell(results, load, pages, scheme));
        let change = super::super::change(one?.amplification(), other?.amplification());
        Some(format!("{load} {change}"))
    };
    let changes: Vec<String> = loads.iter().filter_map(change).collect();
    if changes.is_empty() { "-".into() } else { changes.join(", ") }
}

fn claims(page: &mut Page, results: &[LoadResults]) {
    let both = ["zipf", "ext4_server"];
    let against = |loads: &[&str], pages, pair| against(results, loads, pages, pair);
    let mut rows = vec![["claim", "paper", "ours"].map(String::from)];
    let mut claim = |claim: &str, paper: &str, ours: String| {
        rows.push([claim, paper, &ours].map(String::from));
    };
    claim(
        "d-choices amplifies about as much as greedy, even with d = 10 (Van Houdt 2013)",
        "close",
        against(&["uniform"], 128, ["d-choices", "greedy"]),
    );
    claim(
        "SepBIT amplifies less than the placements before it (FAST '22); here, than SepGC",
        "less",
        against(&both, 128, ["SepBIT", "SepGC"]),
    );
    claim(
        "knowing when data dies amplifies least (FAST '22): FK against SepBIT, blocks of 128 pages",
        "least",
        against(&both, 128, ["FK", "SepBIT"]),
    );
    claim("the same, classes that reach far", "-", against(&both, 128, ["FK, far", "SepBIT"]));
    claim(
        "MiDAS amplifies less than the techniques before it (FAST '24): against SepBIT, blocks of 128 pages",
        "-25 %",
        against(&both, 128, ["MiDAS", "SepBIT"]),
    );
    claim("the same, blocks of 512 pages", "-25 %", against(&both, 512, ["MiDAS", "SepBIT"]));
    page.table(&rows);
    page.say(
        "The next figures were measured by other programs on these loads, over fill and load together; ours are \
         counted alike. They are in [Who has what](../WHO-HAS-WHAT.md).",
    );
    let mut rows = vec![["", "elsewhere", "ours", "difference"].map(String::from)];
    for (load, pages, scheme, elsewhere) in ELSEWHERE {
        let Some(ours) = cell(results, load, pages, scheme).map(Programs::with_fill) else {
            continue;
        };
        rows.push([
            format!("{scheme}, {load}, blocks of {pages} pages"),
            format!("{elsewhere:.2}"),
            format!("{ours:.2}"),
            format!("{:+.1} %", 100.0 * (ours / elsewhere - 1.0)),
        ]);
    }
    page.table(&rows);
}

/// Measured by other programs: a count-only sketch of the first four, and of the last ones `MiDAS`'s own program.
const ELSEWHERE: [(&str, u32, &str, f64); 10] = [
    ("zipf", 128, "greedy", 6.57),
    ("zipf", 128, "SepGC", 4.32),
    ("zipf", 128, "SepBIT", 3.77),
    ("zipf", 512, "SepGC", 4.74),
    ("zipf", 512, "SepBIT", 4.86),
    ("zipf", 512, "MiDAS", 4.37),
    ("ext4_server", 128, "SepGC", 2.65),
    ("ext4_server", 128, "SepBIT", 1.89),
    ("ext4_server", 512, "SepBIT", 2.69),
    ("ext4_server", 512, "MiDAS", 2.26),
];

fn differs(page: &mut Page) {
    page.say(
        "*SepBIT.* SepGC, which is the same rule in both programs, tells how far load and disk agree; what SepBIT \
         differs by beyond that is its own. The sketch's reserve and the clock of its cost-benefit are not recorded; \
         ours keeps five blocks free for six classes, and age in cost-benefit is counted in programmed pages.",
    );
    page.say(
        "*MiDAS.* Its sizes are set after four disks of writes, and only where its model expects less than was \
         measured; until then its groups are told apart by how often data was copied, which is a good scheme by \
         itself. A load that writes its disk fewer than four times sees nothing else of it. See the \
         [file](../../crates/ftl-rivals/src/midas/mod.rs) for what we chose.",
    );
    page.say(
        "*FK* in its own paper has segments of 512 MiB by default, a thousand blocks of ours. Six blocks of flash are \
         hardly a part of a disk: nearly everything is in its last class, host writes and copies alike, so that \
         schemes without an oracle may separate better. Neither FK uses its knowledge to choose victims.",
    );
    page.say(
        "*NoDaP,* the near-optimal oracle of DOGI (Kim et al., FAST '26), is left out. We know the paper's abstract \
         alone, which does not say how it places data; DOGI is said to amplify up to 23.2 % less than the best \
         before it. FK with classes that reach far shows how much an oracle has to gain here.",
    );
}
