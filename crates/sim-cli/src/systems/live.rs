//! The lives of a disk that is used by real hosts: mounted, served, cut off from power, mounted again.

use ftl_core::config::PairedPages;
use ftl_core::probe::Counters;
use ftl_core::ram::OwnedRam;
use ftl_core::{Config, Ftl, RamPlan};
use nand_model::faults::FaultInjector;
use nand_model::part::Part;
use nand_model::power::Cut;
use nand_model::{Chip, PowerCut};

use super::meter::{Flash, Meter, Metered, Watcher};
use super::ours::{self, KEY, Ours};
use super::{Setup, System};
use crate::Failure;
use crate::image::Journaled;
use crate::spec::Values;

/// The chip with all that a life may do to it.
pub(crate) type Powered = PowerCut<Journaled>;

/// A system whose power can fail.
pub(crate) trait Live: System {
    /// What it stands on.
    fn power(&mut self) -> &mut Powered;
}

/// How a life ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Power failed. What was in RAM is gone.
    PowerFailed,
    /// Its owner has no more to ask.
    Stopped,
}

/// What a disk is used for.
pub(crate) trait Owner {
    /// When power fails next, counted from the beginning of the mount.
    fn next_cut(&mut self) -> Cut;

    /// Uses the disk until its power fails, or until it is not needed any more.
    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure>;
}

/// The device and the configuration of a system that is to live.
#[derive(Debug)]
pub(crate) struct Blueprint {
    /// The device, without what the system does not use.
    pub(crate) part: Part,
    /// Its configuration.
    pub(crate) config: Config,
    plan: RamPlan,
}

impl Blueprint {
    fn new(part: Part, mut config: Config, guards: PairedPages) -> Result<Self, Failure> {
        config.paired_pages = guards;
        let plan = RamPlan::new(&part.geometry, &config);
        let plan = plan.map_err(|error| ours::refused(&part, error))?;
        Ok(Self { part, config, plan })
    }
}

/// The hybrid. Unlike in a replay, pages that a cut may ruin are copied beforehand, unless something else is asked for.
pub(super) fn hybrid(setup: &Setup, values: &Values) -> Result<Blueprint, Failure> {
    let config = ours::hybrid_config(setup, values)?;
    let asked = values.is_given("paired-pages").then_some(config.paired_pages);
    let guards = asked.unwrap_or(PairedPages::Guard);
    Blueprint::new(setup.part.clone(), config, guards)
}

/// The conventional system, which copies them, too.
pub(super) fn conventional(setup: &Setup, values: &Values) -> Result<Blueprint, Failure> {
    let part = ours::without_slc(&setup.part)?;
    let config = ours::conventional_config(&part, values)?;
    Blueprint::new(part, config, PairedPages::Guard)
}

impl Blueprint {
    /// A new chip that keeps a stamp of each sector, for one whose bytes nobody reads.
    pub(crate) fn stamped(&self, setup: &Setup) -> Result<Journaled, Failure> {
        let content = ours::stamps(&self.plan, self.config.sector_bytes);
        let mut chip = Chip::new(&self.part, content)?.with_time(setup.time);
        chip.pack(self.plan.shape().chain.region);
        Ok(Journaled::new(FaultInjector::new(chip, 0)))
    }

    /// Formats a new chip.
    pub(crate) fn format(&self, chip: Journaled) -> Result<Journaled, Failure> {
        let meter = Meter::new();
        let mut powered = Powered::new(chip, Cut::never());
        let device = Metered::new(&mut powered, self.plan.shape(), &meter);
        let mut memory = OwnedRam::for_plan(&self.plan);
        let formatted = Ftl::format(device, &self.config, memory.lend(), KEY, Watcher::new(&meter));
        formatted.map(drop).map_err(|error| Failure::Unfit(error.to_string()))?;
        Ok(powered.into_inner())
    }

    /// Lets the owner at the disk, life after life, until it is stopped. What is on the chip then is all that there is.
    pub(crate) fn run(&self, chip: Journaled, owner: &mut dyn Owner) -> Result<Journaled, Failure> {
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
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Failure::Violation(format!("the {what} failed: {error}"))
        };
        let mut memory = OwnedRam::for_plan(&self.plan);
        let mut watcher = Watcher::new(meter);
        watcher.counters.clone_from(counters);
        let device = Metered::new(&mut *powered, self.plan.shape(), meter);
        let mounted = Ftl::mount(device, &self.config, memory.lend(), watcher);
        let ftl = match mounted {
            Ok(ftl) => ftl,
            Err(error) => {
                let failure = failed("mount", &error);
                return if powered.is_on() { Err(failure) } else { Ok(Ended::PowerFailed) };
            }
        };
        let mut ours = Ours::new(ftl, &self.plan, meter);
        // What a cut has left is set right before hosts come.
        let ended = match ours.ftl.settle() {
            Ok(()) => owner.live(&mut ours)?,
            Err(_) if !ours.power().is_on() => Ended::PowerFailed,
            Err(error) => return Err(failed("mount", &error)),
        };
        if ended == Ended::Stopped {
            ours.power().set_cut(Cut::never());
            ours.ftl.stop().map_err(|error| failed("clean stop", &error))?;
        }
        let (_, watcher) = ours.ftl.into_parts();
        *counters = watcher.counters;
        Ok(ended)
    }
}

impl Flash for &mut Powered {
    fn chip(&self) -> &Chip {
        self.inner().inner().inner()
    }

    fn chip_mut(&mut self) -> &mut Chip {
        self.inner_mut().inner_mut().inner_mut()
    }
}

impl Live for Ours<'_, &mut Powered> {
    fn power(&mut self) -> &mut Powered {
        self.ftl.device_mut().chip
    }
}
