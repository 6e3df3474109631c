//! Speeds over a run, from the response times of its requests, and the phases in them.

use std::ops::Range;

use super::drives::Phase;

/// A stretch of a run: what was written at its end, in bytes, and how long it took, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurveStep {
    pub(super) written: f64,
    pub(super) took: f64,
}

/// A speed that differs by so much is another phase.
const APART: f64 = 0.12;

/// The least requests of a step.
pub(super) const LEAST: usize = 32;

/// The most steps of a curve.
const MOST: usize = 100;

/// The steps of a copy of equal requests, from their response times in microseconds. So many are under way: each takes
/// that many times as long as the device spends on it.
#[allow(clippy::cast_precision_loss)] // Figures show few digits.
pub(super) fn steps(times: &[f64], bytes: u64, depth: u32) -> Vec<CurveStep> {
    let each = times.len().div_ceil(MOST).max(LEAST);
    let mut written = 0.0;
    let step = |times: &[f64]| {
        written += times.len() as f64 * bytes as f64;
        CurveStep { written, took: times.iter().sum::<f64>() / f64::from(depth) }
    };
    times.chunks_exact(each).map(step).collect()
}

/// Bytes that were written before the speed fell below so many gigabytes per second, for more than a step: one may be
/// late because idle work was under way.
pub(super) fn until(steps: &[CurveStep], speed: f64) -> f64 {
    let speeds = speeds(steps);
    let is_slow = |pair: &[(f64, f64)]| pair.iter().all(|point| point.1 < speed);
    let last = speeds.windows(2).position(is_slow).unwrap_or(steps.len());
    steps[..last].last().map_or(0.0, |step| step.written)
}

/// Speeds: what was written at the end of each step, in gigabytes, and the gigabytes per second within it.
pub(super) fn speeds(steps: &[CurveStep]) -> Vec<(f64, f64)> {
    let begins = [0.0].into_iter().chain(steps.iter().map(|step| step.written));
    let timed = steps.iter().zip(begins).filter(|(step, _)| step.took > 0.0);
    timed
        .map(|(step, begin)| (step.written / 1e9, (step.written - begin) / step.took / 1e3))
        .collect()
}

/// The phases: points of nearly one speed, one after the other. A point alone is partly in the phase before it and
/// partly in the next one.
pub(super) fn phases(points: &[(f64, f64)]) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut first = 0;
    while let Some((_, speed)) = points.get(first) {
        let is_apart = |point: &(f64, f64)| (point.1 / speed - 1.0).abs() > APART;
        let next = points[first..].iter().position(is_apart).map(|length| first + length);
        match (phases.last_mut(), next) {
            (Some(phase), Some(next)) if next == first + 1 => {
                let share = late(phase.speed, points[first].1, points[next].1);
                let begin = points[first - 1].0;
                phase.until = Some(begin + (1.0 - share) * (points[first].0 - begin));
            }
            _ => phases.push(phase(points, first..next.unwrap_or(points.len()))),
        }
        first = next.unwrap_or(points.len());
    }
    phases
}

/// The phase of these points.
#[allow(clippy::cast_precision_loss)] // Figures show few digits.
fn phase(points: &[(f64, f64)], range: Range<usize>) -> Phase {
    let end = range.end;
    let count = range.len() as f64;
    let speed = points[range].iter().map(|point| point.1).sum::<f64>() / count;
    Phase { speed, until: (end < points.len()).then(|| points[end - 1].0) }
}

/// The share of bytes that went at the new speed, where all together went at a mixed one.
fn late(old: f64, mixed: f64, new: f64) -> f64 {
    let share = (1.0 / mixed - 1.0 / old) / (1.0 / new - 1.0 / old);
    share.clamp(0.0, 1.0)
}
