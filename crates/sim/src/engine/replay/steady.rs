//! When a device is in its steady state, in the manner of SNIA's Solid State Storage Performance Test Specification:
//! over five rounds, no value is further than a tenth from their mean, and the line fitted to them rises or falls by no
//! more than a tenth of it.

/// Rounds that must agree. The figures of a run are of these.
pub const WINDOW: usize = 5;

/// The most rounds: a run that has not settled by then ends, and says so.
pub const MOST: usize = 25;

/// How far from the mean, as a share of it.
const WITHIN: f64 = 0.1;

/// Whether the last rounds agree. A round without writes has no value, and nothing that could change.
#[allow(clippy::cast_precision_loss)] // Five rounds.
pub(super) fn is_settled(rounds: &[Option<f64>]) -> bool {
    let Some(last) = rounds.len().checked_sub(WINDOW).map(|from| &rounds[from..]) else {
        return false;
    };
    let values: Vec<f64> = last.iter().map(|value| value.unwrap_or(0.0)).collect();
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

    fn settled(values: &[f64]) -> bool {
        is_settled(&values.iter().copied().map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn five_rounds_within_a_tenth_and_without_a_slope_are_steady() {
        assert!(settled(&[9.0, 2.0, 2.1, 1.9, 2.0, 2.1]));
        assert!(!settled(&[2.0, 2.0, 2.0, 2.0]), "too few");
        assert!(!settled(&[2.0, 2.0, 2.0, 2.0, 2.6]), "one is further off");
        // Each is within a tenth of 2.0, but they rise by 0.32 from the first to the last.
        assert!(!settled(&[1.84, 1.92, 2.0, 2.08, 2.16]), "they rise");
        assert!(settled(&[1.92, 1.96, 2.0, 2.04, 2.08]));
        assert!(is_settled(&[None; 5]), "reads alone change nothing");
    }
}
