//! The C functions of the hybrid.

use core::ffi::c_void;

use ftl_core::Hybrid;
use ftl_core::MountedFtl;
use ftl_iface::BlockStore;

use crate::calls::{self, Sectors};
use crate::config::HybridConfig;
use crate::device::Device;
use crate::error::Error;
use crate::nand::{Geometry, Nand};
use crate::profiles::HybridProfile;
use crate::start::{self, Given, Task, copied};
use crate::told::{Detail, Fault, Health, WorstCase, number};

/// A mounted hybrid, in the RAM that the caller gave. Its address is the RAM's.
#[derive(Debug)]
#[repr(C)]
pub struct TandemHybrid {
    _lies_in_the_ram: [u8; 0],
}

/// As `tandem_start_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct HybridStart {
    /// RAM, aligned to `TANDEM_RAM_ALIGN`. What it holds does not matter.
    pub ram: *mut c_void,
    /// Its size: a `TANDEM_HYBRID_RAM_…` of a profile, or what `tandem_hybrid_ram_bytes` says.
    pub ram_bytes: usize,
    /// The driver.
    pub nand: *const Nand,
    /// The configuration.
    pub config: *const HybridConfig,
}

unsafe fn given(start: *const HybridStart) -> Result<Given<Hybrid>, Fault> {
    // SAFETY: the caller's structure, or null.
    let HybridStart { ram, ram_bytes, nand, config } = unsafe { copied(start) }?;
    Ok(Given { ram, ram_bytes, nand, config })
}

fn within(device: *mut TandemHybrid) -> *mut Device<Hybrid> {
    device.cast()
}

/// Fills in the defaults for a chip of one region, whose first `log_blocks` become the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_config_one_region(
    config: *mut HybridConfig,
    log_blocks: u32,
) -> i32 {
    let Ok(blocks) = u16::try_from(log_blocks) else { return Error::Value.number() };
    let defaults = HybridConfig::of(&ftl_core::Config::one_region(blocks));
    // SAFETY: null, which is refused, or valid for a write.
    number(unsafe { start::put(config, defaults) })
}

/// Fills in the defaults for a chip of two regions, the first of which is the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_config_two_regions(config: *mut HybridConfig) -> i32 {
    // SAFETY: null, which is refused, or valid for a write.
    number(unsafe { start::put(config, HybridConfig::of(&ftl_core::Config::HYBRID)) })
}

/// Fills in chip and configuration of a profile, one of `TANDEM_HYBRID_PROFILE_…`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_profile(
    profile: u32,
    geometry: *mut Geometry,
    config: *mut HybridConfig,
) -> i32 {
    let Some(profile) = HybridProfile::of(profile) else { return Error::Value.number() };
    // SAFETY: null, which is refused, or valid for a write.
    let geometry = unsafe { start::put(geometry, profile.geometry()) };
    let ours = HybridConfig::of(&profile.config());
    // SAFETY: the same.
    number(geometry.and_then(|()| unsafe { start::put(config, ours) }))
}

/// As `tandem_ram_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_ram_bytes(
    geometry: *const Geometry,
    config: *const HybridConfig,
    bytes: *mut usize,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::needed::<Hybrid>(geometry, config, bytes, detail) })
}

/// As `tandem_worst_case`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_worst_case(
    geometry: *const Geometry,
    config: *const HybridConfig,
    count: u32,
    worst: *mut WorstCase,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::worst_case::<Hybrid>(geometry, config, count, worst) })
}

/// As `tandem_format`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_format(
    start: *const HybridStart,
    key: u32,
    device: *mut *mut TandemHybrid,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::start(given(start), Task::Format(key), device.cast(), detail) })
}

/// As `tandem_mount`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_mount(
    start: *const HybridStart,
    device: *mut *mut TandemHybrid,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::start(given(start), Task::Mount, device.cast(), detail) })
}

/// As `tandem_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_close(device: *mut TandemHybrid) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::close(within(device)) })
}

/// As `tandem_capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_capacity(device: *mut TandemHybrid) -> u32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::capacity(within(device)) }
}

/// As `tandem_sector_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_sector_bytes(device: *mut TandemHybrid) -> u32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::sector_bytes(within(device)) }
}

/// As `tandem_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_read(
    device: *mut TandemHybrid,
    first: u32,
    count: u32,
    data: *mut c_void,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::read(within(device), Sectors { first, count }, data) })
}

/// As `tandem_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_write(
    device: *mut TandemHybrid,
    first: u32,
    count: u32,
    data: *const c_void,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::write(within(device), Sectors { first, count }, data, 0) })
}

/// As `tandem_write_hinted`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_write_hinted(
    device: *mut TandemHybrid,
    first: u32,
    count: u32,
    data: *const c_void,
    life: u32,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::write(within(device), Sectors { first, count }, data, life) })
}

/// As `tandem_trim`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_trim(
    device: *mut TandemHybrid,
    first: u32,
    count: u32,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::trim(within(device), Sectors { first, count }) })
}

/// As `tandem_flush`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_flush(device: *mut TandemHybrid) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), BlockStore::flush) })
}

/// As `tandem_maintain`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_maintain(device: *mut TandemHybrid, pages: u32) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::maintain(within(device), pages) }
}

/// As `tandem_scrub`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_scrub(device: *mut TandemHybrid) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::scrub(within(device)) })
}

/// As `tandem_settle`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_settle(device: *mut TandemHybrid) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), MountedFtl::settle) })
}

/// As `tandem_stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_stop(device: *mut TandemHybrid) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), MountedFtl::stop) })
}

/// As `tandem_health`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_health(
    device: *mut TandemHybrid,
    health: *mut Health,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::health(within(device), health) })
}

/// As `tandem_detail`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_hybrid_detail(
    device: *mut TandemHybrid,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::detail(within(device), detail) })
}
