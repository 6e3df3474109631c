//! The page store, as functions of C's.

use core::ffi::c_void;

use ftl_core::MountedFtl;
use ftl_core::PageStore;
use ftl_core::paged::PagedConfig;
use ftl_iface::BlockStore;

use crate::calls::{self, Sectors};
use crate::config::Config;
use crate::device::Device;
use crate::error::Error;
use crate::nand::{Geometry, Nand};
use crate::profiles::Profile;
use crate::start::{self, Given, Task, copied};
use crate::told::{Detail, Fault, Health, WorstCase, number};

/// A mounted page store, in the RAM that the caller gave. Its address is the RAM's.
#[derive(Debug)]
#[repr(C)]
pub struct Tandem {
    _lies_in_the_ram: [u8; 0],
}

/// What a format and a mount need. The structures are copied; the RAM is the device's until `tandem_close`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Start {
    /// RAM, aligned to `TANDEM_RAM_ALIGN`. What it holds does not matter.
    pub ram: *mut c_void,
    /// Its size: a `TANDEM_RAM_…` of a profile, or what `tandem_ram_bytes` says.
    pub ram_bytes: usize,
    /// The driver.
    pub nand: *const Nand,
    /// The configuration.
    pub config: *const Config,
}

unsafe fn given(start: *const Start) -> Result<Given<PageStore>, Fault> {
    // SAFETY: the caller's structure, or null.
    let Start { ram, ram_bytes, nand, config } = unsafe { copied(start) }?;
    Ok(Given { ram, ram_bytes, nand, config })
}

fn within(device: *mut Tandem) -> *mut Device<PageStore> {
    device.cast()
}

/// Fills in the defaults for a chip beside a microcontroller that corrects one bit of a codeword.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_config_small(config: *mut Config) -> i32 {
    // SAFETY: where the caller wants it.
    number(unsafe { start::put(config, Config::of(&PagedConfig::SMALL)) })
}

/// Fills in the defaults for gigabytes in two kinds of cells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_config_large(config: *mut Config) -> i32 {
    // SAFETY: where the caller wants it.
    number(unsafe { start::put(config, Config::of(&PagedConfig::LARGE)) })
}

/// Fills in chip and configuration of a profile, one of `TANDEM_PROFILE_…`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_profile(
    profile: u32,
    geometry: *mut Geometry,
    config: *mut Config,
) -> i32 {
    let Some(profile) = Profile::of(profile) else { return Error::Value.number() };
    // SAFETY: where the caller wants it.
    let geometry = unsafe { start::put(geometry, profile.geometry()) };
    // SAFETY: the same.
    number(geometry.and_then(|()| unsafe { start::put(config, Config::of(&profile.config())) }))
}

/// Says how much RAM a device with that chip and configuration needs. `detail` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_ram_bytes(
    geometry: *const Geometry,
    config: *const Config,
    bytes: *mut usize,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::needed::<PageStore>(geometry, config, bytes, detail) })
}

/// Says what requests of `count` sectors, or idle work of `count` pages, cost at worst. It needs no mounted device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_worst_case(
    geometry: *const Geometry,
    config: *const Config,
    count: u32,
    worst: *mut WorstCase,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::worst_case::<PageStore>(geometry, config, count, worst) })
}

/// Formats the chip and mounts it. Everything on it is lost. If power failed in an earlier format, a mount may say
/// `TANDEM_E_DAMAGED_HEADER`: format again. `key` is to be a new random number at each format: it
/// tells this format's pages from older ones. `*device` is null if it fails; `detail` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_format(
    start: *const Start,
    key: u32,
    device: *mut *mut Tandem,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::start(given(start), Task::Format(key), device.cast(), detail) })
}

/// Mounts a chip that was formatted. Format only after `TANDEM_E_NOT_FORMATTED`: after any other error there may
/// still be data. `*device` is null if it fails; `detail` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_mount(
    start: *const Start,
    device: *mut *mut Tandem,
    detail: *mut Detail,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { start::start(given(start), Task::Mount, device.cast(), detail) })
}

/// Gives the RAM back. Nothing is written: what was acknowledged is on flash already. The next mount is quicker after
/// `tandem_stop`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_close(device: *mut Tandem) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::close(within(device)) })
}

/// Returns how many sectors the device has; 0 if it is none, or a call on it has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_capacity(device: *mut Tandem) -> u32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::capacity(within(device)) }
}

/// Returns the size of a sector; 0 if it is no device, or a call on it has not returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_sector_bytes(device: *mut Tandem) -> u32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::sector_bytes(within(device)) }
}

/// Reads `count` sectors from `first` on. A sector that was never written, or was trimmed, reads as zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_read(
    device: *mut Tandem,
    first: u32,
    count: u32,
    data: *mut c_void,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::read(within(device), Sectors { first, count }, data) })
}

/// Writes `count` sectors from `first` on. When it returns 0 they are on flash, whatever happens to the power.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_write(
    device: *mut Tandem,
    first: u32,
    count: u32,
    data: *const c_void,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::write(within(device), Sectors { first, count }, data, 0) })
}

/// Writes, and says how long the data is expected to live: one of `TANDEM_LIFE_…`. The FTL may use that; what it
/// promises is the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_write_hinted(
    device: *mut Tandem,
    first: u32,
    count: u32,
    data: *const c_void,
    life: u32,
) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::write(within(device), Sectors { first, count }, data, life) })
}

/// Trims `count` sectors from `first` on: they read as zeros, and cost no copies any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_trim(device: *mut Tandem, first: u32, count: u32) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::trim(within(device), Sectors { first, count }) })
}

/// Makes all writes durable. They are already; it says whether the device still works.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_flush(device: *mut Tandem) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), BlockStore::flush) })
}

/// Does work while the host is idle, so that later requests need not: at most `pages` page copies. Returns
/// `TANDEM_WORK_LEFT` if more is left, 0 if not, or an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_maintain(device: *mut Tandem, pages: u32) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    unsafe { calls::maintain(within(device), pages) }
}

/// Starts a scrub: `tandem_maintain` then reads every page once, and refreshes those that fade. Call it every few
/// weeks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_scrub(device: *mut Tandem) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::scrub(within(device)) })
}

/// Does now what a mount left to the first write: repairs what a power cut may have touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_settle(device: *mut Tandem) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), MountedFtl::settle) })
}

/// Call it before power is switched off: the next mount is quick then. The device stays mounted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_stop(device: *mut Tandem) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::work(within(device), MountedFtl::stop) })
}

/// Tells reserve, wear and corrected errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_health(device: *mut Tandem, health: *mut Health) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::health(within(device), health) })
}

/// Tells more about what the last request returned, as far as a request can say more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_detail(device: *mut Tandem, detail: *mut Detail) -> i32 {
    // SAFETY: the caller's pointers, as the header describes them.
    number(unsafe { calls::detail(within(device), detail) })
}
