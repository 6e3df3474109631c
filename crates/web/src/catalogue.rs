//! The devices, systems and loads that the page offers, and which SLC sizes fit each device.

use nand_model::datasheet;
use nand_model::part::Part;
use serde::Serialize;
use sim::engine::systems;
use sim::input::synth;
use sim::{Chosen, DeviceChoice, Failure, show};

use crate::words::on_the_page;

/// The devices, the best known first; those for tests are left out.
const DEVICES: [&str; 8] =
    ["c3", "c2", "c1", "ko", "tlc-pslc", "k9gag08u0m", "k9f2g08u0a", "spi-nand-1g"];

/// Capacities, besides each device's own.
const CAPACITIES: [u64; 4] = [1 << 30, 2 << 30, 4 << 30, 8 << 30];

/// The least blocks for data: the share of spare ones among fewer is too few for some systems.
const BLOCKS_LEAST: u32 = 128;

/// The capacity to begin with: enough for all that can be seen, and a run takes a second.
const USUAL: u64 = 1 << 30;

/// The SLC to begin with, as a part of the capacity.
const SLC_SHARE: u64 = 16;

/// Synthetic workloads that the page leaves out: for older results, and one that is all parameters.
const LEFT_OUT: [&str; 5] =
    ["synth:ntfs-1", "synth:ext3-1", "synth:ntfs-2", "synth:ext3-2", "synth:file-system"];

/// What there is to choose from.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    version: &'static str,
    devices: Vec<Device>,
    systems: Vec<System>,
    loads: Vec<Load>,
}

#[derive(Debug, Serialize)]
struct Device {
    name: String,
    title: String,
    capacities: Vec<Capacity>,
}

/// A capacity, and the sizes of SLC that go with it; none on a chip with one kind of cell.
#[derive(Debug, Serialize)]
struct Capacity {
    size: String,
    #[serde(skip)]
    bytes: u64,
    /// Blocks for data.
    #[serde(skip)]
    blocks: u32,
    /// Whether the device has room for a page store that guards pages from power cuts.
    #[serde(skip)]
    is_guarded: bool,
    is_usual: bool,
    slc: Vec<String>,
    /// The place of the SLC to begin with.
    usual_slc: usize,
}

#[derive(Debug, Serialize)]
struct System {
    name: &'static str,
    title: String,
    uses_slc: bool,
    /// Whether it can be mounted after a power loss.
    is_mountable: bool,
}

#[derive(Debug, Serialize)]
struct Load {
    name: String,
    title: String,
}

impl Catalogue {
    pub(crate) fn new() -> Result<Self, Failure> {
        let devices = DEVICES.iter().map(|name| Device::named(name)).collect::<Result<_, _>>()?;
        let systems = systems::names().map(System::named).collect::<Result<_, _>>();
        let loads = synth::list().into_iter().filter_map(|[name, title]| {
            let is_load = name.starts_with(synth::PREFIX) && !LEFT_OUT.contains(&&*name);
            is_load.then_some(Load { name, title })
        });
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            devices,
            systems: systems.map_err(Failure::Arguments)?,
            loads: loads.collect(),
        })
    }
}

impl Device {
    fn named(name: &str) -> Result<Self, Failure> {
        let part = datasheet::builtin(name)?;
        let own = part.exported_bytes;
        let whole = Capacity::of(&part, own)?;
        let mut capacities = Vec::new();
        for bytes in CAPACITIES.into_iter().filter(|bytes| *bytes < own) {
            let capacity = Capacity::of(&part, bytes)?;
            if capacity.blocks >= BLOCKS_LEAST && capacity.is_guarded >= whole.is_guarded {
                capacities.push(capacity);
            }
        }
        capacities.push(whole);
        if let Some(usual) = capacities.iter_mut().find(|capacity| capacity.bytes >= USUAL.min(own))
        {
            usual.is_usual = true;
        }
        let (name, title) = (name.into(), part.title.clone());
        Ok(Self { name, title, capacities })
    }
}

impl Capacity {
    fn of(part: &Part, bytes: u64) -> Result<Self, Failure> {
        let choice = DeviceChoice { capacity: Some(bytes), ..DeviceChoice::named(&part.name) };
        let geometry = choice.setup()?.part.geometry;
        let block = geometry.slc().filter(|_| geometry.mlc().is_some());
        let sizes = block.map_or_else(Vec::new, |slc| slc_sizes(slc.block_bytes(), bytes));
        let usual_slc = sizes.iter().rposition(|size| *size <= bytes / SLC_SHARE).unwrap_or(0);
        let setup = DeviceChoice { slc: sizes.get(usual_slc).copied(), ..choice }.setup()?;
        let paged = Chosen::parse("paged").map_err(Failure::Arguments)?;
        let (is_usual, is_guarded) = (false, paged.fits_for_mounts(&setup));
        let blocks = geometry.mlc().or(geometry.slc()).map_or(0, |large| large.blocks.get());
        let (size, slc) = (show::size(bytes), sizes.into_iter().map(show::size).collect());
        Ok(Self { size, bytes, blocks, is_guarded, is_usual, slc, usual_slc })
    }
}

/// None, and sizes of whole blocks up to a quarter of the capacity: powers of two, and one between any two.
fn slc_sizes(block: u64, capacity: u64) -> Vec<u64> {
    let powers = (20..40).flat_map(|power| [1_u64 << power, 3 << (power - 1)]);
    let fitting = powers.filter(|size| size.is_multiple_of(block) && *size <= capacity / 4);
    [0].into_iter().chain(fitting).collect()
}

impl System {
    fn named(name: &'static str) -> Result<Self, String> {
        let chosen = Chosen::parse(name)?;
        let title = on_the_page(systems::title(name).unwrap_or_default());
        let (uses_slc, is_mountable) = (chosen.uses_slc(), chosen.is_mountable());
        Ok(Self { name, title, uses_slc, is_mountable })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_offered_but_those_for_tests() {
        let offered = |name: &&str| name.starts_with("tiny") || DEVICES.contains(name);
        assert!(datasheet::builtin_names().all(|name| offered(&name)));
        let catalogue = Catalogue::new().unwrap();
        for device in &catalogue.devices {
            let usual = device.capacities.iter().filter(|capacity| capacity.is_usual);
            assert_eq!(usual.count(), 1, "{device:?}");
        }
        assert_eq!(catalogue.systems[0].name, "paged", "first");
        assert!(catalogue.loads.len() > 10 && catalogue.systems.len() > 10);
    }

    #[test]
    fn every_device_begins_with_a_run_that_every_kind_of_system_can_do() {
        let size = |text: &str| sim::input::size::parse(text).ok();
        for name in DEVICES {
            let device = Device::named(name).unwrap();
            let usual = device.capacities.iter().find(|capacity| capacity.is_usual).unwrap();
            let slc = usual.slc.get(usual.usual_slc).and_then(|text| size(text));
            let capacity = size(&usual.size);
            let setup =
                DeviceChoice { capacity, slc, ..DeviceChoice::named(name) }.setup().unwrap();
            for system in ["paged", "hybrid", "conventional", "page-mlc", "pslc"] {
                let chosen = Chosen::parse(system).unwrap();
                assert_eq!(chosen.unfit(&setup).unwrap(), None, "{system} on {name}");
            }
        }
    }

    #[test]
    fn the_sizes_of_slc_are_those_that_the_device_can_have() {
        let c3 = Device::named("c3").unwrap();
        let usual = c3.capacities.iter().find(|capacity| capacity.is_usual).unwrap();
        assert_eq!((&*usual.size, &*usual.slc[usual.usual_slc]), ("1GiB", "64MiB"));
        assert_eq!((&*usual.slc[0], &*usual.slc[usual.slc.len() - 1]), ("0B", "256MiB"));
        let plain = Device::named("spi-nand-1g").unwrap();
        assert!(plain.capacities.iter().all(|capacity| capacity.slc.is_empty()));
        for device in DEVICES {
            for Capacity { size, slc, .. } in Device::named(device).unwrap().capacities {
                for slc in &slc {
                    let bytes = |text: &str| sim::input::size::parse(text).ok();
                    let choice = DeviceChoice {
                        capacity: bytes(&size),
                        slc: bytes(slc),
                        ..DeviceChoice::named(device)
                    };
                    choice.setup().unwrap_or_else(|failure| panic!("{device}, {slc}: {failure}"));
                }
            }
        }
    }
}
