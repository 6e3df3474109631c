//! What a caller does wrong, as far as it can be seen: an error number says so, and nothing was done.

use std::ffi::c_void;
use std::ptr;

use ftl_c::*;
use torture::script::Script;

use crate::face::{Face, Given};
use crate::inside;
use crate::memory::{Memory, Placing};
use crate::starts::{Task, needed, started};
use crate::world::{Life, SILENT, World, documented};

impl<F: Face> World<F> {
    /// A start in which one thing is wrong.
    pub(crate) fn wrong_start(&mut self, source: &mut Script<'_>) {
        let Ok(needed) = needed::<F>(&self.nand.geometry, &self.config) else { return };
        // Beside that of a mounted device, which nothing may happen to.
        let ram = Memory::new(needed + 8, Placing::ALIGNED);
        let dirt = ram.copy();
        let (good, config) = (self.given(&self.config), self.config);
        let good = Given { ram: ram.at(), ram_bytes: needed, config: &raw const config, ..good };
        let mut nand = self.nand;
        let choice = source.below(16);
        let table_error = wrong_table(&mut nand, choice, &ram);
        let (given, error) = match choice {
            0 => (Given { ram: ptr::null_mut(), ..good }, Error::Null),
            1 => (Given { nand: ptr::null(), ..good }, Error::Null),
            2 => (Given { config: ptr::null(), ..good }, Error::Null),
            3 => {
                let skew = 1 + source.below(7) as usize;
                (Given { ram: ram.at().wrapping_byte_add(skew), ..good }, Error::Misaligned)
            }
            4 => (Given { ram_bytes: needed - 1, ..good }, Error::RamTooSmall),
            5 => {
                let ram_bytes = source.below(needed as u32) as usize;
                (Given { ram_bytes, ..good }, Error::RamTooSmall)
            }
            6 => (Given { nand: self.nand_at_an_odd_address(), ..good }, Error::Misaligned),
            7 => {
                let config = (&raw const config).wrapping_byte_add(1 + source.below(3) as usize);
                (Given { config, ..good }, Error::Misaligned)
            }
            _ => (Given { nand: &raw const nand, ..good }, table_error),
        };
        let start = F::start(given);
        let calls = self.driver().calls;
        let task = if source.byte().is_multiple_of(2) { self.format() } else { Task::Mount };
        let start = match choice {
            14 => ptr::null(),
            15 => (&raw const start).wrapping_byte_add(2),
            _ => &raw const start,
        };
        let found = started::<F>(task, start);
        assert_eq!(found.error, Some(error), "{choice}");
        if error == Error::RamTooSmall {
            assert_eq!(found.detail.number as usize, needed);
        }
        wrong_places::<F>(F::start(good), task);
        place_in_the_ram::<F>(good, task, source);
        ram.check();
        assert!(ram.copy() == dirt && self.driver().calls == calls, "nothing was done");
        self.is_as_before();
    }

    fn nand_at_an_odd_address(&self) -> *const Nand {
        (&raw const self.nand).wrapping_byte_add(4)
    }

    /// A request on the mounted device in which one thing is wrong.
    pub(crate) fn wrong_call(&mut self, source: &mut Script<'_>) {
        let calls = self.driver().calls;
        match source.below(8) {
            0 | 1 => self.wrong_sectors(source),
            2 => self.wrong_data(source),
            3 => {
                let skew = 1 + source.below(7) as usize;
                let odd = self.device.wrapping_byte_add(skew);
                inside::refused::<F>(odd, Error::Misaligned);
                // Still within the RAM.
                let behind = self.device.wrapping_byte_add(8 * skew);
                inside::refused::<F>(behind, Error::NotADevice);
            }
            4 => {
                let copied = Memory::new(self.ram.bytes(), Placing { fence: 0, skew: 0 });
                copied.put(0, &self.ram.copy());
                inside::refused::<F>(copied.at().cast(), Error::NotADevice);
            }
            5 => inside::refused::<F::Other>(self.device.cast(), Error::NotADevice),
            6 => self.wrong_place(),
            _ => self.told_in_the_ram(source),
        }
        self.ram.check();
        assert_eq!(self.driver().calls, calls, "nothing was done");
        self.is_as_before();
    }

    /// Sectors that are not there.
    fn wrong_sectors(&self, source: &mut Script<'_>) {
        let capacity = self.truth.capacity();
        let (first, count) = match source.below(6) {
            0 => (capacity, 1),
            1 => (capacity - 1, 2),
            2 => (0, capacity + 1 + source.below(9)),
            3 => (source.below(capacity), u32::MAX - source.below(3)),
            4 => (u32::MAX - source.below(2), 1 + source.below(3)),
            _ => (u32::MAX, u32::MAX),
        };
        // The memory is shorter than said: who looks at it is found by the sanitizer.
        let data = Memory::new(1, Placing::ALIGNED);
        // SAFETY: a mounted device; what is wrong can be seen, before the data is looked at.
        let outcomes = unsafe {
            [
                (F::READ)(self.device, first, count, data.at()),
                (F::WRITE)(self.device, first, count, data.at()),
                (F::WRITE_HINTED)(self.device, first, count, data.at(), 2),
                (F::TRIM)(self.device, first, count),
            ]
        };
        data.check();
        assert_eq!(outcomes, [Error::OutOfRange.number(); 4], "{count} from {first} on");
        assert_eq!(self.detail().number, capacity);
    }

    /// Data that cannot be, or are the device's or the driver's own.
    fn wrong_data(&self, source: &mut Script<'_>) {
        let bytes = self.truth.sector_bytes();
        let ram = self.ram.at();
        let (data, error) = match source.below(7) {
            0 => (ptr::null_mut(), Error::Null),
            1 => (ram, Error::Overlap),
            2 => (ram.wrapping_byte_add(self.ram.bytes() - 1), Error::Overlap),
            // These begin outside, so they are not even looked at.
            3 => (ram.wrapping_byte_sub(bytes - 1), Error::Overlap),
            4 => (ptr::without_provenance_mut(usize::MAX - 1), Error::Overlap),
            5 => match &self.buffer {
                Some(buffer) => (buffer.at().wrapping_byte_add(buffer.bytes() - 1), Error::Overlap),
                None => (ptr::null_mut(), Error::Null),
            },
            _ => return self.wrong_hint(source),
        };
        // SAFETY: a mounted device; what is wrong can be seen.
        let outcomes = unsafe {
            [
                (F::READ)(self.device, 0, 1, data),
                (F::WRITE)(self.device, 0, 1, data),
                (F::WRITE_HINTED)(self.device, 0, 1, data, 4),
            ]
        };
        assert_eq!(outcomes, [error.number(); 3]);
    }

    fn wrong_hint(&self, source: &mut Script<'_>) {
        let data = Memory::new(self.truth.sector_bytes(), Placing::ALIGNED);
        let life = 5 + source.below(1 << 16);
        // SAFETY: a mounted device, and memory of ours.
        let code = unsafe { (F::WRITE_HINTED)(self.device, 0, 1, data.at(), life) };
        assert_eq!(code, Error::Value.number());
    }

    /// Nowhere to put what is told.
    fn wrong_place(&self) {
        let mut space = [0_u64; 16];
        let odd = space.as_mut_ptr().cast::<c_void>().wrapping_byte_add(2);
        for (place, error) in [(ptr::null_mut(), Error::Null), (odd, Error::Misaligned)] {
            // SAFETY: a mounted device; what is wrong can be seen.
            let outcomes = unsafe {
                [(F::HEALTH)(self.device, place.cast()), (F::DETAIL)(self.device, place.cast())]
            };
            assert_eq!(outcomes, [error.number(); 2]);
        }
        assert_eq!(space, [0; 16]);
    }

    /// What is told would be put over the device itself.
    fn told_in_the_ram(&self, source: &mut Script<'_>) {
        let at = 8 * source.below(self.ram.bytes() as u32 / 8);
        let place = self.ram.at().wrapping_byte_add(at as usize);
        let before = self.ram.copy();
        // SAFETY: a mounted device; what is wrong can be seen.
        let outcomes = unsafe {
            [(F::HEALTH)(self.device, place.cast()), (F::DETAIL)(self.device, place.cast())]
        };
        assert_eq!(outcomes, [Error::Overlap.number(); 2]);
        assert!(self.ram.copy() == before, "the device was overwritten");
    }

    /// The RAM is used for something else while the device is mounted. Of that only the beginning is looked at.
    pub(crate) fn overwrite(&mut self, source: &mut Script<'_>) {
        let whole = self.ram.bytes();
        let bytes = if source.byte().is_multiple_of(2) { whole } else { size_of::<usize>() };
        let dirt = [0x00, 0xFF, 0x5A, source.byte()][source.below(4) as usize];
        self.ram.put(0, &vec![dirt; bytes]);
        self.life = Life::Over;
        inside::refused::<F>(self.device, Error::NotADevice);
    }
}

/// A start that is right but for the places that it fills in.
fn start_into<F: Face>(
    start: F::Start,
    task: Task,
    device: *mut *mut F::Device,
    detail: *mut Detail,
) -> Option<Error> {
    let start = &raw const start;
    // SAFETY: a structure of ours; what is wrong with the places can be seen.
    documented(unsafe {
        match task {
            Task::Format(key) => (F::FORMAT)(start, key, device, detail),
            Task::Mount => (F::MOUNT)(start, device, detail),
        }
    })
}

/// There is nowhere to put the device.
fn wrong_places<F: Face>(start: F::Start, task: Task) {
    let mut nowhere = [ptr::null_mut::<F::Device>(); 2];
    let odd = nowhere.as_mut_ptr().wrapping_byte_add(3);
    for (device, error) in [(ptr::null_mut(), Error::Null), (odd, Error::Misaligned)] {
        let mut detail = SILENT;
        let found = start_into::<F>(start, task, device, &raw mut detail);
        assert_eq!(found, Some(error));
    }
    assert!(nowhere.iter().all(|device| device.is_null()));
}

/// The device's address, or what is told of the start, would be put into the device.
fn place_in_the_ram<F: Face>(given: Given<F::Config>, task: Task, source: &mut Script<'_>) {
    let at = 8 * source.below(given.ram_bytes as u32 / 8);
    let place = given.ram.wrapping_byte_add(at as usize);
    let (mut device, mut detail) = (ptr::null_mut(), SILENT);
    let start = F::start(given);
    let outcomes = [
        start_into::<F>(start, task, place.cast(), &raw mut detail),
        start_into::<F>(start, task, &raw mut device, place.cast()),
    ];
    assert_eq!(outcomes, [Some(Error::Overlap); 2]);
    assert!(device.is_null());
}

/// Makes something wrong with a table, and says which error that is.
fn wrong_table(nand: &mut Nand, choice: u32, ram: &Memory) -> Error {
    match choice {
        8 => nand.read = None,
        9 => nand.program = None,
        10 => nand.erase = None,
        11 => nand.is_bad = None,
        12 => {
            nand.buffer = ram.at();
            // All of it, or as much as is left in front of the end of memory.
            nand.buffer_bytes = usize::MAX;
            return Error::Overlap;
        }
        13 => {
            let [slc, mlc] =
                [nand.geometry.slc, nand.geometry.mlc].map(|it| it.page_bytes + it.spare_bytes);
            nand.buffer = ram.at();
            nand.buffer_bytes = slc.max(mlc) as usize - 1;
            return Error::Value;
        }
        15 => return Error::Misaligned,
        _ => nand.mark_bad = None,
    }
    Error::Null
}
