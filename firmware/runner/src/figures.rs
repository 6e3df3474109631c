//! Figures: found, written down, and compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::machine::Machine;

/// Figures by name. The smaller, the better, each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures(BTreeMap<String, String>);

/// Percent by which a figure may become worse.
const PERCENT: f64 = 5.0;
/// What it may become worse by in any case: the last digit of those that are shown with two.
const LAST_DIGIT: f64 = 0.011;

/// What has changed by more than it may, one sentence each.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) better: Vec<String>,
    pub(crate) worse: Vec<String>,
}

impl Figures {
    /// Adds one.
    pub(crate) fn put(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// As it was written down.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Those that the machine has.
    pub(crate) fn of(mut self, machine: &Machine) -> Self {
        self.0.retain(|name, _| machine.has(name));
        self
    }

    /// Reads what [`text`](Self::text) has written.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let figures = lines.filter_map(|line| {
            let (name, value) = line.rsplit_once("  ")?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        Self(figures.collect())
    }

    /// All of them, a line each.
    pub(crate) fn text(&self, machine: &Machine) -> String {
        let mut text = format!(
            "# Figures of {}, the chip's own share excluded. Written by `CI_RENEW_FIGURES=1 ./ci firmware`;\n\
             # docs/FIRMWARE.md says what they mean.\n",
            machine.title
        );
        for (name, value) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<58}  {value:>9}");
        }
        text
    }

    /// What has become better or worse than what was written down, or is found in one of the two alone.
    pub(crate) fn compared_with(&self, written: &Self) -> Comparison {
        let mut comparison = Comparison::default();
        for (name, value) in &self.0 {
            let Some(old) = written.0.get(name) else {
                comparison.worse.push(format!("{name} is {value} and was never written down"));
                continue;
            };
            let (Ok(new_number), Ok(old_number)) = (value.parse::<f64>(), old.parse::<f64>())
            else {
                comparison.worse.push(format!("{name} is {value} and was {old}: not two numbers"));
                continue;
            };
            let margin = old_number * PERCENT / 100.0 + LAST_DIGIT;
            if new_number > old_number + margin {
                let line =
                    format!("{name} is {value} and was {old}: worse by more than {PERCENT} %");
                comparison.worse.push(line);
            } else if new_number < old_number - margin {
                comparison.better.push(format!("{name} is {value} and was {old}: better"));
            }
        }
        let gone = written.0.keys().filter(|name| !self.0.contains_key(*name));
        comparison.worse.extend(gone.map(|name| format!("{name} is no longer measured")));
        comparison
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{MACHINES, QUICK};

    fn figures(rows: &[(&str, &str)]) -> Figures {
        let mut figures = Figures::default();
        for (name, value) in rows {
            figures.put(name, (*value).to_owned());
        }
        figures
    }

    #[test]
    fn every_size_is_compared_and_calls_where_they_are_measured() {
        let names =
            ["release/paged/mount/reads", "small/paged/mount/reads", "small/size, paged/code"];
        let all = figures(&names.map(|name| (name, "1")));
        assert_eq!(all.clone().of(&MACHINES[0]), all);
        assert_eq!(all.of(&QUICK[0]), figures(&[names[0], names[2]].map(|name| (name, "1"))));
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let some = figures(&[("release/split/random write/instructions", "8422"), ("b", "0.02")]);
        assert_eq!(Figures::parse(&some.text(&MACHINES[0])), some);
    }

    #[test]
    fn five_percent_more_passes_and_six_does_not() {
        let old = figures(&[("a", "1000")]);
        assert!(figures(&[("a", "1050")]).compared_with(&old).worse.is_empty());
        assert_eq!(figures(&[("a", "1060")]).compared_with(&old).worse.len(), 1);
        let less = figures(&[("a", "900")]).compared_with(&old);
        assert_eq!((less.better.len(), less.worse.len()), (1, 0));
    }

    #[test]
    fn the_last_digit_of_a_small_figure_may_differ() {
        let old = figures(&[("a", "0.02")]);
        assert!(figures(&[("a", "0.03")]).compared_with(&old).worse.is_empty());
        assert_eq!(figures(&[("a", "0.04")]).compared_with(&old).worse.len(), 1);
    }

    #[test]
    fn a_figure_that_only_one_side_has_is_a_fault() {
        let one = figures(&[("a", "1")]);
        assert_eq!(figures(&[]).compared_with(&one).worse.len(), 1);
        assert_eq!(one.compared_with(&figures(&[])).worse.len(), 1);
    }
}
