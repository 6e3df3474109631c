//! The functions of both FTLs under the same names, so that everything else here is written once.

use std::ffi::c_void;

use ftl_c::*;

/// What a format and a mount are given.
#[derive(Clone, Copy)]
pub(crate) struct Given<C> {
    pub(crate) ram: *mut c_void,
    pub(crate) ram_bytes: usize,
    pub(crate) nand: *const Nand,
    pub(crate) config: *const C,
}

type Device<F> = *mut <F as Face>::Device;
type Configured<F> = *const <F as Face>::Config;
type Started<F> = *const <F as Face>::Start;

type Format<F> = unsafe extern "C" fn(Started<F>, u32, *mut Device<F>, *mut Detail) -> i32;
type Mount<F> = unsafe extern "C" fn(Started<F>, *mut Device<F>, *mut Detail) -> i32;
type RamBytes<F> =
    unsafe extern "C" fn(*const Geometry, Configured<F>, *mut usize, *mut Detail) -> i32;
type Worst<F> = unsafe extern "C" fn(*const Geometry, Configured<F>, u32, *mut WorstCase) -> i32;
type Profiles<F> = unsafe extern "C" fn(u32, *mut Geometry, *mut <F as Face>::Config) -> i32;
type Read<F> = unsafe extern "C" fn(Device<F>, u32, u32, *mut c_void) -> i32;
type Write<F> = unsafe extern "C" fn(Device<F>, u32, u32, *const c_void) -> i32;
type Hinted<F> = unsafe extern "C" fn(Device<F>, u32, u32, *const c_void, u32) -> i32;
type Trim<F> = unsafe extern "C" fn(Device<F>, u32, u32) -> i32;
type Maintain<F> = unsafe extern "C" fn(Device<F>, u32) -> i32;
type Told<F, T> = unsafe extern "C" fn(Device<F>, *mut T) -> i32;
type Number<F> = unsafe extern "C" fn(Device<F>) -> u32;
type Work<F> = unsafe extern "C" fn(Device<F>) -> i32;

/// An FTL as C sees it.
pub(crate) trait Face: Sized + 'static {
    type Device: 'static;
    type Config: Copy + Default + PartialEq + std::fmt::Debug;
    type Start: Copy;
    /// The other one.
    type Other: Face;

    const FORMAT: Format<Self>;
    const MOUNT: Mount<Self>;
    const RAM_BYTES: RamBytes<Self>;
    const WORST_CASE: Worst<Self>;
    const PROFILE: Profiles<Self>;
    const READ: Read<Self>;
    const WRITE: Write<Self>;
    const WRITE_HINTED: Hinted<Self>;
    const TRIM: Trim<Self>;
    const MAINTAIN: Maintain<Self>;
    const HEALTH: Told<Self, Health>;
    const DETAIL: Told<Self, Detail>;
    const CAPACITY: Number<Self>;
    const SECTOR_BYTES: Number<Self>;
    const CLOSE: Work<Self>;
    const FLUSH: Work<Self>;
    const SCRUB: Work<Self>;
    const SETTLE: Work<Self>;
    const STOP: Work<Self>;

    /// The structure of a start.
    fn start(given: Given<Self::Config>) -> Self::Start;

    /// Fills in one of the usual configurations for a chip with those regions.
    fn usual(geometry: &Geometry, choice: u32) -> Self::Config;

    /// All fields: the sector size, the capacity, and the others.
    fn fields(config: &mut Self::Config) -> Vec<&mut u32>;

    /// Whether pages that share cells are protected.
    fn is_guarded(config: &Self::Config) -> bool;
}

pub(crate) struct PageStore;

impl Face for PageStore {
    type Device = Tandem;
    type Config = Config;
    type Start = Start;
    type Other = Hybrid;

    const FORMAT: Format<Self> = tandem_format;
    const MOUNT: Mount<Self> = tandem_mount;
    const RAM_BYTES: RamBytes<Self> = tandem_ram_bytes;
    const WORST_CASE: Worst<Self> = tandem_worst_case;
    const PROFILE: Profiles<Self> = tandem_profile;
    const READ: Read<Self> = tandem_read;
    const WRITE: Write<Self> = tandem_write;
    const WRITE_HINTED: Hinted<Self> = tandem_write_hinted;
    const TRIM: Trim<Self> = tandem_trim;
    const MAINTAIN: Maintain<Self> = tandem_maintain;
    const HEALTH: Told<Self, Health> = tandem_health;
    const DETAIL: Told<Self, Detail> = tandem_detail;
    const CAPACITY: Number<Self> = tandem_capacity;
    const SECTOR_BYTES: Number<Self> = tandem_sector_bytes;
    const CLOSE: Work<Self> = tandem_close;
    const FLUSH: Work<Self> = tandem_flush;
    const SCRUB: Work<Self> = tandem_scrub;
    const SETTLE: Work<Self> = tandem_settle;
    const STOP: Work<Self> = tandem_stop;

    fn start(given: Given<Config>) -> Start {
        let Given { ram, ram_bytes, nand, config } = given;
        Start { ram, ram_bytes, nand, config }
    }

    fn usual(geometry: &Geometry, choice: u32) -> Config {
        let mut config = Config::default();
        // SAFETY: a configuration of ours.
        let filled = unsafe {
            match choice % 3 {
                0 => tandem_config_large(&raw mut config),
                _ => tandem_config_small(&raw mut config),
            }
        };
        assert_eq!(filled, OK);
        let largest =
            |region: &Region| region.pages_per_block.wrapping_mul(region.page_bytes) / 512;
        // Two blocks of sectors are the least; few entries make map pages frequent.
        config.dirty_entries = 2 * largest(&geometry.slc).max(largest(&geometry.mlc)) + choice;
        config.cached_leaves = 2;
        config.anchor_blocks = [0, 2, 3][choice as usize % 3];
        config
    }

    fn fields(config: &mut Config) -> Vec<&mut u32> {
        vec![
            &mut config.sector_bytes,
            &mut config.capacity,
            &mut config.dirty_entries,
            &mut config.cached_leaves,
            &mut config.anchor_blocks,
            &mut config.streams,
            &mut config.cost_benefit,
            &mut config.hot_bytes_first,
            &mut config.hot_bytes_most,
            &mut config.follow_runs,
            &mut config.heed_history,
            &mut config.guard_pairs,
            &mut config.refresh_fast_bits,
            &mut config.refresh_main_bits,
            &mut config.level_from,
            &mut config.fast_cycles,
            &mut config.main_cycles,
            &mut config.bursts_to_fast,
        ]
    }

    fn is_guarded(config: &Config) -> bool {
        config.guard_pairs == 1
    }
}

pub(crate) struct Hybrid;

impl Face for Hybrid {
    type Device = TandemHybrid;
    type Config = HybridConfig;
    type Start = HybridStart;
    type Other = PageStore;

    const FORMAT: Format<Self> = tandem_hybrid_format;
    const MOUNT: Mount<Self> = tandem_hybrid_mount;
    const RAM_BYTES: RamBytes<Self> = tandem_hybrid_ram_bytes;
    const WORST_CASE: Worst<Self> = tandem_hybrid_worst_case;
    const PROFILE: Profiles<Self> = tandem_hybrid_profile;
    const READ: Read<Self> = tandem_hybrid_read;
    const WRITE: Write<Self> = tandem_hybrid_write;
    const WRITE_HINTED: Hinted<Self> = tandem_hybrid_write_hinted;
    const TRIM: Trim<Self> = tandem_hybrid_trim;
    const MAINTAIN: Maintain<Self> = tandem_hybrid_maintain;
    const HEALTH: Told<Self, Health> = tandem_hybrid_health;
    const DETAIL: Told<Self, Detail> = tandem_hybrid_detail;
    const CAPACITY: Number<Self> = tandem_hybrid_capacity;
    const SECTOR_BYTES: Number<Self> = tandem_hybrid_sector_bytes;
    const CLOSE: Work<Self> = tandem_hybrid_close;
    const FLUSH: Work<Self> = tandem_hybrid_flush;
    const SCRUB: Work<Self> = tandem_hybrid_scrub;
    const SETTLE: Work<Self> = tandem_hybrid_settle;
    const STOP: Work<Self> = tandem_hybrid_stop;

    fn start(given: Given<HybridConfig>) -> HybridStart {
        let Given { ram, ram_bytes, nand, config } = given;
        HybridStart { ram, ram_bytes, nand, config }
    }

    fn usual(geometry: &Geometry, choice: u32) -> HybridConfig {
        let mut config = HybridConfig::default();
        let has_both = geometry.slc.blocks > 0 && geometry.mlc.blocks > 0;
        // SAFETY: a configuration of ours.
        let filled = unsafe {
            if has_both {
                tandem_hybrid_config_two_regions(&raw mut config)
            } else {
                tandem_hybrid_config_one_region(&raw mut config, 3 + choice % 4)
            }
        };
        assert_eq!(filled, OK);
        if choice % 4 == 3 {
            (config.log, config.log_blocks) = (Log::None as u32, 0);
        }
        config.cached_maps = 1 + choice % 3;
        config.chain_log_blocks = 1 + choice % 2;
        config
    }

    fn fields(config: &mut HybridConfig) -> Vec<&mut u32> {
        vec![
            &mut config.sector_bytes,
            &mut config.capacity,
            &mut config.log,
            &mut config.log_blocks,
            &mut config.table_entries,
            &mut config.table_probes,
            &mut config.quadratic,
            &mut config.window_blocks,
            &mut config.chain_log_blocks,
            &mut config.cached_maps,
            &mut config.sketch_halves,
            &mut config.free_blocks_low,
            &mut config.copies_per_page,
            &mut config.fold_least_used,
            &mut config.hot_bytes_first,
            &mut config.hot_bytes_most,
            &mut config.follow_runs,
            &mut config.throttle,
            &mut config.log_cycles,
            &mut config.chain_cycles,
            &mut config.level_from,
            &mut config.follow_log_blocks,
            &mut config.collect_on_fold,
            &mut config.suspend_when_updates_fall,
            &mut config.guard_pairs,
            &mut config.refresh_log_bits,
            &mut config.refresh_chain_bits,
        ]
    }

    fn is_guarded(config: &HybridConfig) -> bool {
        config.guard_pairs == 1
    }
}
