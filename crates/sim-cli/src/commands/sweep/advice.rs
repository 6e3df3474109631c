//! The answer to "how large should the SLC be?", for each system and workload.

use std::collections::BTreeSet;

use super::collect::Row;
use super::curves::{self, Curve};
use super::plan::Plan;
use super::run::Run;
use crate::base::show;
use crate::engine::result::BYTES_A_DAY;
use crate::output::verdict::{self, A_LITTLE_FASTER as FASTER, Unfilled};

/// The gain at the knee, as a share of the largest gain of any SLC size.
const KNEE: f64 = 0.9;

/// The fewest sizes that have a knee.
const SIZES_LEAST: usize = 3;

/// What the knee is, for a reader.
pub(super) const MEANING: &str = "The size to take is the smallest one with nine tenths of the largest gain over the \
    first system. If that gain is less than the added price, it is the one with the most speed for its price instead.";

/// A size of SLC.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    size: u64,
    /// RS: the speed, compared with the first system.
    speed: f64,
    /// EC: the price, compared with the first system.
    price: f64,
    /// The life until the first memory is worn, in years.
    life: Option<f64>,
}

impl Point {
    /// The speed for its price.
    fn value(&self) -> f64 {
        self.speed / self.price
    }
}

/// How large the SLC should be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// Larger ones gain little.
    Knee(Point),
    /// The most speed for its price, where the knee gains less than it costs.
    BestValue(Point),
    /// No size gains as much as it costs.
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
    answer: Answer,
    fastest: Point,
    largest: Largest,
    /// The first system's life.
    life: Option<f64>,
    /// Whether the proposed size was filled in the run.
    unfilled: Option<Unfilled>,
}

impl Advice {
    /// The size to take.
    pub(super) fn size(&self) -> Option<u64> {
        self.at().map(|at| at.size)
    }

    const fn at(&self) -> Option<Point> {
        match self.answer {
            Answer::Knee(at) | Answer::BestValue(at) => Some(at),
            Answer::NotWorthIt | Answer::NotFaster => None,
        }
    }

    /// The answer in words.
    fn said(&self, device: &str, first: &str) -> String {
        let fastest = self.fastest;
        let most = format!("with {}, {}", show::size(fastest.size), gain(fastest, first));
        let said = match self.answer {
            Answer::Knee(at) => {
                let rest = match fastest {
                    _ if at.size == self.largest.size => self.at_the_end(),
                    fastest if fastest.size == at.size => ". Larger ones are no faster".into(),
                    fastest if fastest.speed < FASTER * at.speed => {
                        ". Larger ones gain hardly more".into()
                    }
                    _ => format!("; {most}"),
                };
                format!("{}. It is then {}{rest}", show::size(at.size), gain(at, first))
            }
            Answer::BestValue(at) => {
                let rest =
                    if fastest.size == at.size { String::new() } else { format!("; {most}") };
                let size = show::size(at.size);
                format!(
                    "{size}, the most speed for the money. It is then {}{rest}",
                    gain(at, first)
                )
            }
            Answer::NotWorthIt => format!("none. No size gains as much as it costs: {most}"),
            Answer::NotFaster => format!("none. No size makes it faster than {first}"),
        };
        let more = [self.at().and_then(|at| self.shorter_life(at, first)), self.not_filled()];
        let more: String = more.into_iter().flatten().collect();
        format!("{} on {device}: {said}.{more}", self.curve)
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
    fn shorter_life(&self, at: Point, first: &str) -> Option<String> {
        let (own, other) = (at.life?, self.life?);
        let (years, others) = (show::years(own), show::years(other));
        let pace = show::bytes_a_day(BYTES_A_DAY);
        let size = show::size(at.size);
        let said = format!(" But at {pace} it lasts {years} with {size}, {first} {others}.");
        (own < other && years != others).then_some(said)
    }

    /// That the run did not fill this size, and what to do.
    fn not_filled(&self) -> Option<String> {
        let size = show::size(self.size()?);
        let more = match self.unfilled?.passes {
            Some(passes) => format!("replay more, with passes = {passes}"),
            None => "replay a trace that writes more".into(),
        };
        Some(format!(
            " But {size} were never filled, so garbage collection in them costs nothing yet: {more}."
        ))
    }
}

/// The gain of a size, with its price.
fn gain(at: Point, first: &str) -> String {
    format!("{:.2} times as fast as {first}, for {}", at.speed, verdict::money(at.price))
}

/// The answers for the curves of a device: none without a first system that has no SLC to compare with.
fn of(rows: &[&Row<'_>], plan: &Plan) -> Vec<Advice> {
    if rows.iter().any(|row| row.is_first && row.run.sized_slc().is_some()) {
        return Vec::new();
    }
    let lives = curves::of(|row| row.result.life(), rows);
    let prices = curves::of(|row| row.ratios?.ec, rows);
    let at = |curves: &[Curve], name: &str, size: &u64| {
        curves.iter().find(|curve| curve.name == name)?.points.get(size).copied()
    };
    let of = |Curve { name, points }: Curve| {
        let is_own =
            |row: &&&Row<'_>| row.run.sized_slc().is_some() && curves::name(row, rows) == name;
        let own = rows.iter().find(is_own).filter(|_| points.len() >= SIZES_LEAST)?;
        let is_base = |row: &&&Row<'_>| row.is_first && row.run.workload == own.run.workload;
        let base = curves::name(rows.iter().find(is_base)?, rows);
        let points = points.iter().filter_map(|(size, speed)| {
            let (price, life) = (at(&prices, &name, size)?, at(&lives, &name, size));
            Some(Point { size: *size, speed: *speed, price, life })
        });
        let points: Vec<Point> = points.collect();
        let (answer, fastest) = answer(&points)?;
        let (size, of_plan) = (points.last()?.size, sizes(plan, &own.run.device).max());
        let largest = Largest { size, is_of_plan: of_plan == Some(size) };
        let mut advice =
            Advice { curve: name, answer, fastest, largest, life: None, unfilled: None };
        if let Some(size) = advice.size() {
            advice.life = at(&lives, &base, &size);
            let is_taken = |row: &&&Row<'_>| {
                row.run.slc == Some(size) && curves::name(row, rows) == advice.curve
            };
            let taken = rows.iter().find(is_taken);
            advice.unfilled =
                taken.and_then(|row| verdict::unfilled(&row.result, &row.run.setup.part));
        }
        Some(advice)
    };
    curves::of(|row| row.ratios?.rs, rows).into_iter().filter_map(of).collect()
}

/// The SLC sizes of a plan on a device.
fn sizes<'a>(plan: &'a Plan, device: &'a str) -> impl Iterator<Item = u64> {
    plan.runs.iter().filter(move |run| run.device == device).filter_map(Run::sized_slc)
}

/// The answer, and the fastest of the sizes, which are in order; the smallest one of equal ones.
fn answer(points: &[Point]) -> Option<(Answer, Point)> {
    let best_by = |figure: fn(&Point) -> f64| {
        points
            .iter()
            .copied()
            .reduce(|best, at| if figure(&at) > figure(&best) { at } else { best })
    };
    let fastest = best_by(|at| at.speed)?;
    if fastest.speed < FASTER {
        return Some((Answer::NotFaster, fastest));
    }
    let enough = 1.0 + (fastest.speed - 1.0) * KNEE;
    let knee = *points.iter().find(|at| at.speed >= enough)?;
    let best = best_by(Point::value)?;
    let answer = if knee.speed > knee.price {
        Answer::Knee(knee)
    } else if best.speed >= FASTER && best.value() > 1.0 {
        Answer::BestValue(best)
    } else {
        Answer::NotWorthIt
    };
    Some((answer, fastest))
}

/// A device of the plan, with its rows and the answers for its curves.
pub(super) struct OnDevice<'a, 'r> {
    pub(super) device: &'a str,
    pub(super) rows: Vec<&'r Row<'a>>,
    pub(super) advice: Vec<Advice>,
}

/// The devices, in the plan's order.
pub(super) fn by_device<'a, 'r>(plan: &Plan, rows: &'r [Row<'a>]) -> Vec<OnDevice<'a, 'r>> {
    let devices = curves::by_device(rows).into_iter();
    devices.map(|(device, rows)| OnDevice { device, advice: of(&rows, plan), rows }).collect()
}

/// All answers in words.
pub(super) fn said(plan: &Plan, devices: &[OnDevice<'_, '_>]) -> Vec<String> {
    let said = devices.iter().flat_map(|OnDevice { device, advice, .. }| {
        advice.iter().map(|advice| advice.said(device, plan.first()))
    });
    said.collect()
}

/// Why a sweep over sizes has no answer, and what to do.
pub(super) fn reason(plan: &Plan) -> Option<&'static str> {
    let first = plan.runs.first()?;
    if first.sized_slc().is_some() {
        return Some("put a system without SLC first, such as conventional, to compare with");
    }
    let all: BTreeSet<u64> = sizes(plan, &first.device).collect();
    (1..SIZES_LEAST).contains(&all.len()).then_some("name at least three sizes of the SLC")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(figures: &[(f64, f64)]) -> Answer {
        let points = (0..).zip(figures).map(|(at, (speed, price))| Point {
            size: 1 << at,
            speed: *speed,
            price: *price,
            life: None,
        });
        answer(&points.collect::<Vec<Point>>()).unwrap().0
    }

    fn size(answer: Answer) -> Option<u64> {
        match answer {
            Answer::Knee(at) | Answer::BestValue(at) => Some(at.size),
            _ => None,
        }
    }

    #[test]
    fn the_knee_is_where_more_gains_little() {
        let cheap = |speeds: &[f64]| {
            found(&speeds.iter().map(|speed| (*speed, 1.0)).collect::<Vec<(f64, f64)>>())
        };
        let knee = cheap(&[1.0, 1.2, 1.48, 1.5, 1.49]);
        assert!(matches!(knee, Answer::Knee(_)) && size(knee) == Some(4), "{knee:?}");
        let at_once = cheap(&[2.0, 2.05, 2.1]);
        assert_eq!(size(at_once), Some(1), "the gain is that over the first system: {at_once:?}");
        let rising = cheap(&[1.0, 1.1, 1.2]);
        assert_eq!(size(rising), Some(4), "{rising:?}");
        assert_eq!(size(cheap(&[2.0, 2.0, 2.0])), Some(1), "the smallest of equal ones");
        assert_eq!(cheap(&[0.9, 1.0, 1.01]), Answer::NotFaster);
        assert_eq!(cheap(&[0.4, 0.5, 0.3]), Answer::NotFaster);
    }

    #[test]
    fn a_size_that_costs_more_than_it_gains_is_no_answer() {
        let dear = found(&[(1.3, 1.1), (1.5, 1.4), (2.0, 2.6)]);
        assert!(matches!(dear, Answer::BestValue(_)) && size(dear) == Some(1), "{dear:?}");
        assert_eq!(found(&[(1.05, 1.1), (1.1, 1.2), (1.2, 1.4)]), Answer::NotWorthIt);
    }

    #[test]
    fn a_size_that_was_never_filled_says_so_and_proposes_no_larger_one() {
        let at = Point { size: 1 << 20, speed: 2.0, price: 1.0, life: Some(9.0) };
        let largest = Largest { size: 1 << 20, is_of_plan: true };
        let filled = Advice {
            curve: "paged".into(),
            answer: Answer::Knee(at),
            fastest: at,
            largest,
            life: Some(15.0),
            unfilled: None,
        };
        let said = filled.said("c3", "conventional");
        assert!(said.contains("2.00 times as fast as conventional, for the same money"), "{said}");
        assert!(said.contains("add larger sizes") && !said.contains("never filled"), "{said}");
        assert!(said.contains("it lasts 9.0 years with 1MiB, conventional 15 years"), "{said}");
        let unfilled = Some(Unfilled { programmed: 1, passes: Some(7) });
        let said = Advice { unfilled, ..filled }.said("c3", "conventional");
        assert!(said.contains("never filled") && said.contains("passes = 7"), "{said}");
        assert!(!said.contains("add larger sizes"), "{said}");
    }
}
