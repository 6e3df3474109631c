//! What a caller does who uses a device as it is meant to be used.

use std::ffi::c_void;

use ftl_c::*;
use torture::script::Script;

use crate::driver::Inside;
use crate::face::{Face, Given};
use crate::inside;
use crate::memory::{Memory, Placing, filled};
use crate::setup;
use crate::starts::{Started, Task, needed, started};
use crate::truth::{Change, Trust};
use crate::world::{Asked, Life, World, documented, placing, words};

/// The most steps of a script: more find nothing new, and only slow a fuzzer.
const STEPS_MAX: usize = 250;

/// Sectors of a request.
#[derive(Clone, Copy)]
struct Run {
    first: u32,
    count: u32,
}

impl<F: Face> World<F> {
    /// Follows a script to its end. Then the driver is good again, and everything is there.
    pub(crate) fn follow(&mut self, source: &mut Script<'_>) {
        for _ in 0..STEPS_MAX {
            if source.is_empty() {
                break;
            }
            self.step(source);
        }
        self.driver().disarm();
        let was_formatted = self.trust() == Trust::Exact;
        self.start(Task::Mount, self.config, source);
        if self.life == Life::Mounted {
            // SAFETY: a mounted device.
            let code = unsafe { (F::FLUSH)(self.device) };
            self.judge(code, Asked::Change);
        }
        assert!(!was_formatted || self.life == Life::Mounted);
    }

    fn step(&mut self, source: &mut Script<'_>) {
        match source.below(32) {
            0 => {
                let task = self.format();
                self.start(task, self.config, source);
            }
            1 => {
                let config = setup::changed::<F>(self.config, source);
                let task = self.format();
                self.start(task, config, source);
            }
            2 | 3 => self.start(Task::Mount, self.config, source),
            4 => {
                let config = setup::changed::<F>(self.config, source);
                self.start(Task::Mount, config, source);
            }
            5 => self.mount_as_other(source),
            6 => self.wrong_start(source),
            7 => self.ask_before(source),
            8 | 9 => self.driver().arm(source),
            // It takes as long as many steps, so that one of them is enough.
            10 if !std::mem::replace(&mut self.is_examined, true) => self.examine(source),
            _ if self.life != Life::Mounted => self.use_no_device(source),
            11 => self.close(),
            12 | 13 => self.wrong_call(source),
            14 => self.overwrite(source),
            15 => {
                let (call, device) = (inside::of_a_request::<F> as fn(*mut c_void), self.device);
                self.driver().inside = Some(Inside { call, device: device.cast() });
                self.request(source);
                // If it had no need of the driver.
                self.driver().inside = None;
            }
            _ => self.request(source),
        }
    }

    /// Calls of one who did not look at what the mount returned.
    fn use_no_device(&mut self, source: &mut Script<'_>) {
        match self.life {
            Life::Never => inside::refused::<F>(std::ptr::null_mut(), Error::Null),
            _ => inside::refused::<F>(self.device, Error::NotADevice),
        }
        // Go on, or a script without a mount would do nothing else.
        let is_lost = self.trust() == Trust::Nothing;
        let task = if is_lost { self.format() } else { Task::Mount };
        self.start(task, self.config, source);
    }

    /// The FTL works on.
    fn request(&mut self, source: &mut Script<'_>) {
        match source.below(16) {
            0..=5 => self.write(source),
            6 | 7 => self.trim(source),
            8 => {
                let (run, at) = (self.run(source, 20), placing(source));
                self.read(run.first, run.count, at);
            }
            9 | 10 => {
                let pages = [1, 4, 40, u32::MAX][source.below(4) as usize];
                // SAFETY: a mounted device.
                let code = unsafe { (F::MAINTAIN)(self.device, pages) };
                self.judge(code, Asked::Change);
            }
            11 => self.health(),
            12 => self.compare_all(),
            13 => {
                // SAFETY: a mounted device.
                let code = unsafe { (F::SCRUB)(self.device) };
                self.judge(code, Asked::Nothing);
            }
            _ => {
                let work = [F::FLUSH, F::SETTLE, F::STOP][source.below(3) as usize];
                // SAFETY: a mounted device.
                let code = unsafe { work(self.device) };
                self.judge(code, Asked::Change);
            }
        }
    }

    /// Mostly near the beginning, so that sectors are written again and again.
    fn run(&self, source: &mut Script<'_>, longest: u32) -> Run {
        let capacity = self.truth.capacity();
        let near = if source.byte().is_multiple_of(4) { capacity } else { capacity.min(40) };
        let first = source.below(near.max(1));
        Run { first, count: source.below(longest + 1).min(capacity - first) }
    }

    fn write(&mut self, source: &mut Script<'_>) {
        let Run { first, count } = self.run(source, 12);
        let change = self.truth.write(first, count);
        let bytes = self.truth.bytes(change);
        let memory = Memory::new(bytes.len(), placing(source));
        memory.put(0, &bytes);
        let (data, life) = (memory.at(), source.below(8));
        // SAFETY: a mounted device, and memory of ours.
        let code = unsafe {
            match life {
                0..=4 => (F::WRITE_HINTED)(self.device, first, count, data, life),
                _ => (F::WRITE)(self.device, first, count, data),
            }
        };
        memory.check();
        assert!(memory.copy() == bytes, "what is written is the caller's, and stays");
        self.done(change, if count == 0 { Asked::Nothing } else { Asked::Change }, code);
    }

    fn trim(&mut self, source: &mut Script<'_>) {
        let Run { first, count } = self.run(source, 40);
        let change = self.truth.trim(first, count);
        // SAFETY: a mounted device.
        let code = unsafe { (F::TRIM)(self.device, first, count) };
        self.done(change, Asked::Change, code);
    }

    fn done(&mut self, change: Change, asked: Asked, code: i32) {
        match self.judge(code, asked) {
            None => self.truth.acknowledge(change),
            Some(Error::ReadOnly) => {
                self.truth.refuse(change);
                self.read(change.first, change.count, Placing::ALIGNED);
            }
            // The next mount shows what has become of it.
            Some(_) => {}
        }
    }

    fn health(&mut self) {
        let (code, health) = filled(Health::default(), |health| {
            // SAFETY: a mounted device.
            unsafe { (F::HEALTH)(self.device, health) }
        });
        assert_eq!(documented(code), None);
        for wear in [health.main, health.fast] {
            assert!(wear.least <= wear.mean && wear.mean <= wear.most, "{health:?}");
        }
        assert!(health.read_only <= 1 && health.has_fast <= 1, "{health:?}");
        assert!(health.reserve_left <= health.reserve, "{health:?}");
        assert!(health.lost == 0 || self.trust() < Trust::Exact, "{health:?}");
    }

    fn close(&mut self) {
        // SAFETY: a mounted device.
        let code = unsafe { (F::CLOSE)(self.device) };
        assert_eq!(documented(code), None);
        self.ram.check();
        self.life = Life::Over;
        inside::refused::<F>(self.device, Error::NotADevice);
    }

    /// The other FTL is mounted by mistake: it says that the device is not its own, and leaves it alone.
    fn mount_as_other(&mut self, source: &mut Script<'_>) {
        let config = setup::config::<F::Other>(&self.nand.geometry, source);
        let Ok(needed) = needed::<F::Other>(&self.nand.geometry, &config) else { return };
        if self.life == Life::Mounted {
            self.close();
        }
        let ram = Memory::new(needed, Placing { fence: 0, skew: 0 });
        let driver = self.driver();
        (driver.ended, driver.said) = (false, None);
        let changes = driver.changes;
        let nand = &raw const self.nand;
        let given = Given { ram: ram.at(), ram_bytes: needed, nand, config: &raw const config };
        let start = F::Other::start(given);
        let Started { error, detail, .. } = started::<F::Other>(Task::Mount, &raw const start);
        self.check_memory();
        let driver = self.driver();
        if let Some(number) = driver.said.take() {
            assert_eq!((error, detail.driver), (Some(Error::Driver), number));
        } else if driver.trust == Trust::Exact {
            assert_eq!((error, driver.changes), (Some(Error::OtherFtl), changes));
        }
    }

    /// What can be asked without a device: with any numbers, and pointers that are null.
    fn ask_before(&mut self, source: &mut Script<'_>) {
        let geometry = setup::geometry(source);
        let usual = setup::config::<F>(&geometry, source);
        let config = setup::changed::<F>(usual, source);
        let number = u32::from(source.byte()).wrapping_sub(3);
        let planned = needed::<F>(&geometry, &config);
        let (geometry, config) = (&raw const geometry, &raw const config);
        let (bound, _) = filled(WorstCase::default(), |worst| {
            // SAFETY: structures of ours.
            unsafe { (F::WORST_CASE)(geometry, config, number, worst) }
        });
        let expected = planned.err().or((number == 0).then_some(Error::Value));
        assert_eq!(documented(bound), expected, "a plan has a worst case");
        let (told, _) = filled((Geometry::default(), F::Config::default()), |both| {
            // SAFETY: the same.
            unsafe { (F::PROFILE)(number, &raw mut (*both).0, &raw mut (*both).1) }
        });
        assert!(documented(told).is_none_or(|error| error == Error::Value));
        let any = number.wrapping_mul(0x0100_0193).cast_signed();
        for text in [tandem_error_text(any), tandem_error_advice(any)] {
            words(text);
        }
        let null = std::ptr::null_mut();
        // SAFETY: null is seen.
        let outcomes = unsafe {
            [
                tandem_config_small(null),
                tandem_config_large(null),
                tandem_hybrid_config_two_regions(null.cast()),
                tandem_hybrid_config_one_region(null.cast(), 4),
                (F::PROFILE)(1, null.cast(), null.cast()),
                (F::RAM_BYTES)(geometry, null.cast(), null.cast(), null.cast()),
                (F::RAM_BYTES)(null.cast(), config, null.cast(), null.cast()),
                (F::WORST_CASE)(null.cast(), config, 1, null.cast()),
            ]
        };
        assert_eq!(outcomes, [Error::Null.number(); 8]);
    }
}
