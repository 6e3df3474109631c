//! Why a system is faster, and how long it lasts.

use ftl_iface::Region;
use nand_model::part::Part;
use sim::engine::result::{ByCause, RunResult};
use sim::show;

use crate::output::ranking::{Listed, NOTABLE, Ranking};

/// Times that differ by less are not worth a word.
const SAME_TIME: f64 = 1.05;

/// Why the taken system is faster than the first, what it is slower at nevertheless, and how long both last.
pub(super) fn of(taken: &Listed<'_>, ranking: &Ranking<'_>, part: &Part) -> Vec<String> {
    let (run, first) = (taken.run, ranking.first);
    if std::ptr::eq(run, first) {
        return Vec::new();
    }
    let named = match run.slc_bytes {
        0 => taken.told(),
        _ => taken.named(),
    };
    let names = (named.as_str(), ranking.label(first));
    // It may be taken for its price or its life.
    let is_faster = run.against(first).rs.is_some_and(|times| times >= NOTABLE);
    let reason = if is_faster { reason(run, first, names) } else { None };
    reason.into_iter().chain(slowest(run, first)).chain(life(run, first, names, part)).collect()
}

/// What gets slower although the mean gets faster.
fn slowest(run: &RunResult, first: &RunResult) -> Option<String> {
    let is_faster = run.response_us.mean < first.response_us.mean;
    let told = [
        ("99 % of the writes take up to", run.write_us.p99, first.write_us.p99),
        ("the longest write takes", run.write_us.max, first.write_us.max),
    ];
    let slower = told.into_iter().filter_map(|(what, after, before)| {
        let (after, before) = (after?, before?);
        let words = format!("{what} {} instead of {}", show::time(after), show::time(before));
        (after > SAME_TIME * before).then_some(words)
    });
    let slower: Vec<String> = slower.collect();
    (is_faster && !slower.is_empty()).then(|| format!("But {}.", slower.join(", and ")))
}

/// The causes that make up most of the difference between two runs.
fn reason(run: &RunResult, first: &RunResult, (name, base): (&str, &str)) -> Option<String> {
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
        let waits = if run.parallel && *name != "waiting" { "busy dies and " } else { "" };
        format!("{} {difference} on {waits}{}", show::time(micros.abs()), doing(name))
    };
    let seen = |micros: f64| micros.abs() >= 0.05;
    let gained = gains.first().filter(|(_, gain)| *gain > 0.0 && seen(*gain));
    let lost = gains.last().filter(|(_, gain)| *gain < 0.0 && seen(*gain));
    // What decides comes first.
    let mut told: Vec<&(&str, f64)> = gained.into_iter().chain(lost).collect();
    told.sort_by(|(_, one), (_, other)| other.abs().total_cmp(&one.abs()));
    let told: Vec<String> = told.into_iter().map(words).collect();
    let share = run
        .factors
        .and_then(|factors| factors.alpha)
        .filter(|share| *share > 0.0)
        .map(|share| format!("; its log took {} of the data written", show::percent(share)));
    let share = share.unwrap_or_default();
    let told = told.join(", and ");
    (!told.is_empty())
        .then(|| format!("Why: compared with {base}, a request of {name} spends {told}{share}."))
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
        "scan" => "address translation (reading tags)",
        "map" => "its map (reading and writing pages of it)",
        _ => "the FTL's metadata",
    }
}

/// The lifetime of the flash, from its endurance and the wear of the run.
#[allow(clippy::cast_precision_loss)] // A sentence shows few digits.
fn life(
    run: &RunResult,
    first: &RunResult,
    (name, base): (&str, &str),
    part: &Part,
) -> Option<String> {
    let of = |result: &RunResult| {
        let regions = Region::ALL.iter().filter_map(|region| {
            let years = result.region(*region).lifetime_years?;
            Some(format!("{} in its {region}", show::years(years)))
        });
        regions.collect::<Vec<String>>().join(" and ")
    };
    let (own, before) = (of(run), of(first));
    let a_day = run.bytes_a_day;
    let disks = a_day as f64 / part.exported_bytes.max(1) as f64;
    let much = if disks > 2.0 { format!(" ({disks:.1} times the disk)") } else { String::new() };
    let at = format!("{}{much} and with even wear", show::bytes_a_day(a_day));
    let is_shorter = run.life().zip(first.life()).is_some_and(|(own, before)| own < before);
    let lead = if is_shorter && own != before { "But it does not live as long: at" } else { "At" };
    match (own.is_empty(), before.is_empty()) {
        (false, false) => Some(format!("{lead} {at}, {name} lasts {own}; {base} lasts {before}.")),
        (false, true) => Some(format!("At {at}, {name} lasts {own}.")),
        _ => None,
    }
}
