//! The systems of other papers: their parameters, and how each is built.

use ftl_iface::{BlockCount, Bytes, Geometry, Region, RegionGeometry, SectorCount};
use ftl_rivals::kit::{Lanes, Victims};
use ftl_rivals::{Unfit, ahdm, combo, density, disk_cache, ko, multi_scm, page_map};
use nand_model::Time;
use nand_model::part::Part;

use super::bench;
use super::disk::{self, DiskPart};
use super::machine::Machine;
use super::meter::Meter;
use super::parts::{both, mlc_alone, slc_alone, with_slc_mode};
use super::scm::{self, ScmMachine, ScmParts};
use super::system::Session;
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

pub(super) const PAGE_MAP: [Parameter; 2] = [
    Parameter {
        name: "victims",
        default: "greedy",
        title: "choice of victims: greedy, cost-benefit or cat (cost age times)",
    },
    Parameter {
        name: "copies",
        default: "apart",
        title: "blocks that copies go to: apart from host writes, or mixed with them",
    },
];

pub(super) fn page_slc(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    page_map(setup, &slc_alone(&setup.part)?, Region::Slc, values, session)
}

pub(super) fn page_mlc(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    page_map(setup, &mlc_alone(&setup.part)?, Region::Mlc, values, session)
}

fn page_map(
    setup: &Setup,
    part: &Part,
    region: Region,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let meter = Meter::new();
    let machine = Machine::new(part, setup, &meter)?;
    let config = page_map::PageMapConfig {
        region,
        victims: victims(values)?,
        copies: copies(values)?,
        sector: part.sector_bytes,
        capacity: capacity(part),
        lanes: lanes(setup, part).of(region),
    };
    let store = page_map::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const KO: [Parameter; 2] = [
    Parameter { name: "short", default: "16KiB", title: "the longest request that enters the SLC" },
    Parameter { name: "threshold", default: "16", title: "updates above which a page stays there" },
];

pub(super) fn ko(setup: &Setup, values: &Values, session: &mut dyn Session) -> Result<(), Failure> {
    let part = both(setup)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let short = values.size("short").map_err(Failure::Arguments)?;
    let short = short / u64::from(part.sector_bytes.get());
    let config = ko::KoConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part),
        short: SectorCount::new(u32::try_from(short).unwrap_or(u32::MAX)),
        threshold: number(values, "threshold")?,
    };
    let store = ko::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const COMBO: [Parameter; 1] =
    [Parameter { name: "hot", default: "50", title: "percent of the SLC's blocks that are hot" }];

pub(super) fn combo(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = both(setup)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = combo::ComboConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part),
        hot_percent: number(values, "hot")?,
    };
    let store = combo::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const AHDM: [Parameter; 3] = [
    Parameter { name: "threshold", default: "2", title: "references that make a page hot" },
    Parameter { name: "adaptive", default: "on", title: "the threshold follows the wear" },
    Parameter { name: "warm", default: "4", title: "length of the list W, in lengths of H" },
];

pub(super) fn ahdm(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = both(setup)?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let threshold = number(values, "threshold")?.min(u8::MAX.into()) as u8;
    let adapts = values.is_on("adaptive").map_err(Failure::Arguments)?;
    let endurance = |region| part.region(region).map_or(1, |figures| figures.endurance);
    let config = ahdm::AhdmConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part),
        threshold: if adapts {
            ahdm::Threshold::Adaptive(threshold)
        } else {
            ahdm::Threshold::Fixed(threshold)
        },
        warm: number(values, "warm")?,
        endurance: Region::ALL.map(endurance),
    };
    let store = ahdm::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const DENSITY: [Parameter; 2] = [
    Parameter { name: "threshold", default: "4", title: "accesses that put a page into SLC mode" },
    Parameter {
        name: "extra",
        default: "slc",
        title: "MLC on top, for pages in SLC mode: a size; slc: twice the device's SLC",
    },
];

pub(super) fn density(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let slc = both(setup)?.geometry.slc().map_or(0, RegionGeometry::capacity_bytes);
    let extra = values.get("extra", |text| match text {
        "slc" => Ok(2 * slc),
        size => crate::input::size::parse(size),
    });
    let extra = extra.map_err(Failure::Arguments)?;
    let mut part = with_slc_mode(mlc_alone(&setup.part)?, &setup.part)?;
    let shape = part.geometry.mlc().copied();
    let extra_blocks = shape.map_or(0, |shape| extra.div_ceil(shape.block_bytes()));
    let extra_blocks = u32::try_from(extra_blocks).unwrap_or(u32::MAX / 2);
    let shape = shape.map(|shape| {
        let blocks = shape.blocks.get().saturating_add(extra_blocks);
        RegionGeometry { blocks: BlockCount::new(blocks), ..shape }
    });
    part.geometry =
        Geometry::new(None, shape).map_err(|error| Failure::Unfit(error.to_string()))?;
    let meter = Meter::new();
    let machine = Machine::new(&part, setup, &meter)?;
    let config = density::DensityConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        lanes: lanes(setup, &part).mlc,
        threshold: number(values, "threshold")?.min(u8::MAX.into()) as u8,
        extra_blocks,
    };
    let store = density::new(machine.nand(), machine.probe(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

pub(super) const DISK_CACHE: [Parameter; 8] = [
    Parameter {
        name: "policy",
        default: "0",
        title: "0: the paper's; 1: long writes bypass the SLC; 2: separate regions; 3: nothing stays; none: no flash",
    },
    Parameter {
        name: "blocks",
        default: "2048",
        title: "of the cache, each of them of either kind",
    },
    Parameter {
        name: "share",
        default: "50",
        title: "percent of these blocks that are in SLC mode",
    },
    Parameter {
        name: "chip",
        default: "device",
        title: "blocks: device: as in its MLC; paper: as in the paper's chip",
    },
    Parameter {
        name: "dram",
        default: "512KiB",
        title: "size of the buffer in front of the flash; at most a sixteenth of the disk",
    },
    Parameter {
        name: "cold",
        default: "50",
        title: "percent of a ring's blocks that are its cold region",
    },
    Parameter {
        name: "long",
        default: "64KiB",
        title: "the longest write that does not count as long in policy 1",
    },
    Parameter {
        name: "disk",
        default: disk::BUILTIN,
        title: "a built-in disk, or the path of its file",
    },
];

/// The chip of the paper.
const FLEX: &str = include_str!("../../../parts/flex.toml");

/// A cache in front of a disk: one operation after the other, even if the device could overlap them.
pub(super) fn disk_cache(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let setup = Setup { time: Time::Serial, ..setup.clone() };
    let is_own = values.get("chip", |text| match text {
        "device" => Ok(false),
        "paper" => Ok(true),
        _ => Err("write device or paper".into()),
    });
    let mut part = if is_own.map_err(Failure::Arguments)? {
        // Hosts see the device's capacity nevertheless.
        let Part { name, exported_bytes, sector_bytes, .. } = setup.part.clone();
        Part { name, exported_bytes, sector_bytes, ..Part::parse(FLEX, "flex")? }
    } else {
        with_slc_mode(mlc_alone(&setup.part)?, &setup.part)?
    };
    let there = part.geometry.mlc().map_or(0, |shape| shape.blocks.get());
    let blocks = number(values, "blocks")?.min(there);
    let slc = (u64::from(blocks) * u64::from(number(values, "share")?.min(100)) / 100) as u32;
    let shape = part
        .geometry
        .mlc()
        .map(|shape| RegionGeometry { blocks: BlockCount::new(blocks), ..*shape });
    part.geometry =
        Geometry::new(None, shape).map_err(|error| Failure::Unfit(error.to_string()))?;
    let rule = values.get("policy", |text| match text {
        "none" => Ok(disk_cache::Rule::DiskAlone),
        "0" => Ok(disk_cache::Rule::Proposed),
        "1" => Ok(disk_cache::Rule::LongBypass),
        "2" => Ok(disk_cache::Rule::Apart),
        "3" => Ok(disk_cache::Rule::NothingStays),
        _ => Err("write 0, 1, 2, 3 or none".into()),
    });
    let size = |name| values.size(name).map_err(Failure::Arguments);
    let sectors =
        |bytes: u64| u32::try_from(bytes / u64::from(part.sector_bytes.get())).unwrap_or(u32::MAX);
    let dram = size("dram")?.min(part.exported_bytes / 16);
    let config = disk_cache::DiskCacheConfig {
        sector: part.sector_bytes,
        capacity: capacity(&part),
        blocks: [slc, blocks - slc],
        dram: Bytes::new(u32::try_from(dram).unwrap_or(u32::MAX)),
        cold_percent: number(values, "cold")?,
        rule: rule.map_err(Failure::Arguments)?,
        long: SectorCount::new(sectors(size("long")?)),
    };
    let disk = values.get("disk", |name| DiskPart::open(name).map_err(|error| error.to_string()));
    let meter = Meter::new();
    let machine = Machine::new(&part, &setup, &meter)?;
    let machine = machine.before(disk.map_err(Failure::Arguments)?, part.exported_bytes);
    let store = disk_cache::new(machine.nand(), machine.probe(), machine.backing(), &config);
    bench::run(&machine, store.map_err(unfit)?, session)
}

pub(super) const MULTI_SCM: [Parameter; 5] = [
    Parameter { name: "share", default: "5", title: "percent of the capacity that are M-SCM" },
    Parameter { name: "leveling", default: "both", title: "of wear: both, m, s or none" },
    Parameter {
        name: "interval",
        default: "5",
        title: "overwrites of a sector after which its page may move",
    },
    Parameter {
        name: "threshold",
        default: "5",
        title: "erase cycles by which the other place must be less worn",
    },
    Parameter {
        name: "parts",
        default: scm::BUILTIN,
        title: "built-in memories, or the path of their file",
    },
];

/// Two memories instead of the device's flash, with its capacity and sectors.
pub(super) fn multi_scm(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let pages = setup.part.exported_bytes.div_ceil(multi_scm::PAGE.get().into());
    let pages = u32::try_from(pages).unwrap_or(u32::MAX);
    let share = u64::from(number(values, "share")?);
    let quick = (u64::from(pages) * share / 100).min(pages.into()) as u32;
    let leveled = values.get("leveling", |text| match text {
        "both" => Ok([true, true]),
        "m" => Ok([true, false]),
        "s" => Ok([false, true]),
        "none" => Ok([false, false]),
        _ => Err("write both, m, s or none".into()),
    });
    let config = multi_scm::MultiScmConfig {
        sector: setup.part.sector_bytes,
        capacity: capacity(&setup.part),
        quick,
        leveled: leveled.map_err(Failure::Arguments)?,
        interval: number(values, "interval")?,
        threshold: number(values, "threshold")?,
    };
    let parts = values.get("parts", |name| ScmParts::open(name).map_err(|error| error.to_string()));
    let meter = Meter::new();
    let places = [quick, pages - quick];
    let machine = ScmMachine::new(parts.map_err(Failure::Arguments)?, places, setup, &meter);
    let store = multi_scm::new(machine.rows(), &config).map_err(unfit)?;
    bench::run(&machine, store, session)
}

fn copies(values: &Values) -> Result<page_map::Copies, Failure> {
    let copies = values.get("copies", |text| match text {
        "apart" => Ok(page_map::Copies::Apart),
        "mixed" => Ok(page_map::Copies::Mixed),
        _ => Err("write apart or mixed".into()),
    });
    copies.map_err(Failure::Arguments)
}

pub(super) fn number(values: &Values, name: &'static str) -> Result<u32, Failure> {
    let number = values.get(name, |text| {
        text.parse().map_err(|_| "write a whole number of at most 32 bits".into())
    });
    number.map_err(Failure::Arguments)
}

pub(super) fn victims(values: &Values) -> Result<Victims, Failure> {
    let victims = values.get("victims", |text| match text {
        "greedy" => Ok(Victims::Greedy),
        "cost-benefit" => Ok(Victims::CostBenefit),
        "cat" => Ok(Victims::Cat),
        _ => Err("write greedy, cost-benefit or cat".into()),
    });
    victims.map_err(Failure::Arguments)
}

#[allow(clippy::needless_pass_by_value)] // It is what `map_err` hands over.
pub(super) fn unfit(reason: Unfit) -> Failure {
    Failure::Unfit(reason.to_string())
}

/// Sectors that the part exports. More than 32 bits can number are refused when the store is built.
pub(super) fn capacity(part: &Part) -> SectorCount {
    let sectors = part.exported_bytes / u64::from(part.sector_bytes.get());
    SectorCount::new(u32::try_from(sectors).unwrap_or(u32::MAX))
}

/// Blocks that a stream fills in parallel, so that all planes of a region work if planes work at the same time. A block
/// that is striped works several planes by itself: filling others in turn would only put neighbours on one plane.
pub(super) fn lanes(setup: &Setup, part: &Part) -> Lanes {
    let apart = |region| planes(part, region) / part.layout_of(region).stripe_width();
    match setup.time {
        Time::Serial => Lanes::alike(1),
        Time::Overlapped => Lanes { slc: apart(Region::Slc), mlc: apart(Region::Mlc) },
    }
}

/// Planes of a region.
pub(super) fn planes(part: &Part, region: Region) -> u32 {
    let layout = part.layout_of(region);
    layout.dies() * layout.planes_per_die
}
