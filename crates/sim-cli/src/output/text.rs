//! A result as text.

use std::io::Write;

use ftl_iface::Region;
use nand_model::Time;
use nand_model::part::Layout;
use sim::engine::replay::WINDOW;
use sim::engine::result;
use sim::engine::result::{ByCause, RegionResult, Requests, RunResult, Steady, Times};
use sim::engine::systems::{hardware_name, has_all};
use sim::input::device::Setup;
use sim::input::trace::fit::FitChoice;
use sim::{Failure, show};

use crate::flags::options::Options;
use crate::output::table::{Edge, Table, write_line};
use crate::output::verdict::Verdict;

/// Writes the workload and the system.
pub(crate) fn heading(
    result: &RunResult,
    options: &Options,
    setup: &Setup,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let requests = requests(&result.requests);
    let pace = pace(options, result);
    let exported = show::short(setup.part.exported_bytes);
    let traces = show::names(&options.workload.traces);
    write_line(&format!("{traces}: {requests}, {pace}"), out)?;
    let device = format!("on {}: {}, {exported} exported", setup.part.name, setup.part.title);
    write_line(&device, out)?;
    if setup.time == Time::Overlapped {
        write_line(overlap(setup), out)?;
    }
    if result.skipped_lines > 0 {
        let skipped = result.skipped_lines;
        let (lines, were) = if skipped == 1 { ("line", "was") } else { ("lines", "were") };
        write_line(&format!("{} bad {lines} {were} skipped", show::count(skipped)), out)?;
    }
    if let Some(fitted) = fitted(result) {
        write_line(&fitted, out)?;
    }
    if let Some(steady) = &result.steady {
        write_line(&settled(steady), out)?;
    }
    if result.partial {
        write_line("PARTIAL: stopped before the end; all figures are of the part that ran", out)?;
    }
    Ok(writeln!(out)?)
}

/// The number of requests, and of each kind if there are several.
pub(crate) fn requests(requests: &Requests) -> String {
    let kinds = [
        (requests.reads, "reads"),
        (requests.writes, "writes"),
        (requests.trims, "trims"),
        (requests.flushes, "flushes"),
    ];
    let told = kinds.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> =
        told.map(|(count, name)| format!("{} {name}", show::count(*count))).collect();
    let kinds = if told.len() > 1 { format!(" ({})", told.join(", ")) } else { String::new() };
    format!("{} requests{kinds}", show::count(requests.total()))
}

/// When requests are issued.
pub(crate) fn pace(options: &Options, result: &RunResult) -> String {
    let pace = options.pace.words();
    match &result.steady {
        Some(_) => format!("{pace}, the last {WINDOW} of {} passes", result.passes),
        None if result.passes > 1 => format!("{pace}, {} passes", result.passes),
        None => pace,
    }
}

/// Whether a run settled, and of which rounds its figures are.
pub(crate) fn settled(steady: &Steady) -> String {
    let count = steady.rounds.len();
    if steady.settled {
        format!("Steady after {count} rounds: all figures are of the last {WINDOW}")
    } else {
        format!(
            "NOT STEADY after {count} rounds, so a longer run may differ: all figures are of the last {WINDOW}"
        )
    }
}

/// The systems that use other memories than the device's, each with these.
pub(crate) fn other_hardware<'a>(
    runs: impl Iterator<Item = &'a RunResult>,
    setup: &Setup,
) -> Vec<[String; 2]> {
    let others = runs.filter(|run| !has_all(&setup.part, &run.parts));
    others.map(|run| [run.system.clone(), hardware_name(&run.parts)]).collect()
}

/// How the trace's addresses were changed to fit the device; `None` if they were not.
pub(crate) fn fitted(result: &RunResult) -> Option<String> {
    match FitChoice::named(&result.fit)? {
        FitChoice::Pack => Some(format!(
            "the {} that the trace reads or writes are moved together (--fit pack)",
            show::about(result.bytes_packed)
        )),
        FitChoice::Wrap => {
            Some("addresses beyond the end of the device begin again at 0 (--fit wrap)".into())
        }
        FitChoice::Auto => None,
    }
}

/// Whether the chip's operations overlap.
pub(crate) fn overlap(setup: &Setup) -> &'static str {
    let Layout { channels, dies_per_channel, planes_per_die, .. } = setup.part.layout;
    let has_own = |region| setup.part.region(region).is_some_and(|part| part.layout.is_some());
    let is_one = channels * dies_per_channel * planes_per_die == 1;
    match setup.time {
        Time::Serial => "one after the other",
        Time::Overlapped if is_one && !Region::ALL.into_iter().any(has_own) => {
            "the device has one die with one plane, so none work in parallel"
        }
        Time::Overlapped => "channels, dies and planes work in parallel",
    }
}

/// Writes a whole result.
pub(crate) fn write(
    result: &RunResult,
    options: &Options,
    setup: &Setup,
    verdict: &Verdict<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    heading(result, options, setup, out)?;
    body(result, out)?;
    verdict.write(out)
}

/// Writes everything but the heading.
pub(crate) fn body(result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "Response times of {}:", result.system)?;
    times(result, out)?;
    writeln!(out, "\nWhat the time was spent on:")?;
    causes(result, out)?;
    writeln!(out, "\nThe flash at work, in pages and blocks:")?;
    flash(result, out)?;
    writeln!(out)?;
    figures(result, out)
}

fn times(result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let heads = ["count", "mean", "half within", "99 % within", "99.9 % within", "longest"];
    let mut table =
        Table::new([("", Edge::Left)].into_iter().chain(heads.map(|head| (head, Edge::Right))));
    let requests = &result.requests;
    let mut row = |name: &str, count: u64, times: &Times| {
        if is_measured(times) {
            let figures = [times.mean, times.p50, times.p99, times.p999, times.max];
            let figures = figures.map(|figure| show::maybe(figure, show::time));
            let cells = [name.to_owned(), show::count(count)].into_iter().chain(figures);
            table.row(cells.collect::<Vec<String>>());
        }
    };
    row("all", requests.total(), &result.response_us);
    row("reads", requests.reads, &result.read_us);
    row("writes", requests.writes, &result.write_us);
    row("trims", requests.trims, &result.trim_us);
    let flushes = Times { mean: result.flush_mean_us(), ..Times::default() };
    if requests.flushes > 0 {
        row("flushes", requests.flushes, &flushes);
    }
    Ok(table.write(out)?)
}

/// Whether any response was measured.
const fn is_measured(times: &Times) -> bool {
    times.mean.is_some()
}

fn causes(result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let causes = &result.response_by_cause_us;
    let kinds =
        [("reads", causes.reads), ("writes", causes.writes), ("trims", causes.trims)].into_iter();
    let spent = kinds.filter(|(_, kind)| kind.parts().iter().any(|(_, part)| *part > 0.0));
    let columns: Vec<(&str, ByCause)> = [("all", causes.all())].into_iter().chain(spent).collect();
    let names = columns.iter().map(|(name, _)| (*name, Edge::Right));
    let mut table = Table::new([("", Edge::Left)].into_iter().chain(names));
    for (at, (name, all)) in columns[0].1.parts().into_iter().enumerate() {
        if all > 0.0 {
            let cells = columns.iter().map(|(_, causes)| show::time(causes.parts()[at].1));
            table.row([name.to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
        }
    }
    Ok(table.write(out)?)
}

fn flash(result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let regions: Vec<(&str, &RegionResult)> = Region::ALL
        .iter()
        .map(|region| (region.name(), result.region(*region)))
        .filter(|(_, figures)| {
            figures.erases > 0 || figures.pages.reads() > 0 || figures.pages.programs() > 0
        })
        .collect();
    let mut table = Table::new(
        [("", Edge::Left)].into_iter().chain(regions.iter().map(|(name, _)| (*name, Edge::Right))),
    );
    let mut row = |name: &str, figure: &dyn Fn(&RegionResult) -> String| {
        let cells = regions.iter().map(|(_, region)| figure(region));
        table.row([name.to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
    };
    row("read for the host", &|region| show::count(region.pages.host_read));
    row("read by garbage collection", &|region| show::count(region.pages.gc_read));
    row("read for address translation and the map", &|region| {
        show::count(region.pages.scan_read + region.pages.map_read)
    });
    row("programmed for the host", &|region| show::count(region.pages.host_program));
    row("programmed by garbage collection", &|region| show::count(region.pages.gc_program));
    row("programmed for wear leveling", &|region| show::count(region.pages.wl_program));
    row("programmed for the map", &|region| show::count(region.pages.map_program));
    row("programmed for metadata", &|region| show::count(region.pages.meta_program));
    row("blocks erased", &|region| show::count(region.erases));
    row("erases per block, mean", &|region| format!("{:.2}", region.erase_count.mean));
    row("erases per block, most", &|region| show::count(region.erase_count.max));
    Ok(table.write(out)?)
}

/// The share of the host's writes that the SLC took.
fn slc_share(result: &RunResult) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let taken = result.log_writes.unwrap_or(0);
    let writes = show::maybe(result::ratio(taken, result.requests.writes), percent);
    let data = result.factors.and_then(|factors| factors.alpha);
    let data =
        data.map_or_else(String::new, |share| format!(", with {} of the data", percent(share)));
    format!("{writes} of the writes{data}")
}

fn figures(result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    let amplification =
        |times: f64| format!("{times:.2} bytes programmed for each that the host wrote");
    row("write amplification", show::maybe(result.write_amplification, amplification));
    if let Some(times) = result.rewrite_amplification {
        row(
            "of rewrites",
            format!("{times:.2}, if the first write of an address takes one program"),
        );
    }
    row("energy", show::energy(result.energy_mj));
    row("price", show::dollars(result.cost_usd));
    row("hardware", hardware_name(&result.parts));
    for (region, figures) in [("SLC", &result.slc), ("MLC", &result.mlc)] {
        let life = |years| {
            format!(
                "{} at {}, with even wear",
                show::years(years),
                show::bytes_a_day(result.bytes_a_day)
            )
        };
        if let Some(years) = figures.lifetime_years {
            row(&format!("life of the {region}"), life(years));
        }
    }
    row("RAM of the FTL", show::about(result.ram_bytes));
    if let Some(filter) = result.filter {
        row("SLC's share", slc_share(result));
        row("writes count as hot up to", show::size(filter.threshold_bytes));
    }
    for (name, figure) in &result.figures {
        row(&name.replace('_', " "), format!("{figure:.4}"));
    }
    let verified = || format!("{} sectors, all that were read", show::count(result.verified_reads));
    let compared = result.verified_reads > 0 || result.requests.reads == 0;
    row("verified reads", if compared { verified() } else { "left to the host".into() });
    row(
        "speed",
        format!(
            "{:.0} requests and {:.1} million flash operations a second of processor time; {:.2} s in all",
            result.requests_per_s,
            result.nand_ops_per_s / 1e6,
            result.wall_s
        ),
    );
    Ok(table.write_rows(out)?)
}
