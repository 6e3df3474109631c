//! `tandem chip`: a device's operations on the model, and the effect of a power cut.
//!
//! # Modules
//!
//! - `work`: one page at a time, then a whole block, with times and energies. `cut`: power fails in a program.
//!   `written`: the bytes.

use std::io::Write;

use nand_model::datasheet;
use sim::Failure;

mod cut;
mod work;
mod written;

/// The arguments of `chip`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The device: a built-in name (`tandem devices` lists them) or the path of a device file
    #[arg(value_name = "DEVICE")]
    pub device: String,
}

/// Runs the device: times and energies by page and by block, then a power cut.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let part = datasheet::open(&args.device)?;
    writeln!(out, "{}: {}", part.name, part.title)?;
    work::page_by_page(&part, out)?;
    work::whole_blocks(&part, out)?;
    cut::in_a_program(&part, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(device: &str) -> String {
        let mut out = Vec::new();
        let args = Args { device: device.into() };
        run(&args, &mut out).unwrap_or_else(|failure| panic!("{device}: {failure}"));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_builtin_device_runs() {
        for name in datasheet::builtin_names() {
            let text = output(name);
            assert!(text.contains("in flight"), "{text}");
        }
    }

    #[test]
    fn an_mlc_page_of_c3_takes_the_papers_time_and_energy() {
        let text = output("c3");
        let line = text.lines().find(|line| line.contains("MLC program page")).expect(&text);
        assert!(line.contains("800.000 us") && line.contains("39.600 uJ"), "{line}");
    }

    #[test]
    fn the_paired_page_is_lost_and_no_other() {
        let text = output("k9gag08u0m");
        let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("reads as")).collect();
        assert!(rows[1].contains("lost"), "page 0 shares cells with page 4: {text}");
        assert!(rows[2].contains("as written"), "{text}");
        assert!(rows[5].contains("in flight"), "{text}");
        assert_eq!(text.matches("lost").count(), 1, "{text}");
    }

    #[test]
    fn a_torn_tlc_page_takes_two_pages_with_it() {
        assert_eq!(output("tiny-tlc").matches("lost").count(), 2);
    }

    #[test]
    fn a_torn_slc_page_takes_no_other_with_it() {
        assert_eq!(output("spi-nand-1g").matches("lost").count(), 0);
    }
}
