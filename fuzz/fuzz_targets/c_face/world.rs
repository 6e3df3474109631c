//! A chip with its driver, RAM, and a device: what is asked of it, and whether the answer is one that it may give.

use std::ffi::{CStr, c_char};
use std::ptr;

use ftl_c::*;
use torture::script::Script;

use crate::driver::{Driver, table};
use crate::face::Face;
use crate::memory::{Memory, Placing, filled};
use crate::setup;
use crate::truth::{Trust, Truth};

/// What a detail says when nothing is to be said.
pub(crate) const SILENT: Detail = Detail { driver: 0, number: 0, what: c"".as_ptr() };

/// What the pointer to a device leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It is null.
    Never,
    Mounted,
    /// RAM of ours in which no device is mounted: it was closed, overwritten, or not mounted at all.
    Over,
}

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Read,
    Change,
    /// Nothing of the chip, so that it is never refused.
    Nothing,
}

pub(crate) struct World<F: Face> {
    driver: *mut Driver,
    pub(crate) nand: Nand,
    pub(crate) buffer: Option<Memory>,
    /// That of the last format.
    pub(crate) config: F::Config,
    pub(crate) ram: Memory,
    pub(crate) device: *mut F::Device,
    pub(crate) life: Life,
    pub(crate) truth: Truth,
    pub(crate) formats: u32,
    pub(crate) is_examined: bool,
}

/// A text of the library's, which is never null.
pub(crate) fn words(text: *const c_char) -> &'static str {
    assert!(!text.is_null(), "a text is null");
    // SAFETY: the header says that it is a text, and that it stays.
    unsafe { CStr::from_ptr(text) }.to_str().expect("English")
}

/// The error of that number, which must be one that the header lists, with a text and advice.
pub(crate) fn documented(code: i32) -> Option<Error> {
    let texts = [tandem_error_text(code), tandem_error_advice(code)].map(words);
    if code == OK || code == WORK_LEFT {
        return None;
    }
    let error = Error::of(code).unwrap_or_else(|| panic!("no error has the number {code}"));
    assert!(texts.iter().all(|text| text.len() > 10), "{code}: {texts:?}");
    Some(error)
}

/// A place in memory that the script chooses.
pub(crate) fn placing(source: &mut Script<'_>) -> Placing {
    let choice = source.byte();
    let skew = if choice & 0x70 == 0 { usize::from(choice % 8) } else { 0 };
    Placing { fence: if choice & 0x80 == 0 { 0 } else { 32 }, skew }
}

impl<F: Face> World<F> {
    pub(crate) fn new(geometry: Geometry, source: &mut Script<'_>) -> Self {
        let mut driver = Driver::new(&geometry);
        let before = source.byte();
        driver.harsh = before & 1 == 1;
        // Blocks that were bad from the beginning, and blocks of which something was made before.
        for number in 0..(before >> 1) % 3 {
            let block = source.below(driver.chip.blocks());
            if before & 0x80 == 0 && number == 0 {
                driver.chip.mark(block);
            } else {
                driver.chip.soil(block);
            }
        }
        driver.is_blank = (before >> 1).is_multiple_of(3);
        let page = |region: &Region| (region.page_bytes + region.spare_bytes) as usize;
        let page = page(&geometry.slc).max(page(&geometry.mlc));
        let buffer = (before & 0x40 != 0).then(|| Memory::new(page, placing(source)));
        let driver = Box::into_raw(Box::new(driver));
        let nand = table(driver, geometry, buffer.as_ref());
        Self {
            driver,
            nand,
            buffer,
            config: setup::config::<F>(&geometry, source),
            ram: Memory::new(0, Placing::ALIGNED),
            device: ptr::null_mut(),
            life: Life::Never,
            truth: Truth::new(),
            formats: 0,
            is_examined: false,
        }
    }

    /// The driver, between two calls.
    pub(crate) fn driver(&mut self) -> &mut Driver {
        // SAFETY: that of `new`, and no call is at work: a call from inside the driver does not come here.
        unsafe { &mut *self.driver }
    }

    pub(crate) fn trust(&mut self) -> Trust {
        self.driver().trust
    }

    pub(crate) fn check_memory(&self) {
        self.ram.check();
        if let Some(buffer) = &self.buffer {
            buffer.check();
        }
    }

    pub(crate) fn detail(&self) -> Detail {
        // SAFETY: the device is mounted, whenever this is asked.
        let (code, detail) = filled(SILENT, |detail| unsafe { (F::DETAIL)(self.device, detail) });
        assert_eq!(code, OK);
        words(detail.what);
        detail
    }

    /// Examines what a request on the mounted device returned.
    pub(crate) fn judge(&mut self, code: i32, asked: Asked) -> Option<Error> {
        self.check_memory();
        let error = documented(code);
        let detail = self.detail();
        let driver = self.driver();
        driver.inside = None;
        if let Some(number) = driver.said.take() {
            assert_eq!((error, detail.driver), (Some(Error::Driver), number), "the driver failed");
            return error;
        }
        assert_eq!(detail.driver, 0, "the driver returned nothing of the kind");
        if driver.ended && asked != Asked::Nothing {
            assert_eq!(error, Some(Error::Driver), "it failed in an earlier request");
            return error;
        }
        let Some(error) = error else {
            let said = (detail.number, words(detail.what));
            assert_eq!(said, (0, ""), "nothing is to be said about what went well");
            return None;
        };
        let is_allowed = match (asked, error) {
            (Asked::Nothing, _) => false,
            // Blocks are used up: some were bad, or have failed, or were left half filled when the driver failed.
            (Asked::Change, Error::ReadOnly) => driver.troubles > 0 || driver.trust < Trust::Exact,
            (Asked::Read, Error::Lost) | (_, Error::Corrupt | Error::Driver) => {
                driver.trust < Trust::Exact
            }
            _ => false,
        };
        assert!(
            is_allowed,
            "{error:?} for {asked:?}, with {:?} and {}",
            driver.trust, driver.troubles
        );
        Some(error)
    }

    /// Reads some sectors into memory that lies there, and compares them.
    pub(crate) fn read(&mut self, first: u32, count: u32, place: Placing) -> Option<Error> {
        let bytes = self.truth.sector_bytes();
        let memory = Memory::new(count as usize * bytes, place);
        // SAFETY: a mounted device, and memory of ours.
        let code = unsafe { (F::READ)(self.device, first, count, memory.at()) };
        memory.check();
        let error = self.judge(code, if count == 0 { Asked::Nothing } else { Asked::Read });
        match error {
            None => {
                let (data, trust) = (memory.copy(), self.trust());
                for (sector, found) in (first..).zip(data.chunks(bytes)) {
                    self.truth.compare(sector, found, trust);
                }
            }
            Some(Error::Lost) => {
                let lost = self.detail().number;
                assert!(
                    (first..first + count).contains(&lost),
                    "{lost} is lost of another request"
                );
            }
            Some(_) => {}
        }
        error
    }

    /// Reads everything, in runs; one by one where something is lost.
    pub(crate) fn compare_all(&mut self) {
        const RUN: u32 = 16;
        let capacity = self.truth.capacity();
        for first in (0..capacity).step_by(RUN as usize) {
            let count = RUN.min(capacity - first);
            match self.read(first, count, Placing { fence: 0, skew: 0 }) {
                Some(Error::Driver | Error::Corrupt) => return,
                Some(_) => {
                    for sector in first..first + count {
                        self.read(sector, 1, Placing::ALIGNED);
                    }
                }
                None => {}
            }
        }
    }
}

impl<F: Face> Drop for World<F> {
    fn drop(&mut self) {
        // SAFETY: that of `new`, and nobody calls the device any more.
        drop(unsafe { Box::from_raw(self.driver) });
    }
}
