//! What is told to the caller, in structures of C's.

use core::ffi::{CStr, c_char};
use core::ptr;

use ftl_core::{Bound, Operations};
use ftl_iface::SectorCount;

use crate::error::Error;

/// More about an error. The error says which fields mean something; the others are zero, and `what` is never null.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Detail {
    /// What the driver's function returned.
    pub driver: i32,
    /// A number: which one, the error says.
    pub number: u32,
    /// A few words in English.
    pub what: *const c_char,
}

impl Detail {
    pub(crate) const NONE: Self = Self { driver: 0, number: 0, what: c"".as_ptr() };

    /// Hands this on to a caller who asked for it.
    pub(crate) unsafe fn give(self, to: *mut Self) {
        if !to.is_null() && to.is_aligned() {
            // SAFETY: it is not null and aligned; the caller promises that it leads to a `tandem_detail_t`.
            unsafe { ptr::write(to, self) };
        }
    }
}

/// An error with its detail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) error: Error,
    pub(crate) detail: Detail,
}

impl Fault {
    pub(crate) const fn numbered(error: Error, number: u32) -> Self {
        Self { error, detail: Detail { number, ..Detail::NONE } }
    }

    pub(crate) const fn of_driver(code: Option<i32>) -> Self {
        let driver = match code {
            Some(code) => code,
            None => 0,
        };
        Self { error: Error::Driver, detail: Detail { driver, ..Detail::NONE } }
    }

    pub(crate) const fn saying(error: Error, what: &'static CStr) -> Self {
        Self { error, detail: Detail { what: what.as_ptr(), ..Detail::NONE } }
    }

    pub(crate) const fn and_number(mut self, number: u32) -> Self {
        self.detail.number = number;
        self
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { error, detail: Detail::NONE }
    }
}

/// The number that C gets.
pub(crate) fn number(outcome: Result<(), Error>) -> i32 {
    match outcome {
        Ok(()) => crate::error::OK,
        Err(error) => error.number(),
    }
}

/// How often blocks were erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Wear {
    /// The block that was erased least.
    pub least: u32,
    /// All of them, on average.
    pub mean: u32,
    /// The block that was erased most.
    pub most: u32,
}

impl From<ftl_core::Wear> for Wear {
    fn from(wear: ftl_core::Wear) -> Self {
        Self { least: wear.least, mean: wear.mean, most: wear.most }
    }
}

/// The health of the device. Who asks regularly knows long before the reserve is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Health {
    /// 1 if the reserve is used up: everything can be read, and nothing written. Otherwise 0.
    pub read_only: u32,
    /// Blocks that may still fail before that.
    pub reserve_left: u32,
    /// The same for a device without a bad block.
    pub reserve: u32,
    /// How many of them may fail in one request.
    pub at_once: u32,
    /// Blocks that may still fail and refuse the bad-block mark.
    pub unmarked_left: u32,
    /// Blocks that were taken out of use since the mount.
    pub failed: u32,
    /// The most bits that the chip had to correct in a codeword since the mount.
    pub corrected: u32,
    /// How often data was refreshed since the mount.
    pub refreshed: u32,
    /// How often a lost sector was read since the mount.
    pub lost: u32,
    /// 1 if there is a fast area, or a log. Otherwise 0, and `fast` is zero.
    pub has_fast: u32,
    /// Erases of the main area, or of the chains.
    pub main: Wear,
    /// Erases of the fast area, or of the log.
    pub fast: Wear,
}

impl From<ftl_core::Health> for Health {
    fn from(health: ftl_core::Health) -> Self {
        Self {
            read_only: health.read_only.into(),
            reserve_left: health.reserve_left.get(),
            reserve: health.reserve.get(),
            at_once: health.at_once.get(),
            unmarked_left: health.unmarked_left.get(),
            failed: health.failed.get(),
            corrected: health.corrected.get().into(),
            refreshed: health.refreshed,
            lost: health.lost,
            has_fast: health.fast.is_some().into(),
            main: health.main.into(),
            fast: health.fast.map(Wear::from).unwrap_or_default(),
        }
    }
}

/// Operations on the chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Cost {
    /// Pages read, or parts of them.
    pub reads: u64,
    /// Pages programmed.
    pub programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl From<Operations> for Cost {
    fn from(operations: Operations) -> Self {
        Self { reads: operations.reads, programs: operations.programs, erases: operations.erases }
    }
}

/// The most that a request can cost. `docs/PAGE_STORE.md` and `docs/HYBRID.md` say what this leaves out: for example,
/// the page store may wait until its reserve of free blocks is restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WorstCase {
    /// A read of that many sectors.
    pub read: Cost,
    /// A write of that many sectors.
    pub write: Cost,
    /// A trim of that many sectors.
    pub trim: Cost,
    /// Idle work with a budget of that many pages.
    pub maintain: Cost,
}

impl WorstCase {
    pub(crate) fn of(bound: &impl Bound, count: u32) -> Self {
        let sectors = SectorCount::new(count);
        Self {
            read: bound.read(sectors).into(),
            write: bound.write(sectors).into(),
            trim: bound.trim(sectors).into(),
            maintain: bound.maintain(count).into(),
        }
    }
}
