//! The verdict of a comparison, in words: whether the SLC is worth its price, and what the run cannot show.

use std::io::Write;

use ftl_iface::Region;
use nand_model::part::Part;

use crate::Failure;
use crate::result::{BYTES_A_DAY, ByCause, RunResult};
use crate::show;
use crate::table::terminal_columns;

/// The answer to "is it worth its price?", and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// A sentence or two for each system after the first.
    pub(crate) answers: Vec<String>,
    /// What the run cannot show, and what to do about it.
    pub(crate) warnings: Vec<String>,
}

/// From this speed-up on a system counts as faster.
const FASTER: f64 = 1.1;

/// Below this speed-up a system counts as slower.
const SLOWER: f64 = 0.98;

impl Verdict {
    /// Writes the verdict as text.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        const WIDTH: usize = 96;
        // Lines after the first are indented by four columns.
        let width = terminal_columns().saturating_sub(4).clamp(16, WIDTH);
        let parts = [
            ("Is it worth its price?", &self.answers),
            ("What this run cannot show:", &self.warnings),
        ];
        for (heading, sentences) in parts.into_iter().filter(|(_, said)| !said.is_empty()) {
            writeln!(out, "\n{heading}")?;
            for sentence in sentences {
                writeln!(out, "  {}", show::folded(sentence, width).join("\n    "))?;
            }
        }
        Ok(())
    }
}

/// The verdict on runs on one device; the others are compared with the first.
pub(crate) fn of(runs: &[&RunResult], part: &Part) -> Verdict {
    let Some((first, others)) = runs.split_first() else { return Verdict::default() };
    let answers = others.iter().flat_map(|run| answer(run, first)).collect();
    Verdict { answers, warnings: warnings(runs, part) }
}

fn answer(run: &RunResult, first: &RunResult) -> Vec<String> {
    let ratios = run.against(first);
    let (Some(speed), Some(price)) = (ratios.rs, ratios.ec) else {
        return vec![format!("{}: no request took any time: nothing to compare.", run.system)];
    };
    let (name, base) = (&run.system, &first.system);
    let mean = |run: &RunResult| show::maybe(run.response_us.mean, show::time);
    let times = format!("mean response {} against {}", mean(run), mean(first));
    let speed = match speed {
        speed if speed >= FASTER => format!("Yes: {name} is {speed:.2} times as fast as {base}"),
        speed if speed >= SLOWER => {
            format!("Hardly: {name} is about as fast as {base}, {speed:.2} times")
        }
        speed => format!("No: {name} is slower than {base}, {speed:.2} times as fast"),
    };
    let money =
        format!("{} against {}", show::dollars(run.cost_usd), show::dollars(first.cost_usd));
    let price = match (price - 1.0) * 100.0 {
        more if more >= 0.05 => format!("for {more:.1} % more money ({money})"),
        less if less <= -0.05 => format!("for {:.1} % less money ({money})", -less),
        _ => format!("for the same money ({})", show::dollars(run.cost_usd)),
    };
    let energy = show::maybe(ratios.es, show::percent);
    let mut said = vec![format!("{speed} ({times}), {price}, with {energy} of the energy.")];
    said.extend(reason(run, first));
    said.extend(life(run, first));
    said
}

/// The causes that make up most of the difference between two runs.
fn reason(run: &RunResult, first: &RunResult) -> Option<String> {
    let requests = run.requests.total().max(1);
    #[allow(clippy::cast_precision_loss)] // A sentence shows few digits.
    let of = |result: &RunResult| {
        result.response_by_cause_us.all().parts().map(|(_, micros)| micros / requests as f64)
    };
    let names = ByCause::default().parts().map(|(name, _)| name);
    let gains = of(first).into_iter().zip(of(run)).map(|(before, after)| before - after);
    let mut gains: Vec<(&str, f64)> = names.into_iter().zip(gains).collect();
    gains.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let words = |(name, micros): &(&str, f64)| {
        let difference = if *micros > 0.0 { "less" } else { "more" };
        format!("{} {difference} on {}", show::time(micros.abs()), doing(name))
    };
    let seen = |micros: f64| micros.abs() >= 0.05;
    let gained = gains.first().filter(|(_, gain)| *gain > 0.0 && seen(*gain)).map(words);
    let lost = gains.last().filter(|(_, gain)| *gain < 0.0 && seen(*gain)).map(words);
    let share = run
        .factors
        .and_then(|factors| factors.alpha)
        .map(|share| format!("; its log took {} of the data written", show::percent(share)));
    let share = share.unwrap_or_default();
    Some(match (gained, lost) {
        (Some(gained), Some(lost)) => {
            format!("Because a request spends {gained}, and {lost}{share}.")
        }
        (Some(one), None) | (None, Some(one)) => {
            format!("Because a request spends {one}{share}.")
        }
        (None, None) => return None,
    })
}

/// What the FTL does under the name of a cause.
fn doing(cause: &str) -> &str {
    match cause {
        "waiting" => "waiting for earlier requests",
        "host" => "reading and programming its own pages",
        "reclaim" => "garbage collection",
        "fold" => "folding (merging a chain of blocks into one)",
        "write-back" => "writing cold data back",
        "wear leveling" => "wear leveling",
        "scan" => "address translation (reading tags or map pages)",
        _ => "the FTL's metadata",
    }
}

/// The lifetime of the flash, from its endurance and the wear of the run.
fn life(run: &RunResult, first: &RunResult) -> Option<String> {
    let of = |result: &RunResult| {
        let regions = Region::ALL.iter().filter_map(|region| {
            let years = result.region(*region).lifetime_years?;
            Some(format!("{} in its {region}", show::years(years)))
        });
        regions.collect::<Vec<String>>().join(" and ")
    };
    let (own, before) = (of(run), of(first));
    let at = show::bytes_a_day(BYTES_A_DAY);
    match (own.is_empty(), before.is_empty()) {
        (false, false) => Some(format!(
            "At {at} and with even wear, {} lasts {own}; {} lasts {before}.",
            run.system, first.system
        )),
        (false, true) => Some(format!("At {at} and with even wear, {} lasts {own}.", run.system)),
        _ => None,
    }
}

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

fn warnings(runs: &[&RunResult], part: &Part) -> Vec<String> {
    let mut warnings = Vec::new();
    for run in runs {
        warnings.extend(never_filled(run, part));
    }
    let idle: Vec<&str> = runs
        .iter()
        .filter(|run| Region::ALL.iter().all(|region| run.region(*region).erases == 0))
        .map(|run| run.system.as_str())
        .collect();
    if !idle.is_empty() {
        warnings.push(format!(
            "Garbage collection never ran in {}: no block was erased, so its cost is not in these figures. \
             Replay more: --passes {}.",
            show::listed(&idle, "and"),
            runs[0].passes.saturating_mul(10)
        ));
    }
    warnings.extend(little_touched(runs, part));
    warnings
}

/// A log that was never filled shows its gain but not its cost.
#[allow(clippy::cast_precision_loss)] // Shares are shown with few digits.
fn never_filled(run: &RunResult, part: &Part) -> Option<String> {
    let page = part.geometry.slc().filter(|_| run.slc_bytes > 0)?.page_bytes;
    let programmed = run.slc.pages.programs() * u64::from(page.get());
    if programmed >= run.slc_bytes {
        return None;
    }
    let filled = show::percent(programmed as f64 / run.slc_bytes as f64);
    let passes = (2 * run.slc_bytes).div_ceil(programmed.max(1)) * u64::from(run.passes);
    let smaller = (programmed / 4).max(1 << 20);
    let smaller = format!("--slc {}", show::size(1 << smaller.ilog2()));
    let advice = if passes <= PASSES_MOST {
        format!("Use --passes {passes} to fill it twice, or less of it with {smaller}")
    } else {
        format!("Use less of it with {smaller}")
    };
    Some(format!(
        "The SLC of {} was never filled: {filled} of it was programmed, so garbage collection in it costs nothing \
         yet. {advice}.",
        run.system
    ))
}

/// If hardly anything of a disk is written, the rest is cold data, far more than on a real disk.
#[allow(clippy::cast_precision_loss)] // As above.
fn little_touched(runs: &[&RunResult], part: &Part) -> Option<String> {
    let touched = runs.first()?.bytes_touched;
    let share = touched as f64 / part.exported_bytes.max(1) as f64;
    if share >= TOUCHED_LEAST || touched == 0 {
        return None;
    }
    let fitting = show::size((2 * touched).next_power_of_two().max(1 << 28));
    Some(format!(
        "Only {} of the disk was written ({} of {}): the rest is cold, and all spare blocks serve the written part. \
         Use --capacity {fitting} --fit pack for a disk about as large as the data.",
        show::percent(share),
        show::about(touched),
        show::size(part.exported_bytes)
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::compare;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: compare::Args,
    }

    /// What `compare` prints.
    fn printed(words: &[&str]) -> String {
        let line = Line::try_parse_from([&["compare"], words].concat());
        let Line { args } = line.unwrap_or_else(|error| panic!("{error}"));
        let mut out = Vec::new();
        compare::run(&args, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_comparison_ends_in_an_answer_with_its_reason_and_the_flashs_lifetime() {
        let hot = "synth:zipf?requests=40000&size=4KiB&footprint=8MiB&skew=1.1";
        let said = printed(&[hot, "--capacity", "256MiB", "--slc", "8MiB"]);
        assert!(said.contains("Yes: hybrid is ") && said.contains("paged is "), "{said}");
        assert!(said.contains("% more money ($"), "{said}");
        assert!(said.contains("Because a request spends "), "{said}");
        assert!(said.contains(" less on "), "{said}");
        assert!(said.contains("At 20 GB a day") && said.contains(" in its MLC"), "{said}");
        assert!(!said.contains("never filled") && !said.contains("never ran"), "{said}");
    }

    #[test]
    fn what_a_run_cannot_show_is_said_with_what_to_do() {
        let said = printed(&["synth:uniform?requests=30&size=4KiB"]);
        assert!(said.contains("SLC of hybrid was never filled"), "{said}");
        assert!(said.contains("Garbage collection never ran in conventional and hybrid"), "{said}");
        assert!(said.contains("Only 0.0 % of the disk was written"), "{said}");
        assert!(
            said.contains("--capacity 256MiB --fit pack") && said.contains("--slc 1MiB"),
            "{said}"
        );
    }
}
