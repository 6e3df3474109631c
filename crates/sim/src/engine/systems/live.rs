//! The lives of a disk that real hosts use: mounted, served, cut off from power, mounted again.

use std::convert::Infallible;
use std::fmt::Display;

use ftl_core::config::PairedPages;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::StoreWriteError;
use nand_model::faults::FaultInjector;
use nand_model::part::Part;
use nand_model::power::Cut;
use nand_model::{Chip, PowerCut};

use super::meter::{Flash, Meter, Metered, Watcher};
use super::ours::{self, KEY};
use super::paged;
use super::system::System;
use super::tenant::{Booked, Tenant, write_error};
use crate::base::Failure;
use crate::engine::image::Journaled;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

/// The chip with its faults and journal.
pub type Powered = PowerCut<Journaled>;

/// Why a change failed.
type Change = StoreWriteError<Infallible>;

/// A system whose power can fail.
pub trait Live: System {
    /// The device below it.
    fn power(&mut self) -> &mut Powered;

    /// Does the work that the mount has left.
    fn settle(&mut self) -> Result<(), Change>;

    /// Prepares the flash for a quick mount.
    fn stop(&mut self) -> Result<(), Change>;

    /// The counts, including those of earlier lives.
    fn counters(&self) -> &Counters;
}

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Power failed, and the RAM is lost.
    PowerFailed,
    /// Its owner has finished.
    Stopped,
}

/// The user of a disk.
pub trait Owner {
    /// When power fails next, counted from the beginning of the mount.
    fn next_cut(&mut self) -> Cut;

    /// Uses the disk until its power fails, or until it is not needed any more.
    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure>;
}

/// One of our FTLs with its configuration and its plan of RAM.
#[derive(Debug)]
pub enum Store {
    /// Block chains, with a log or without.
    Chains(Box<(Config, RamPlan)>),
    /// The page store.
    Pages(Box<(PagedConfig, PagedPlan)>),
}

/// The device and the FTL of a system that can be mounted again.
#[derive(Debug)]
pub struct Blueprint {
    /// The device, without what the system does not use.
    pub part: Part,
    /// Its FTL.
    pub store: Store,
}

impl Blueprint {
    fn of_chains(part: Part, mut config: Config, guards: PairedPages) -> Result<Self, Failure> {
        config.paired_pages = guards;
        let plan = RamPlan::new(&part.geometry, &config);
        let plan = plan.map_err(|error| Failure::Unfit(error.to_string()))?;
        Ok(Self { part, store: Store::Chains(Box::new((config, plan))) })
    }
}

/// The value of a parameter that a system takes by itself when it can be mounted again, as firmware would have it.
pub fn firmware_default(parameter: &Parameter) -> &'static str {
    if parameter.name == PAIRED_PAGES { "guard" } else { parameter.default }
}

/// The parameter whose default is another one here than in a replay.
const PAIRED_PAGES: &str = "paired-pages";

/// What a system is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A replay, in which the power never fails.
    Replay,
    /// To be mounted again, also after a loss of power.
    Mounts,
}

/// The protection of pages that a cut may corrupt: where there are cuts, it is on by default.
fn guards(values: &Values, given: PairedPages, purpose: Purpose) -> PairedPages {
    match purpose {
        Purpose::Mounts if !values.is_given(PAIRED_PAGES) => PairedPages::Guard,
        Purpose::Mounts | Purpose::Replay => given,
    }
}

/// The hybrid.
pub(super) fn hybrid(
    setup: &Setup,
    values: &Values,
    purpose: Purpose,
) -> Result<Blueprint, Failure> {
    let config = ours::hybrid_config(setup, values)?;
    let guards = guards(values, config.paired_pages, purpose);
    Blueprint::of_chains(setup.part.clone(), config, guards)
}

/// The conventional system, which copies them, too.
pub(super) fn conventional(
    setup: &Setup,
    values: &Values,
    purpose: Purpose,
) -> Result<Blueprint, Failure> {
    let part = ours::without_slc(&setup.part)?;
    let config = ours::conventional_config(&part, values)?;
    let guards = guards(values, config.paired_pages, purpose);
    Blueprint::of_chains(part, config, guards)
}

/// The page store.
pub(super) fn paged(
    setup: &Setup,
    values: &Values,
    purpose: Purpose,
) -> Result<Blueprint, Failure> {
    let part = setup.part.clone();
    let given = ours::paired_pages(values).map_err(Failure::Arguments)?;
    let guards = guards(values, given, purpose);
    let config = paged::config(&part, values, guards).map_err(Failure::Arguments)?;
    let plan = PagedPlan::new(&part.geometry, &config);
    let plan = plan.map_err(|error| Failure::Unfit(error.to_string()))?;
    Ok(Blueprint { part, store: Store::Pages(Box::new((config, plan))) })
}

impl Blueprint {
    /// A new chip that stores only a stamp per sector, for tests that do not read bytes back.
    pub fn stamped(&self, setup: &Setup) -> Result<Journaled, Failure> {
        let (content, packed) = match &self.store {
            Store::Chains(chains) => {
                let (config, plan) = &**chains;
                (ours::stamps(plan, config.sector_bytes), plan.shape().chain.region)
            }
            Store::Pages(pages) => {
                let (_, plan) = &**pages;
                (paged::stamps(plan), plan.shape().main.region)
            }
        };
        let mut chip = Chip::new(&self.part, content)?.with_time(setup.time);
        chip.pack(packed);
        Ok(Journaled::new(FaultInjector::new(chip, 0)))
    }

    /// Formats a new chip.
    pub fn format(&self, chip: Journaled) -> Result<Journaled, Failure> {
        let meter = Meter::new();
        let mut powered = Powered::new(chip, Cut::never());
        let watcher = Watcher::new(&meter);
        let unfit = |error: &dyn Display| Failure::Unfit(error.to_string());
        match &self.store {
            Store::Chains(chains) => {
                let (config, plan) = &**chains;
                let device = Metered::new(&mut powered, plan.shape(), &meter);
                let mut memory = OwnedRam::for_plan(plan);
                let formatted = Ftl::format(device, config, memory.lend(), KEY, watcher);
                formatted.map(drop).map_err(|error| unfit(&error))?;
            }
            Store::Pages(pages) => {
                let (config, plan) = &**pages;
                let device = Metered::of_pages(&mut powered, plan.shape(), &meter);
                let mut memory = OwnedPagedRam::for_plan(plan);
                let formatted = PageFtl::format(device, config, memory.lend(), KEY, watcher);
                formatted.map(drop).map_err(|error| unfit(&error))?;
            }
        }
        Ok(powered.into_inner())
    }

    /// Runs the owner on the disk, life after life, until it is stopped. After that only the chip's content is left.
    pub fn run(&self, chip: Journaled, owner: &mut dyn Owner) -> Result<Journaled, Failure> {
        let meter = Meter::new();
        let mut counters = Counters::default();
        let mut chip = chip;
        loop {
            let mut powered = Powered::new(chip, owner.next_cut());
            let ended = self.one_life(&mut powered, &meter, &mut counters, owner)?;
            chip = powered.into_inner();
            if ended == Ended::Stopped {
                return Ok(chip);
            }
        }
    }

    fn one_life(
        &self,
        powered: &mut Powered,
        meter: &Meter,
        counters: &mut Counters,
        owner: &mut dyn Owner,
    ) -> Result<Ended, Failure> {
        let mut watcher = Watcher::new(meter);
        watcher.counters.clone_from(counters);
        let refused = match &self.store {
            Store::Chains(chains) => {
                let (config, plan) = &**chains;
                let mut memory = OwnedRam::for_plan(plan);
                let device = Metered::new(&mut *powered, plan.shape(), meter);
                match Ftl::mount(device, config, memory.lend(), watcher) {
                    Ok(ftl) => {
                        let mut disk = Tenant::new(ftl, ours::lent_bytes(plan), meter);
                        return lead(&mut disk, counters, owner);
                    }
                    Err(error) => failed("mount", &error),
                }
            }
            Store::Pages(pages) => {
                let (config, plan) = &**pages;
                let mut memory = OwnedPagedRam::for_plan(plan);
                let device = Metered::of_pages(&mut *powered, plan.shape(), meter);
                match PageFtl::mount(device, config, memory.lend(), watcher) {
                    Ok(ftl) => {
                        let mut disk = Tenant::new(ftl, plan.total_bytes(), meter);
                        return lead(&mut disk, counters, owner);
                    }
                    Err(error) => failed("mount", &error),
                }
            }
        };
        if powered.is_on() { Err(refused) } else { Ok(Ended::PowerFailed) }
    }
}

/// Runs the owner on a mounted disk, until its power fails or it is stopped.
fn lead(
    disk: &mut dyn Live,
    counters: &mut Counters,
    owner: &mut dyn Owner,
) -> Result<Ended, Failure> {
    // The effects of a cut are repaired before hosts connect.
    let ended = match disk.settle() {
        // A disk whose reserve is used up can still be read.
        Ok(()) | Err(StoreWriteError::ReadOnly) => owner.live(disk)?,
        Err(_) if !disk.power().is_on() => Ended::PowerFailed,
        Err(error) => return Err(failed("mount", &error)),
    };
    if ended == Ended::Stopped {
        disk.power().set_cut(Cut::never());
        disk.stop().map_err(|error| failed("clean stop", &error))?;
    }
    counters.clone_from(disk.counters());
    Ok(ended)
}

fn failed(what: &str, error: &dyn Display) -> Failure {
    Failure::Violation(format!("the {what} failed: {error}"))
}

impl Flash for &mut Powered {
    fn chip(&self) -> &Chip {
        self.inner().inner().inner()
    }

    fn chip_mut(&mut self) -> &mut Chip {
        self.inner_mut().inner_mut().inner_mut()
    }
}

impl<'m, 'p: 'm, F: Booked<'m, Chip = &'p mut Powered>> Live for Tenant<'m, F> {
    fn power(&mut self) -> &mut Powered {
        self.ftl.device_mut().chip
    }

    fn settle(&mut self) -> Result<(), Change> {
        self.ftl.settle().map_err(|error| write_error(&error))
    }

    fn stop(&mut self) -> Result<(), Change> {
        self.ftl.stop().map_err(|error| write_error(&error))
    }

    fn counters(&self) -> &Counters {
        &self.ftl.probe().counters
    }
}
