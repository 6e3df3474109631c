//! `tandem compare`: systems side by side, on the same requests, each in its own thread.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use crate::Failure;
use crate::replay::{self, Options, text};
use crate::result::{Ratios, RunResult};
use crate::show;
use crate::systems::Chosen;
use crate::table::{Edge, Table};

/// What was typed after `compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The systems, set apart by commas; ratios are to the first
    #[arg(
        long,
        default_value = "conventional,hybrid",
        value_delimiter = ',',
        value_parser = Chosen::parse,
        value_name = "SYSTEMS"
    )]
    systems: Vec<Chosen>,
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
    for (at, system) in args.systems.iter().enumerate() {
        if args.systems[..at].iter().any(|other| other.name == system.name) {
            let reason =
                format!("`{}` is named twice: a comparison has each system once", system.name);
            return Err(Failure::Arguments(reason));
        }
    }
    let setup = args.options.device.setup()?;
    let runs = replay::run_all(&args.options, &setup, &args.systems)?;
    let Some(first) = runs.first() else {
        return Ok(()); // The command line names at least one system.
    };
    let ratios = runs.iter().map(|run| (run.system.as_str(), run.against(first))).collect();
    let comparison = Comparison { runs: &runs, ratios };
    if replay::write_json(&args.options, &comparison, out)? {
        return Ok(());
    }
    text::heading(first, &args.options, &setup, out)?;
    table(&runs, out)?;
    for run in &runs[1..] {
        writeln!(out)?;
        explain(run, first, out)?;
    }
    writeln!(out, "\nEvery sector that was read held what was written last.")?;
    Ok(())
}

fn table(runs: &[RunResult], out: &mut dyn Write) -> Result<(), Failure> {
    let systems = runs.iter().map(|run| (run.system.as_str(), Edge::Right));
    let mut table = Table::new([("", Edge::Left)].into_iter().chain(systems));
    let mut row = |name: &str, figure: &dyn Fn(&RunResult) -> String| {
        let cells = runs.iter().map(figure);
        table.row([name.to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
    };
    let time = |figure: Option<f64>| show::maybe(figure, show::time);
    row("response time, mean", &|run| time(run.response_us.mean));
    row("  of reads", &|run| time(run.read_us.mean));
    row("  of writes", &|run| time(run.write_us.mean));
    row("  half of the writes within", &|run| time(run.write_us.p50));
    row("  99 % of the writes within", &|run| time(run.write_us.p99));
    row("  longest write", &|run| time(run.write_us.max));
    row("energy of the flash", &|run| format!("{:.2} J", run.energy_mj / 1e3));
    row("price of the flash", &|run| format!("${:.2}", run.cost_usd));
    row("bytes programmed a byte written", &|run| {
        show::maybe(run.write_amplification, |times| format!("{times:.2}"))
    });
    row("blocks erased, SLC", &|run| in_slc(run, show::count(run.slc.erases)));
    row("blocks erased, MLC", &|run| show::count(run.mlc.erases));
    row("erases an SLC block, mean", &|run| {
        in_slc(run, format!("{:.3}", run.slc.erase_count.mean))
    });
    row("erases an MLC block, mean", &|run| format!("{:.3}", run.mlc.erase_count.mean));
    row("RAM of the FTL", &|run| show::about(run.ram_bytes));
    Ok(table.write(out)?)
}

fn in_slc(run: &RunResult, figure: String) -> String {
    if run.slc_bytes == 0 { "-".into() } else { figure }
}

/// Says in words what the paper's ratios are.
fn explain(run: &RunResult, first: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let ratios = run.against(first);
    writeln!(out, "{} against {}:", run.system, first.system)?;
    let mut table = Table::new([("", Edge::Left), ("", Edge::Right), ("", Edge::Left)]);
    let mut row = |name: &str, figure: Option<f64>, percent: bool, meaning: &str| {
        let shown = |figure: f64| {
            if percent { format!("{:.1} %", figure * 100.0) } else { format!("{figure:.2}") }
        };
        table.row([name.to_owned(), show::maybe(figure, shown), meaning.to_owned()]);
    };
    row("RS", ratios.rs, false, "times as fast, over all requests (more is better)");
    row("ES", ratios.es, true, "of the energy (less is better)");
    row("EC", ratios.ec, true, "of the flash's price (less is better)");
    row(
        "BW",
        ratios.bw,
        false,
        "erases of an SLC block for each of an MLC block; SLC endures more",
    );
    Ok(table.write_rows(out)?)
}
