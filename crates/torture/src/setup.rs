//! The subject of a run: a device, and an FTL in some configuration on it.

use std::sync::Arc;

use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, WearLeveling};
use ftl_core::hybrid::shape::SPARE_BLOCKS_MIN;
use ftl_core::paged::{PagedConfig, PagedShapeError, Streams};
use ftl_core::{Config, ShapeError, WriteBackConfig};
use ftl_iface::{Bytes, SectorCount};
use nand_model::datasheet::{self, DatasheetError};
use nand_model::part::Part;
use nand_model::{ChipError, Content};

use crate::hybrid::Hybrid;
use crate::paged::Paged;
use crate::subject::Subject;

/// The FTLs that can be tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FtlName {
    /// Of `ftl-core`: a log before block chains.
    Hybrid,
    /// Of `ftl-core`: a page map over both regions.
    #[default]
    Paged,
}

impl FtlName {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Hybrid, Self::Paged];

    /// The name by which commands know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Paged => "paged",
        }
    }

    /// The argument of a command that selects it, if it needs one.
    pub(crate) fn flag(self) -> String {
        if self == Self::default() { String::new() } else { format!(" --ftl {}", self.name()) }
    }
}

/// The configuration of the FTL on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum System {
    /// With a log: the SLC region, or the first blocks of a device of one region.
    #[default]
    Usual,
    /// Chains alone.
    Conventional,
    /// With a log, and everything as small as possible: few cells in the hash table, one log block per chain, one map
    /// in RAM. Folds leave the log's data in the log.
    Small,
}

impl System {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Usual, Self::Conventional, Self::Small];

    /// The name by which commands know it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Conventional => "conventional",
            Self::Small => "small",
        }
    }
}

/// Why a device cannot be tested.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// There is no such device, or its file is wrong.
    #[error(transparent)]
    Device(#[from] DatasheetError),
    /// It cannot be simulated.
    #[error(transparent)]
    Chip(#[from] ChipError),
    /// The hybrid does not fit it.
    #[error("the hybrid does not fit the device: {0}")]
    Shape(ShapeError),
    /// The page store does not fit it.
    #[error("the page store does not fit the device: {0}")]
    PagedShape(PagedShapeError),
    /// The page store has no such configuration.
    #[error("the page store has no system \"conventional\": take usual or small, or --ftl hybrid")]
    PagedSystem,
}

/// Blocks of chains beyond the minimum: for failures and for folds.
const SPARE: u16 = SPARE_BLOCKS_MIN + 3;

/// In a device of one region, the log's part of its blocks.
const LOG_SHARE: u32 = 5;

/// A device with an FTL in some configuration.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The name of the device or of its file.
    pub device: String,
    /// Which FTL.
    pub ftl: FtlName,
    /// Its configuration on the device.
    pub system: System,
    /// The device's figures.
    pub part: Part,
    /// The FTL.
    pub(crate) subject: Arc<dyn Subject>,
}

impl Setup {
    /// The devices and systems of a full run of the hybrid: SLC only, MLC only, both, three bits per cell, without a
    /// log, and with everything small.
    pub const ALL_HYBRID: [(&'static str, System); 9] = [
        ("tiny", System::Usual),
        ("tiny-slc", System::Usual),
        ("tiny-mlc", System::Usual),
        ("tiny-tlc", System::Usual),
        ("tiny-slc", System::Conventional),
        ("tiny-mlc", System::Conventional),
        ("tiny", System::Small),
        ("tiny-mlc", System::Small),
        ("tiny-tlc", System::Small),
    ];

    /// The setup of a device, given by name or file, and a system for the hybrid.
    pub fn hybrid(device: &str, system: System) -> Result<Self, SetupError> {
        let part = datasheet::open(device)?;
        let mut config = configured(&part, system);
        let hybrid =
            |config: Config| Hybrid::new(&part.geometry, config).map_err(SetupError::Shape);
        // The possible capacity is known after the blocks are divided among the parts.
        let shape = *hybrid(config)?.plan().shape();
        let blocks = shape.chain.block_count().get().saturating_sub(SPARE.into()).max(1);
        let room = blocks * shape.sectors_per_block.get();
        let exported = part.exported_bytes / u64::from(part.sector_bytes.get());
        // The last logical block is partial, to test an end within a block too.
        let capacity = room.min(u32::try_from(exported).unwrap_or(u32::MAX)) - 1;
        config.capacity = Some(SectorCount::new(capacity));
        let subject = Arc::new(hybrid(config)?);
        let ftl = FtlName::Hybrid;
        Ok(Self { device: device.into(), ftl, system, part, subject })
    }

    /// The devices and systems of a full run of the page store.
    pub const ALL_PAGED: [(&'static str, System); 8] = [
        ("tiny", System::Usual),
        ("tiny-slc", System::Usual),
        ("tiny-mlc", System::Usual),
        ("tiny-tlc", System::Usual),
        ("tiny", System::Small),
        ("tiny-slc", System::Small),
        ("tiny-mlc", System::Small),
        ("tiny-tlc", System::Small),
    ];

    /// The setup of a device and a system for the page store.
    pub fn paged(device: &str, system: System) -> Result<Self, SetupError> {
        let part = datasheet::open(device)?;
        let config = paged_config(&part, system)?;
        let fits = |capacity: u32, anchor_blocks: u16| {
            let capacity = Some(SectorCount::new(capacity));
            let config = PagedConfig { capacity, anchor_blocks, ..config };
            let paged = Paged::new(&part.geometry, config)?;
            let shape = paged.plan().shape();
            let blocks = [
                shape.main.blocks - shape.main_needed,
                shape.fast.map_or(SPARE_PAGED, |fast| fast.blocks - shape.fast_needed),
            ];
            let spare = blocks.iter().all(|blocks| *blocks >= SPARE_PAGED);
            spare.then_some(paged).ok_or(PagedShapeError::Capacity { main: 0, fast: 0 })
        };
        let exported = part.exported_bytes / u64::from(part.sector_bytes.get());
        let exported = u32::try_from(exported).unwrap_or(u32::MAX);
        // The last block is partial, to test an end within a map page too.
        let step = (exported / 32).max(1);
        let mut capacity = exported - 1;
        let subject = loop {
            // A device of few blocks has none for anchors.
            match fits(capacity, config.anchor_blocks).or_else(|_| fits(capacity, 0)) {
                Ok(paged) => break Arc::new(paged),
                Err(error) if capacity <= step => return Err(SetupError::PagedShape(error)),
                Err(_) => capacity -= step,
            }
        };
        let ftl = FtlName::Paged;
        Ok(Self { device: device.into(), ftl, system, part, subject })
    }

    /// The setup of a device and a system for that FTL.
    pub fn of(ftl: FtlName, device: &str, system: System) -> Result<Self, SetupError> {
        match ftl {
            FtlName::Hybrid => Self::hybrid(device, system),
            FtlName::Paged => Self::paged(device, system),
        }
    }

    /// All of that FTL.
    pub fn all_of(ftl: FtlName) -> Result<Vec<Self>, SetupError> {
        let all: &[_] = match ftl {
            FtlName::Hybrid => &Self::ALL_HYBRID,
            FtlName::Paged => &Self::ALL_PAGED,
        };
        all.iter().map(|(device, system)| Self::of(ftl, device, *system)).collect()
    }

    /// Sectors that the host may use.
    pub fn capacity(&self) -> u32 {
        self.subject.capacity()
    }

    /// The size of a sector.
    pub fn sector_bytes(&self) -> usize {
        self.subject.sector_bytes().as_usize()
    }

    /// Pages of the whole device.
    pub fn pages(&self) -> u64 {
        let regions = [self.part.geometry.slc(), self.part.geometry.mlc()];
        regions.into_iter().flatten().map(ftl_iface::RegionGeometry::pages).sum()
    }

    /// Calls that a mount may make: it reads no page more than a few times.
    pub(crate) fn mount_budget(&self) -> u64 {
        16 * self.pages() + 4_096
    }

    /// Calls that a request may make, far beyond the stated worst case.
    pub(crate) fn request_budget(&self) -> u64 {
        64 * self.pages() + 16_384
    }

    /// What the chip stores of a page when a stamp represents each sector.
    pub fn stamps(&self) -> Content {
        let spare_kept = self.subject.spare_used();
        Content::Stamps { sector: self.subject.sector_bytes(), spare_kept }
    }
}

fn configured(part: &Part, system: System) -> Config {
    let first_blocks = |blocks: u32| LogRegion::FirstBlocks((blocks / LOG_SHARE) as u16);
    let log = match (part.geometry.slc(), part.geometry.mlc()) {
        _ if system == System::Conventional => LogRegion::None,
        (Some(_), Some(_)) => LogRegion::SlcRegion,
        (Some(only), None) | (None, Some(only)) => first_blocks(only.blocks.get()),
        (None, None) => LogRegion::None,
    };
    let filter = small_writes(part.sector_bytes);
    let usual = Config {
        sector_bytes: part.sector_bytes,
        log,
        mapping_cache_entries: 4,
        free_blocks_low: 2,
        chain_log_blocks_max: 2,
        filter,
        ..Config::HYBRID
    };
    match system {
        System::Usual | System::Conventional => usual,
        System::Small => Config {
            index: IndexConfig { entries: Some(17), probes: 4, ..Config::HYBRID.index },
            mapping_cache_entries: 1,
            chain_sketch_halves: 1,
            chain_log_blocks_max: 1,
            copies_per_page: 1,
            // So that cold data moves within a few hundred requests.
            wear_leveling: WearLeveling { enabled: true, threshold: 1 },
            write_back: WriteBackConfig { collect_on_fold: false, ..Config::HYBRID.write_back },
            ..usual
        },
    }
}

/// Initially, writes of two sectors are hot, and none of more than eight is.
fn small_writes(sector: Bytes) -> FilterChoice {
    FilterChoice::ByBytes { initial: sector * 2, largest: sector * 8 }
}

/// Blocks of an area of the page store beyond its minimum, for failures.
const SPARE_PAGED: u32 = 2;

fn paged_config(part: &Part, system: System) -> Result<PagedConfig, SetupError> {
    let filter = small_writes(part.sector_bytes);
    // The table must hold the entries of two blocks.
    let regions = [part.geometry.slc(), part.geometry.mlc()];
    let block = regions.into_iter().flatten().map(ftl_iface::RegionGeometry::block_bytes).max();
    let two = 2 * block.unwrap_or(0) / u64::from(part.sector_bytes.get());
    let two = u32::try_from(two).unwrap_or(u32::MAX);
    let usual = PagedConfig {
        sector_bytes: part.sector_bytes,
        dirty_entries: two.max(128),
        cached_leaves: 3,
        anchor_blocks: 3,
        filter,
        ..PagedConfig::SMALL
    };
    match system {
        System::Usual => Ok(usual),
        System::Conventional => Err(SetupError::PagedSystem),
        System::Small => Ok(PagedConfig {
            dirty_entries: two.max(96),
            cached_leaves: 2,
            streams: Streams::One,
            filter: FilterChoice::AcceptAll,
            ..usual
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Faults;

    #[test]
    fn every_setup_leaves_blocks_to_lose_and_ends_within_a_logical_block() {
        for setup in Setup::all_of(FtlName::Hybrid).unwrap() {
            let name = format!("{} {}", setup.device, setup.system.name());
            let parts = setup.subject.parts(&Faults::NONE);
            let chains = parts.iter().max_by_key(|part| part.blocks).unwrap();
            assert!(chains.may_fail >= usize::from(SPARE - SPARE_BLOCKS_MIN), "{name}: {chains:?}");
            let shape = setup.part.geometry.region(chains.region).unwrap();
            let block = shape.block_bytes() / setup.sector_bytes() as u64;
            assert_ne!(u64::from(setup.capacity()) % block, 0, "{name}");
            assert!(setup.capacity() >= 30, "{name}: {}", setup.capacity());
        }
    }
}
