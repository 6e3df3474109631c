//! The configurations of both FTLs, in structures of C's.

use core::ffi::CStr;

use ftl_core::config::{ChainVictims, Endurance, FilterChoice, PairedPages, Refresh, RunEnds};
use ftl_core::config::{IndexConfig, LogRegion, Probing, WearLeveling, WriteBackConfig};
use ftl_core::paged::{Bursts, History, PagedConfig, RefreshLimits, Streams, Victims};
use ftl_iface::{Bytes, Corrected, SectorCount};

use crate::error::Error;
use crate::told::Fault;

/// What the user of the page store chooses. Start from `tandem_config_small` or a profile, and change what differs:
/// fields may be added, and a structure that was only zeroed means nothing. `docs/PORTING.md` says what to choose.
///
/// A device is mounted with the sector size, the capacity, the anchor blocks and the protection of paired pages of its
/// format, and with as many dirty entries or fewer. All else may change from mount to mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Config {
    /// Bytes of a sector: a power of two, from 512 to the smaller page.
    pub sector_bytes: u32,
    /// Sectors for the host. 0: nineteen blocks in twenty.
    pub capacity: u32,
    /// Sectors whose newest place is in RAM and not in a map page yet. More cause fewer map writes.
    pub dirty_entries: u32,
    /// Map pages cached in RAM: at least 2.
    pub cached_leaves: u32,
    /// Blocks for anchors, which make a mount quick: none, or 2 and more.
    pub anchor_blocks: u32,
    /// Open blocks of the main area: 1, 2 or 5.
    pub streams: u32,
    /// 1: garbage collection weighs cost and benefit; 0: it takes the emptiest block.
    pub cost_benefit: u32,
    /// Writes up to this many bytes count as hot at first; the limit then follows the workload.
    pub hot_bytes_first: u32,
    /// No larger write is ever hot. 0: every write is.
    pub hot_bytes_most: u32,
    /// 1: small writes that continue a run of large ones go where the run goes; 0: by their size.
    pub follow_runs: u32,
    /// 1: the age of the replaced data decides where a large write goes.
    pub heed_history: u32,
    /// 1: pages that share cells with the one in flight are protected; 0: power is assumed never to fail.
    pub guard_pairs: u32,
    /// Corrected bits of a codeword from which a block of the fast area is refreshed. 0: never.
    pub refresh_fast_bits: u32,
    /// The same for the main area: three quarters of what the chip corrects.
    pub refresh_main_bits: u32,
    /// The difference of erase counts from which the least worn block is emptied. 0: never.
    pub level_from: u32,
    /// Erase cycles of the fast area, and of the main one, for the throttle that lets both wear out together.
    /// Both 0: the fast area takes all hot writes.
    pub fast_cycles: u32,
    /// See `fast_cycles`.
    pub main_cycles: u32,
    /// 1: large writes enter the fast area while it has space, for hosts that pause. It needs both cycles.
    pub bursts_to_fast: u32,
}

/// Where the log of the hybrid lies (`tandem_hybrid_config_t.log`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Log {
    /// There is none.
    None = 0,
    /// In the region of one bit per cell, of a chip that has both.
    SlcRegion = 1,
    /// In the first `log_blocks` of a chip of one region.
    FirstBlocks = 2,
}

/// What the user of the hybrid chooses. Start from `tandem_hybrid_config_one_region` or a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct HybridConfig {
    /// Bytes of a sector: a power of two, from 512 to the smaller page.
    pub sector_bytes: u32,
    /// Sectors for the host. 0: nineteen blocks in twenty.
    pub capacity: u32,
    /// Where the log lies, one of `TANDEM_LOG_…`.
    pub log: u32,
    /// Its blocks, if these are the first ones.
    pub log_blocks: u32,
    /// Cells of the log's hash table. 0: half as many as the log has slots.
    pub table_entries: u32,
    /// Cells examined in a lookup, 1 to 32.
    pub table_probes: u32,
    /// 1: squares; 0: neighbours.
    pub quadratic: u32,
    /// The most blocks between the log's tail and its head. 0: all but one.
    pub window_blocks: u32,
    /// Log blocks that a chain may have before it is folded.
    pub chain_log_blocks: u32,
    /// Chains whose map is cached in RAM.
    pub cached_maps: u32,
    /// The size of each chain's sketch, in units of two bytes, at most 4.
    pub sketch_halves: u32,
    /// Folding begins when so few blocks are free: at least 2.
    pub free_blocks_low: u32,
    /// Page copies that a write does for each of its pages.
    pub copies_per_page: u32,
    /// 1: the least used chain of some idle ones is folded; 0: the next idle one.
    pub fold_least_used: u32,
    /// Writes up to this many bytes are hot at first; the limit then follows the workload.
    pub hot_bytes_first: u32,
    /// No larger write is ever hot. 0: every write is.
    pub hot_bytes_most: u32,
    /// 1: small writes that continue a run of large ones go to the chains; 0: by their size.
    pub follow_runs: u32,
    /// 1: the throttle keeps the log from wearing out before the chains.
    pub throttle: u32,
    /// Erase cycles of the log.
    pub log_cycles: u32,
    /// Erase cycles of the chains.
    pub chain_cycles: u32,
    /// The difference of erase counts of the two pools of wear leveling. 0: none.
    pub level_from: u32,
    /// 1: tail sectors leave the log only for chains that have a log block.
    pub follow_log_blocks: u32,
    /// 1: folds collect from the log.
    pub collect_on_fold: u32,
    /// 1: `follow_log_blocks` is suspended while the update ratio is low.
    pub suspend_when_updates_fall: u32,
    /// 1: pages that share cells with the one in flight are protected; 0: power is assumed never to fail.
    pub guard_pairs: u32,
    /// Corrected bits of a codeword from which a page of the log is refreshed. 0: never.
    pub refresh_log_bits: u32,
    /// The same for the chains: three quarters of what the chip corrects.
    pub refresh_chain_bits: u32,
}

/// A field with its name, so that a value that means nothing can be told.
struct Field(u32, &'static CStr);

impl Field {
    fn fault(&self) -> Fault {
        Fault::saying(Error::Config, self.1)
    }

    /// One of two settings: 0 or 1.
    fn either<T>(&self, [zero, one]: [T; 2]) -> Result<T, Fault> {
        match self.0 {
            0 => Ok(zero),
            1 => Ok(one),
            _ => Err(self.fault()),
        }
    }

    fn narrow<T: TryFrom<u32>>(&self) -> Result<T, Fault> {
        T::try_from(self.0).map_err(|_| self.fault())
    }

    fn bits(&self) -> Result<Corrected, Fault> {
        Ok(Corrected::bits(self.narrow()?))
    }
}

const PAIRS: [PairedPages; 2] = [PairedPages::Accept, PairedPages::Guard];
const RUNS: [RunEnds; 2] = [RunEnds::BySize, RunEnds::Follow];

/// A count, of which zero means that the FTL chooses.
fn chosen<T: PartialEq + Default>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}

const fn leveling(threshold: u16) -> WearLeveling {
    WearLeveling { enabled: threshold != 0, threshold }
}

const fn threshold(leveling: WearLeveling) -> u32 {
    if leveling.enabled { leveling.threshold as u32 } else { 0 }
}

const fn filter(first: u32, most: u32) -> FilterChoice {
    match most {
        0 => FilterChoice::AcceptAll,
        most => FilterChoice::ByBytes { initial: Bytes::new(first), largest: Bytes::new(most) },
    }
}

/// The limits in bytes. The configurations that are offered here have no others.
const fn hot_bytes(filter: FilterChoice) -> [u32; 2] {
    match filter {
        FilterChoice::ByBytes { initial, largest } => [initial.get(), largest.get()],
        FilterChoice::BySize { .. } | FilterChoice::AcceptAll => [0, 0],
    }
}

const fn capacity(capacity: Option<SectorCount>) -> u32 {
    match capacity {
        Some(sectors) => sectors.get(),
        None => 0,
    }
}

impl Config {
    /// What C is given of a configuration.
    pub(crate) const fn of(config: &PagedConfig) -> Self {
        let [hot_bytes_first, hot_bytes_most] = hot_bytes(config.filter);
        let cycles = match (config.throttle, config.bursts) {
            (Some(cycles), _) | (None, Bursts::ToFast(cycles)) => cycles,
            (None, Bursts::ToMain) => Endurance { fast: 0, main: 0 },
        };
        Self {
            sector_bytes: config.sector_bytes.get(),
            capacity: capacity(config.capacity),
            dirty_entries: config.dirty_entries,
            cached_leaves: config.cached_leaves as u32,
            anchor_blocks: config.anchor_blocks as u32,
            streams: config.streams.count() as u32,
            cost_benefit: matches!(config.victims, Victims::CostBenefit) as u32,
            hot_bytes_first,
            hot_bytes_most,
            follow_runs: matches!(config.run_ends, RunEnds::Follow) as u32,
            heed_history: matches!(config.history, History::Heeded) as u32,
            guard_pairs: matches!(config.paired_pages, PairedPages::Guard) as u32,
            refresh_fast_bits: config.refresh.fast.get() as u32,
            refresh_main_bits: config.refresh.main.get() as u32,
            level_from: threshold(config.wear_leveling),
            fast_cycles: cycles.fast,
            main_cycles: cycles.main,
            bursts_to_fast: matches!(config.bursts, Bursts::ToFast(_)) as u32,
        }
    }

    /// As the FTL knows it.
    pub(crate) fn checked(&self) -> Result<PagedConfig, Fault> {
        let cycles = match (self.fast_cycles, self.main_cycles) {
            (0, 0) => None,
            (0, _) => return Err(Fault::saying(Error::Config, c"fast_cycles")),
            (_, 0) => return Err(Fault::saying(Error::Config, c"main_cycles")),
            (fast, main) => Some(Endurance { fast, main }),
        };
        let streams = match self.streams {
            1 => Streams::One,
            2 => Streams::Two,
            5 => Streams::ByLifetime,
            _ => return Err(Fault::saying(Error::Config, c"streams")),
        };
        let bursts = Field(self.bursts_to_fast, c"bursts_to_fast");
        Ok(PagedConfig {
            sector_bytes: Bytes::new(self.sector_bytes),
            capacity: chosen(SectorCount::new(self.capacity)),
            dirty_entries: self.dirty_entries,
            cached_leaves: Field(self.cached_leaves, c"cached_leaves").narrow()?,
            anchor_blocks: Field(self.anchor_blocks, c"anchor_blocks").narrow()?,
            streams,
            victims: Field(self.cost_benefit, c"cost_benefit")
                .either([Victims::Greedy, Victims::CostBenefit])?,
            filter: filter(self.hot_bytes_first, self.hot_bytes_most),
            run_ends: Field(self.follow_runs, c"follow_runs").either(RUNS)?,
            history: Field(self.heed_history, c"heed_history")
                .either([History::Ignored, History::Heeded])?,
            paired_pages: Field(self.guard_pairs, c"guard_pairs").either(PAIRS)?,
            refresh: RefreshLimits {
                fast: Field(self.refresh_fast_bits, c"refresh_fast_bits").bits()?,
                main: Field(self.refresh_main_bits, c"refresh_main_bits").bits()?,
            },
            wear_leveling: leveling(Field(self.level_from, c"level_from").narrow()?),
            throttle: cycles,
            bursts: match (bursts.either([false, true])?, cycles) {
                (false, _) => Bursts::ToMain,
                (true, Some(cycles)) => Bursts::ToFast(cycles),
                (true, None) => return Err(bursts.fault()),
            },
        })
    }
}

impl HybridConfig {
    /// What C is given of a configuration.
    pub(crate) const fn of(config: &ftl_core::Config) -> Self {
        let [hot_bytes_first, hot_bytes_most] = hot_bytes(config.filter);
        let (log, log_blocks) = match config.log {
            LogRegion::None => (Log::None, 0),
            LogRegion::SlcRegion => (Log::SlcRegion, 0),
            LogRegion::FirstBlocks(blocks) => (Log::FirstBlocks, blocks),
        };
        Self {
            sector_bytes: config.sector_bytes.get(),
            capacity: capacity(config.capacity),
            log: log as u32,
            log_blocks: log_blocks as u32,
            table_entries: match config.index.entries {
                Some(entries) => entries,
                None => 0,
            },
            table_probes: config.index.probes as u32,
            quadratic: matches!(config.index.probing, Probing::Quadratic) as u32,
            window_blocks: match config.window_max {
                Some(blocks) => blocks as u32,
                None => 0,
            },
            chain_log_blocks: config.chain_log_blocks_max as u32,
            cached_maps: config.mapping_cache_entries as u32,
            sketch_halves: config.chain_sketch_halves as u32,
            free_blocks_low: config.free_blocks_low as u32,
            copies_per_page: config.copies_per_page as u32,
            fold_least_used: matches!(config.victims, ChainVictims::LeastUsed) as u32,
            hot_bytes_first,
            hot_bytes_most,
            follow_runs: matches!(config.run_ends, RunEnds::Follow) as u32,
            throttle: config.throttle as u32,
            log_cycles: config.endurance.fast,
            chain_cycles: config.endurance.main,
            level_from: threshold(config.wear_leveling),
            follow_log_blocks: config.write_back.follow_log_blocks as u32,
            collect_on_fold: config.write_back.collect_on_fold as u32,
            suspend_when_updates_fall: config.write_back.suspend_when_updates_fall as u32,
            guard_pairs: matches!(config.paired_pages, PairedPages::Guard) as u32,
            refresh_log_bits: config.refresh.log.get() as u32,
            refresh_chain_bits: config.refresh.chain.get() as u32,
        }
    }

    fn log(&self) -> Result<LogRegion, Fault> {
        const NONE: u32 = Log::None as u32;
        const SLC: u32 = Log::SlcRegion as u32;
        const FIRST: u32 = Log::FirstBlocks as u32;
        match self.log {
            NONE => Ok(LogRegion::None),
            SLC => Ok(LogRegion::SlcRegion),
            FIRST => Field(self.log_blocks, c"log_blocks").narrow().map(LogRegion::FirstBlocks),
            _ => Err(Fault::saying(Error::Config, c"log")),
        }
    }

    fn write_back(&self) -> Result<WriteBackConfig, Fault> {
        let switch = |value, name| Field(value, name).either([false, true]);
        Ok(WriteBackConfig {
            follow_log_blocks: switch(self.follow_log_blocks, c"follow_log_blocks")?,
            collect_on_fold: switch(self.collect_on_fold, c"collect_on_fold")?,
            suspend_when_updates_fall: switch(
                self.suspend_when_updates_fall,
                c"suspend_when_updates_fall",
            )?,
        })
    }

    fn index(&self) -> Result<IndexConfig, Fault> {
        Ok(IndexConfig {
            entries: chosen(self.table_entries),
            probes: Field(self.table_probes, c"table_probes").narrow()?,
            probing: Field(self.quadratic, c"quadratic")
                .either([Probing::Linear, Probing::Quadratic])?,
        })
    }

    /// As the FTL knows it.
    pub(crate) fn checked(&self) -> Result<ftl_core::Config, Fault> {
        let low = Field(self.free_blocks_low, c"free_blocks_low");
        if self.free_blocks_low < 2 {
            return Err(low.fault());
        }
        Ok(ftl_core::Config {
            sector_bytes: Bytes::new(self.sector_bytes),
            capacity: chosen(SectorCount::new(self.capacity)),
            log: self.log()?,
            index: self.index()?,
            window_max: chosen(Field(self.window_blocks, c"window_blocks").narrow()?),
            chain_log_blocks_max: Field(self.chain_log_blocks, c"chain_log_blocks").narrow()?,
            mapping_cache_entries: Field(self.cached_maps, c"cached_maps").narrow()?,
            chain_sketch_halves: Field(self.sketch_halves, c"sketch_halves").narrow()?,
            free_blocks_low: low.narrow()?,
            copies_per_page: Field(self.copies_per_page, c"copies_per_page").narrow()?,
            victims: Field(self.fold_least_used, c"fold_least_used")
                .either([ChainVictims::Idle, ChainVictims::LeastUsed])?,
            filter: filter(self.hot_bytes_first, self.hot_bytes_most),
            run_ends: Field(self.follow_runs, c"follow_runs").either(RUNS)?,
            throttle: Field(self.throttle, c"throttle").either([false, true])?,
            endurance: Endurance { fast: self.log_cycles, main: self.chain_cycles },
            wear_leveling: leveling(Field(self.level_from, c"level_from").narrow()?),
            write_back: self.write_back()?,
            paired_pages: Field(self.guard_pairs, c"guard_pairs").either(PAIRS)?,
            refresh: Refresh {
                log: Field(self.refresh_log_bits, c"refresh_log_bits").bits()?,
                chain: Field(self.refresh_chain_bits, c"refresh_chain_bits").bits()?,
            },
        })
    }
}
