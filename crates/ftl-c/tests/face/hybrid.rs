//! The hybrid with drivers that fail.

use std::ffi::c_void;
use std::ptr;

use ftl_c::*;

use crate::model::{Model, table};
use crate::world::{Ram, SILENT, words};

/// What the driver returns when it fails.
const NONSENSE: i32 = -77;

/// A chip whose next programs fail, behind a driver that fails a little later.
struct Dying {
    inner: Nand,
    /// Programs that fail.
    programs: u32,
    /// Operations until the driver does, once that has begun.
    left: Option<u32>,
    has_failed: bool,
}

impl Dying {
    /// The next operation: whether the driver fails in it.
    fn fails(&mut self) -> bool {
        self.has_failed |= self.left == Some(0);
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.has_failed
    }
}

unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
    // SAFETY: the context of this test, passed on.
    unsafe {
        let inner = (*context.cast::<Dying>()).inner;
        inner.read.expect("a function")(inner.context, what)
    }
}

unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
    // SAFETY: as in `read`.
    let dying = unsafe { &mut *context.cast::<Dying>() };
    if dying.fails() {
        return NONSENSE;
    }
    if dying.programs > 0 && dying.left.is_some() {
        dying.programs -= 1;
        return NAND_FAILED;
    }
    // SAFETY: as in `read`.
    unsafe { dying.inner.program.expect("a function")(dying.inner.context, what) }
}

unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let dying = unsafe { &mut *context.cast::<Dying>() };
    if dying.fails() {
        return NONSENSE;
    }
    // SAFETY: as in `read`.
    unsafe { dying.inner.erase.expect("a function")(dying.inner.context, block) }
}

unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    unsafe {
        let inner = (*context.cast::<Dying>()).inner;
        inner.is_bad.expect("a function")(inner.context, block)
    }
}

unsafe extern "C" fn mark_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let dying = unsafe { &mut *context.cast::<Dying>() };
    if dying.fails() {
        return NONSENSE;
    }
    // SAFETY: as in `read`.
    unsafe { dying.inner.mark_bad.expect("a function")(dying.inner.context, block) }
}

fn config(log: Log) -> HybridConfig {
    let mut config = HybridConfig::default();
    // SAFETY: a structure of ours.
    assert_eq!(unsafe { tandem_hybrid_config_two_regions(&raw mut config) }, OK);
    (config.sector_bytes, config.capacity, config.cached_maps) = (1024, 320, 4);
    config.log = log as u32;
    config
}

fn ram_for(nand: &Nand, config: &HybridConfig) -> Ram {
    let (mut bytes, mut detail) = (0, SILENT);
    let (geometry, config) = (&raw const nand.geometry, &raw const *config);
    // SAFETY: structures of ours.
    let code =
        unsafe { tandem_hybrid_ram_bytes(geometry, config, &raw mut bytes, &raw mut detail) };
    assert_eq!(code, OK, "{}", words(&detail));
    Ram::new(bytes)
}

/// The most sectors, for which every block is needed.
fn all_sectors(nand: &Nand, config: &HybridConfig) -> u32 {
    let (mut bytes, mut detail) = (0, SILENT);
    let config = HybridConfig { capacity: u32::MAX, ..*config };
    let (geometry, config) = (&raw const nand.geometry, &raw const config);
    // SAFETY: structures of ours.
    let code =
        unsafe { tandem_hybrid_ram_bytes(geometry, config, &raw mut bytes, &raw mut detail) };
    assert_eq!(code, Error::Misfit.number());
    detail.number
}

/// A device without any reserve is written to while so many programs fail, and then the driver. If that comes in the
/// write, the write says so, and so does every request after it. Says whether it did.
fn write_while_dying(log: Log, programs: u32, after: u32) -> bool {
    let mut model = Model::tiny();
    let inner = table(&raw mut model);
    let dying = Dying { inner, programs, left: None, has_failed: false };
    let dying = Box::into_raw(Box::new(dying));
    let nand = Nand {
        context: dying.cast(),
        read: Some(read),
        program: Some(program),
        erase: Some(erase),
        is_bad: Some(is_bad),
        mark_bad: Some(mark_bad),
        ..inner
    };
    let usual = config(log);
    let config = HybridConfig { capacity: all_sectors(&nand, &usual), ..usual };
    let mut ram = ram_for(&nand, &config);
    let (ram_bytes, ram) = (ram.bytes(), ram.at());
    let start = HybridStart { ram, ram_bytes, nand: &raw const nand, config: &raw const config };
    let (mut device, mut detail) = (ptr::null_mut(), SILENT);
    let data = [3_u8; 1024];
    // SAFETY: structures and buffers of ours, and a mounted device.
    unsafe {
        let formatted = tandem_hybrid_format(&raw const start, 9, &raw mut device, &raw mut detail);
        assert_eq!(formatted, OK);
        (*dying).left = Some(after);
        let code = tandem_hybrid_write(device, 9, 1, data.as_ptr().cast());
        assert_eq!(tandem_hybrid_detail(device, &raw mut detail), OK);
        let flushed = tandem_hybrid_flush(device);
        if (*dying).has_failed {
            assert_eq!((code, detail.driver), (Error::Driver.number(), NONSENSE), "{after}");
            assert_eq!(flushed, Error::Driver.number());
        } else {
            assert!([OK, Error::ReadOnly.number()].contains(&code), "{code}");
            assert_eq!((detail.driver, flushed), (0, OK));
        }
        Box::from_raw(dying).has_failed
    }
}

#[test]
fn a_driver_that_fails_is_told_also_while_the_device_comes_to_rest() {
    for log in [Log::None, Log::SlcRegion] {
        for programs in [1, 2, u32::MAX] {
            let rest = (0..1_000).find(|after| !write_while_dying(log, programs, *after));
            assert!(rest > Some(3), "operations until it rests");
        }
    }
}

/// Where there are no spare bytes there can be no header, not even of the other FTL.
#[test]
fn a_region_without_spare_bytes_is_asked_for_none() {
    let mut model = Model::without_spare_bytes();
    let nand = table(&raw mut model);
    let config = config(Log::None);
    let mut ram = ram_for(&nand, &config);
    let (ram_bytes, ram) = (ram.bytes(), ram.at());
    let start = HybridStart { ram, ram_bytes, nand: &raw const nand, config: &raw const config };
    let (mut device, mut detail) = (ptr::null_mut(), SILENT);
    // SAFETY: structures of ours.
    let code = unsafe { tandem_hybrid_mount(&raw const start, &raw mut device, &raw mut detail) };
    assert_eq!(code, Error::NotFormatted.number());
}
