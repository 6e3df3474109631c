//! Putting the modules together, with empty tables; and the minimum that a device must have.

use ftl_iface::{BlockCount, Bytes, NandDevice};

use crate::config::Config;
use crate::filter::{FilterConfig, Runs, SizeFilter};
use crate::hybrid::flash::{Flash, FlashMemory, Spot};
use crate::hybrid::logged::LoggedMemory;
use crate::hybrid::mlc::{Mlc, MlcMemory};
use crate::hybrid::mount::error::MountError;
use crate::hybrid::ram::Ram;
use crate::hybrid::scrub::Scrub;
use crate::hybrid::shape::{HEADER_BLOCKS, SPARE_BLOCKS_MIN, Shape};
use crate::hybrid::slc::{Log, LogMemory};
use crate::hybrid::state::Ftl;
use crate::hybrid::wear::{DualPool, WearMemory};
use crate::hybrid::writeback::WriteBack;
use crate::probe::Probe;
use crate::table::{number, word};
use crate::throttle::{Throttle, ThrottleConfig};

/// Writes between two recomputations of the filter, and requests between two steps of the throttle, as in the paper.
const PERIOD: u32 = 1_000;

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Builds the FTL from its modules, with empty tables.
    pub(crate) fn assemble(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        probe: P,
    ) -> Result<Self, MountError<D::Error>> {
        if !ram.plan().is_for(device.geometry(), config) {
            return Err(MountError::WrongPlan);
        }
        let shape = ram.plan().shape;
        let index_shape = ram.plan().index;
        // In the order of the plan.
        let mut ram = ram;
        let flash = FlashMemory::take(&mut ram);
        let mlc = MlcMemory::take(&mut ram);
        let wear = WearMemory::take(&mut ram);
        let log = LogMemory::take(&mut ram);
        let LoggedMemory { unproved, logged } = LoggedMemory::take(&mut ram);
        debug_assert!(ram.is_taken(), "a room takes what it declares");
        let log = shape.log.zip(index_shape).map(|(part, index)| Log::new(part, index, log));
        Ok(Self {
            shape,
            config: *config,
            flash: Flash::new(device, probe, &shape, config.refresh, flash),
            filter: Self::new_filter(config),
            runs: Runs::NONE,
            throttle: Self::new_throttle(config, &shape),
            log,
            mlc: Mlc::new(&shape, config, mlc),
            write_back: WriteBack::new(config.write_back),
            wear: Self::new_wear(config, &shape, wear),
            unproved,
            logged,
            wear_move: None,
            free_blocks_low: 0,
            free_blocks_idle: 0,
            turn: 0,
            unsettled: None,
            scrub: Scrub::default(),
            request_start: None,
            failed_page: None,
            good_blocks: 0,
        })
    }

    fn new_wear(
        config: &Config,
        shape: &Shape,
        WearMemory { counts, pools }: WearMemory<'ram>,
    ) -> DualPool<'ram> {
        let wear = config.wear_leveling;
        let blocks = shape.chain.block_count();
        DualPool::new(counts, pools, blocks, wear.threshold, wear.enabled)
    }

    pub(crate) fn new_filter(config: &Config) -> SizeFilter {
        let sector = config.sector_bytes;
        // If all writes count as hot it is not used, but kept running.
        let all = [sector, Bytes::new(u32::MAX)];
        let [initial, largest] = config.filter.limits(sector).unwrap_or(all);
        SizeFilter::new(FilterConfig { initial, largest, sector, period: PERIOD })
    }

    pub(crate) fn new_throttle(config: &Config, shape: &Shape) -> Throttle {
        let log_blocks = word(shape.log.map_or(0, |log| log.blocks));
        // One block must be free to become the head while the tail is reclaimed; a floor of two lets the head move.
        let most = log_blocks.saturating_sub(1).max(1);
        let window_max =
            config.window_max.map_or(most, |window| u32::from(window).max(1).min(most));
        Throttle::new(ThrottleConfig {
            enabled: config.throttle && log_blocks > 0,
            fast_blocks: BlockCount::new(log_blocks),
            main_blocks: shape.chain.block_count(),
            fast_endurance: config.endurance.fast,
            main_endurance: config.endurance.main,
            window_floor: BlockCount::new(window_max.min(2)),
            window_max: BlockCount::new(window_max),
            period: PERIOD,
        })
    }

    /// Removes the bad blocks from log and chains.
    pub(crate) fn retire_bad_blocks(&mut self) -> Result<(), MountError<D::Error>> {
        let mut good = 0;
        for number in 0..self.shape.chain.blocks {
            let block = crate::hybrid::address::ChainBlock::new(number);
            if self.flash.is_bad(Spot::chain(block, 0))? {
                self.wear.retire(block);
            } else {
                good += 1;
            }
        }
        if let Some(log) = self.log.as_mut() {
            for number in 0..log.area().short_blocks() {
                let block = crate::hybrid::address::LogBlock::new(number);
                if self.flash.is_bad(Spot::log(block, 0))? {
                    log.ring_mut().retire(block);
                }
            }
        }
        self.set_good_blocks(good);
        Ok(())
    }

    /// Whether a device that is being formatted has enough blocks.
    pub(crate) fn holds_capacity(&self) -> Result<(), MountError<D::Error>> {
        if let Some(log) = self.log.as_ref()
            && !log.ring().turns()
        {
            return Err(MountError::TooFewBlocks { good: number(log.ring().good()), needed: 2 });
        }
        let needed = self.shape.logical_blocks + number(SPARE_BLOCKS_MIN);
        if self.good_blocks < needed {
            return Err(MountError::TooFewBlocks { good: self.good_blocks, needed });
        }
        Ok(())
    }

    /// The meta blocks that are not bad, in order.
    pub(crate) fn good_meta_block(
        &mut self,
        number: u16,
    ) -> Result<Option<u16>, MountError<D::Error>> {
        if number >= HEADER_BLOCKS {
            return Ok(None);
        }
        let bad = self.flash.is_bad(Spot::meta(number, 0))?;
        Ok((!bad).then_some(number))
    }
}
