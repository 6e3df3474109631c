//! The answer to "how large should the SLC be?", for each system and workload.

use std::collections::{BTreeMap, BTreeSet};

use sim::engine::sweep::{Plan, Row, Run};
use sim::show;

use super::curves;
use crate::output::ranking::{NOTABLE as FASTER, as_much, money};
use crate::output::verdict;
use crate::output::verdict::Unfilled;

/// The fewest sizes that are compared.
const SIZES_LEAST: usize = 3;

/// Which size is taken, for a reader.
pub(super) const MEANING: &str = "The size to take has the most speed for the money: how many times as fast as the \
    same system without SLC it is, divided by how many times as much its flash costs. Others \
    within 2 % of that are named, and the fastest; if having none is within 2 %, too, none is taken.";

/// A size of SLC.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SizePoint {
    size: u64,
    /// The speed, compared with the same system without SLC.
    speed: f64,
    /// The price, compared with that.
    price: f64,
    /// The life until the first memory is worn, in years.
    life: Option<f64>,
}

impl SizePoint {
    /// The speed for its price.
    fn value(&self) -> f64 {
        self.speed / self.price
    }
}

/// How large the SLC should be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SizeAnswer {
    /// This one has the most speed for its price.
    Best(SizePoint),
    /// The best size gains about what it costs.
    NoDifference(SizePoint),
    /// No size gains what it costs.
    NotWorthIt,
    /// No size is faster.
    NotFaster,
}

/// What is known of the largest size of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Largest {
    size: u64,
    /// Whether the plan has no larger one.
    is_of_plan: bool,
}

/// A curve with its answer.
pub(super) struct Advice {
    pub(super) curve: String,
    answer: SizeAnswer,
    fastest: SizePoint,
    /// The other sizes that are worth as much.
    equals: Vec<String>,
    largest: Largest,
    /// What it is compared with, and the life of that.
    base: String,
    life: Option<f64>,
    /// The bytes that a host writes each day.
    a_day: u64,
    /// Whether the proposed size was filled in the run.
    unfilled: Option<Unfilled>,
}

impl Advice {
    /// The size to take.
    pub(super) fn size(&self) -> Option<u64> {
        self.at().map(|at| at.size)
    }

    const fn at(&self) -> Option<SizePoint> {
        match self.answer {
            SizeAnswer::Best(at) => Some(at),
            SizeAnswer::NoDifference(_) | SizeAnswer::NotWorthIt | SizeAnswer::NotFaster => None,
        }
    }

    /// The answer in words.
    fn said(&self, device: &str) -> String {
        let first = self.base.as_str();
        let fastest = self.fastest;
        let with = |at: SizePoint| format!("with {}, {}", show::short(at.size), gain(at, first));
        let said = match self.answer {
            SizeAnswer::Best(at) => {
                let rest = match fastest {
                    _ if at.size == self.largest.size => self.at_the_end(),
                    fastest if fastest.size == at.size => ". Larger ones are hardly faster".into(),
                    fastest if fastest.speed < FASTER * at.speed => {
                        ". Larger ones are hardly faster".into()
                    }
                    _ => format!("; {}", with(fastest)),
                };
                format!("{}. It is then {}{rest}", show::short(at.size), gain(at, first))
            }
            SizeAnswer::NoDifference(best) => {
                format!(
                    "none. The best makes no difference for the money, within 2 %: {}",
                    with(best)
                )
            }
            SizeAnswer::NotWorthIt => {
                format!("none. No size gains what it costs: {}", with(fastest))
            }
            SizeAnswer::NotFaster => {
                format!("none. No size makes it 2 % faster than {first}")
            }
        };
        let life = self.at().and_then(|at| self.shorter_life(at, first));
        let more: String = [life, self.not_filled()].into_iter().flatten().collect();
        let equals = as_much(" speed for the money", &self.equals);
        format!("{} on {device}: {said}.{equals}{more}", self.curve)
    }

    /// What is said of a size that no run has a larger one than.
    fn at_the_end(&self) -> String {
        if !self.largest.is_of_plan {
            ", the most that has a result".into()
        } else if self.unfilled.is_some() {
            String::new()
        } else {
            ". It is the most in the plan, and more may gain more: add larger sizes".into()
        }
    }

    /// What it costs in life.
    fn shorter_life(&self, at: SizePoint, first: &str) -> Option<String> {
        let (own, other) = (at.life?, self.life?);
        let (years, others) = (show::years(own), show::years(other));
        let pace = show::bytes_a_day(self.a_day);
        let size = show::short(at.size);
        let said = format!(" But at {pace} it lasts {years} with {size}, {first} {others}.");
        (own < other && years != others).then_some(said)
    }

    /// That the run did not fill this size, and what to do.
    fn not_filled(&self) -> Option<String> {
        let size = show::short(self.size()?);
        let more = match self.unfilled?.passes {
            Some(passes) => format!("replay more, with passes = {passes}"),
            None => "replay a trace that writes more".into(),
        };
        Some(format!(
            " But {size} were never filled, so garbage collection in them costs less than it will: {more}."
        ))
    }
}

/// The sizes that are worth as much as the one to take.
fn equals(answer: SizeAnswer, points: &[SizePoint]) -> Vec<String> {
    let SizeAnswer::Best(best) = answer else { return Vec::new() };
    let others = points.iter().filter(|at| at.size != best.size);
    others.filter(|at| at.value() * FASTER > best.value()).map(|at| show::short(at.size)).collect()
}

/// The gain of a size, with its price.
fn gain(at: SizePoint, first: &str) -> String {
    format!("{:.2} times as fast as {first}, for {}", at.speed, money(at.price))
}

/// What a run is compared with: the same system without SLC on the same trace.
struct Bases<'a, 'r> {
    rows: &'r [&'r Row<'a>],
}

impl<'a, 'r> Bases<'a, 'r> {
    /// `None` if the plan has none.
    fn of(&self, row: &Row<'a>) -> Option<&'r Row<'a>> {
        let on_trace = |other: &&&Row<'a>| other.run.trace == row.run.trace;
        let same = self.rows.iter().filter(on_trace);
        let own = same
            .clone()
            .find(|other| other.run.slc == Some(0) && other.run.system.name == row.run.system.name);
        let chains = || same.clone().find(|other| row.run.system.is_with_log(&other.run.system));
        own.or_else(chains).copied()
    }
}

/// The answers for the curves of a device.
fn of(rows: &[&Row<'_>], plan: &Plan) -> Vec<Result<Advice, String>> {
    let mut names: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.run.sized_slc().is_some()) {
        let name = curves::name(row, rows);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().filter_map(|name| of_curve(&name, rows, plan)).collect()
}

/// Sums over seeds, to take means.
#[derive(Clone, Copy, Default)]
struct Sums {
    speed: f64,
    price: f64,
    life: Option<f64>,
    count: f64,
}

/// The answer for a curve, or why there is none.
fn of_curve(name: &str, rows: &[&Row<'_>], plan: &Plan) -> Option<Result<Advice, String>> {
    let bases = Bases { rows };
    let own = || {
        let sized = rows.iter().filter(|row| row.run.sized_slc().is_some());
        sized.filter(|row| curves::name(row, rows) == name)
    };
    let one = own().next()?;
    let Some(base) = bases.of(one) else {
        let system = &one.run.system.name;
        return Some(Err(format!(
            "{name} on {}: that cannot be told, since the plan has no run of {system} without SLC: add \"0\" to slc.",
            one.run.device
        )));
    };
    let mut sums: BTreeMap<u64, Sums> = BTreeMap::new();
    for row in own() {
        let (size, against) = (row.run.sized_slc()?, row.result.against(&bases.of(row)?.result));
        let sum = sums.entry(size).or_default();
        sum.speed += against.rs?;
        sum.price += against.ec?;
        sum.life = row.result.life().map(|life| life + sum.life.unwrap_or(0.0));
        sum.count += 1.0;
    }
    // Without SLC is a size, too.
    if sums.len() + 1 < SIZES_LEAST {
        return None;
    }
    let point = |(size, sum): (&u64, &Sums)| SizePoint {
        size: *size,
        speed: sum.speed / sum.count,
        price: sum.price / sum.count,
        life: sum.life.map(|life| life / sum.count),
    };
    let points: Vec<SizePoint> = sums.iter().map(point).collect();
    let (answer, fastest) = answer(&points)?;
    let (size, of_plan) = (points.last()?.size, sizes(plan, &one.run.device).max());
    let largest = Largest { size, is_of_plan: of_plan == Some(size) };
    let without = if base.run.slc == Some(0) { " without SLC" } else { "" };
    let mut advice = Advice {
        curve: name.to_owned(),
        answer,
        fastest,
        equals: equals(answer, &points),
        largest,
        base: format!("{}{without}", base.run.system.name),
        life: base.result.life(),
        a_day: one.result.bytes_a_day,
        unfilled: None,
    };
    if let Some(size) = advice.size() {
        let taken = own().find(|row| row.run.slc == Some(size));
        advice.unfilled = taken.and_then(|row| verdict::unfilled(&row.result, &row.run.setup));
    }
    Some(Ok(advice))
}

/// The SLC sizes of a plan on a device.
fn sizes<'a>(plan: &'a Plan, device: &'a str) -> impl Iterator<Item = u64> {
    plan.runs.iter().filter(move |run| run.device == device).filter_map(Run::sized_slc)
}

/// From this share of the most on, two sizes are about as fast.
const NEARLY: f64 = 0.995;

/// The answer, and the fastest of the sizes, which are in order; the smallest one of those that are about as fast.
fn answer(points: &[SizePoint]) -> Option<(SizeAnswer, SizePoint)> {
    let most = points.iter().map(|at| at.speed).reduce(f64::max)?;
    let fastest = points.iter().copied().find(|at| at.speed >= NEARLY * most)?;
    if most < FASTER {
        return Some((SizeAnswer::NotFaster, fastest));
    }
    let better = |best: SizePoint, at: SizePoint| if at.value() > best.value() { at } else { best };
    let best = points.iter().copied().reduce(better)?;
    let answer = match best.value() {
        value if value >= FASTER && best.speed >= FASTER => SizeAnswer::Best(best),
        value if value * FASTER > 1.0 => SizeAnswer::NoDifference(best),
        _ => SizeAnswer::NotWorthIt,
    };
    Some((answer, fastest))
}

/// A device of the plan, with its rows and the answers for its curves.
pub(super) struct OnDevice<'a, 'r> {
    pub(super) device: &'a str,
    pub(super) rows: Vec<&'r Row<'a>>,
    pub(super) advice: Vec<Advice>,
    /// Why other curves have none.
    pub(super) open: Vec<String>,
}

/// The devices, in the plan's order.
pub(super) fn by_device<'a, 'r>(plan: &Plan, rows: &'r [Row<'a>]) -> Vec<OnDevice<'a, 'r>> {
    let devices = curves::by_device(rows).into_iter();
    let on = |(device, rows): (&'a str, Vec<&'r Row<'a>>)| {
        let (mut advice, mut open) = (Vec::new(), Vec::new());
        for told in of(&rows, plan) {
            match told {
                Ok(one) => advice.push(one),
                Err(reason) => open.push(reason),
            }
        }
        OnDevice { device, rows, advice, open }
    };
    devices.map(on).collect()
}

/// All answers in words.
pub(super) fn said(devices: &[OnDevice<'_, '_>]) -> Vec<String> {
    let said = devices.iter().flat_map(|OnDevice { device, advice, open, .. }| {
        advice.iter().map(|advice| advice.said(device)).chain(open.iter().cloned())
    });
    said.collect()
}

/// Why a sweep over sizes has no answer, and what to do.
pub(super) fn reason(plan: &Plan) -> Option<String> {
    if !plan.asks_sizes {
        return None;
    }
    let first = plan.runs.first()?;
    if !plan.runs.iter().any(|run| run.system.uses_slc()) {
        let name = &first.system.name;
        return Some(format!(
            "name a system with an SLC whose size can be set, such as paged: {name} has none, and ran once"
        ));
    }
    let all: BTreeSet<u64> = sizes(plan, &first.device).collect();
    (all.len() + 1 < SIZES_LEAST).then(|| "name at least two sizes of the SLC beside \"0\"".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(figures: &[(f64, f64)]) -> SizeAnswer {
        let points = (0..).zip(figures).map(|(at, (speed, price))| SizePoint {
            size: 1 << at,
            speed: *speed,
            price: *price,
            life: None,
        });
        answer(&points.collect::<Vec<SizePoint>>()).unwrap().0
    }

    fn size(answer: SizeAnswer) -> Option<u64> {
        match answer {
            SizeAnswer::Best(at) => Some(at.size),
            _ => None,
        }
    }

    #[test]
    fn the_size_with_the_most_speed_for_its_price_is_taken() {
        let cheap = |speeds: &[f64]| {
            found(&speeds.iter().map(|speed| (*speed, 1.0)).collect::<Vec<(f64, f64)>>())
        };
        assert_eq!(size(cheap(&[1.0, 1.2, 1.498, 1.5, 1.49])), Some(8), "the best");
        assert_eq!(size(cheap(&[1.0, 1.1, 1.2])), Some(4), "the largest");
        assert_eq!(size(cheap(&[2.0, 2.0, 2.0])), Some(1), "the smallest of equal ones");
        assert_eq!(cheap(&[0.9, 1.0, 1.01]), SizeAnswer::NotFaster);
        assert_eq!(cheap(&[0.4, 0.5, 0.3]), SizeAnswer::NotFaster);
        // The SLC of C3 under `ext4_server`.
        assert_eq!(size(found(&[(1.06, 1.01), (1.12, 1.041), (1.17, 1.163)])), Some(2));
    }

    #[test]
    fn a_size_that_costs_more_than_it_gains_is_no_answer() {
        let dear = found(&[(1.3, 1.1), (1.5, 1.4), (2.0, 2.6)]);
        assert_eq!(size(dear), Some(1), "{dear:?}");
        assert_eq!(found(&[(1.05, 1.1), (1.1, 1.2), (1.2, 1.4)]), SizeAnswer::NotWorthIt);
        let even = found(&[(1.032, 1.0255), (1.04, 1.1), (1.05, 1.2)]);
        assert!(matches!(even, SizeAnswer::NoDifference(at) if at.size == 1), "{even:?}");
    }

    #[test]
    fn a_size_that_was_never_filled_says_so_and_proposes_no_larger_one() {
        let at = SizePoint { size: 1 << 20, speed: 2.0, price: 1.0, life: Some(9.0) };
        let largest = Largest { size: 1 << 20, is_of_plan: true };
        let filled = Advice {
            curve: "paged".into(),
            answer: SizeAnswer::Best(at),
            fastest: at,
            equals: vec!["256KiB".into(), "512KiB".into()],
            largest,
            base: "conventional".into(),
            life: Some(15.0),
            a_day: 20_000_000_000,
            unfilled: None,
        };
        let said = filled.said("c3");
        assert!(said.contains("2.00 times as fast as conventional, for the same money"), "{said}");
        assert!(said.contains("add larger sizes") && !said.contains("never filled"), "{said}");
        assert!(said.contains(" 256KiB and 512KiB have as much speed for the money"), "{said}");
        assert!(said.contains("it lasts 9.0 years with 1MiB, conventional 15 years"), "{said}");
        let unfilled = Some(Unfilled { programmed: 1, passes: Some(7) });
        let said = Advice { unfilled, ..filled }.said("c3");
        assert!(said.contains("never filled") && said.contains("passes = 7"), "{said}");
        assert!(!said.contains("add larger sizes"), "{said}");
    }
}
