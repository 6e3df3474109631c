//! Formats and mounts, and which of them may be refused.

use std::ptr;

use ftl_c::*;
use torture::script::Script;

use crate::driver::{Driver, Inside};
use crate::face::{Face, Given};
use crate::inside;
use crate::memory::{Memory, Placing, filled};
use crate::truth::Trust;
use crate::world::{Life, SILENT, World, documented, words};

/// The most RAM that is lent.
const RAM_MAX: usize = 1 << 19;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// With that key.
    Format(u32),
    Mount,
}

/// What a start came to.
pub(crate) struct Started<D> {
    pub(crate) error: Option<Error>,
    pub(crate) detail: Detail,
    pub(crate) device: *mut D,
}

/// Formats or mounts. What is wrong with the arguments can be seen.
pub(crate) fn started<F: Face>(task: Task, start: *const F::Start) -> Started<F::Device> {
    let before: (*mut F::Device, Detail) = (ptr::dangling_mut(), SILENT);
    let (code, (device, detail)) = filled(before, |both| {
        // SAFETY: structures of ours; what is wrong with the start can be seen.
        unsafe {
            let (device, detail) = (&raw mut (*both).0, &raw mut (*both).1);
            match task {
                Task::Format(key) => (F::FORMAT)(start, key, device, detail),
                Task::Mount => (F::MOUNT)(start, device, detail),
            }
        }
    });
    words(detail.what);
    let error = documented(code);
    assert!(code <= OK, "a start leaves no work");
    assert_eq!(device.is_null(), error.is_some(), "null, or mounted");
    if error.is_none() {
        assert_eq!((detail.driver, detail.number, words(detail.what)), (0, 0, ""));
    }
    Started { error, detail, device }
}

/// The RAM that a device needs, or the error.
pub(crate) fn needed<F: Face>(geometry: &Geometry, config: &F::Config) -> Result<usize, Error> {
    let (code, (bytes, detail)) = filled((0, SILENT), |both| {
        // SAFETY: structures of ours.
        unsafe { (F::RAM_BYTES)(geometry, config, &raw mut (*both).0, &raw mut (*both).1) }
    });
    words(detail.what);
    match documented(code) {
        None => Ok(bytes),
        Some(error) => {
            assert_eq!(bytes, 0, "nothing is told beside the error");
            Err(error)
        }
    }
}

impl<F: Face> World<F> {
    /// A new number at each format.
    pub(crate) fn format(&mut self) -> Task {
        self.formats += 1;
        Task::Format(self.formats.wrapping_mul(0x9E37_79B9))
    }

    pub(crate) fn given(&self, config: &F::Config) -> Given<F::Config> {
        Given {
            ram: self.ram.at(),
            ram_bytes: self.ram.bytes(),
            nand: &raw const self.nand,
            config,
        }
    }

    /// Whatever was mounted is forgotten, as by a firmware that reboots; then a format or a mount.
    pub(crate) fn start(&mut self, task: Task, config: F::Config, source: &mut Script<'_>) {
        let needed = match needed::<F>(&self.nand.geometry, &config) {
            Ok(needed) => needed,
            Err(error) => return self.refused(task, &config, error),
        };
        if needed > RAM_MAX {
            return;
        }
        self.provide(needed, source);
        let is_format = task != Task::Mount;
        let driver = self.driver();
        (driver.ended, driver.said) = (false, None);
        driver.guarded = (is_format || driver.guarded) && F::is_guarded(&config);
        if is_format {
            // A bad block may have been needed.
            (driver.trust, driver.troubles) = (Trust::Exact, driver.chip.bad_blocks());
            self.config = config;
        }
        let changes = self.driver().changes;
        let start = F::start(self.given(&config));
        let Started { error, detail, device } = started::<F>(task, &raw const start);
        self.check_memory();
        self.driver().inside = None;
        // If it was not mounted, the RAM is all that is left.
        self.device = self.ram.at().cast();
        match (self.driver().said.take(), error) {
            (Some(number), error) => {
                assert_eq!((error, detail.driver), (Some(Error::Driver), number));
                self.not_mounted(task);
            }
            (None, None) => {
                assert_eq!(device, self.device, "its address is the RAM's");
                self.mounted(task, config);
            }
            (None, Some(error)) => {
                self.judge_start(task, error, &config);
                let is_foreign = matches!(error, Error::NotFormatted | Error::OtherConfig);
                let stayed = self.driver().changes == changes;
                assert!(stayed || is_format || !is_foreign, "a foreign chip was changed");
                self.not_mounted(task);
            }
        }
        self.driver().is_blank &= !is_format;
    }

    /// A plan says what is wrong with the configuration. So does a start, and does nothing: an older device stays.
    fn refused(&mut self, task: Task, config: &F::Config, error: Error) {
        let calls = self.driver().calls;
        let start = F::start(self.given(config));
        let found = started::<F>(task, &raw const start).error;
        // Of two wrong arguments either may be named.
        let other = (found, error) == (Some(Error::Geometry), Error::Config);
        assert!(found == Some(error) || other, "{found:?} and {error:?}");
        self.check_memory();
        assert_eq!(self.driver().calls, calls, "nothing was done");
        self.is_as_before();
    }

    /// A device that was mounted still is.
    pub(crate) fn is_as_before(&self) {
        if self.life == Life::Mounted {
            // SAFETY: a mounted device.
            assert_eq!(unsafe { (F::CAPACITY)(self.device) }, self.truth.capacity());
        }
    }

    /// RAM of the right size: that of before, or another. A device in it is over in either case.
    fn provide(&mut self, needed: usize, source: &mut Script<'_>) {
        let choice = source.byte();
        if choice & 1 == 1 {
            self.driver().chip.power_off();
        }
        if self.ram.bytes() == needed && choice & 2 == 0 {
            let device = self.ram.at();
            if choice & 4 == 4 {
                self.driver().inside = Some(Inside { call: inside::of_a_start::<F>, device });
            }
            return;
        }
        let fence = if choice & 8 == 0 { 0 } else { 32 };
        self.ram = Memory::new(needed, Placing { fence, skew: 0 });
        self.life = Life::Never;
        let dirt = [0x00, 0xFF, 0xA5, choice][usize::from(choice >> 4) % 4];
        self.ram.put(0, &vec![dirt; needed]);
    }

    fn not_mounted(&mut self, task: Task) {
        self.life = Life::Over;
        if task != Task::Mount {
            // Half a format: "format again".
            self.driver().trust = Trust::Nothing;
        }
    }

    /// Whether a start that was right may have been refused so.
    fn judge_start(&mut self, task: Task, error: Error, config: &F::Config) {
        let is_again = *config == self.config;
        let Driver { is_blank, trust, .. } = *self.driver();
        let is_allowed = match (task, error) {
            // Arguments were found good by `needed`.
            (_, Error::Null | Error::Misaligned | Error::RamTooSmall | Error::NotADevice) => false,
            (_, Error::Busy | Error::Overlap | Error::Config | Error::Geometry) => false,
            (_, Error::Value | Error::OutOfRange | Error::Lost | Error::ReadOnly) => false,
            // Bad blocks from the beginning, or those that fail in the format.
            (Task::Format(_), Error::WornOut | Error::TooFewBlocks) => true,
            (Task::Format(_), _) => trust < Trust::Exact,
            (Task::Mount, Error::NotFormatted) if is_blank => true,
            (Task::Mount, _) if is_blank => false,
            (Task::Mount, _) if trust < Trust::Exact => true,
            // Another configuration, which shows in its header, or has headers elsewhere. With its own a device is
            // mounted, whatever has failed: "everything can still be read".
            (Task::Mount, Error::OtherConfig | Error::NotFormatted) => !is_again,
            (Task::Mount, Error::WornOut | Error::TooFewBlocks) => !is_again,
            (Task::Mount, _) => false,
        };
        assert!(is_allowed, "{task:?}: {error:?}, with {trust:?}");
    }

    fn mounted(&mut self, task: Task, mut config: F::Config) {
        self.life = Life::Mounted;
        // SAFETY: a mounted device.
        let (capacity, bytes) =
            unsafe { ((F::CAPACITY)(self.device), (F::SECTOR_BYTES)(self.device)) };
        let fields = F::fields(&mut config);
        assert_eq!(bytes, *fields[0], "sector bytes");
        assert!(*fields[1] == 0 || *fields[1] == capacity, "{capacity} sectors");
        if task != Task::Mount || self.trust() == Trust::Nothing {
            self.truth.format(capacity, bytes);
        }
        assert_eq!((self.truth.capacity(), self.truth.sector_bytes()), (capacity, bytes as usize));
        self.compare_all();
    }
}
