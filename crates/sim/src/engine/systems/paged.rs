//! The page store (`ftl_core::paged`) as the simulator's system `paged`: its parameters, and its defaults by device.

use std::str::FromStr;

use ftl_core::config::{Endurance, FilterChoice, PairedPages, WearLeveling};
use ftl_core::layout;
use ftl_core::paged::shape::RING_MIN;
use ftl_core::paged::{
    Bursts, History, OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, PagedRam, RunEnds, Streams,
    Victims,
};
use ftl_core::probe::Cause;
use ftl_iface::{BlockStore, Bytes, Region, SectorCount};
use nand_model::part::Part;
use nand_model::{Chip, Content};

use super::meter::{Flash, Meter, Metered, Watcher};
use super::ours::{KEY, paired_pages, switch};
use super::system::{Books, Session};
use super::tenant::{self, Booked, Tenant, WriteCount};
use crate::base::Failure;
use crate::engine::result::Filter;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

pub(super) const PAGED: [Parameter; 11] = [
    switch("filter", "only small writes enter the SLC; off: all writes that fit"),
    Parameter {
        name: "streams",
        default: "auto",
        title: "open blocks of the MLC: 5 by expected lifetime, 2 keep copies apart, 1; auto: 5, or 2 if few are spare",
    },
    Parameter {
        name: "victims",
        default: "cost-benefit",
        title: "choice of victims: greedy, or cost-benefit with expected lifetimes",
    },
    Parameter {
        name: "entries",
        default: "auto",
        title: "dirty map entries in RAM; auto: 9,590, fewer on small devices, more beyond 20 GiB, at most 65,536",
    },
    Parameter {
        name: "anchors",
        default: "auto",
        title: "blocks for anchors, which make mounts quick; 0: none; auto: 5, or fewer on small devices",
    },
    switch(
        "follow",
        "a small write that continues a sequential run of large ones goes to the MLC too",
    ),
    Parameter {
        name: "history",
        default: "auto",
        title: "large writes enter the SLC if they replace young data, while most there is replaced; auto: as throttle",
    },
    Parameter {
        name: "throttle",
        default: "off",
        title: "the SLC takes only as many writes as let it last as long as the MLC; off: all hot ones",
    },
    Parameter {
        name: "bursts",
        default: "off",
        title: "large writes enter the SLC while it has free blocks, and leave it when the host pauses (--open-loop)",
    },
    Parameter { name: "cache", default: "auto", title: "map pages cached in RAM; auto: 16, or 4" },
    Parameter {
        name: "paired-pages",
        default: "accept",
        title: "pages that a power cut may corrupt; guard: skip them, as firmware would",
    },
];

/// A whole number, or that one for `auto`; `which` says which numbers there are.
fn number<N: Copy + FromStr>(
    values: &Values,
    name: &'static str,
    auto: N,
    which: &str,
) -> Result<N, String> {
    values.get(name, |text| match text {
        "auto" => Ok(auto),
        number => number.parse().map_err(|_| format!("write a whole number {which} auto")),
    })
}

/// The page store with its parameters.
pub(super) fn config(
    part: &Part,
    values: &Values,
    paired_pages: PairedPages,
) -> Result<PagedConfig, String> {
    let sector = part.sector_bytes;
    let capacity = part.exported_bytes / u64::from(sector.get());
    let large = capacity > 1 << 20;
    let base = if large { PagedConfig::LARGE } else { small(part) };
    let streams = values.get("streams", |text| match text {
        "auto" => Ok(None),
        "1" => Ok(Some(Streams::One)),
        "2" => Ok(Some(Streams::Two)),
        "5" => Ok(Some(Streams::ByLifetime)),
        _ => Err("write 1, 2, 5 or auto".into()),
    })?;
    let victims = values.get("victims", |text| match text {
        "greedy" => Ok(Victims::Greedy),
        "cost-benefit" => Ok(Victims::CostBenefit),
        _ => Err("write greedy or cost-benefit".into()),
    })?;
    let throttled = values.is_on("throttle")?;
    let history = values.get("history", |text| match text {
        "auto" if throttled => Ok(History::Heeded),
        "on" => Ok(History::Heeded),
        "auto" | "off" => Ok(History::Ignored),
        _ => Err("write on, off or auto".into()),
    })?;
    let config = PagedConfig {
        sector_bytes: sector,
        capacity: Some(SectorCount::new(u32::try_from(capacity).unwrap_or(u32::MAX))),
        dirty_entries: number(values, "entries", entries(part, &base), "or")?,
        cached_leaves: number(values, "cache", base.cached_leaves, "up to 65535, or")?,
        anchor_blocks: number(values, "anchors", anchors(part, &base), "up to 65535, or")?,
        victims,
        filter: if values.is_on("filter")? { base.filter } else { FilterChoice::AcceptAll },
        run_ends: if values.is_on("follow")? { RunEnds::Follow } else { RunEnds::BySize },
        history,
        paired_pages,
        refresh: base.refresh,
        wear_leveling: WearLeveling { threshold: apart(part), ..base.wear_leveling },
        throttle: throttled.then(|| endurance(part)),
        bursts: if values.is_on("bursts")? {
            Bursts::ToFast(endurance(part))
        } else {
            Bursts::ToMain
        },
        ..base
    };
    let streams = streams.unwrap_or_else(|| usual_streams(part, &config));
    Ok(PagedConfig { streams, ..config })
}

/// What a microcontroller has for a chip of 1 Gbit; larger disks have more RAM.
fn small(part: &Part) -> PagedConfig {
    const ONE_GBIT: u64 = 1 << 27;
    let small = PagedConfig::SMALL;
    if part.exported_bytes > ONE_GBIT {
        PagedConfig { dirty_entries: 1_024, cached_leaves: 4, ..small }
    } else {
        small
    }
}

/// The rated endurance of the part's blocks.
fn endurance(part: &Part) -> Endurance {
    let of = |region| part.region(region).map_or(0, |figures| figures.endurance);
    Endurance { fast: of(Region::Slc), main: of(Region::Mlc) }
}

/// Streams by lifetime, if they fit and the main area has blocks enough to lend them to each other: where pairs are
/// guarded as if they were not. With fewer, what is held back for them costs more than they bring.
fn usual_streams(part: &Part, config: &PagedConfig) -> Streams {
    let by_lifetime = PagedConfig { streams: Streams::ByLifetime, ..*config };
    let unguarded = PagedConfig { paired_pages: PairedPages::Accept, ..by_lifetime };
    let fits = PagedPlan::new(&part.geometry, &by_lifetime).is_ok();
    let plan = PagedPlan::new(&part.geometry, &unguarded);
    let enough = plan.is_ok_and(|plan| plan.shape().has_to_lend());
    if fits && enough { Streams::ByLifetime } else { Streams::Two }
}

/// How far erase counts of blocks in use may be apart: a fiftieth of the main area's endurance, and 16 at least. With
/// less, cold data is moved all the time.
fn apart(part: &Part) -> u16 {
    let share = endurance(part).main / 50;
    u16::try_from(share).unwrap_or(u16::MAX).max(16)
}

/// As many entries as by default, and one more for each MiB of a disk beyond 20 GiB: with more to choose from, each map
/// page that is written takes more of them. At least those of two blocks.
fn entries(part: &Part, base: &PagedConfig) -> u32 {
    const USUAL: u64 = 20 << 30;
    const MOST: u32 = 65_536;
    let more = u32::try_from(part.exported_bytes.saturating_sub(USUAL) >> 20).unwrap_or(MOST);
    let usual = base.dirty_entries.saturating_add(more).min(MOST);
    let regions = [part.geometry.slc(), part.geometry.mlc()];
    let block = regions.into_iter().flatten().map(ftl_iface::RegionGeometry::block_bytes).max();
    let block = block.unwrap_or(0) / u64::from(part.sector_bytes.get());
    usual.max(u32::try_from(2 * block).unwrap_or(u32::MAX))
}

/// As many blocks for anchors as by default, but at most one in 64 of the map's blocks; none if that would be one.
fn anchors(part: &Part, base: &PagedConfig) -> u16 {
    let region = part.geometry.slc().or(part.geometry.mlc());
    let most = region.map_or(0, |region| region.blocks.get() / 64);
    let most = u16::try_from(most).unwrap_or(u16::MAX);
    // As many pages as the usual ring has in blocks of 64.
    let pages = region.map_or(64, |region| region.pages_per_block.get());
    let ring = (u32::from(base.anchor_blocks) * 64).div_ceil(pages).max(u32::from(RING_MIN));
    let ring = u16::try_from(ring).unwrap_or(u16::MAX).min(base.anchor_blocks);
    Some(ring.min(most)).filter(|blocks| *blocks >= RING_MIN).unwrap_or(0)
}

pub(super) fn paged(
    setup: &Setup,
    values: &Values,
    session: &mut dyn Session,
) -> Result<(), Failure> {
    let unfit = |reason: &dyn std::fmt::Display| Failure::Unfit(reason.to_string());
    let part = &setup.part;
    let guards = paired_pages(values).map_err(Failure::Arguments)?;
    let config = config(part, values, guards).map_err(Failure::Arguments)?;
    let plan = PagedPlan::new(&part.geometry, &config).map_err(|error| unfit(&error))?;
    let mut chip = Chip::new(part, stamps(&plan))?.with_time(setup.time);
    chip.pack(plan.shape().main.region);
    let meter = Meter::new();
    let device = Metered::of_pages(chip, plan.shape(), &meter).skipping_erased();
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(device, &config, memory.lend(), KEY, Watcher::new(&meter));
    let ftl = ftl.map_err(|error| unfit(&error))?;
    let mut paged = Tenant::new(ftl, plan.total_bytes(), &meter);
    session.prepare(&mut paged, SectorCount::ZERO)?;
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        Failure::Violation(format!("the {what} failed: {error}"))
    };
    paged.ftl.stop().map_err(|error| failed("clean stop", &error))?;
    let (device, _) = paged.ftl.into_parts();

    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl = mount(device, &config, memory.lend(), &meter)?;
    // Work left by a mount does not belong to the comparison.
    ftl.settle_fully().map_err(|error| failed("mount", &error))?;
    session.replay(&mut Tenant::new(ftl, plan.total_bytes(), &meter))
}

/// Bytes of the FTL itself on this machine.
pub fn itself_bytes() -> usize {
    tenant::itself_bytes::<MeteredPageStore<'_, Chip>>()
}

/// What a chip stores of a page if a stamp represents each sector.
pub fn stamps(plan: &PagedPlan) -> Content {
    let spare_kept = Bytes::new(layout::tag_bytes(plan.shape().slots_max()) as u32);
    Content::Stamps { sector: plan.config().sector_bytes, spare_kept }
}

type MeteredPageStore<'ram, D> = PageFtl<'ram, Metered<'ram, D>, Watcher<'ram>>;

fn mount<'ram>(
    device: Metered<'ram>,
    config: &PagedConfig,
    ram: PagedRam<'ram>,
    meter: &'ram Meter,
) -> Result<MeteredPageStore<'ram, Chip>, Failure> {
    let ftl = PageFtl::mount(device, config, ram, Watcher::new(meter));
    // The mount's operations do not belong to the replay.
    meter.set_cause(Cause::Host);
    ftl.map_err(|error| Failure::Violation(format!("the mount failed: {error}")))
}

impl<'m, D: Flash> Booked<'m> for MeteredPageStore<'m, D> {
    type Chip = D;

    fn books(&self, _: WriteCount) -> Books {
        let log_writes = Some(self.probe().counters.fast_writes);
        let filter = || Filter::of(self.threshold(), self.sector_bytes());
        let filter = self.shape().fast.map(|_| filter());
        Books { filter, log_writes, ..Books::default() }
    }
}

#[cfg(test)]
mod tests {
    use nand_model::datasheet;

    use super::*;
    use crate::input::spec;

    /// What `auto` takes on C3 of another size, without SLC.
    fn usual(mebibytes: u64, options: &str) -> Streams {
        let c3 = Setup::of(datasheet::builtin("c3").unwrap());
        let setup = c3.with_capacity(mebibytes << 20).unwrap().with_slc(0).unwrap();
        let values = spec::parse(&format!("paged?{options}"), &PAGED).unwrap();
        config(&setup.part, &values, paired_pages(&values).unwrap()).unwrap().streams
    }

    #[test]
    fn there_are_five_streams_where_their_blocks_can_be_lent() {
        assert_eq!(usual(128, "filter=on"), Streams::Two);
        assert_eq!(usual(512, "filter=on"), Streams::ByLifetime);
        assert_eq!(usual(512, "streams=1"), Streams::One);
        // Five do not fit the smaller one, and no stream lends its blocks.
        assert_eq!(usual(512, "paired-pages=guard"), Streams::Two);
        assert_eq!(usual(1024, "paired-pages=guard"), Streams::ByLifetime);
    }
}
