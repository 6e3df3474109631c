//! The user's configuration. Every option has a default that suits a device of any size.

use ftl_iface::{Bytes, Corrected, SectorCount};

/// The user's configuration; the device determines the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The mapping unit: a power of two, from 512 bytes to the smaller page size.
    pub sector_bytes: Bytes,
    /// The exported capacity. `None` exports all but one block in twenty of the chain region, the share of Chang's
    /// device (20 of 21 GB). The FTL rounds it up to whole logical blocks inside, but shows the host the exact value.
    pub capacity: Option<SectorCount>,
    /// Which blocks the log takes.
    pub log: LogRegion,
    /// The hash table of the log.
    pub index: IndexConfig,
    /// Largest distance between the log's tail and its head, in blocks (`k` of the paper). `None`: all but one.
    pub window_max: Option<u16>,
    /// The most log blocks that a chain may have beside its data block before it is folded.
    pub chain_log_blocks_max: u8,
    /// The number of chains whose sector map is cached in RAM. Zero is allowed: every access then scans.
    pub mapping_cache_entries: u16,
    /// The size of each chain's sketch in RAM, in units of 16 bits, at most 4. A sketch says which sectors the log
    /// blocks may hold, so that most reads of other sectors need no scan.
    pub chain_sketch_halves: u8,
    /// Folding begins when no more than this many blocks are free. At least 2.
    pub free_blocks_low: u16,
    /// Steps of housekeeping (page copies) that a host write does for each of its own pages.
    pub copies_per_page: u8,
    /// Which chain is folded next.
    pub victims: ChainVictims,
    /// Which writes may enter the log: those not larger than the smaller peak of the sizes seen.
    pub filter: FilterChoice,
    /// Where small writes go that continue a run of large ones. The paper does not consider runs.
    pub run_ends: RunEnds,
    /// Whether the throttle keeps the log from wearing out before the chains.
    pub throttle: bool,
    /// Erase cycles that the blocks of each region are specified for; the throttle compares their ratio.
    pub endurance: Endurance,
    /// Dual-pool wear leveling of the chain region.
    pub wear_leveling: WearLeveling,
    /// The rules by which data leaves the log.
    pub write_back: WriteBackConfig,
    /// How paired pages are protected, which share their cells with the one to be programmed.
    pub paired_pages: PairedPages,
    /// When pages are refreshed because their error counts rise.
    pub refresh: Refresh,
}

/// A page is refreshed if this many bits of a codeword, or more, had to be corrected.
/// Three quarters of what the part corrects leaves enough time. [`Corrected::NONE`]: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// In the log, and in the meta area if there is a log.
    pub log: Corrected,
    /// In the chains.
    pub chain: Corrected,
}

impl Refresh {
    /// No refresh, however many bits had to be corrected.
    pub const NEVER: Self = Self { log: Corrected::NONE, chain: Corrected::NONE };
}

/// How paired pages of the chains are protected: those that share their cells with the page to be programmed, and
/// which a power cut could corrupt with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedPages {
    /// Data of earlier requests there is first backed up in the log, if the log has one bit per cell. If
    /// there is no such log, or no space in it, the page is skipped.
    Guard,
    /// No protection: power is assumed never to fail, as in the literature on hybrid disks. Acknowledged data can be
    /// lost.
    Accept,
}

/// Which chain is folded next, among those whose folding frees a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainVictims {
    /// The next one that was not written since the clock hand last passed it.
    Idle,
    /// Among the next few of those, the one whose log blocks hold least: low utilization for a long period, as in
    /// the paper. This needs sketches ([`Config::chain_sketch_halves`]).
    LeastUsed,
}

/// Which blocks of the device the log takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRegion {
    /// None: a conventional device, only chains.
    None,
    /// The SLC region of a device that has both regions.
    SlcRegion,
    /// The first blocks of a device that has one region.
    FirstBlocks(u16),
}

/// The hash table that finds a sector in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexConfig {
    /// Cells. `None`: half as many as the log has slots, as in the paper.
    pub entries: Option<u32>,
    /// Cells examined in a lookup, 1 to 32.
    pub probes: u8,
    /// Their order.
    pub probing: Probing,
}

impl IndexConfig {
    /// The number of cells for a log with that many slots, if the table may have at most `most` cells: one per slot, so
    /// that no write is rejected for lack of one; but never fewer than half as many as slots, the paper's share; with
    /// fewer, the log is too large for its table. A cell takes four bytes, or five (see the RAM plan).
    ///
    /// ```
    /// use ftl_core::config::IndexConfig;
    /// assert_eq!(IndexConfig::entries_within(16_384, 65_536), 16_384);
    /// assert_eq!(IndexConfig::entries_within(100_000, 65_536), 65_536);
    /// assert_eq!(IndexConfig::entries_within(1_000_000, 65_536), 500_000);
    /// ```
    pub const fn entries_within(places: u32, most: u32) -> u32 {
        let half = places / 2;
        if places <= most {
            places
        } else if half > most {
            half
        } else {
            most
        }
    }
}

/// Which requests count as hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterChoice {
    /// Requests up to a threshold that follows the workload, but never larger than `largest`.
    ByBytes {
        /// Threshold before anything was seen.
        initial: Bytes,
        /// No larger request is ever hot. The paper has no such limit.
        largest: Bytes,
    },
    /// The same, with limits in sectors of the device.
    BySize {
        /// Threshold before anything was seen.
        initial: SectorCount,
        /// No larger request is ever hot.
        largest: SectorCount,
    },
    /// All requests, whatever their size: the filter is off, to measure its effect.
    AcceptAll,
}

impl FilterChoice {
    /// At first the size in which file systems write metadata is hot; writes larger than 64 KiB never are.
    pub const BY_SIZE: Self =
        Self::ByBytes { initial: Bytes::new(4 << 10), largest: Bytes::new(64 << 10) };

    /// The initial threshold, and the largest size of a hot request; `None` if all are hot.
    pub fn limits(self, sector: Bytes) -> Option<[Bytes; 2]> {
        match self {
            Self::ByBytes { initial, largest } => Some([initial, largest]),
            Self::BySize { initial, largest } => {
                let bytes = |count: SectorCount| sector.get().saturating_mul(count.get());
                Some([initial, largest].map(|count| Bytes::new(bytes(count))))
            }
            Self::AcceptAll => None,
        }
    }
}

/// Where small writes go that continue a run of large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnds {
    /// By their size.
    BySize,
    /// After the run: to the chains of the hybrid FTL, to the main area of the page store.
    Follow,
}

/// Erase cycles that a block is specified for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endurance {
    /// Of the log of the hybrid, or the fast area of the page store.
    pub fast: u32,
    /// Of the chains of the hybrid, or the main area of the page store.
    pub main: u32,
}

/// Dual-pool wear leveling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WearLeveling {
    /// Whether it is done.
    pub enabled: bool,
    /// Erase counts of the two pools may differ by this much (`TH` of the paper).
    pub threshold: u16,
}

/// How the cells of a probe window follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// Neighbours: 0, 1, 2, 3 … cells after the home cell, wrapping around at the table's end. A
    /// window is in one or two cache lines, and consecutive sectors have consecutive cells.
    Linear,
    /// Squares: 0, 1, 4, 9 … cells after the home cell, modulo the prime. This breaks up clusters, and runs,
    /// too.
    Quadratic,
}

/// Which of the write-back rules are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBackConfig {
    /// Rule (a): tail sectors leave only for chains that have a log block.
    pub follow_log_blocks: bool,
    /// Rule (b): folds collect from the log.
    pub collect_on_fold: bool,
    /// Rule (c): rule (a) is suspended while the update ratio is low.
    pub suspend_when_updates_fall: bool,
}

impl Config {
    /// The defaults of the paper's device: 2-KiB sectors, the SLC region as log, half as many cells as slots, 8
    /// linear probes, TH = 16, all three write-back rules. Its SLC corrects one bit of 512 bytes, its MLC four.
    pub const HYBRID: Self = Self {
        sector_bytes: Bytes::new(2048),
        capacity: None,
        log: LogRegion::SlcRegion,
        index: IndexConfig { entries: None, probes: 8, probing: Probing::Linear },
        window_max: None,
        chain_log_blocks_max: 4,
        mapping_cache_entries: 48,
        chain_sketch_halves: 0,
        free_blocks_low: 8,
        copies_per_page: 4,
        victims: ChainVictims::Idle,
        filter: FilterChoice::BY_SIZE,
        run_ends: RunEnds::BySize,
        throttle: true,
        endurance: Endurance { fast: 100_000, main: 5_000 },
        wear_leveling: WearLeveling { enabled: true, threshold: 16 },
        write_back: WriteBackConfig {
            follow_log_blocks: true,
            collect_on_fold: true,
            suspend_when_updates_fall: true,
        },
        paired_pages: PairedPages::Guard,
        refresh: Refresh { log: Corrected::bits(1), chain: Corrected::bits(3) },
    };

    /// The paper's conventional device: the same, without a log.
    pub const CONVENTIONAL: Self = Self { log: LogRegion::None, ..Self::HYBRID };

    /// The defaults for a chip of one cell type, whose first blocks become the log, and which corrects one bit of a
    /// codeword. If yours corrects more, set [`refresh`](Self::refresh), or pages are refreshed too often.
    pub const fn one_region(log_blocks: u16) -> Self {
        Self {
            log: LogRegion::FirstBlocks(log_blocks),
            mapping_cache_entries: 16,
            chain_sketch_halves: 1,
            endurance: Endurance { fast: 100_000, main: 100_000 },
            refresh: Refresh { log: Corrected::bits(1), chain: Corrected::bits(1) },
            ..Self::HYBRID
        }
    }
}
