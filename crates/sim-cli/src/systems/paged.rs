//! Our page store.

use std::convert::Infallible;

use ftl_core::config::{Endurance, FilterChoice};
use ftl_core::layout;
use ftl_core::paged::{
    OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, PagedRam, RunEnds, Streams, Victims,
};
use ftl_core::probe::Cause;
use ftl_iface::{
    BlockStore, Bytes, PageCount, Region, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Content, Done};

use super::hardware::Hardware;
use super::meter::{Account, ChainWrite, Flash, Meter, Metered, Spent, Watcher};
use super::ours::{KEY, paired_pages, read_error, switch, write_error};
use super::setup::Setup;
use super::system::{Books, Session, System};
use crate::Failure;
use crate::result::Filter;
use crate::spec::{Parameter, Values};

pub(super) const PAGED: [Parameter; 8] = [
    switch("filter", "only small writes enter the SLC; off: all that fit"),
    Parameter {
        name: "streams",
        default: "auto",
        title: "open blocks of the MLC: 5 by expected lifetime, 2 keep copies apart, 1; auto: 5, or 2 on small devices",
    },
    Parameter {
        name: "victims",
        default: "cost-benefit",
        title: "the block that is emptied next: greedy, or cost-benefit with expected lifetimes",
    },
    Parameter {
        name: "entries",
        default: "auto",
        title: "sectors that RAM knows and map pages do not yet; auto: 9,590, or fewer on small devices",
    },
    switch("follow", "a small write that continues a run of large ones follows it to the MLC"),
    Parameter {
        name: "throttle",
        default: "off",
        title: "the SLC takes no more writes than let it last as long as the MLC; off: all that are hot",
    },
    Parameter { name: "cache", default: "auto", title: "map pages in RAM; auto: 16, or 4" },
    Parameter {
        name: "paired-pages",
        default: "accept",
        title: "that a power cut may ruin; guard: left out, as firmware would",
    },
];

/// The page store as it was asked for.
pub(super) fn config(part: &Part, values: &Values) -> Result<PagedConfig, String> {
    let sector = part.sector_bytes;
    let capacity = part.exported_bytes / u64::from(sector.get());
    let large = capacity > 1 << 20;
    let base = if large { PagedConfig::LARGE } else { PagedConfig::SMALL };
    let number = |name, auto: u32| {
        values.get(name, |text| match text {
            "auto" => Ok(auto),
            number => number.parse().map_err(|_| "write a whole number or auto".into()),
        })
    };
    let streams = values.get("streams", |text| match text {
        "auto" => Ok(base.streams),
        "1" => Ok(Streams::One),
        "2" => Ok(Streams::Two),
        "5" => Ok(Streams::ByLifetime),
        _ => Err("write 1, 2, 5 or auto".into()),
    })?;
    let victims = values.get("victims", |text| match text {
        "greedy" => Ok(Victims::Greedy),
        "cost-benefit" => Ok(Victims::CostBenefit),
        _ => Err("write greedy or cost-benefit".into()),
    })?;
    let cached = number("cache", base.cached_leaves.into())?;
    Ok(PagedConfig {
        sector_bytes: sector,
        capacity: Some(SectorCount::new(u32::try_from(capacity).unwrap_or(u32::MAX))),
        dirty_entries: number("entries", entries(part, &base))?,
        cached_leaves: u16::try_from(cached).unwrap_or(u16::MAX),
        anchor_blocks: anchors(part, &base),
        streams,
        victims,
        filter: if values.is_on("filter")? { base.filter } else { FilterChoice::AcceptAll },
        run_ends: if values.is_on("follow")? { RunEnds::Follow } else { RunEnds::BySize },
        paired_pages: paired_pages(values)?,
        refresh: base.refresh,
        wear_leveling: base.wear_leveling,
        throttle: throttle(part, values)?,
    })
}

/// What the part's blocks endure, where wear is to be kept in balance.
fn throttle(part: &Part, values: &Values) -> Result<Option<Endurance>, String> {
    let endurance = |region| part.region(region).map_or(0, |figures| figures.endurance);
    let both = Endurance { log: endurance(Region::Slc), chain: endurance(Region::Mlc) };
    Ok(values.is_on("throttle")?.then_some(both))
}

/// As many entries as the defaults have, but those of two blocks at least.
fn entries(part: &Part, base: &PagedConfig) -> u32 {
    let regions = [part.geometry.slc(), part.geometry.mlc()];
    let block = regions.into_iter().flatten().map(ftl_iface::RegionGeometry::block_bytes).max();
    let block = block.unwrap_or(0) / u64::from(part.sector_bytes.get());
    base.dirty_entries.max(u32::try_from(2 * block).unwrap_or(u32::MAX))
}

/// As many blocks for anchors as the defaults have, but at most one in 64 of those that the map is in.
fn anchors(part: &Part, base: &PagedConfig) -> u16 {
    let region = part.geometry.slc().or(part.geometry.mlc());
    let most = region.map_or(0, |region| region.blocks.get() / 64);
    base.anchor_blocks.min(u16::try_from(most).unwrap_or(u16::MAX))
}

pub(super) fn paged(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let unfit = |reason: &dyn std::fmt::Display| Failure::Unfit(reason.to_string());
    let part = &setup.part;
    let config = config(part, values).map_err(Failure::Arguments)?;
    let plan = PagedPlan::new(&part.geometry, &config).map_err(|error| unfit(&error))?;
    let mut chip = Chip::new(part, stamps(&plan))?.with_time(setup.time);
    chip.pack(plan.shape().main.region);
    let meter = Meter::new();
    let device = Metered::of_pages(chip, plan.shape(), &meter);
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(device, &config, memory.lend(), KEY, Watcher::new(&meter));
    let mut paged = Paged::new(ftl.map_err(|error| unfit(&error))?, &plan, &meter);
    session.prepare(&mut paged, SectorCount::ZERO)?;
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Failure::Violation(format!("the {what} failed: {error}"))
    };
    paged.ftl.stop().map_err(|error| failed("clean stop", &error))?;
    let (device, _) = paged.ftl.into_parts();

    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl = mount(device, &config, memory.lend(), &meter)?;
    // What a mount leaves to be done is no part of what is compared.
    ftl.settle().map_err(|error| failed("mount", &error))?;
    session.replay(&mut Paged::new(ftl, &plan, &meter))
}

/// What a chip keeps of a page where a stamp stands for each sector.
pub(super) fn stamps(plan: &PagedPlan) -> Content {
    let spare_kept = Bytes::new(layout::tag_bytes(plan.shape().slots_max()) as u32);
    Content::Stamps { sector: plan.config().sector_bytes, spare_kept }
}

type OurFtl<'ram, D> = PageFtl<'ram, Metered<'ram, D>, Watcher<'ram>>;

fn mount<'ram>(
    device: Metered<'ram>,
    config: &PagedConfig,
    ram: PagedRam<'ram>,
    meter: &'ram Meter,
) -> Result<OurFtl<'ram, Chip>, Failure> {
    let ftl = PageFtl::mount(device, config, ram, Watcher::new(meter));
    // What the mount has asked for is not the replay's.
    meter.set_cause(Cause::Host);
    ftl.map_err(|error| Failure::Violation(format!("the mount failed: {error}")))
}

/// The page store with what it needs to be a [`System`].
pub(super) struct Paged<'ram, D: Flash = Chip> {
    pub(super) ftl: OurFtl<'ram, D>,
    meter: &'ram Meter,
    ram_bytes: u64,
}

impl<'ram, D: Flash> Paged<'ram, D> {
    pub(super) fn new(ftl: OurFtl<'ram, D>, plan: &PagedPlan, meter: &'ram Meter) -> Self {
        // Chip and counters are the simulator's.
        let own = size_of_val(&ftl) - size_of::<Metered<'_, D>>() - size_of::<Watcher<'_>>();
        Self { ftl, meter, ram_bytes: (plan.total_bytes() + own) as u64 }
    }
}

impl<D: Flash> BlockStore for Paged<'_, D> {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.ftl.sector_bytes()
    }

    fn capacity(&self) -> SectorCount {
        self.ftl.capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        self.ftl.read(first, data).map_err(|error| read_error(&error))
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        self.ftl.write(first, data).map_err(|error| write_error(&error))
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.ftl.trim(first, count).map_err(|error| write_error(&error))
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.ftl.flush().map_err(|error| write_error(&error))
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        self.ftl.maintain(budget).map_err(|error| write_error(&error))
    }
}

impl<D: Flash> System for Paged<'_, D> {
    fn now(&self) -> Nanos {
        self.ftl.device().chip.now()
    }

    fn hardware(&self) -> Hardware {
        Hardware::of_chip(self.ftl.device().chip.chip(), &self.ftl.probe().counters)
    }

    fn wait_until(&mut self, moment: Nanos) {
        self.ftl.device_mut().chip.chip_mut().wait_until(moment);
    }

    fn begin(&mut self, at: Nanos) -> u64 {
        self.ftl.device_mut().chip.chip_mut().begin_request(at)
    }

    fn end(&mut self) {
        self.ftl.device_mut().chip.chip_mut().end_request();
    }

    fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        self.ftl.device_mut().chip.chip_mut().next_done(until)
    }

    fn account(&mut self, account: Account) {
        self.meter.account(account);
    }

    fn spent(&self, account: Account) -> Spent {
        let chip = self.ftl.device().chip.chip();
        self.meter.spent(account, |label| chip.charged(label))
    }

    fn sample_writes(&mut self) {
        self.ftl.device_mut().sample_writes();
    }

    fn sampled_writes(&self) -> &[ChainWrite] {
        self.ftl.device().writes()
    }

    fn ram_bytes(&self) -> u64 {
        self.ram_bytes
    }

    fn books(&self) -> Books {
        let counters = &self.ftl.probe().counters;
        let filter = self
            .ftl
            .shape()
            .fast
            .map(|_| Filter::of(self.ftl.threshold(), self.ftl.sector_bytes()));
        Books { filter, log_writes: Some(counters.log_writes), ..Books::default() }
    }
}
