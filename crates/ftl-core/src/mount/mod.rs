//! From flash to RAM: making a device ours, and finding it again.
//!
//! `format` erases the device and writes its header. `checkpoint` writes the tables down at a clean stop, and takes
//! them back. Where there is none that counts, `scan` reads the tags and builds the tables anew: `chains` from the
//! first page of each chain block, `log` from the summaries of the log's blocks.

mod chains;
mod checkpoint;
mod format;
mod log;
mod scan;

pub use checkpoint::Stopped;

use core::fmt;
use core::num::NonZeroU32;

use ftl_iface::{BlockCount, Bytes, NandDevice, SectorCount};

use crate::config::{Config, FilterChoice};
use crate::error::Fault;
use crate::filter::{FilterConfig, SizeFilter};
use crate::flash::{Flash, Spares, Spot};
use crate::ftl::{Ftl, Scrub};
use crate::layout::Header;
use crate::mlc::maps::MapMemory;
use crate::mlc::{Mlc, MlcMemory};
use crate::probe::{Probe, Ratio};
use crate::ram::{Ram, TableName};
use crate::shape::{HEADER_BLOCKS, SPARE_BLOCKS_MIN, Shape};
use crate::slc::index::Index;
use crate::slc::{Log, LogMemory};
use crate::table::Bits;
use crate::throttle::{Throttle, ThrottleConfig};
use crate::wear::DualPool;
use crate::writeback::WriteBack;

/// Writes between two recomputations of the filter, and requests between two steps of the throttle: the paper's.
const PERIOD: u32 = 1_000;

/// Why a device could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MountError<E> {
    /// The memory was lent for another device or configuration.
    WrongPlan,
    /// So many blocks are bad that the capacity cannot be held.
    TooFewBlocks {
        /// Good blocks for chains.
        good: u16,
        /// What the capacity and the reserve need.
        needed: u16,
    },
    /// The device carries no header of this FTL. Format it, if nothing else of value is on it.
    NotFormatted,
    /// The device was formatted by another version of this FTL.
    Version(u16),
    /// The header is damaged in both of its places.
    DamagedHeader,
    /// The device was formatted with other figures than the configuration's.
    OtherFigures {
        /// The sector size on the device.
        sector_bytes: Bytes,
        /// The capacity on the device.
        capacity: SectorCount,
        /// Blocks of its log.
        log_blocks: u16,
    },
    /// What is on flash contradicts itself.
    Corrupt,
    /// A block failed that must not: the device cannot be used.
    BlockFailed,
    /// The driver failed.
    Device(Option<E>),
}

impl<E> From<Fault<E>> for MountError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Uncorrectable | Fault::Corrupt => Self::Corrupt,
            Fault::BlockFailed | Fault::ReadOnly => Self::BlockFailed,
            Fault::Device(error) => Self::Device(error),
        }
    }
}

impl<E: fmt::Debug> fmt::Display for MountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongPlan => f.write_str(
                "the memory was lent for another device or configuration: plan it from the ones given here",
            ),
            Self::TooFewBlocks { good, needed } => write!(
                f,
                "{good} good blocks are too few for the capacity, which needs {needed}: format with a smaller one"
            ),
            Self::NotFormatted => f.write_str("the device carries no header of this FTL: format it first"),
            Self::Version(version) => write!(
                f,
                "the device is of format version {version}, and this FTL reads another: use the FTL that formatted it"
            ),
            Self::DamagedHeader => f.write_str("the device's header is damaged in both of its places"),
            Self::OtherFigures { sector_bytes, capacity, log_blocks } => write!(
                f,
                "the device was formatted with sectors of {sector_bytes}, {capacity} and a log of {log_blocks} \
                 blocks: configure the same"
            ),
            Self::Corrupt => f.write_str("what is on flash contradicts itself"),
            Self::BlockFailed => f.write_str("a block failed that the device cannot do without"),
            Self::Device(Some(error)) => write!(f, "the driver failed ({error:?})"),
            Self::Device(None) => f.write_str("the driver failed before"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Puts the rooms together, with empty tables.
    pub(crate) fn assemble(
        device: D,
        config: &Config,
        mut ram: Ram<'ram>,
        probe: P,
    ) -> Result<Self, MountError<D::Error>> {
        if !ram.plan().is_for(device.geometry(), config) {
            return Err(MountError::WrongPlan);
        }
        let shape = *ram.plan().shape();
        // The order of the tables in the plan.
        let first = ram.halves(TableName::ChainFirst);
        let next = ram.halves(TableName::ChainNext);
        let erase_counts = ram.halves(TableName::EraseCounts);
        let owners = ram.halves(TableName::MapOwners);
        let next_pages = ram.halves(TableName::MapNextPages);
        let cells = ram.halves(TableName::MapCells);
        let sketches = ram.halves(TableName::Sketches);
        let index_low = ram.words(TableName::IndexLow);
        let head_codes = ram.words(TableName::HeadCodes);
        let tail_codes = ram.words(TableName::TailCodes);
        let said = ram.words(TableName::MapSaid);
        let buffer = ram.bytes(TableName::PageBuffer);
        let log_spare = ram.bytes(TableName::LogSpare);
        let chain_spare = ram.bytes(TableName::ChainSpare);
        let read_spare = ram.bytes(TableName::ReadSpare);
        let index_high = ram.bytes(TableName::IndexHigh);
        let wear_pools = ram.bytes(TableName::WearPools);
        let bad = ram.bytes(TableName::LogBad);
        let has_data = ram.bytes(TableName::HasData);
        let recent = ram.bytes(TableName::Recent);
        let sealed = ram.bytes(TableName::Sealed);
        let unproved = Bits::new(ram.bytes(TableName::Unproved));
        let logged = Bits::new(ram.bytes(TableName::Logged));
        let flags = ram.bytes(TableName::MapFlags);
        let touched = ram.bytes(TableName::FoldTouched);
        let collected = ram.bytes(TableName::FoldCollected);

        let spares = Spares { read: read_spare, log: log_spare, chain: chain_spare };
        let maps = MapMemory { owners, next_pages, said, flags, cells };
        let memory =
            MlcMemory { first, next, has_data, recent, sealed, maps, sketches, touched, collected };
        let index = ram.plan().index_shape().map(|shape| Index::new(*shape, index_low, index_high));
        let log_memory = LogMemory { bad, head_codes, tail_codes };
        let log = shape.log.zip(index).map(|(part, index)| Log::new(part, index, log_memory));
        let wear = Self::new_wear(config, &shape, erase_counts, wear_pools);
        Ok(Self {
            shape,
            config: *config,
            flash: Flash::new(device, probe, &shape, config.refresh, spares, buffer),
            filter: Self::new_filter(config),
            throttle: Self::new_throttle(config, &shape),
            log,
            mlc: Mlc::new(&shape, config, memory),
            write_back: WriteBack::new(config.write_back),
            wear,
            unproved,
            logged,
            wear_move: None,
            free_blocks_low: 0,
            free_blocks_idle: 0,
            turn: 0,
            unsettled: None,
            scrub: Scrub::default(),
            own: None,
            failed_page: None,
            good_blocks: 0,
        })
    }

    fn new_wear(
        config: &Config,
        shape: &Shape,
        erase_counts: &'ram mut [u16],
        pools: &'ram mut [u8],
    ) -> DualPool<'ram> {
        let wear = config.wear_leveling;
        let blocks = BlockCount::new(u32::from(shape.chain.blocks));
        DualPool::new(erase_counts, pools, blocks, wear.threshold, wear.enabled)
    }

    fn new_filter(config: &Config) -> SizeFilter {
        let (initial, largest) = match config.filter {
            FilterChoice::BySize { initial, largest } => (initial, largest),
            // Never asked, but kept running.
            FilterChoice::AcceptAll => (SectorCount::new(1), SectorCount::new(u32::MAX)),
        };
        SizeFilter::new(FilterConfig { initial, largest, period: PERIOD })
    }

    fn new_throttle(config: &Config, shape: &Shape) -> Throttle {
        let log_blocks = u32::from(shape.log.map_or(0, |log| log.blocks));
        // One block must be free to become the head while the tail is reclaimed; a floor of two lets the head move.
        let most = log_blocks.saturating_sub(1).max(1);
        let window_max = config.window_max.map_or(most, |window| u32::from(window).clamp(1, most));
        Throttle::new(ThrottleConfig {
            enabled: config.throttle && log_blocks > 0,
            log_blocks: BlockCount::new(log_blocks),
            chain_blocks: BlockCount::new(u32::from(shape.chain.blocks)),
            log_endurance: config.endurance.log,
            chain_endurance: config.endurance.chain,
            window_floor: BlockCount::new(window_max.min(2)),
            window_max: BlockCount::new(window_max),
            period: PERIOD,
        })
    }

    /// Takes the bad blocks out of log and chains.
    fn retire_bad_blocks(&mut self) -> Result<(), MountError<D::Error>> {
        let mut good = 0;
        for number in 0..self.shape.chain.blocks {
            let block = crate::address::ChainBlock::new(number);
            if self.flash.is_bad(Spot::chain(block, 0))? {
                self.wear.retire(block);
            } else {
                good += 1;
            }
        }
        if let Some(log) = &mut self.log {
            for number in 0..log.part().blocks {
                let block = crate::address::LogBlock::new(number);
                if self.flash.is_bad(Spot::log(block, 0))? {
                    log.ring_mut().retire(block);
                }
            }
        }
        self.set_good_blocks(good);
        Ok(())
    }

    /// Whether a device that is being formatted has blocks enough.
    fn holds_capacity(&self) -> Result<(), MountError<D::Error>> {
        if let Some(log) = &self.log
            && !log.ring().turns()
        {
            return Err(MountError::TooFewBlocks { good: log.ring().good(), needed: 2 });
        }
        let needed = self.shape.logical_blocks + SPARE_BLOCKS_MIN;
        if self.good_blocks < needed {
            return Err(MountError::TooFewBlocks { good: self.good_blocks, needed });
        }
        Ok(())
    }

    /// The meta blocks that are not bad, in order.
    fn good_meta_block(&mut self, number: u16) -> Result<Option<u16>, MountError<D::Error>> {
        if number >= HEADER_BLOCKS {
            return Ok(None);
        }
        let bad = self.flash.is_bad(Spot::meta(number, 0))?;
        Ok((!bad).then_some(number))
    }

    /// The device's header.
    pub(crate) fn header(&self) -> Header {
        Header {
            meta_blocks: self.shape.meta.blocks,
            key: self.flash.key(),
            sector_bytes: self.shape.sector_bytes,
            capacity: self.shape.capacity,
            log_blocks: self.shape.log.map_or(0, |log| log.blocks),
            chain_blocks: self.shape.chain.blocks,
        }
    }

    /// Gives device and probe back.
    pub fn into_parts(self) -> (D, P) {
        self.flash.into_parts()
    }

    /// The device, to look at.
    pub fn device(&self) -> &D {
        self.flash.device()
    }

    /// The device, for what a host may do beside the FTL. It must not change what is on flash.
    pub fn device_mut(&mut self) -> &mut D {
        self.flash.device_mut()
    }

    /// The probe.
    pub fn probe(&self) -> &P {
        self.flash.probe()
    }

    /// How the device is divided.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The largest write that counts as hot now.
    pub fn threshold(&self) -> SectorCount {
        self.filter.threshold()
    }

    /// Whether the throttle turns new data away from the log now.
    pub fn is_throttling(&self) -> bool {
        self.throttle.is_active()
    }

    /// The distance that tail and head may have now (`k` of the paper); none without a log.
    pub fn window(&self) -> BlockCount {
        self.throttle.window()
    }

    /// Cells of the hash table that a search looks at before it meets a sector of the log, on average over these
    /// sectors; none without a log.
    pub fn index_probes(&self) -> Option<Ratio> {
        let index = &self.log.as_ref()?.index;
        Some(Ratio { part: index.probes(), whole: u64::from(index.real_count()) })
    }

    /// Entries of the hash table: real, virtual, and how many there can be.
    pub fn index_load(&self) -> Option<(u32, u32, NonZeroU32)> {
        let log = self.log.as_ref()?;
        let capacity = NonZeroU32::new(log.index.capacity())?;
        Some((log.index.real_count(), log.index.virtual_count(), capacity))
    }
}
