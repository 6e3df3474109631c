//! The answer to "how large should the SLC be?", for each system and workload.

use super::collect::Row;
use super::curves::{self, Curve};
use super::plan::Plan;
use crate::result::BYTES_A_DAY;
use crate::show;

/// The gain at the knee, as a share of the largest gain of any SLC size.
const KNEE: f64 = 0.9;

/// The fewest sizes that have a knee.
const SIZES_LEAST: usize = 3;

/// From this speed-up on there is a gain.
const FASTER: f64 = 1.02;

/// What the knee is, for a reader.
pub(super) const MEANING: &str = "The knee: the smallest size with nine tenths of the largest gain over the first \
    system. If that gain is less than the added price, it is the size with the most speed for its price instead.";

/// A size of SLC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) size: u64,
    /// RS: the speed, compared with the first system.
    speed: f64,
    /// EC: the price, compared with the first system.
    price: f64,
    /// The life until the first memory is worn, in years.
    life: Option<f64>,
}

/// How large the SLC should be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// Larger ones gain little.
    Knee(Point),
    /// The largest one in the plan, and a larger one may gain more.
    Largest(Point),
    /// The most speed for its price, where the knee gains less than it costs.
    BestValue(Point),
    /// Every size costs more than it gains.
    NotWorthIt,
    /// No size is faster.
    NotFaster,
}

/// A curve with its answer.
pub(super) struct Advice {
    pub(super) curve: String,
    answer: Answer,
    fastest: Point,
    /// The first system's life.
    life: Option<f64>,
}

impl Advice {
    /// The size to take.
    pub(super) fn size(&self) -> Option<u64> {
        self.at().map(|at| at.size)
    }

    const fn at(&self) -> Option<Point> {
        match self.answer {
            Answer::Knee(at) | Answer::Largest(at) | Answer::BestValue(at) => Some(at),
            Answer::NotWorthIt | Answer::NotFaster => None,
        }
    }

    /// The answer in words.
    fn said(&self, device: &str, first: &str) -> String {
        let fastest = self.fastest;
        let gain = |at: Point| {
            let (speed, more) = (at.speed, at.price - 1.0);
            let (by, less) = (show::percent(more.abs()), if more < 0.0 { "less" } else { "more" });
            format!("{speed:.2} times as fast as {first}, for {by} {less} money")
        };
        let size = |at: Point| show::size(at.size);
        let said = match self.answer {
            Answer::Knee(at) if fastest.speed < FASTER * at.speed => {
                format!("{}. It is then {}; larger ones gain hardly more", size(at), gain(at))
            }
            Answer::Knee(at) => {
                let most = gain(fastest);
                format!("{}. It is then {}; with {}, {most}", size(at), gain(at), size(fastest))
            }
            Answer::Largest(at) => format!(
                "{}, the most in the plan. It is then {}. More may gain more: add larger sizes",
                size(at),
                gain(at)
            ),
            Answer::BestValue(at) => format!(
                "{}. It is then {}. Larger ones gain less than they cost: with {}, {}",
                size(at),
                gain(at),
                size(fastest),
                gain(fastest)
            ),
            Answer::NotWorthIt => format!(
                "none. Every size gains less than it costs: with {}, it is {}",
                size(fastest),
                gain(fastest)
            ),
            Answer::NotFaster => format!("none. No size makes it faster than {first}"),
        };
        let life = self.at().and_then(|at| self.shorter_life(at, first));
        format!("{} on {device}: {said}.{}", self.curve, life.unwrap_or_default())
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
}

/// The answers for the curves of a device. None without a first system that has no SLC to compare with.
pub(super) fn of(rows: &[&Row<'_>]) -> Vec<Advice> {
    if rows.iter().any(|row| row.is_first && has_slc(row)) {
        return Vec::new();
    }
    let lives = curves::of(|row| row.result.life(), rows);
    let prices = curves::of(|row| row.ratios?.ec, rows);
    let at = |curves: &[Curve], name: &str, size: &u64| {
        curves.iter().find(|curve| curve.name == name)?.points.get(size).copied()
    };
    let of = |Curve { name, points }: Curve| {
        let is_own = |row: &&&Row<'_>| curves::name(row, rows) == name && has_slc(row);
        let own = rows.iter().find(is_own).filter(|_| points.len() >= SIZES_LEAST)?;
        let is_base = |row: &&&Row<'_>| row.is_first && row.run.workload == own.run.workload;
        let life = rows.iter().find(is_base).and_then(|row| row.result.life());
        let points = points.iter().filter_map(|(size, speed)| {
            let (price, life) = (at(&prices, &name, size)?, at(&lives, &name, size));
            Some(Point { size: *size, speed: *speed, price, life })
        });
        let (answer, fastest) = answer(&points.collect::<Vec<Point>>())?;
        Some(Advice { curve: name, answer, fastest, life })
    };
    curves::of(|row| row.ratios?.rs, rows).into_iter().filter_map(of).collect()
}

fn has_slc(row: &Row<'_>) -> bool {
    row.run.slc.is_some_and(|size| size > 0)
}

fn answer(points: &[Point]) -> Option<(Answer, Point)> {
    let fastest = *points.iter().max_by(|one, other| one.speed.total_cmp(&other.speed))?;
    let largest = points.last()?;
    let enough = 1.0 + (fastest.speed - 1.0) * KNEE;
    let knee = *points.iter().find(|at| at.speed >= enough)?;
    let value = |at: &Point| at.speed / at.price;
    let best = *points.iter().max_by(|one, other| value(one).total_cmp(&value(other)))?;
    let answer = if fastest.speed < FASTER {
        Answer::NotFaster
    } else if knee.speed > knee.price {
        if knee.size == largest.size { Answer::Largest(knee) } else { Answer::Knee(knee) }
    } else if best.speed >= FASTER && value(&best) > 1.0 {
        Answer::BestValue(best)
    } else {
        Answer::NotWorthIt
    };
    Some((answer, fastest))
}

/// All answers in words.
pub(super) fn said(plan: &Plan, rows: &[Row<'_>]) -> Vec<String> {
    let first = plan.runs.first().map_or("", |run| run.system.name.as_str());
    let devices = curves::by_device(rows);
    let all = devices.iter().map(|(device, rows)| (device, of(rows)));
    let said = all.flat_map(|(device, advice)| -> Vec<String> {
        advice.iter().map(|advice| advice.said(device, first)).collect()
    });
    said.collect()
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
            Answer::Knee(at) | Answer::Largest(at) | Answer::BestValue(at) => Some(at.size),
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
        assert!(matches!(rising, Answer::Largest(_)), "{rising:?}");
        assert_eq!(cheap(&[0.9, 1.0, 1.01]), Answer::NotFaster);
    }

    #[test]
    fn a_size_that_costs_more_than_it_gains_is_no_answer() {
        let dear = found(&[(1.3, 1.1), (1.5, 1.4), (2.0, 2.6)]);
        assert!(matches!(dear, Answer::BestValue(_)) && size(dear) == Some(1), "{dear:?}");
        assert_eq!(found(&[(1.05, 1.1), (1.1, 1.2), (1.2, 1.4)]), Answer::NotWorthIt);
    }
}
