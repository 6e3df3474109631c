//! Our own FTL, with its log and without.

use ftl_core::config::WriteBackConfig;
use ftl_core::config::{
    Endurance, FilterChoice, IndexConfig, LogRegion, PairedPages, RunEnds, WearLeveling,
};
use ftl_core::hybrid::ram::{OwnedRam, Ram, WIDENED_BY};
use ftl_core::hybrid::shape::index::IndexShape;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, Probing, RamPlan, layout};
use ftl_iface::{BlockStore, Bytes, Region, RegionGeometry, SectorCount};
use nand_model::part::Part;
use nand_model::{Chip, Content};

use super::meter::{Flash, Meter, Metered, Watcher};
use super::system::{Books, Session};
use super::tenant::{self, Booked, Tenant, WriteCount};
use super::{chains, filled};
use crate::base::Failure;
use crate::engine::host::PREPARED_AT_ONCE;
use crate::engine::result;
use crate::engine::result::{Factors, Filter, Folding, Hash, Throttle};
use crate::input::device::{Fill, Setup};
use crate::input::spec::{Parameter, Values};

pub(super) const fn switch(name: &'static str, title: &'static str) -> Parameter {
    Parameter { name, default: "on", title }
}

const WEAR_LEVELING: Parameter = switch("wear-leveling", "move cold data onto worn MLC blocks");

pub(super) const HYBRID: [Parameter; 15] = {
    let [a, b, c, d, e, f, g, h, i] = LOG;
    let [j, k, l, m, n, o] = chains::CHAINS;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]
};

pub(super) const CONVENTIONAL: [Parameter; 7] = {
    let [b, c, d, e, f, g] = chains::CHAINS;
    [WEAR_LEVELING, b, c, d, e, f, g]
};

/// The parameters of a system with a log.
const LOG: [Parameter; 9] = [
    switch("filter", "only small writes enter the SLC; off: all writes that fit"),
    Parameter {
        name: "follow",
        default: "off",
        title: "a small write that continues a sequential run of large ones goes to the MLC too",
    },
    switch("throttle", "keep the SLC from wearing out before the MLC"),
    switch(
        "write-back",
        "the paper's rules for data in the log's tail; off: all of it moves to the MLC",
    ),
    WEAR_LEVELING,
    Parameter {
        name: "paired-pages",
        default: "accept",
        title: "pages that a power cut may corrupt; guard: back them up in the SLC, as firmware would",
    },
    Parameter {
        name: "entries",
        default: "auto",
        title: "hash table entries; auto: one per log slot within 256 KiB of RAM, else half; half: one for two slots",
    },
    Parameter { name: "probes", default: "8", title: "entries examined in a lookup, 1 to 32" },
    Parameter {
        name: "probing",
        default: "linear",
        title: "order of probing: linear or quadratic",
    },
];

/// On a chip of one region, the default share of its blocks for the log.
const LOG_SHARE: u32 = 32;

/// The format key of the pages. A simulated chip has no earlier format.
pub(super) const KEY: u32 = 1;

pub(super) fn hybrid(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let config = hybrid_config(setup, values)?;
    run(&setup.part, setup, &config, session)
}

/// The hybrid with its parameters.
pub(super) fn hybrid_config(setup: &Setup, values: &Values) -> Result<Config, Failure> {
    let part = &setup.part;
    let on = |name| values.is_on(name).map_err(Failure::Arguments);
    let mut config = base(part);
    config.log = match (part.geometry.slc(), part.geometry.mlc()) {
        _ if setup.log_bytes == Some(0) => LogRegion::None,
        (Some(_), Some(_)) => LogRegion::SlcRegion,
        (Some(only), None) | (None, Some(only)) => {
            let asked = setup.log_bytes.map(|bytes| bytes / only.block_bytes());
            let blocks = asked.unwrap_or(u64::from(only.blocks.get() / LOG_SHARE).max(2));
            LogRegion::FirstBlocks(u16::try_from(blocks).unwrap_or(u16::MAX))
        }
        (None, None) => LogRegion::None,
    };
    if !on("filter")? {
        config.filter = FilterChoice::AcceptAll;
    }
    config.run_ends = if on("follow")? { RunEnds::Follow } else { RunEnds::BySize };
    config.throttle = on("throttle")?;
    if !on("write-back")? {
        config.write_back = WriteBackConfig {
            follow_log_blocks: false,
            collect_on_fold: false,
            suspend_when_updates_fall: false,
        };
    }
    config.wear_leveling.enabled = on("wear-leveling")?;
    config.index = index(values, log_places(part, &config)).map_err(Failure::Arguments)?;
    config.paired_pages = paired_pages(values).map_err(Failure::Arguments)?;
    chains::apply(values, &mut config).map_err(Failure::Arguments)?;
    Ok(config)
}

pub(super) fn conventional(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let part = without_slc(&setup.part)?;
    let config = conventional_config(&part, values)?;
    run(&part, setup, &config, session)
}

/// The device of the conventional system: without the SLC, which is neither used nor paid for.
pub(super) fn without_slc(part: &Part) -> Result<Part, Failure> {
    match part.geometry.mlc() {
        Some(_) => Ok(part.clone().with_slc_bytes(0)?),
        None => Ok(part.clone()),
    }
}

/// The conventional system with its parameters, on such a device.
pub(super) fn conventional_config(part: &Part, values: &Values) -> Result<Config, Failure> {
    let enabled = values.is_on("wear-leveling").map_err(Failure::Arguments)?;
    let wear_leveling = WearLeveling { enabled, ..Config::CONVENTIONAL.wear_leveling };
    let mut config = Config { log: LogRegion::None, wear_leveling, ..base(part) };
    chains::apply(values, &mut config).map_err(Failure::Arguments)?;
    Ok(config)
}

/// The protection of paired pages.
pub(super) fn paired_pages(values: &Values) -> Result<PairedPages, String> {
    values.get("paired-pages", |text| match text {
        "accept" => Ok(PairedPages::Accept),
        "guard" => Ok(PairedPages::Guard),
        _ => Err("write accept or guard".into()),
    })
}

/// The default number of entries of the hash table, unless that is less than half of the places: 256 KiB of RAM at four
/// bytes each, 320 if the device needs five.
const ENTRIES_MOST: u32 = 64 << 10;

/// Places for sectors in the log's part of the flash.
fn log_places(part: &Part, config: &Config) -> u32 {
    let of = |region: Option<&RegionGeometry>| region.map_or(0, RegionGeometry::capacity_bytes);
    let bytes = match config.log {
        LogRegion::None => 0,
        LogRegion::SlcRegion => of(part.geometry.slc()),
        LogRegion::FirstBlocks(blocks) => {
            let only = part.geometry.slc().or(part.geometry.mlc());
            only.map_or(0, |region| region.block_bytes() * u64::from(blocks))
        }
    };
    u32::try_from(bytes / u64::from(config.sector_bytes.get())).unwrap_or(u32::MAX)
}

/// The size of the hash table.
fn index(values: &Values, places: u32) -> Result<IndexConfig, String> {
    let entries = |text: &str| match text {
        "auto" if places / 2 > IndexShape::MOST_ENTRIES => Ok(Some(IndexShape::MOST_ENTRIES)),
        // It is half of the places, whose exact number the FTL knows.
        "auto" if places >= 2 * ENTRIES_MOST => Ok(None),
        "auto" => Ok(Some(IndexConfig::entries_within(places, ENTRIES_MOST))),
        "half" => Ok(None),
        number => {
            number.parse().map(Some).map_err(|_| "write a whole number, auto, or half".into())
        }
    };
    let probing = |text: &str| match text {
        "linear" => Ok(Probing::Linear),
        "quadratic" => Ok(Probing::Quadratic),
        _ => Err("write linear or quadratic".into()),
    };
    let probes = |text: &str| text.parse().map_err(|_| "write a number from 1 to 32".into());
    Ok(IndexConfig {
        entries: values.get("entries", entries)?,
        probes: values.get("probes", probes)?,
        probing: values.get("probing", probing)?,
    })
}

/// The settings that follow from the device.
pub(super) fn base(part: &Part) -> Config {
    let sector = part.sector_bytes;
    let capacity = part.exported_bytes / u64::from(sector.get());
    let endurance = |region| part.region(region).map(|figures| figures.endurance);
    let (slc, mlc) = (endurance(Region::Slc), endurance(Region::Mlc));
    let log = slc.or(mlc).unwrap_or(1);
    Config {
        sector_bytes: sector,
        // More sectors than 32 bits can number are refused when the shape is checked.
        capacity: Some(SectorCount::new(u32::try_from(capacity).unwrap_or(u32::MAX))),
        endurance: Endurance { fast: log, main: mlc.unwrap_or(log) },
        // As in the paper, where power never fails, unless set otherwise.
        paired_pages: PairedPages::Accept,
        ..Config::HYBRID
    }
}

/// Formats, fills, prepares, stops, and mounts again for the replay. After the clean stop the mount leaves no recovery
/// to the replay. Counts of the preparation are dropped; the flash keeps its content.
fn run(
    part: &Part,
    setup: &Setup,
    config: &Config,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let unfit = |reason: &dyn std::fmt::Display| Failure::Unfit(reason.to_string());
    let plan = RamPlan::new(&part.geometry, config).map_err(|error| unfit(&error))?;
    let content = stamps(&plan, config.sector_bytes);
    let mut chip = Chip::new(part, content)?.with_time(setup.time);
    chip.pack(plan.shape().chain.region);
    let meter = Meter::new();
    let device = Metered::new(chip, plan.shape(), &meter);
    let mut memory = OwnedRam::for_plan(&plan);
    let ftl = Ftl::format(device, config, memory.lend(), KEY, Watcher::new(&meter));
    let mut ftl = ftl.map_err(|error| unfit(&error))?;
    let at_once = SectorCount::new(PREPARED_AT_ONCE / config.sector_bytes.get());
    let filled = match setup.fill {
        Fill::Nothing => SectorCount::ZERO,
        Fill::InOrder | Fill::Random => filled::sectors(plan.shape(), config, at_once),
    };
    let mut memory = OwnedRam::for_plan(&plan);
    if !filled.is_zero() {
        let (mut device, _) = ftl.into_parts();
        filled::fill(&mut device.chip, plan.shape(), KEY, filled)?;
        ftl = mount(device, config, memory.lend(), &meter)?;
        let settled = ftl.settle_at_rest();
        settled.map_err(|error| Failure::Violation(format!("the mount failed: {error}")))?;
    }
    let mut ours = Tenant::new(ftl, lent_bytes(&plan), &meter);
    session.prepare(&mut ours, filled)?;
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Failure::Violation(format!("the {what} failed: {error}"))
    };
    ours.ftl.stop().map_err(|error| failed("clean stop", &error))?;
    let (device, _) = ours.ftl.into_parts();

    let mut memory = OwnedRam::for_plan(&plan);
    let mut ftl = mount(device, config, memory.lend(), &meter)?;
    // If no checkpoint fits, the mount leaves work and trusts no erased block, and the first change after it costs an
    // erase. None of that belongs to the comparison.
    ftl.settle_at_rest().map_err(|error| failed("mount", &error))?;
    ftl.void_checkpoint().map_err(|error| failed("mount", &error))?;
    // The host that filled the device is not the one whose requests are measured.
    ftl.forget_requests();
    session.replay(&mut Tenant::new(ftl, lent_bytes(&plan), &meter))
}

/// What a chip stores of a page if a stamp represents each sector.
pub fn stamps(plan: &RamPlan, sector: Bytes) -> Content {
    let slots = plan.shape().chain.slots.max(plan.shape().meta.slots);
    let spare_kept = Bytes::new(layout::tag_bytes(slots) as u32);
    Content::Stamps { sector, spare_kept }
}

type MeteredHybrid<'ram, D> = Ftl<'ram, Metered<'ram, D>, Watcher<'ram>>;

fn mount<'ram>(
    device: Metered<'ram>,
    config: &Config,
    ram: Ram<'ram>,
    meter: &'ram Meter,
) -> Result<MeteredHybrid<'ram, Chip>, Failure> {
    let ftl = Ftl::mount(device, config, ram, Watcher::new(meter));
    ftl.map_err(|error| Failure::Violation(format!("the mount failed: {error}")))
}

/// Bytes of the FTL itself on this machine, for a device of that plan.
pub fn itself_bytes(plan: &RamPlan) -> usize {
    lent_bytes(plan) + tenant::itself_bytes::<MeteredHybrid<'_, Chip>>() - plan.total_bytes()
}

/// What the FTL is lent. On a microcontroller it is built without wide block numbers if the device does not need them,
/// so what they add to the FTL itself is left out.
pub(super) fn lent_bytes(plan: &RamPlan) -> usize {
    let widened = if plan.shape().width().is_wide() { 0 } else { WIDENED_BY };
    plan.total_bytes().saturating_sub(widened)
}

impl<'m, D: Flash> Booked<'m> for MeteredHybrid<'m, D> {
    type Chip = D;

    fn is_throttling(&self) -> bool {
        self.is_throttling()
    }

    fn books(&self, asked: WriteCount) -> Books {
        let counters = &self.probe().counters;
        let mut books = Books {
            factors: Some(factors(counters)),
            folding: Some(folding(counters, self.probe().switch_erases)),
            ..Books::default()
        };
        let (Some((reals, virtuals, capacity)), Some(probes)) =
            (self.index_load(), self.index_probes())
        else {
            return books;
        };
        books.log_writes = Some(counters.fast_writes);
        books.filter = Some(Filter::of(self.threshold(), self.sector_bytes()));
        books.throttle = Some(Throttle {
            active_share: result::ratio(asked.throttled, asked.writes),
            rejected_writes: counters.rejected_by_throttle,
            k: self.window().get(),
        });
        books.hash = Some(Hash {
            rejected_writes: counters.rejected_by_index,
            valid: result::ratio(reals.into(), capacity.get().into()),
            load: result::ratio(u64::from(reals) + u64::from(virtuals), capacity.get().into()),
            probes_mean: result::ratio(probes.part, probes.whole),
        });
        books
    }
}

fn factors(counters: &Counters) -> Factors {
    let factors = counters.factors();
    let ratio = |ratio: ftl_core::probe::Ratio| result::ratio(ratio.part, ratio.whole);
    Factors {
        alpha: ratio(factors.alpha),
        n1: ratio(factors.n1),
        n2: ratio(factors.n2),
        n3: ratio(factors.n3),
        n4: ratio(factors.n4),
        p1: ratio(factors.p1),
        p2: ratio(factors.p2),
    }
}

fn folding(counters: &Counters, switch_erases: u64) -> Folding {
    let factors = counters.factors();
    let (folds, switches) = (counters.folds, counters.switches);
    Folding {
        folds,
        switches,
        n4_with_switches: result::ratio(factors.n4.part + switch_erases, folds + switches),
        p2_with_switches: result::ratio(folds + switches, factors.p2.whole),
    }
}
