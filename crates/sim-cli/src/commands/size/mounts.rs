//! Lives on the model: one of requests, then how long mounts take after a power loss and after a clean stop.

use std::io::Write;

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedPlan};
use ftl_core::{Config, Ftl, OwnedRam, RamPlan};
use ftl_iface::Bytes;
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Timed};
use sim::engine::systems::{Meter, Metered, Watcher, page_stamps, stamps};
use sim::{Failure, show};

use super::seen::{self, Seen, failed};
use crate::output::table::{Edge, Table, write_line};

/// How a life on the model begins, and so its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// With a format: sectors are written, and power fails.
    Writes,
    /// With a mount: it is measured, and ends with a clean stop.
    Measured,
}

/// The mounts of the hybrid FTL, with a log or without.
pub(super) fn of_chains(part: &Part, plan: &RamPlan, config: &Config) -> Result<Lived, Failure> {
    let chip = Chip::new(part, stamps(plan, config.sector_bytes))?;
    // Uses the types of replays, because another FTL type would add all its code to the program.
    let meter = Meter::new();
    let device = Metered::new(chip, plan.shape(), &meter);
    lives(device, config.sector_bytes, |device, life| {
        let mut memory = OwnedRam::for_plan(plan);
        let (ram, watcher) = (memory.lend(), Watcher::new(&meter));
        let mut ftl = match life {
            Life::Writes => Ftl::format(device, config, ram, 1, watcher),
            Life::Measured => Ftl::mount(device, config, ram, watcher),
        }
        .map_err(|error| failed("mount")(&error))?;
        ftl.settle().map_err(|error| failed("mount")(&error))?;
        let ready = ftl.device().chip.now();
        let mut seen = Seen::default();
        match life {
            Life::Writes => seen = seen::work(&mut ftl, |ftl| ftl.device().chip.now())?,
            Life::Measured => drop(ftl.stop().map_err(|error| failed("clean stop")(&error))?),
        }
        Ok(Ended { device: ftl.into_parts().0, ready, seen })
    })
}

/// The mounts of the page store.
pub(super) fn of_pages(part: &Part, plan: &PagedPlan) -> Result<Lived, Failure> {
    let mut chip = Chip::new(part, page_stamps(plan))?;
    chip.pack(plan.shape().main.region);
    let meter = Meter::new();
    let device = Metered::of_pages(chip, plan.shape(), &meter);
    let config = plan.config();
    lives(device, plan.shape().sector_bytes, |device, life| {
        let mut memory = OwnedPagedRam::for_plan(plan);
        let (ram, watcher) = (memory.lend(), Watcher::new(&meter));
        let mut ftl = match life {
            Life::Writes => PageFtl::format(device, config, ram, 1, watcher),
            Life::Measured => PageFtl::mount(device, config, ram, watcher),
        }
        .map_err(|error| failed("mount")(&error))?;
        ftl.settle().map_err(|error| failed("mount")(&error))?;
        let ready = ftl.device().chip.now();
        let mut seen = Seen::default();
        match life {
            Life::Writes => seen = seen::work(&mut ftl, |ftl| ftl.device().chip.now())?,
            Life::Measured => ftl.stop().map_err(|error| failed("clean stop")(&error))?,
        }
        Ok(Ended { device: ftl.into_parts().0, ready, seen })
    })
}

/// The end of a life.
struct Ended<'m> {
    device: Metered<'m>,
    /// When it was ready for requests.
    ready: Nanos,
    seen: Seen,
}

/// What the lives have shown.
pub(super) struct Lived {
    pub(super) seen: Seen,
    sector_bytes: Bytes,
    after_a_cut: Nanos,
    after_a_stop: Nanos,
}

/// Runs a device through a format and two mounts.
fn lives<'m>(
    device: Metered<'m>,
    sector_bytes: Bytes,
    live: impl Fn(Metered<'m>, Life) -> Result<Ended<'m>, Failure>,
) -> Result<Lived, Failure> {
    let Ended { device, seen, .. } = live(device, Life::Writes)?;
    let begun = device.chip.now();
    let Ended { device, ready, .. } = live(device, Life::Measured)?;
    let after_a_cut = ready - begun;
    let begun = device.chip.now();
    let after_a_stop = live(device, Life::Measured)?.ready - begun;
    Ok(Lived { seen, sector_bytes, after_a_cut, after_a_stop })
}

impl Lived {
    /// Writes how long the mounts took.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out)?;
        let mut table = Table::new([("a mount on the model", Edge::Left), ("takes", Edge::Right)]);
        for (name, time) in [
            ("after a power cut, with what it sets right", self.after_a_cut),
            ("after a clean stop", self.after_a_stop),
        ] {
            table.row([name.to_owned(), show::time(time.as_micros_f64())]);
        }
        table.write(out)?;
        let written = u64::from(self.seen.sectors) * u64::from(self.sector_bytes.get());
        let written = show::short(written + u64::from(self.seen.others) * 65_536);
        let before =
            if self.seen.filled { "The device was full" } else { "The device was not full" };
        writeln!(out)?;
        let state = format!(
            "{before}, and {written} were written at random. Mounts grow with the blocks in use."
        );
        Ok(write_line(&state, out)?)
    }
}
