//! Which system to take, and why.

use ftl_iface::Region;
use nand_model::part::Part;

use crate::base::show;
use crate::engine::result::{BYTES_A_DAY, ByCause, Ratios, RunResult};
use crate::engine::systems;

/// From this speed-up on a system counts as faster.
const FASTER: f64 = 1.1;

/// From this one on it is worth having if it costs no more.
pub(crate) const A_LITTLE_FASTER: f64 = 1.02;

/// Below this speed-up a system counts as slower.
const SLOWER: f64 = 0.98;

/// Prices that differ by less are shown as the same.
const SAME_PRICE: f64 = 0.0005;

/// Times that differ by less are not worth a word.
const SAME_TIME: f64 = 1.05;

/// Whether a system is worth its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// It gains more in speed than it costs in money.
    Yes,
    /// It is about as fast, for less money.
    Cheaper,
    /// It is faster, but gains less than it costs.
    SpeedAlone,
    /// It is about as fast.
    Hardly,
    /// It is slower.
    No,
}

impl Worth {
    /// `None`: no request took any time.
    fn of(ratios: &Ratios) -> Option<Self> {
        let (speed, price) = (ratios.rs?, ratios.ec?);
        let is_same = is_same_price(price);
        Some(match speed {
            speed if speed >= FASTER && speed > price => Self::Yes,
            speed if speed >= FASTER => Self::SpeedAlone,
            speed if speed >= A_LITTLE_FASTER && (is_same || price < 1.0) => Self::Yes,
            speed if speed >= SLOWER && !is_same && price < 1.0 => Self::Cheaper,
            speed if speed >= SLOWER => Self::Hardly,
            _ => Self::No,
        })
    }
}

/// Whether a price is shown as the other one.
fn is_same_price(ratio: f64) -> bool {
    (ratio - 1.0).abs() < SAME_PRICE
}

/// A price compared with another one, in words.
pub(crate) fn money(ratio: f64) -> String {
    let by = show::percent((ratio - 1.0).abs());
    match ratio {
        same if is_same_price(same) => "the same money".into(),
        more if more > 1.0 => format!("{by} more money"),
        _ => format!("{by} less money"),
    }
}

/// The system to take: of those that are worth their price, the one with the most speed for it; else the first. A
/// system that loses data is not proposed in place of one that keeps it.
pub(super) fn recommendation(
    first: &RunResult,
    others: &[&RunResult],
    warnings: &[String],
    part: &Part,
) -> Option<String> {
    let must_survive = systems::survives_power_loss(&first.system);
    let known: Vec<(Worth, f64, &RunResult)> = others
        .iter()
        .filter(|run| !must_survive || systems::survives_power_loss(&run.system))
        .filter_map(|run| {
            let ratios = run.against(first);
            Some((Worth::of(&ratios)?, ratios.rs? / ratios.ec?, *run))
        })
        .collect();
    let best = known
        .iter()
        .filter(|(worth, ..)| matches!(worth, Worth::Yes | Worth::Cheaper))
        .max_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
    let far = if warnings.is_empty() { "" } else { ", as far as this run can tell (see below)" };
    match best {
        Some((_, _, run)) => {
            let is_sized = run.slc_bytes > 0 && part.geometry.mlc().is_some();
            let size = if is_sized {
                " `tandem sweep` finds out how large the SLC should be."
            } else {
                ""
            };
            Some(format!("Take {}{far}.{size}", named(run)))
        }
        None if known.is_empty() => None,
        None => Some(format!("Take {}{far}: no other one gains more than it costs.", named(first))),
    }
}

/// A system, with its SLC.
fn named(run: &RunResult) -> String {
    match run.slc_bytes {
        0 => format!("{}, without SLC", run.system),
        bytes => format!("{} with {} of SLC", run.system, show::size(bytes)),
    }
}

/// Whether a system is worth its price, and why.
pub(super) fn of(run: &RunResult, first: &RunResult, part: &Part) -> Vec<String> {
    let ratios = run.against(first);
    let (Some(worth), Some(speed), Some(price)) = (Worth::of(&ratios), ratios.rs, ratios.ec) else {
        return vec![format!("{}: no request took any time: nothing to compare.", run.system)];
    };
    let (name, base) = (&run.system, &first.system);
    let mean = |run: &RunResult| show::maybe(run.response_us.mean, show::time);
    let times = format!("mean response {} against {}", mean(run), mean(first));
    let speed = match worth {
        Worth::Yes => format!("Yes: {name} is {speed:.2} times as fast as {base}"),
        Worth::Cheaper => {
            format!("Yes: {name} is about as fast as {base}, {speed:.2} times, and costs less")
        }
        Worth::SpeedAlone => format!(
            "Only if speed is worth more to you than money: {name} is {speed:.2} times as fast as {base}"
        ),
        Worth::Hardly => format!("Hardly: {name} is about as fast as {base}, {speed:.2} times"),
        Worth::No => format!("No: {name} is slower than {base}, {speed:.2} times as fast"),
    };
    let own = show::dollars(run.cost_usd);
    let dollars = if is_same_price(price) {
        own
    } else {
        format!("{own} against {}", show::dollars(first.cost_usd))
    };
    let price = format!("for {} ({dollars})", money(price));
    let energy = show::maybe(ratios.es, show::percent);
    let mut said = vec![format!("{speed} ({times}), {price}, with {energy} of the energy.")];
    said.extend(reason(run, first));
    said.extend(slowest(run, first));
    said.extend(life(run, first, part));
    if !systems::survives_power_loss(name) {
        said.push("It loses data when the power fails.".into());
    }
    said
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
    (!told.is_empty()).then(|| format!("Because a request spends {told}{share}."))
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
fn life(run: &RunResult, first: &RunResult, part: &Part) -> Option<String> {
    let of = |result: &RunResult| {
        let regions = Region::ALL.iter().filter_map(|region| {
            let years = result.region(*region).lifetime_years?;
            Some(format!("{} in its {region}", show::years(years)))
        });
        regions.collect::<Vec<String>>().join(" and ")
    };
    let (own, before) = (of(run), of(first));
    let disks = BYTES_A_DAY as f64 / part.exported_bytes.max(1) as f64;
    let much = if disks > 2.0 { format!(" ({disks:.1} times the disk)") } else { String::new() };
    let at = format!("{}{much} and with even wear", show::bytes_a_day(BYTES_A_DAY));
    let is_shorter = run.life().zip(first.life()).is_some_and(|(own, before)| own < before);
    let lead = if is_shorter && own != before { "But it does not live as long: at" } else { "At" };
    match (own.is_empty(), before.is_empty()) {
        (false, false) => Some(format!(
            "{lead} {at}, {} lasts {own}; {} lasts {before}.",
            run.system, first.system
        )),
        (false, true) => Some(format!("At {at}, {} lasts {own}.", run.system)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_than_it_gains_is_not_worth_its_price() {
        let worth = |speed, price| {
            Worth::of(&Ratios { rs: Some(speed), ec: Some(price), ..Ratios::default() }).unwrap()
        };
        assert_eq!(worth(1.7, 1.041), Worth::Yes);
        assert_eq!(worth(2.61, 14.063), Worth::SpeedAlone);
        assert_eq!(worth(1.05, 1.041), Worth::Hardly);
        assert_eq!(worth(1.05, 1.0), Worth::Yes);
        assert_eq!(worth(0.97, 0.5), Worth::No);
        assert_eq!(worth(1.0, 0.5), Worth::Cheaper);
        assert_eq!(Worth::of(&Ratios::default()), None);
    }
}
