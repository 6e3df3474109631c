//! The parts of a world that are kept: which lives, and of each which steps, its power cut, its faults. As a line, such
//! as `0:1-9,12/7:1r/9:0q`: of life 0 steps 1 to 9 and 12; of life 7 step 1, and it ends at rest; of life 9 no step,
//! and nothing fails in it but the power. `none`: only the formats before all lives.

use std::fmt;
use std::str::FromStr;

use super::script::Life;

/// What is written where the formats alone break a promise.
const NO_LIFE: &str = "none";

/// The kept parts of one life.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeptLife {
    life: u32,
    steps: Vec<u32>,
    cut: bool,
    faulty: bool,
}

/// The kept parts of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept(Vec<KeptLife>);

/// A text that is not such a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no life of a world: write its number, a colon and its steps, such as 12:1-4,7, with r behind it for a \
     life that ends at rest and q for one in which nothing fails, and / between lives; or none"
)]
pub struct NoLife(String);

impl Kept {
    /// Exactly these lives.
    pub(super) fn of(lives: &[Life]) -> Self {
        let part = |life: &Life| KeptLife {
            life: life.number,
            steps: life.steps.iter().map(|(number, _)| *number).collect(),
            cut: life.cut.is_some(),
            faulty: life.faulty,
        };
        Self(lives.iter().map(part).collect())
    }

    /// Selects the kept lives of all lives of a world.
    pub(super) fn pick(&self, lives: Vec<Life>) -> Vec<Life> {
        let kept = |mut life: Life| {
            let part = self.0.iter().find(|part| part.life == life.number)?;
            life.steps.retain(|(number, _)| part.steps.contains(number));
            life.cut = life.cut.filter(|_| part.cut);
            life.faulty &= part.faulty;
            Some(life)
        };
        lives.into_iter().filter_map(kept).collect()
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(NO_LIFE);
        }
        for (at, KeptLife { life, steps, cut, faulty }) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { "/" };
            write!(f, "{between}{life}:{}", runs(steps))?;
            f.write_str(if *cut { "" } else { "r" })?;
            f.write_str(if *faulty { "" } else { "q" })?;
        }
        Ok(())
    }
}

/// Numbers in rising order, with runs as ranges; 0, which is no step, if there are none.
fn runs(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let run = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let runs: Vec<String> = runs.iter().map(run).collect();
    if runs.is_empty() { "0".into() } else { runs.join(",") }
}

impl FromStr for Kept {
    type Err = NoLife;

    fn from_str(text: &str) -> Result<Self, NoLife> {
        if text == NO_LIFE {
            return Ok(Self(Vec::new()));
        }
        text.split('/').map(part).collect::<Result<_, _>>().map(Self)
    }
}

fn part(text: &str) -> Result<KeptLife, NoLife> {
    let wrong = || NoLife(text.into());
    let (life, steps) = text.split_once(':').ok_or_else(wrong)?;
    let numbers = steps.trim_end_matches(['r', 'q']);
    let flags = &steps[numbers.len()..];
    let run = |run: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    let steps = numbers.split(',').map(|text| run(text).ok_or_else(wrong));
    let steps: Vec<std::ops::RangeInclusive<u32>> = steps.collect::<Result<_, _>>()?;
    Ok(KeptLife {
        life: life.parse().map_err(|_| wrong())?,
        steps: steps.into_iter().flatten().filter(|step| *step > 0).collect(),
        cut: !flags.contains('r'),
        faulty: !flags.contains('q'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_as_it_was_written() {
        for line in ["0:1-9,12", "0:1-9,12/7:1r/9:0q/11:3,5,7-8rq"] {
            assert_eq!(line.parse::<Kept>().unwrap().to_string(), line);
        }
        for wrong in ["", "3", "3:", "a:1", "3:1-b", "3:1x"] {
            assert!(wrong.parse::<Kept>().is_err(), "{wrong}");
        }
    }
}
