//! What the user chooses. Every choice has a default that suits a device of any size.

use ftl_iface::{Bytes, Corrected, SectorCount};

/// What the user chooses; the device decides the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The unit in which the FTL maps: a power of two, from 512 bytes to the smaller page size.
    pub sector_bytes: Bytes,
    /// What the host may use. `None` exports all but one block in twenty of the chain region, the share of Chang's
    /// device (20 of 21 GB). It is rounded up to whole logical blocks inside, and kept exact towards the host.
    pub capacity: Option<SectorCount>,
    /// Which blocks the log takes.
    pub log: LogRegion,
    /// The hash table of the log.
    pub index: IndexConfig,
    /// Largest distance between the log's tail and its head, in blocks (`k` of the paper). `None`: all but one.
    pub window_max: Option<u16>,
    /// Log blocks that one chain may have beside its data block before it is folded.
    pub chain_log_blocks_max: u8,
    /// Chains whose sector map is kept in RAM. None at all is allowed: every access then scans.
    pub mapping_cache_entries: u16,
    /// So many times 16 bits of RAM a chain tell which sectors its log blocks may hold, so that most reads of others
    /// need no scan. At most 4.
    pub chain_sketch_halves: u8,
    /// Folding begins when no more than this many blocks are free. At least 2.
    pub free_blocks_low: u16,
    /// Page copies that a host write does for the house, for each page of its own.
    pub copies_per_page: u8,
    /// Which chain is folded next.
    pub victims: ChainVictims,
    /// Which writes may enter the log: those not larger than the smaller peak of the sizes seen.
    pub filter: FilterChoice,
    /// Where small writes go that continue a run of large ones. The paper knows no runs.
    pub run_ends: RunEnds,
    /// Whether the throttle keeps the two regions' wear in step.
    pub throttle: bool,
    /// Erase cycles that the blocks of each region are specified for; the throttle compares their ratio.
    pub endurance: Endurance,
    /// Dual-pool wear leveling of the chain region.
    pub wear_leveling: WearLeveling,
    /// When data leave the log.
    pub write_back: WriteBackConfig,
    /// What is done for pages that share their cells with the one to be programmed.
    pub paired_pages: PairedPages,
    /// When pages are refreshed because their error counts rise.
    pub refresh: Refresh,
}

/// How many bits of a codeword may have to be corrected before a page is refreshed: as many or more, and it is.
/// Three quarters of what the part corrects leave time enough. [`Corrected::NONE`]: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// In the log, and where there is one in the meta part, which lies beside it.
    pub log: Corrected,
    /// In the chains.
    pub chain: Corrected,
}

impl Refresh {
    /// However many bits have to be corrected.
    pub const NEVER: Self = Self { log: Corrected::NONE, chain: Corrected::NONE };
}

/// What is done for pages of the chains that share their cells with the one to be programmed, and which a loss of
/// power would ruin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedPages {
    /// What a request before this one has left there is copied to the log first, where that has one bit a cell. Where
    /// there is no such log, or no room in it, the page is left out.
    Guard,
    /// Nothing: power is taken to hold, as the literature on hybrid disks takes it. What was acknowledged can be lost.
    Accept,
}

/// Which chain is folded next, of those whose folding wins a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainVictims {
    /// The next round that was not written for a turn of the hand.
    Idle,
    /// Of the next few of those, the one of which the log blocks hold least: of low utilization for a long period, as
    /// the paper has it. The sketches tell, so that there must be some ([`Config::chain_sketch_halves`]).
    LeastUsed,
}

/// Which blocks of the device the log takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRegion {
    /// None: a conventional device, chains alone.
    None,
    /// The SLC region of a device that has both regions.
    SlcRegion,
    /// The first blocks of a device that has one region.
    FirstBlocks(u16),
}

/// The hash table that finds a sector in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexConfig {
    /// Buckets. `None`: half as many as the log has places for sectors, as in the paper.
    pub entries: Option<u32>,
    /// Buckets looked at for a sector, 1 to 32.
    pub probes: u8,
    /// In which order.
    pub probing: Probing,
}

impl IndexConfig {
    /// How many buckets suit a log of so many places, where the table may have `most` of them: one a place, so that no
    /// write is turned away for want of one; never fewer than half as many as places, the paper's share, from which on
    /// it is the log that is too large for its table. A bucket takes four bytes, or five (see the RAM plan).
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
    /// Those up to a threshold that follows the workload; never larger than `largest`.
    ByBytes {
        /// Threshold before anything was seen.
        initial: Bytes,
        /// No larger request is ever hot. The paper has no such cap.
        largest: Bytes,
    },
    /// The same, with limits in sectors of the device.
    BySize {
        /// Threshold before anything was seen.
        initial: SectorCount,
        /// No larger request is ever hot.
        largest: SectorCount,
    },
    /// All of them, whatever their size: the filter switched off, to measure its worth.
    AcceptAll,
}

impl FilterChoice {
    /// What file systems write metadata in is hot before anything was seen; larger writes than 64 KiB never are.
    pub const BY_SIZE: Self =
        Self::ByBytes { initial: Bytes::new(4 << 10), largest: Bytes::new(64 << 10) };

    /// The threshold before anything was seen, and what no hot request exceeds; `None` where all are hot.
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
    /// Where their size sends them.
    BySize,
    /// After the run: to the chains of the hybrid FTL, to the main area of the page store.
    Follow,
}

/// Erase cycles that a block is specified for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endurance {
    /// Of the log region.
    pub log: u32,
    /// Of the chain region.
    pub chain: u32,
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
    /// Neighbours: 0, 1, 2, 3 … cells after the home cell, over the table's end to its start. A
    /// window lies in one or two cache lines, and runs of sectors keep runs of cells.
    Linear,
    /// Squares: 0, 1, 4, 9 … cells after the home cell, modulo the prime. Clusters dissolve, runs
    /// too.
    Quadratic,
}

/// Which of the rules are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteBackConfig {
    /// Rule (a): tail sectors leave only for chains that have a log block.
    pub follow_log_blocks: bool,
    /// Rule (b): folds collect from the log.
    pub collect_on_fold: bool,
    /// Rule (c): rule (a) is suspended while the share of updates falls.
    pub suspend_when_updates_fall: bool,
}

impl Config {
    /// The defaults of the paper's device: 2-KiB sectors, the SLC region as log, half as many buckets as places, 8
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
        endurance: Endurance { log: 100_000, chain: 5_000 },
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
    /// codeword. Where yours corrects more, say so in [`refresh`](Self::refresh), or it is refreshed too often.
    pub const fn one_region(log_blocks: u16) -> Self {
        Self {
            log: LogRegion::FirstBlocks(log_blocks),
            mapping_cache_entries: 16,
            chain_sketch_halves: 1,
            endurance: Endurance { log: 100_000, chain: 100_000 },
            refresh: Refresh { log: Corrected::bits(1), chain: Corrected::bits(1) },
            ..Self::HYBRID
        }
    }
}
