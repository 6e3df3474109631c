//! The figures of several runs side by side, for tables and pages.

use ftl_iface::Region;
use sim::engine::result::{PartResult, Ratios, RunResult};
use sim::engine::systems::{SLC_MODE, part_name};
use sim::show;

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
    if runs.iter().any(|run| run.requests.trims > 0) {
        row("  of trims", &|run| time(run.trim_us.mean));
    }
    if runs.iter().any(|run| run.requests.flushes > 0) {
        row("  of flushes", &|run| time(run.flush_mean_us()));
    }
    row("  half of the writes within", &|run| time(run.write_us.p50));
    row("  99 % of the writes within", &|run| time(run.write_us.p99));
    row("  longest write", &|run| time(run.write_us.max));
    row("energy", &|run| show::energy(run.energy_mj));
    row("price", &|run| show::dollars(run.cost_usd));
    row("write amplification", &|run| {
        show::maybe(run.write_amplification, |times| format!("{times:.2}"))
    });
    row("blocks erased, SLC", &|run| in_slc(run, show::count(run.slc.erases)));
    row("blocks erased, MLC", &|run| in_mlc(run, show::count(run.mlc.erases)));
    if runs.iter().any(|run| in_slc_mode(run).is_some()) {
        row("blocks erased, MLC in SLC mode", &|run| {
            in_slc_mode(run).map_or_else(|| "-".into(), show::count)
        });
    }
    row("erases per SLC block, mean", &|run| {
        in_slc(run, format!("{:.3}", run.slc.erase_count.mean))
    });
    row("erases per MLC block, mean", &|run| {
        in_mlc(run, format!("{:.3}", run.mlc.erase_count.mean))
    });
    if runs.iter().any(|run| in_slc_mode(run).is_some()) {
        row("erases per MLC block in SLC mode, mean", &|run| {
            let memory = run.parts.get(SLC_MODE);
            memory.map_or_else(|| "-".into(), |memory| format!("{:.3}", memory.wear.mean))
        });
    }
    let a_day = show::bytes_a_day(runs.first().map_or(0, |run| run.bytes_a_day));
    let life = |region: &str| format!("life of the {region} at {a_day}");
    row(&life("SLC"), &|run| show::maybe(run.slc.lifetime_years, show::years));
    row(&life("MLC"), &|run| show::maybe(run.mlc.lifetime_years, show::years));
    row("RAM of the FTL", &|run| show::about(run.ram_bytes));
    rows
}

/// Blocks of the MLC that were erased in SLC mode: the life of the MLC counts them, by the endurance of that mode.
fn in_slc_mode(run: &RunResult) -> Option<u64> {
    run.parts.get(SLC_MODE).map(PartResult::erases)
}

fn in_slc(run: &RunResult, figure: String) -> String {
    if run.slc_bytes == 0 { "-".into() } else { figure }
}

fn in_mlc(run: &RunResult, figure: String) -> String {
    if run.parts.contains_key(part_name(Region::Mlc)) { figure } else { "-".into() }
}

/// The paper's ratios: in each row the name, a figure for each run, and what it means.
pub(crate) fn ratio_rows(runs: &[&RunResult], first: &RunResult) -> Vec<Vec<String>> {
    let plain = |figure: f64| format!("{figure:.2}");
    let row = |name: &str, figure: &dyn Fn(&Ratios) -> String, meaning: &str| {
        let figures = runs.iter().map(|run| figure(&run.against(first)));
        [name.to_owned()].into_iter().chain(figures).chain([meaning.to_owned()]).collect()
    };
    vec![
        row(
            "RS",
            &|ratios| show::maybe(ratios.rs, plain),
            "times as fast, over all requests (more is better)",
        ),
        row(
            "ES",
            &|ratios| show::maybe(ratios.es, show::percent),
            "of the energy (less is better)",
        ),
        row("EC", &|ratios| show::maybe(ratios.ec, show::percent), "of the price (less is better)"),
        row(
            "BW",
            &|ratios| show::maybe(ratios.bw, plain),
            "erases per SLC block, divided by erases per MLC block",
        ),
    ]
}
