//! When a device is in its steady state, in the manner of SNIA's Solid State Storage Performance Test Specification:
//! over five rounds, no value is further than a tenth from their mean, and the line fitted to them rises or falls by no
//! more than a tenth of it. The test has the device written over before. Here no page must be left that was free when
//! the run began, because until a page map has used these up, its rounds agree, and mean nothing.

use crate::engine::result::Round;

/// Rounds that must agree. The figures of a run are of these.
pub const WINDOW: usize = 5;

/// The most rounds: a run that has not settled by then ends, and says so.
pub const MOST: usize = 25;

/// How far from the mean, as a share of it.
const WITHIN: f64 = 0.1;

/// Whether the last rounds agree, and all of them have used up what was free.
pub(super) fn is_settled(rounds: &[Round]) -> bool {
    let Some(last) = rounds.len().checked_sub(WINDOW).map(|from| &rounds[from..]) else {
        return false;
    };
    agree(last) && !is_filling(rounds)
}

/// Whether the main memory is written, and still has pages that were free at the start.
pub fn is_filling(rounds: &[Round]) -> bool {
    rounds.last().is_none_or(|last| last.filled.is_some_and(|filled| filled < 1.0))
}

/// A round without writes has no value, and nothing that could change.
#[allow(clippy::cast_precision_loss)] // Five rounds.
fn agree(last: &[Round]) -> bool {
    let values: Vec<f64> =
        last.iter().map(|round| round.write_amplification.unwrap_or(0.0)).collect();
    let count = WINDOW as f64;
    let mean = values.iter().sum::<f64>() / count;
    let middle = (count - 1.0) / 2.0;
    let offsets = || (0..WINDOW).map(|at| at as f64 - middle);
    let rise: f64 = offsets().zip(&values).map(|(at, value)| at * (value - mean)).sum();
    let slope = rise / offsets().map(|at| at * at).sum::<f64>();
    let is_near = values.iter().all(|value| (value - mean).abs() <= WITHIN * mean);
    is_near && (slope * (count - 1.0)).abs() <= WITHIN * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds in which that share of the main memory is programmed, with their write amplifications.
    fn rounds(each: f64, values: &[f64]) -> Vec<Round> {
        let round = |(at, value): (i32, &f64)| Round {
            write_amplification: (*value > 0.0).then_some(*value),
            filled: Some(f64::from(at) * each),
            mean_us: None,
            write_mean_us: None,
        };
        (1..).zip(values).map(round).collect()
    }

    fn settled(values: &[f64]) -> bool {
        is_settled(&rounds(1.0, values))
    }

    #[test]
    fn five_rounds_within_a_tenth_and_without_a_slope_are_steady() {
        assert!(settled(&[9.0, 2.0, 2.1, 1.9, 2.0, 2.1]));
        assert!(!settled(&[2.0, 2.0, 2.0, 2.0]), "too few");
        assert!(!settled(&[2.0, 2.0, 2.0, 2.0, 2.6]), "one is further off");
        // Each is within a tenth of 2.0, but they rise by 0.32 from the first to the last.
        assert!(!settled(&[1.84, 1.92, 2.0, 2.08, 2.16]), "they rise");
        assert!(settled(&[1.92, 1.96, 2.0, 2.04, 2.08]));
        assert!(settled(&[0.0; 5]), "reads alone change nothing");
    }

    #[test]
    fn rounds_that_leave_free_pages_are_not_steady() {
        let is_steady = |count: usize, each: f64| is_settled(&rounds(each, &vec![1.0; count]));
        assert!(!is_steady(5, 0.125) && !is_steady(7, 0.125), "free pages are left");
        assert!(is_steady(8, 0.125));
        let mut elsewhere = rounds(0.125, &[1.0; 5]);
        elsewhere[4].filled = None;
        assert!(is_settled(&elsewhere), "all goes to another memory");
    }
}
