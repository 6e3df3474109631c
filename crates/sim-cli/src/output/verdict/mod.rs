//! The verdict of a comparison, in words: what to take, whether it is worth its price, and what the run cannot show.
//!
//! # Modules
//!
//! - `answers`: which system to take, and why. `warnings`: what the run cannot show, and what to do about it.

use std::io::Write;

use nand_model::part::Part;

use crate::base::Failure;
use crate::engine::result::RunResult;
use crate::output::table::write_sentence;

mod answers;
mod warnings;

pub(crate) use answers::{A_LITTLE_FASTER, money};
pub(crate) use warnings::{Unfilled, unfilled};

/// The answer to "is it worth its price?", and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// What to take, and a few sentences for each system after the first.
    pub(crate) answers: Vec<String>,
    /// What the run cannot show, and what to do about it.
    pub(crate) warnings: Vec<String>,
}

impl Verdict {
    /// Writes the verdict as text.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let parts = [
            ("Is it worth its price?", &self.answers),
            ("What this run cannot show:", &self.warnings),
        ];
        for (heading, sentences) in parts.into_iter().filter(|(_, said)| !said.is_empty()) {
            writeln!(out, "\n{heading}")?;
            for sentence in sentences {
                write_sentence(sentence, out)?;
            }
        }
        Ok(())
    }
}

/// The verdict on runs on one device; the others are compared with the first.
pub(crate) fn of(runs: &[&RunResult], part: &Part) -> Verdict {
    let Some((first, others)) = runs.split_first() else { return Verdict::default() };
    let warnings = warnings::of(runs, part);
    let mut answers: Vec<String> =
        answers::recommendation(first, others, &warnings, part).into_iter().collect();
    answers.extend(others.iter().flat_map(|run| answers::of(run, first, part)));
    Verdict { answers, warnings }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::commands::compare;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: compare::Args,
    }

    /// What `compare` prints.
    fn printed(words: &[&str]) -> String {
        let line = Line::try_parse_from([&["compare"], words].concat());
        let Line { args } = line.unwrap_or_else(|error| panic!("{error}"));
        let mut out = Vec::new();
        compare::run(&args, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_comparison_ends_in_an_answer_with_its_reason_and_the_flashs_lifetime() {
        let hot = "synth:zipf?requests=40000&size=4KiB&footprint=8MiB&skew=1.1";
        let said = printed(&[hot, "--capacity", "256MiB", "--slc", "8MiB"]);
        assert!(
            said.contains("Take paged with 8MiB of SLC, as far as this run can tell"),
            "{said}"
        );
        assert!(said.contains("Yes: hybrid is ") && said.contains("paged is "), "{said}");
        assert!(said.contains("% more money ($"), "{said}");
        assert!(said.contains("Because a request spends "), "{said}");
        assert!(said.contains(" less on "), "{said}");
        assert!(said.contains("At 20 GB a day") && said.contains(" in its MLC"), "{said}");
        assert!(!said.contains("never filled") && !said.contains("never ran"), "{said}");
    }

    #[test]
    fn what_a_run_cannot_show_is_said_with_what_to_do() {
        let said = printed(&["synth:uniform?requests=30&size=4KiB"]);
        assert!(said.contains("SLC of hybrid was never filled"), "{said}");
        assert!(said.contains("Garbage collection never ran in conventional and hybrid"), "{said}");
        assert!(said.contains("Only 0.0 % of the disk was written"), "{said}");
        assert!(
            said.contains("--capacity 256MiB --fit pack") && said.contains("--slc 1MiB"),
            "{said}"
        );
    }

    #[test]
    fn a_price_beyond_the_gain_is_no_yes_and_the_first_system_is_taken() {
        let hot = "synth:zipf?requests=4000&size=4KiB&footprint=8MiB";
        let said = printed(&[
            hot,
            "--capacity",
            "512MiB",
            "--slc",
            "2GiB",
            "--systems",
            "conventional,hybrid",
        ]);
        assert!(
            said.contains("Take conventional, without SLC, as far as this run can tell"),
            "{said}"
        );
        assert!(
            said.contains("Only if speed is worth more to you than money: hybrid is "),
            "{said}"
        );
    }

    #[test]
    fn a_faster_system_that_loses_data_is_not_proposed() {
        let hot = "synth:zipf?requests=3000&size=4KiB&footprint=8MiB";
        let systems = "conventional,hybrid,page-slc";
        let said = printed(&[hot, "--capacity", "256MiB", "--slc", "8MiB", "--systems", systems]);
        assert!(said.contains("Take hybrid with 8MiB of SLC"), "{said}");
        assert!(said.contains("Yes: page-slc is ") && said.contains("It loses data"), "{said}");
    }

    #[test]
    fn a_system_that_is_as_fast_for_less_money_is_taken() {
        let reads = "synth:zipf?requests=300&reads=100&footprint=8MiB";
        let said = printed(&[reads, "--capacity", "256MiB", "--systems", "hybrid,conventional"]);
        assert!(said.contains("Take conventional, without SLC"), "{said}");
        assert!(said.contains("Yes: conventional is about as fast as hybrid"), "{said}");
        assert!(said.contains("Nothing was written to the SLC of hybrid"), "{said}");
    }

    #[test]
    fn one_number_of_passes_is_told_for_all_that_lacks() {
        let said = printed(&[
            "synth:zipf?requests=3000&size=4KiB&footprint=8MiB",
            "--capacity",
            "256MiB",
            "--systems",
            "hybrid",
        ]);
        let told: Vec<&str> = said.split("--passes ").skip(1).collect();
        let number = |text: &&str| text.chars().take_while(char::is_ascii_digit).collect();
        let told: Vec<String> = told.iter().map(number).collect();
        assert!(told.len() > 1 && told.iter().all(|passes| *passes == told[0]), "{said}");
    }

    #[test]
    fn no_capacity_is_proposed_that_the_disk_does_not_exceed() {
        let said = printed(&["synth:zipf?requests=300&footprint=1MiB", "--device", "spi-nand-1g"]);
        assert!(said.contains("of 120MiB): ") && !said.contains("--capacity"), "{said}");
        assert!(!said.contains("never filled"), "{said}");
    }

    #[test]
    fn flushes_are_counted_where_they_lower_the_mean() {
        let trace = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        let lines = "time_us,op,offset,length\n0,W,0,4096\n1,F,0,0\n2,T,0,4096\n3,F,0,0\n";
        std::fs::write(trace.path(), lines).unwrap();
        let said = printed(&[trace.path().to_str().unwrap(), "--capacity", "256MiB"]);
        assert!(said.contains("4 requests (1 writes, 1 trims, 2 flushes)"), "{said}");
        assert!(said.contains("\n    of flushes") && said.contains("\n    of trims"), "{said}");
    }
}
