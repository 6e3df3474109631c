//! `tandem chip`: a device at work on the model, and what a power cut leaves of it.
//!
//! # Rooms
//!
//! - `work`: one page at a time, then a whole block, with times and energies. `cut`: power fails in a program.

use std::io::Write;

use ftl_iface::{Bytes, NandDevice, Page, RegionGeometry};
use nand_model::datasheet;

use crate::Failure;

mod cut;
mod work;

/// What was typed after `chip`.
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

/// The bytes that a run writes to a page, and expects of it.
struct Written {
    data: Vec<u8>,
    spare: Vec<u8>,
}

impl Written {
    /// Bytes that differ from page to page and hold no pattern that a fault could mimic.
    fn new(page: Page, shape: &RegionGeometry) -> Self {
        let place = u64::from(page.block().index()) << 16 | u64::from(page.index().get());
        let mut dice = fastrand::Rng::with_seed(place << 1 | page.region() as u64);
        let mut bytes = |count: Bytes| {
            let mut bytes = vec![0; count.as_usize()];
            dice.fill(&mut bytes);
            bytes
        };
        Self { data: bytes(shape.page_bytes), spare: bytes(shape.spare_bytes) }
    }

    fn program<D: NandDevice>(&self, device: &mut D, page: Page) -> Result<(), Failure> {
        device
            .program(page, &self.data, &self.spare)
            .map_err(|error| Failure::Violation(format!("program of {page}: {error}")))
    }

    /// Whether the page holds these bytes, or why it cannot be read.
    fn is_in<D: NandDevice>(
        &self,
        device: &mut D,
        page: Page,
    ) -> Result<bool, ftl_iface::ReadError<D::Error>> {
        let (mut data, mut spare) = (vec![0; self.data.len()], vec![0; self.spare.len()]);
        device.read(page, Bytes::ZERO, &mut data, &mut spare)?;
        Ok(data == self.data && spare == self.spare)
    }

    /// Reads the page and compares every byte.
    fn verify<D: NandDevice>(&self, device: &mut D, page: Page) -> Result<(), Failure> {
        match self.is_in(device, page) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::Violation(format!("{page} does not hold what was written"))),
            Err(error) => Err(Failure::Violation(format!("read of {page}: {error}"))),
        }
    }
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
