//! `tandem compare`: systems side by side, on the same requests, each in its own thread.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::replay::{self, Options, Progress, text};
use crate::result::{Ratios, RunResult};
use crate::show;
use crate::systems::{Chosen, Setup, Several, hardware_name};
use crate::table::{Edge, Table};
use crate::verdict;
use crate::{Failure, report};

/// What was typed after `compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The systems, set apart by commas, or all; ratios are to the first
    #[arg(
        long,
        default_value = "conventional,hybrid",
        value_delimiter = ',',
        value_parser = Several::parse,
        value_name = "SYSTEMS"
    )]
    systems: Vec<Several>,
    #[command(flatten)]
    options: Options,
}

/// A comparison, as its JSON has it.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    runs: &'a [RunResult],
    ratios: BTreeMap<&'a str, Ratios>,
}

/// Replays a trace on all systems and compares them with the first.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.options.check()?;
    let setup = args.options.device.setup()?;
    let systems: Vec<Chosen> =
        args.systems.iter().flat_map(|several| several.fitting(&setup)).collect();
    for (at, system) in systems.iter().enumerate() {
        if systems[..at].iter().any(|other| other.name == system.name) {
            let reason =
                format!("`{}` is named twice: a comparison has each system once", system.name);
            return Err(Failure::Arguments(reason));
        }
    }
    let outcomes = replay::run_all(&args.options, &setup, &systems, &Progress::new())?;
    report::write(&args.options, &setup, &outcomes)?;
    let runs: Vec<RunResult> = outcomes.into_iter().map(|outcome| outcome.result).collect();
    let Some(first) = runs.first() else {
        return Ok(()); // The command line names at least one system.
    };
    let ratios = runs.iter().map(|run| (run.system.as_str(), run.against(first))).collect();
    let comparison = Comparison { runs: &runs, ratios };
    if replay::write_json(&args.options, &comparison, out)? {
        return replay::ended(&args.options, runs.iter());
    }
    text::heading(first, &args.options, &setup, out)?;
    table(&runs, out)?;
    hardware(&runs, &setup, out)?;
    for run in &runs[1..] {
        writeln!(out)?;
        explain(run, first, out)?;
    }
    verdict::of(&runs.iter().collect::<Vec<_>>(), &setup.part).write(out)?;
    writeln!(out, "\nEvery sector that was read held what was written last.")?;
    replay::ended(&args.options, runs.iter())
}

fn table(runs: &[RunResult], out: &mut dyn Write) -> Result<(), Failure> {
    let systems = runs.iter().map(|run| (run.system.as_str(), Edge::Right));
    let mut table = Table::new([("", Edge::Left)].into_iter().chain(systems));
    let runs: Vec<&RunResult> = runs.iter().collect();
    for row in rows(&runs) {
        table.row(row);
    }
    Ok(table.write(out)?)
}

/// Names the memories of systems that bring others than the device's.
fn hardware(runs: &[RunResult], setup: &Setup, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    let others = runs.iter().filter(|run| !setup.has_all(&run.parts));
    let mut any = false;
    for run in others {
        table.row([run.system.clone(), hardware_name(&run.parts)]);
        any = true;
    }
    if any {
        writeln!(out, "\nSystems whose hardware is not the device's:")?;
        table.write_rows(out)?;
    }
    Ok(())
}

/// The figures of all runs side by side: in each row its name, then a figure for each run.
pub(crate) fn rows(runs: &[&RunResult]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |name: &str, figure: &dyn Fn(&RunResult) -> String| {
        let cells = runs.iter().map(|run| figure(run));
        rows.push([name.to_owned()].into_iter().chain(cells).collect());
    };
    let time = |figure: Option<f64>| show::maybe(figure, show::time);
    row("response time, mean", &|run| time(run.response_us.mean));
    row("  of reads", &|run| time(run.read_us.mean));
    row("  of writes", &|run| time(run.write_us.mean));
    row("  half of the writes within", &|run| time(run.write_us.p50));
    row("  99 % of the writes within", &|run| time(run.write_us.p99));
    row("  longest write", &|run| time(run.write_us.max));
    row("energy of the flash", &|run| show::energy(run.energy_mj));
    row("price of the flash", &|run| show::dollars(run.cost_usd));
    row("bytes programmed a byte written", &|run| {
        show::maybe(run.write_amplification, |times| format!("{times:.2}"))
    });
    row("blocks erased, SLC", &|run| in_slc(run, show::count(run.slc.erases)));
    row("blocks erased, MLC", &|run| show::count(run.mlc.erases));
    row("erases an SLC block, mean", &|run| {
        in_slc(run, format!("{:.3}", run.slc.erase_count.mean))
    });
    row("erases an MLC block, mean", &|run| format!("{:.3}", run.mlc.erase_count.mean));
    row("life of the SLC at 20 GB a day", &|run| show::maybe(run.slc.lifetime_years, show::years));
    row("life of the MLC at 20 GB a day", &|run| show::maybe(run.mlc.lifetime_years, show::years));
    row("RAM of the FTL", &|run| show::about(run.ram_bytes));
    rows
}

fn in_slc(run: &RunResult, figure: String) -> String {
    if run.slc_bytes == 0 { "-".into() } else { figure }
}

/// Says in words what the paper's ratios are.
fn explain(run: &RunResult, first: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{} against {}:", run.system, first.system)?;
    let mut table = Table::new([("", Edge::Left), ("", Edge::Right), ("", Edge::Left)]);
    for row in ratio_rows(run, first) {
        table.row(row);
    }
    Ok(table.write_rows(out)?)
}

/// The paper's ratios: name, figure, and what it means.
pub(crate) fn ratio_rows(run: &RunResult, first: &RunResult) -> [[String; 3]; 4] {
    let ratios = run.against(first);
    let plain = |figure: f64| format!("{figure:.2}");
    let row = |name: &str, figure: String, meaning: &str| [name.into(), figure, meaning.into()];
    [
        row(
            "RS",
            show::maybe(ratios.rs, plain),
            "times as fast, over all requests (more is better)",
        ),
        row("ES", show::maybe(ratios.es, show::percent), "of the energy (less is better)"),
        row("EC", show::maybe(ratios.ec, show::percent), "of the flash's price (less is better)"),
        row(
            "BW",
            show::maybe(ratios.bw, plain),
            "erases of an SLC block for each of an MLC block; SLC endures more",
        ),
    ]
}
