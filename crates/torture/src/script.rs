//! Scripts: any bytes as a device, faults and steps, for fuzzers.

use crate::faults::Faults;
use crate::plan::Plan;
use crate::run::{Outcome, follow_script};
use crate::setup::Setup;
use crate::steps::Step;

/// Bytes from which numbers are taken; zeros when they are used up.
#[derive(Clone, Debug)]
pub struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    /// These bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all bytes are used up.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub const fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// The next number below that limit, which is not zero: from one byte if that suffices, else from two.
    pub const fn below(&mut self, end: u32) -> u32 {
        let low = self.byte() as u32;
        let number = if end > 256 { low | (self.byte() as u32) << 8 } else { low };
        number % end
    }
}

/// The most steps of a script: more find nothing new, and only slow a fuzzer.
const STEPS_MAX: usize = 400;

/// Faults that a script may choose, besides none.
const FAULTS: &[&str] = &["", "", "program", "erase", "program,erase,mark", "factory"];

/// Runs the script that the bytes encode, on one of these setups.
pub fn follow(setups: &[Setup], bytes: &[u8]) -> Outcome {
    let mut source = Script::new(bytes);
    let Some(setup) = setups.get(source.below(setups.len().max(1) as u32) as usize) else {
        return Outcome::default();
    };
    let named = FAULTS[source.below(FAULTS.len() as u32) as usize];
    // The names are constants of this file, so they are known.
    let faults = Faults::parse(named).unwrap_or(Faults::NONE);
    let seed = u64::from(source.byte());
    let plan = Plan { faults, faults_named: named.into(), ..Plan::default() };
    let capacity = setup.capacity();
    let mut steps = Vec::new();
    while !source.is_empty() && steps.len() < STEPS_MAX {
        steps.push(step(&mut source, capacity));
    }
    follow_script(setup, &plan, seed, steps)
}

fn step(source: &mut Script<'_>, capacity: u32) -> Step {
    let kind = source.byte();
    let mut run = |longest: u32| {
        let first = source.below(capacity);
        (first, (1 + source.below(longest)).min(capacity - first))
    };
    match kind % 16 {
        0..7 => {
            let (first, count) = run(4);
            Step::Write { first, count }
        }
        7 | 8 => {
            let (first, count) = run(40);
            Step::Write { first, count }
        }
        9 | 10 => {
            let (first, count) = run(80);
            Step::Trim { first, count }
        }
        11 => {
            let (first, count) = run(40);
            Step::Read { first, count }
        }
        12 => Step::Maintain { budget: source.below(200) },
        13 if source.byte().is_multiple_of(2) => Step::Rest,
        13 => Step::Stop,
        _ => Step::Cut { after: source.below(24), seed: u64::from(source.byte()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::setup::System;

    #[test]
    fn any_bytes_are_a_script_that_does_something() {
        let setups = [Setup::hybrid("tiny", System::Usual).unwrap()];
        let mut dice = Dice::new(9);
        // No faults, and no cuts: kinds 14 and 15 are left out.
        let bytes: Vec<u8> =
            (0..600).map(|_| (dice.below(14) + 16 * dice.below(16)) as u8).collect();
        let outcome = follow(&setups, &[&[0, 0, 0], &bytes[..]].concat());
        assert!(outcome.operations > 50, "{outcome:?}");
        assert_eq!(follow(&setups, &[]).violations, []);
        assert_eq!(follow(&[], &bytes), Outcome::default());
    }
}
