//! Systems from outside this repository: a crate that depends on this one adds its FTL, and every command that compares
//! systems knows it by name.

use std::convert::Infallible;
use std::sync::OnceLock;

use ftl_iface::{Bytes, NandDevice, Probe, Region, SectorCount};
use ftl_rivals::kit::{AreaPlan, Lanes, Units};
use ftl_rivals::{Rival, Unfit};
use nand_model::part::Part;

use super::machine::Machine;
use super::meter::Meter;
use super::parts::{both, mlc_alone, slc_alone};
use super::registry::{Entry, PowerLoss, SYSTEMS};
use super::system::Session;
use super::{bench, rivals};
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

/// An FTL that is compared with those of this repository.
pub trait Own {
    /// Its name: `--systems conventional,NAME`.
    const NAME: &'static str;

    /// Its description in `tandem systems`.
    const TITLE: &'static str;

    /// Its parameters: `NAME?parameter=value`. Their values are in [`Wanted`].
    const PARAMETERS: &'static [Parameter] = &[];

    /// The memories it uses.
    const MEMORY: Memory = Memory::Both;

    /// Builds it on that device. It must report the cause of every operation to the probe before the operation, so that
    /// results show the time by cause. `ftl_rivals::kit` does so.
    fn build<D: NandDevice<Error = Infallible>, P: Probe>(
        device: D,
        probe: P,
        wanted: &Wanted<'_>,
    ) -> Result<impl Rival<Error = Infallible>, Unfit>;
}

/// Which memories of the device a system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Its SLC and its MLC. A part that lacks one gets a default one, as for every system of this repository.
    Both,
    /// Only the MLC.
    Mlc,
    /// The whole capacity in SLC.
    Slc,
}

impl Memory {
    /// The device with these memories.
    pub(super) fn of(self, setup: &Setup) -> Result<Part, Failure> {
        match self {
            Self::Both => both(setup),
            Self::Mlc => mlc_alone(&setup.part),
            Self::Slc => slc_alone(&setup.part),
        }
    }
}

/// The required store.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Its sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks to fill in parallel, so that all planes work if planes work at the same time.
    pub lanes: Lanes,
    values: &'a Values,
}

impl Wanted<'_> {
    /// An empty store over all blocks of the device: one area per region, the SLC first, with `streams` streams each.
    pub fn units<D: NandDevice, P: Probe>(
        &self,
        device: D,
        probe: P,
        streams: usize,
    ) -> Result<Units<D, P>, Unfit> {
        let geometry = *device.geometry();
        let regions = Region::ALL.into_iter().filter(|region| geometry.region(*region).is_some());
        let plans: Vec<AreaPlan> = regions
            .map(|region| AreaPlan::whole(&geometry, region, streams, self.lanes.of(region)))
            .collect();
        Units::new(device, probe, &plans, self.sector, self.capacity)
    }

    /// The value of one of [`Own::PARAMETERS`], a whole number.
    pub fn number(&self, name: &'static str) -> Result<u32, Unfit> {
        let number = self.values.number(name).map_err(Unfit)?;
        u32::try_from(number).map_err(|_| Unfit(format!("{name} has at most 32 bits")))
    }
}

/// A system that can be registered.
#[derive(Debug)]
pub struct Registered(Entry);

/// The system, for registration.
pub const fn of<T: Own>() -> Registered {
    Registered(Entry {
        name: T::NAME,
        title: T::TITLE,
        parameters: T::PARAMETERS,
        uses_slc: matches!(T::MEMORY, Memory::Both),
        power: PowerLoss::Fatal,
        run: run::<T>,
    })
}

fn run<T: Own>(setup: &Setup, values: &Values, session: &mut dyn Session) -> Result<(), Failure> {
    let part = T::MEMORY.of(setup)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let (sector, capacity) = (part.sector_bytes, rivals::capacity(&part));
    let wanted = Wanted { sector, capacity, lanes: rivals::lanes(setup, &part), values };
    let store = T::build(machine.nand(), machine.probe(), &wanted).map_err(rivals::unfit)?;
    bench::run(&machine, store, session)
}

static KNOWN: OnceLock<Vec<Entry>> = OnceLock::new();

/// Registers systems, once, before arguments are read that may name them.
pub fn register(systems: impl IntoIterator<Item = Registered>) -> Result<(), Failure> {
    let entries: Vec<Entry> = systems.into_iter().map(|Registered(entry)| entry).collect();
    for (at, entry) in entries.iter().enumerate() {
        if SYSTEMS.iter().chain(&entries[..at]).any(|other| other.name == entry.name) {
            let reason = format!("there is a system called `{}`: choose another name", entry.name);
            return Err(Failure::Arguments(reason));
        }
    }
    let twice = "systems of your own are made known once, all together";
    KNOWN.set(entries).map_err(|_| Failure::Arguments(twice.into()))
}

/// The registered systems.
pub(super) fn entries() -> impl Iterator<Item = &'static Entry> {
    KNOWN.get().into_iter().flatten()
}
