//! A small world drawn by a seed.

use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, WearLeveling};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::{Config, Ftl, MountError, NoProbe, RamPlan, WriteBackConfig};
use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Geometry, PageCount, PageIndex, Pairing, RegionGeometry,
    SectorCount,
};
use nand_model::faults::{FaultInjector, When};
use nand_model::part::{Part, RegionPart};
use nand_model::power::{BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut, Tear};
use nand_model::{Chip, Content, Fork, datasheet};

use super::host::{Power, Step, Truth};

/// `SplitMix64`, of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((((mixed ^ (mixed >> 31)) >> 32) * u64::from(end)) >> 32) as u32
    }

    fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u32) as usize]
    }
}

pub(super) fn region(cell: Cell, blocks: u32, pages: u32, page_bytes: u32) -> RegionGeometry {
    RegionGeometry {
        cell,
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(pages),
        page_bytes: Bytes::new(page_bytes),
        spare_bytes: Bytes::new(128),
        pairing: Pairing::None,
    }
}

/// A chip of that geometry, without a fault.
pub(super) fn chip(geometry: Geometry, seed: u64) -> FaultInjector<Chip> {
    let figures = datasheet::builtin("tiny").expect("it is built in");
    let region = |has: bool, part: &Option<RegionPart>| {
        part.clone().filter(|_| has).map(|part| RegionPart { slc_mode: None, ..part })
    };
    let part = Part {
        slc: region(geometry.slc().is_some(), &figures.slc),
        mlc: region(geometry.mlc().is_some(), &figures.mlc),
        geometry,
        sector_bytes: Bytes::new(512),
        ..figures
    };
    FaultInjector::new(Chip::new(&part, Content::Bytes).expect("a possible part"), seed)
}

fn device(dice: &mut Dice) -> Option<(Geometry, LogRegion)> {
    let kind = dice.below(4);
    let page_bytes = if dice.percent(50) { 1024 } else { 512 };
    let pages = dice.pick(&[4, 5, 6, 6, 8]);
    let paired = [Pairing::Adjacent2, Pairing::Adjacent2, Pairing::Distance3, Pairing::Distance6];
    let pairing = dice.pick(&paired);
    let blocks = 5 + dice.below(3);
    let few_pages = dice.pick(&[5, 6, 6, 7]);
    let few = 8 + dice.below(3);
    let few_bytes = if dice.percent(70) { page_bytes } else { 1024 };
    if kind < 2 {
        let slc = region(Cell::Slc, few, few_pages, few_bytes);
        let mlc = RegionGeometry { pairing, ..region(Cell::Mlc, blocks, pages, page_bytes) };
        return Some((Geometry::new(Some(slc), Some(mlc)).ok()?, LogRegion::SlcRegion));
    }
    let blocks = 14 + dice.below(4);
    let geometry = if kind == 2 {
        Geometry::new(Some(region(Cell::Slc, blocks, few_pages, page_bytes)), None)
    } else {
        let only = region(Cell::Mlc, blocks, 12, page_bytes);
        Geometry::new(None, Some(RegionGeometry { pairing, ..only }))
    };
    Some((geometry.ok()?, LogRegion::FirstBlocks(2 + dice.below(3) as u16)))
}

fn configured(log: LogRegion, dice: &mut Dice) -> Config {
    Config {
        sector_bytes: Bytes::new(512),
        log,
        index: IndexConfig {
            entries: Some(dice.pick(&[5, 11, 31])),
            probes: dice.pick(&[1, 4, 8]),
            ..Config::HYBRID.index
        },
        window_max: dice.pick(&[None, Some(1), Some(2)]),
        chain_log_blocks_max: 1 + dice.below(3) as u8,
        mapping_cache_entries: dice.pick(&[0, 1, 2]),
        free_blocks_low: 1 + dice.below(3) as u16,
        copies_per_page: dice.pick(&[0, 1, 2, 4]),
        filter: FilterChoice::ByBytes {
            initial: Bytes::new(512 << dice.below(2)),
            largest: Bytes::new(1024),
        },
        throttle: false,
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        write_back: WriteBackConfig {
            follow_log_blocks: dice.percent(60),
            collect_on_fold: dice.percent(60),
            suspend_when_updates_fall: false,
        },
        ..Config::HYBRID
    }
}

struct World {
    geometry: Geometry,
    config: Config,
    plan: RamPlan,
}

fn drawn(dice: &mut Dice) -> Option<World> {
    let (geometry, log) = device(dice)?;
    let config = configured(log, dice);
    let shape = *RamPlan::new(&geometry, &config).ok()?.shape();
    let spare = 2 + dice.below(2);
    let logical = shape.chain.block_count().get().checked_sub(spare)?.min(2);
    let capacity = SectorCount::new(logical * shape.sectors_per_block.get());
    let config = Config { capacity: Some(capacity), ..config };
    let plan = RamPlan::new(&geometry, &config).ok()?;
    Some(World { geometry, config, plan })
}

fn fates(dice: &mut Dice) -> Fates {
    let page = match dice.below(8) {
        0 => PageFate::Complete,
        1 => PageFate::Uncorrectable,
        2 => PageFate::ReadsErased,
        3 => PageFate::Fading,
        _ => PageFate::Unstable { reads: dice.below(40) },
    };
    let pair = if dice.percent(70) { PairFate::Lost } else { PairFate::Kept };
    let blocks = [BlockFate::Untouched, BlockFate::Erased, BlockFate::Garbage];
    let block = blocks.get(dice.below(5) as usize).copied().unwrap_or(BlockFate::Fading);
    Fates {
        page,
        pair,
        block,
        mark: if dice.percent(50) { MarkFate::Set } else { MarkFate::Untouched },
    }
}

impl World {
    /// A page of the log or of a chain fails when it is programmed next.
    fn spoil(&self, chip: &mut FaultInjector<Chip>, dice: &mut Dice) {
        let shape = self.plan.shape();
        let area = match (shape.log, dice.percent(40)) {
            (Some(log), true) => log,
            _ => shape.chain,
        };
        let block = area.first + dice.below(area.block_count().get());
        let page = PageIndex::new(dice.below(area.pages.into()) as u16);
        chip.fail_program(Block::new(area.region, block).page(page), When::Nth(1));
    }

    /// How many operations a format takes.
    fn format_length(&self, chip: &mut FaultInjector<Chip>, key: u32) -> Result<u64, String> {
        let mut counted = PowerCut::new(chip.fork(), Cut::never());
        let mut ram = OwnedRam::for_plan(&self.plan);
        let formatted = Ftl::format(&mut counted, &self.config, ram.lend(), key, NoProbe);
        formatted.map(drop).map_err(|error| format!("formatting: {error}"))?;
        Ok(counted.operations())
    }

    fn step(&self, hot: u32, dice: &mut Dice) -> Step {
        let shape = self.plan.shape();
        let all = shape.capacity.get();
        let (slots, block) = (u32::from(shape.chain.slots), shape.sectors_per_block.get());
        let at = if dice.percent(60) { (hot + dice.below(4)) % all } else { dice.below(all) };
        let (page, start) = (at / slots * slots, at / block * block);
        match dice.below(20) {
            0..8 => Step::Write(at, 1),
            8..12 => Step::Write(at, (1 + dice.below(3)).min(all - at)),
            12 => Step::Write(page, (slots * (1 + dice.below(4))).min(all - page)),
            13 => Step::Write(start, block.min(all - start)),
            14 => Step::Trim(at, (1 + dice.below(4)).min(all - at)),
            15 => Step::Trim(start, block.min(all - start)),
            16 => Step::Maintain(dice.pick(&[1, 3, 50])),
            17 => Step::Read(at),
            18 if dice.percent(30) => Step::Stop,
            18 => Step::Settle,
            _ if dice.percent(80) => Step::Read(at),
            _ => Step::Scrub,
        }
    }
}

/// Lives a world to its end, and returns the number of cuts; or what is wrong.
pub(crate) fn lived(seed: u64) -> Result<u64, String> {
    let mut dice = Dice(seed);
    let world = loop {
        if let Some(world) = drawn(&mut dice) {
            break world;
        }
    };
    let mut truth = Truth::new(world.plan.shape().capacity.get());
    let mut chip = chip(world.geometry, seed);
    let lives = 2 + dice.below(5);
    let fails = dice.percent(35);
    let hot = dice.below(truth.sectors());
    let mut cuts = 0;
    for life in 0..=lives {
        let last = life == lives;
        let most = if life == 0 { 12 } else { 4 };
        let requests = if last { 0 } else { 1 + dice.below(most) };
        let fates = fates(&mut dice);
        let budget = if life == 0 { 4 + dice.below(40) } else { dice.below(30) };
        if fails && !last && dice.percent(50) {
            world.spoil(&mut chip, &mut dice);
        }
        let begun = if life == 0 { world.format_length(&mut chip, seed as u32)? } else { 0 };
        let cut = Cut::chosen(begun + u64::from(budget), fates);
        let mut device = PowerCut::new(chip, if last { Cut::never() } else { cut });
        let turn = Turn { life, last, requests, hot, fails, key: seed as u32 };
        let power = turn.live(&world, &mut device, &mut truth, &mut dice)?;
        chip = device.into_inner();
        match power {
            Power::On => chip.power_off(),
            Power::Off => cuts += 1,
        }
    }
    Ok(cuts)
}

/// One life.
struct Turn {
    life: u32,
    last: bool,
    requests: u32,
    hot: u32,
    /// Blocks fail, so that the device may become read-only.
    fails: bool,
    key: u32,
}

impl Turn {
    fn live(
        &self,
        world: &World,
        device: &mut PowerCut<FaultInjector<Chip>>,
        truth: &mut Truth,
        dice: &mut Dice,
    ) -> Result<Power, String> {
        let mut ram = OwnedRam::for_plan(&world.plan);
        let mounted = match self.life {
            0 => Ftl::format(device, &world.config, ram.lend(), self.key, NoProbe),
            _ => Ftl::mount(device, &world.config, ram.lend(), NoProbe),
        };
        let mut ftl = match mounted {
            Ok(ftl) => ftl,
            Err(MountError::Device(_)) => return Ok(Power::Off),
            Err(error) => return Err(format!("mounting: {error}")),
        };
        for _ in 0..self.requests {
            let step = world.step(self.hot, dice);
            match truth.step(&mut ftl, step) {
                Ok(Power::On) => {}
                Ok(Power::Off) => return Ok(Power::Off),
                Err(wrong) if self.fails && wrong.contains("read-only") => break,
                Err(wrong) => return Err(wrong),
            }
        }
        if !self.last && !dice.percent(40) {
            return Ok(Power::On);
        }
        let from = dice.below(truth.sectors());
        for _ in 0..=u32::from(self.last) {
            if truth.read_all(&mut ftl, from)? == Power::Off {
                return Ok(Power::Off);
            }
        }
        ftl.check().map_or_else(|violation| Err(violation.to_string()), |()| Ok(Power::On))
    }
}
