//! How long mounts take on the model: after a power loss, and after a clean stop.

use std::fmt::Display;
use std::io::Write;

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedPlan};
use ftl_core::{Config, Ftl, OwnedRam, RamPlan};
use ftl_iface::{BlockStore, Sector};
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Timed};
use sim::engine::systems::{Meter, Metered, Watcher, page_stamps, stamps};
use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Sectors written before the measured mounts: enough to fill a log, but quick.
const WRITTEN_MOST: u32 = 100_000;

/// How a life on the model begins, and so its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// With a format: sectors are written, and power fails.
    Writes,
    /// With a mount: it is measured, and ends with a clean stop.
    Measured,
}

fn failed(what: &'static str) -> impl Fn(&dyn Display) -> Failure {
    move |error| Failure::Violation(format!("the {what} failed: {error}"))
}

/// Writes sectors across a device.
fn fill<S: BlockStore>(store: &mut S) -> Result<(), Failure>
where
    S::Error: std::fmt::Debug,
{
    let sector = vec![0; store.sector_bytes().as_usize()];
    let capacity = store.capacity().get();
    for number in 0..WRITTEN_MOST.min(capacity) {
        // Far apart, so that every part of the device is in use.
        let place = u64::from(number) * 7_919 % u64::from(capacity);
        let written = store.write(Sector::new(place as u32), &sector);
        written.map_err(|error| failed("write")(&error))?;
    }
    Ok(())
}

/// The mounts of the hybrid FTL, with a log or without.
pub(super) fn of_chains(
    part: &Part,
    plan: &RamPlan,
    config: &Config,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let chip = Chip::new(part, stamps(plan, config.sector_bytes))?;
    // Uses the types of replays, because another FTL type would add all its code to the program.
    let meter = Meter::new();
    let device = Metered::new(chip, plan.shape(), &meter);
    let bytes = u64::from(config.sector_bytes.get());
    let sectors = WRITTEN_MOST.min(plan.shape().capacity.get());
    table(device, u64::from(sectors) * bytes, out, |device, life| {
        let mut memory = OwnedRam::for_plan(plan);
        let (ram, watcher) = (memory.lend(), Watcher::new(&meter));
        let mut ftl = match life {
            Life::Writes => Ftl::format(device, config, ram, 1, watcher),
            Life::Measured => Ftl::mount(device, config, ram, watcher),
        }
        .map_err(|error| failed("mount")(&error))?;
        ftl.settle().map_err(|error| failed("mount")(&error))?;
        let ready = ftl.device().chip.now();
        match life {
            Life::Writes => fill(&mut ftl)?,
            Life::Measured => drop(ftl.stop().map_err(|error| failed("clean stop")(&error))?),
        }
        Ok((ftl.into_parts().0, ready))
    })
}

/// The mounts of the page store.
pub(super) fn of_pages(part: &Part, plan: &PagedPlan, out: &mut dyn Write) -> Result<(), Failure> {
    let mut chip = Chip::new(part, page_stamps(plan))?;
    chip.pack(plan.shape().main.region);
    let meter = Meter::new();
    let device = Metered::of_pages(chip, plan.shape(), &meter);
    let config = plan.config();
    let bytes = u64::from(plan.shape().sector_bytes.get());
    let sectors = WRITTEN_MOST.min(plan.shape().capacity.get());
    table(device, u64::from(sectors) * bytes, out, |device, life| {
        let mut memory = OwnedPagedRam::for_plan(plan);
        let (ram, watcher) = (memory.lend(), Watcher::new(&meter));
        let mut ftl = match life {
            Life::Writes => PageFtl::format(device, config, ram, 1, watcher),
            Life::Measured => PageFtl::mount(device, config, ram, watcher),
        }
        .map_err(|error| failed("mount")(&error))?;
        ftl.settle().map_err(|error| failed("mount")(&error))?;
        let ready = ftl.device().chip.now();
        match life {
            Life::Writes => fill(&mut ftl)?,
            Life::Measured => ftl.stop().map_err(|error| failed("clean stop")(&error))?,
        }
        Ok((ftl.into_parts().0, ready))
    })
}

/// Runs a device through a format and two mounts, and returns how long these took.
fn table<'m>(
    device: Metered<'m>,
    written: u64,
    out: &mut dyn Write,
    live: impl Fn(Metered<'m>, Life) -> Result<(Metered<'m>, Nanos), Failure>,
) -> Result<(), Failure> {
    writeln!(out)?;
    let mut table = Table::new([("a mount on the model", Edge::Left), ("takes", Edge::Right)]);
    let (mut device, _) = live(device, Life::Writes)?;
    for after in ["after a power cut, with what it sets right", "after a clean stop"] {
        let begun = device.chip.now();
        let (lived, ready) = live(device, Life::Measured)?;
        table.row([after.to_owned(), show::time((ready - begun).as_micros_f64())]);
        device = lived;
    }
    table.write(out)?;
    let written = show::size(written);
    Ok(writeln!(out, "\n{written} were written before. Mounts grow with the blocks in use.")?)
}
