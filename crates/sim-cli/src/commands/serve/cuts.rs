//! When power fails.

use std::time::Duration;

use nand_model::power::Cut;

/// When power fails, and the fate of the operation in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    every: Every,
    dice: fastrand::Rng,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Every {
    /// On a signal.
    #[default]
    Signal,
    /// At this interval.
    Time(Duration),
    /// After that many programs, erases and marks, on average.
    Operations(u64),
}

/// The default seed.
const SEED: u64 = 1;

/// With fewer operations no mount could complete.
const OPERATIONS_LEAST: u64 = 10;

const HOW: &str = "write a time (60s, 5m, 500ms) or a number of programs and erases (5000), and a seed behind a comma \
                   if you like (60s,7)";

impl Cuts {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (every, seed) = text.split_once(',').unwrap_or((text, ""));
        let seed = if seed.is_empty() { Ok(SEED) } else { seed.parse() };
        let seed = seed.map_err(|_| format!("`{text}` has no whole number as its seed: {HOW}"))?;
        let every = parse_every(every).ok_or_else(|| format!("`{text}`: {HOW}"))?;
        match every {
            Every::Operations(number) if number < OPERATIONS_LEAST => {
                Err(format!("a mount needs more operations than that: {OPERATIONS_LEAST} or more"))
            }
            every => Ok(Self { every, dice: fastrand::Rng::with_seed(seed) }),
        }
    }

    /// The cut of the life that begins.
    pub(super) fn next(&mut self) -> Cut {
        match self.every {
            Every::Operations(mean) => Cut::seeded(self.dice.u64(1..2 * mean), self.dice.u64(..)),
            Every::Signal | Every::Time(_) => Cut::never(),
        }
    }

    /// A cut in the next operation.
    pub(super) fn now(&mut self) -> Cut {
        Cut::seeded(0, self.dice.u64(..))
    }

    /// The length of a life, if power cuts are planned.
    pub(super) const fn period(&self) -> Option<Duration> {
        match self.every {
            Every::Time(period) => Some(period),
            Every::Signal | Every::Operations(_) => None,
        }
    }
}

fn parse_every(text: &str) -> Option<Every> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    match unit {
        "" => (number < u64::MAX / 2).then_some(Every::Operations(number)),
        "ms" => Some(Every::Time(Duration::from_millis(number))),
        "s" => Some(Every::Time(Duration::from_secs(number))),
        "m" => Some(Every::Time(Duration::from_secs(number.checked_mul(60)?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_come_by_time_or_by_operations() {
        let parsed = |text| Cuts::parse(text).unwrap();
        assert_eq!(parsed("60s").period(), Some(Duration::from_secs(60)));
        assert_eq!(parsed("2m,7").period(), Some(Duration::from_secs(120)));
        assert_eq!(parsed("500ms").period(), Some(Duration::from_millis(500)));
        assert_eq!(parsed("5000").every, Every::Operations(5_000));
        assert_ne!(parsed("5000,1").next(), Cut::never());
        assert_eq!(parsed("5000,1").next(), parsed("5000").next());
        assert_ne!(parsed("5000,1").next(), parsed("5000,2").next());
        for wrong in ["", "0", "s", "5h", "60s,x", "-1"] {
            assert!(Cuts::parse(wrong).unwrap_err().contains("60s"), "{wrong}");
        }
        assert!(Cuts::parse("3").unwrap_err().contains("10 or more"));
    }
}
