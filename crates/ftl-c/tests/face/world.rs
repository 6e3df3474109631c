//! A chip, RAM, and a configuration: what every test begins with.

use std::ffi::{CStr, c_void};
use std::ptr;

use ftl_c::{
    Config, Detail, Geometry, Nand, OK, RAM_ALIGN, Start, Tandem, tandem_config_small,
    tandem_format, tandem_mount, tandem_ram_bytes,
};

use crate::model::{Model, table};

/// What a detail says when nothing is to be said.
pub(crate) const SILENT: Detail = Detail { driver: 0, number: 0, what: c"".as_ptr() };

/// The words of a detail.
pub(crate) fn words(detail: &Detail) -> &str {
    assert!(!detail.what.is_null(), "`what` is never null");
    // SAFETY: it is a constant of the library.
    unsafe { CStr::from_ptr(detail.what) }.to_str().expect("English")
}

/// RAM of the caller's, aligned, filled with anything.
pub(crate) struct Ram {
    words: Vec<u64>,
}

impl Ram {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { words: vec![0xA5A5_A5A5_A5A5_A5A5; bytes.div_ceil(RAM_ALIGN)] }
    }

    pub(crate) fn at(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * RAM_ALIGN
    }
}

/// Everything that a device needs. It is leaked and freed by hand, as C does, so that no reference of Rust's to it lies
/// around while the functions use it.
pub(crate) struct World {
    pub(crate) model: *mut Model,
    pub(crate) nand: Nand,
    pub(crate) config: Config,
    pub(crate) ram: Ram,
}

pub(crate) fn config_for(geometry: &Geometry) -> Config {
    let mut config = Config::default();
    // SAFETY: a configuration of ours.
    assert_eq!(unsafe { tandem_config_small(&raw mut config) }, OK);
    let two = geometry.mlc.blocks > 0;
    config.sector_bytes = geometry.slc.page_bytes;
    config.dirty_entries = if two { 64 } else { 40 };
    config.capacity = if two { 160 } else { 96 };
    config.cached_leaves = 2;
    config.anchor_blocks = 0;
    config
}

pub(crate) fn needed(geometry: &Geometry, config: &Config) -> usize {
    let (mut bytes, mut detail) = (0, SILENT);
    // SAFETY: structures of ours.
    let outcome = unsafe { tandem_ram_bytes(geometry, config, &raw mut bytes, &raw mut detail) };
    assert_eq!(outcome, OK, "{}", words(&detail));
    bytes
}

impl World {
    pub(crate) fn new(model: Model) -> Self {
        let model = Box::into_raw(Box::new(model));
        let nand = table(model);
        let config = config_for(&nand.geometry);
        let ram = Ram::new(needed(&nand.geometry, &config));
        Self { model, nand, config, ram }
    }

    pub(crate) fn start(&mut self) -> Start {
        Start {
            ram: self.ram.at(),
            ram_bytes: self.ram.bytes(),
            nand: &raw const self.nand,
            config: &raw const self.config,
        }
    }

    pub(crate) fn chip(&mut self) -> &mut Model {
        // SAFETY: the model of `new`, and no function is at work.
        unsafe { &mut *self.model }
    }

    pub(crate) fn format(&mut self) -> *mut Tandem {
        let (start, mut device, mut detail) = (self.start(), ptr::null_mut(), SILENT);
        // SAFETY: structures of ours.
        let outcome =
            unsafe { tandem_format(&raw const start, 7, &raw mut device, &raw mut detail) };
        assert_eq!(outcome, OK, "{}", words(&detail));
        device
    }

    /// Mounts: the device, or the error with what is told of it.
    pub(crate) fn try_mount(&mut self) -> Result<*mut Tandem, (i32, Detail)> {
        let (start, mut device, mut detail) = (self.start(), ptr::null_mut(), SILENT);
        // SAFETY: structures of ours.
        let outcome = unsafe { tandem_mount(&raw const start, &raw mut device, &raw mut detail) };
        assert_eq!(device.is_null(), outcome != OK, "null, or mounted");
        if outcome == OK { Ok(device) } else { Err((outcome, detail)) }
    }

    pub(crate) fn mount(&mut self) -> *mut Tandem {
        self.try_mount().unwrap_or_else(|(error, detail)| panic!("{error}: {}", words(&detail)))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: it was made by `new`, and the device in the RAM is not used any more.
        drop(unsafe { Box::from_raw(self.model) });
    }
}
