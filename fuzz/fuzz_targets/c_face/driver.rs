//! A driver as one in C would be: a table of functions over a chip. At chosen moments it fails, returns nonsense, or
//! lies.

use std::ffi::c_void;
use std::ptr;

use ftl_c::{Geometry, NAND_FAILED, NAND_UNCORRECTABLE, Nand, PageProgram, PageRead};
use torture::script::Script;

use crate::chip::{Breach, Chip, Remains};
use crate::memory::Memory;
use crate::truth::Trust;

/// The functions of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    Program,
    Erase,
    IsBad,
    MarkBad,
}

/// What happens to an operation instead of what should.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The function returns a number that it must not. The header calls that a failure of the driver, and the contract
    /// says what may be left of the operation in which a driver fails: as much as when power fails in it.
    Nonsense { number: i32, left: Remains, pair: Pair },
    /// The chip says that it failed. It may, and this is left.
    Fails(Remains),
    /// So many bits were corrected.
    Corrects(u16),
    /// The page that is read turns out to be gone for good.
    Gone,
    /// The driver says that all is well, and it is not. Of a read: other bytes are told, or that there are none.
    Lies(Remains),
}

/// Whether the pages go that share their cells with the one that is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    Kept,
    Lost,
}

struct Armed {
    on: Operation,
    after: u32,
    fault: Fault,
}

/// A call of the library from inside the driver.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    pub(crate) call: fn(*mut c_void),
    pub(crate) device: *mut c_void,
}

pub(crate) struct Driver {
    pub(crate) chip: Chip,
    armed: Vec<Armed>,
    /// The nonsense that was returned since the harness looked last.
    pub(crate) said: Option<i32>,
    /// Calls of all functions, and of those that change the chip.
    pub(crate) calls: u64,
    pub(crate) changes: u64,
    /// A function failed, so that the FTL must not call any before the next mount.
    pub(crate) ended: bool,
    /// Nothing was ever written to the chip, and it reads so.
    pub(crate) is_blank: bool,
    /// How far the contract was kept since the format.
    pub(crate) trust: Trust,
    /// Bad blocks at the format, and failures since of blocks and of the driver.
    pub(crate) troubles: u32,
    /// Whether every mount since the format has protected pages that share cells.
    pub(crate) guarded: bool,
    /// Whether a bad-block mark destroys its block's pages.
    pub(crate) harsh: bool,
    pub(crate) inside: Option<Inside>,
    /// The driver's own buffer, which is then the only memory that it may be given; or null.
    buffer: *mut c_void,
}

/// Numbers that mean nothing, or mean something elsewhere.
const NONSENSE: [i32; 8] =
    [-1, i32::MIN, i32::MAX, 70_000, NAND_UNCORRECTABLE + 1, NAND_FAILED - 1, -24, 0x1_0000];

impl Operation {
    fn of(source: &mut Script<'_>) -> Self {
        match source.below(8) {
            0 | 1 => Self::Read,
            2..=4 => Self::Program,
            5 => Self::Erase,
            6 => Self::IsBad,
            _ => Self::MarkBad,
        }
    }

    /// A number that this function must not return.
    fn nonsense(self, source: &mut Script<'_>) -> i32 {
        let choice = source.below(10) as usize;
        let elsewhere = match self {
            Self::Read => [NAND_FAILED, -7],
            Self::Program | Self::Erase | Self::MarkBad => [NAND_UNCORRECTABLE, 1],
            Self::IsBad => [NAND_FAILED, 2],
        };
        NONSENSE.get(choice).copied().unwrap_or(elsewhere[choice % 2])
    }
}

fn remains(source: &mut Script<'_>) -> Remains {
    match source.below(8) {
        0 | 1 => Remains::Before,
        2 | 3 => Remains::Intended,
        4 | 5 => Remains::Dead,
        6 => Remains::Fading(source.below(4) as u8),
        _ => Remains::Anything,
    }
}

impl Fault {
    fn of(on: Operation, source: &mut Script<'_>) -> Self {
        match (source.below(16), on) {
            (0..=6, _) | (_, Operation::IsBad) => Self::Nonsense {
                number: on.nonsense(source),
                left: remains(source),
                pair: if source.byte().is_multiple_of(2) { Pair::Kept } else { Pair::Lost },
            },
            (15, _) => Self::Lies(remains(source)),
            (7..=13, Operation::Read) => Self::Corrects(source.below(1 << 16) as u16),
            (_, Operation::Read) => Self::Gone,
            _ => Self::Fails(remains(source)),
        }
    }
}

impl Driver {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            chip: Chip::new(geometry),
            armed: Vec::new(),
            said: None,
            calls: 0,
            changes: 0,
            ended: false,
            is_blank: true,
            trust: Trust::Nothing,
            troubles: 0,
            guarded: false,
            harsh: false,
            inside: None,
            buffer: ptr::null_mut(),
        }
    }

    /// Something will happen to one of the next operations.
    pub(crate) fn arm(&mut self, source: &mut Script<'_>) {
        let on = Operation::of(source);
        let after = source.below(40);
        self.armed.push(Armed { on, after, fault: Fault::of(on, source) });
    }

    pub(crate) fn disarm(&mut self) {
        self.armed.clear();
    }

    fn turn(&mut self, operation: Operation) -> Option<Fault> {
        self.calls += 1;
        self.changes += u64::from(!matches!(operation, Operation::Read | Operation::IsBad));
        let found = self.armed.iter_mut().position(|armed| {
            let due = armed.on == operation && armed.after == 0;
            armed.after -= u32::from(armed.on == operation && !due);
            due
        });
        let fault = self.armed.remove(found?).fault;
        match fault {
            Fault::Nonsense { .. } | Fault::Fails(_) => self.troubles += 1,
            Fault::Gone => self.trust = self.trust.min(Trust::Faded),
            Fault::Lies(_) => self.trust = Trust::Nothing,
            Fault::Corrects(_) => {}
        }
        self.is_blank &= !matches!(fault, Fault::Gone | Fault::Lies(_));
        Some(fault)
    }

    fn says(&mut self, number: i32) -> i32 {
        (self.said, self.ended) = (Some(number), true);
        number
    }

    /// The FTL asked for what it must not. That is a bug of the FTL's as long as it was told the truth: who is lied to
    /// may think that a block is erased which is not.
    fn breached(&self, breach: Breach, place: impl std::fmt::Debug) -> i32 {
        let forgiven = self.trust == Trust::Nothing && breach != Breach::NoSuchPage;
        assert!(forgiven, "{breach:?}: {place:?}");
        NAND_FAILED
    }

    fn read(&mut self, what: &PageRead) -> i32 {
        let (block, page) = (what.block, what.page);
        let shape = self.chip.shape(block);
        let fault = self.turn(Operation::Read);
        if let Some(Fault::Gone) = fault {
            self.chip.kill(block, page);
        }
        let mut image = vec![0xFF; shape.data + shape.spare];
        let is_there = match self.chip.read(block, page) {
            Err(breach) => return self.breached(breach, what),
            Ok(None) => false,
            Ok(Some(bytes)) => {
                image[..bytes.len()].copy_from_slice(bytes);
                true
            }
        };
        let code = match fault {
            Some(Fault::Nonsense { number, .. }) => self.says(number),
            _ if !is_there => NAND_UNCORRECTABLE,
            Some(Fault::Lies(Remains::Dead)) => NAND_UNCORRECTABLE,
            Some(Fault::Lies(_)) => 0,
            Some(Fault::Corrects(bits)) => bits.into(),
            _ => 0,
        };
        // A read that fails leaves anything in the buffers: what was there, something else, or nearly the page.
        let is_spoilt = match fault {
            Some(Fault::Nonsense { left: Remains::Before, .. }) => return code,
            Some(Fault::Nonsense { left: Remains::Intended, .. }) => false,
            Some(Fault::Corrects(_)) | None => !is_there,
            Some(_) => true,
        };
        if is_spoilt {
            self.chip.noise(&mut image[shape.data / 2..]);
        }
        let from = what.at as usize;
        // SAFETY: the face promises so many bytes at each of the two, and that they are the driver's during the call.
        unsafe {
            give(&image[from..from + what.data_bytes as usize], what.data);
            give(&image[shape.data..shape.data + what.spare_bytes as usize], what.spare);
        }
        code
    }

    fn program(&mut self, what: &PageProgram, bytes: Box<[u8]>) -> i32 {
        let (block, page) = (what.block, what.page);
        if let Err(breach) = self.chip.may_program(block, page) {
            return self.breached(breach, what);
        }
        match self.turn(Operation::Program) {
            Some(Fault::Nonsense { number, left, pair }) => {
                self.chip.program(block, page, bytes, left);
                // Who has switched the protection off has said that power never fails.
                if pair == Pair::Lost && self.guarded {
                    self.chip.lose_pair(block, page);
                }
                self.says(number)
            }
            Some(Fault::Fails(left)) => {
                self.chip.program(block, page, bytes, left);
                NAND_FAILED
            }
            Some(Fault::Lies(_)) => 0,
            _ => {
                self.chip.program(block, page, bytes, Remains::Intended);
                0
            }
        }
    }

    fn erase(&mut self, block: u32) -> i32 {
        if let Err(breach) = self.chip.may_change(block) {
            return self.breached(breach, block);
        }
        match self.turn(Operation::Erase) {
            Some(Fault::Nonsense { number, left, .. }) => {
                self.chip.fail_erase(block, left);
                self.says(number)
            }
            Some(Fault::Fails(left)) => {
                self.chip.fail_erase(block, left);
                NAND_FAILED
            }
            Some(Fault::Lies(_)) => 0,
            _ => {
                self.chip.erase(block);
                0
            }
        }
    }

    fn is_bad(&mut self, block: u32) -> i32 {
        let is_bad = match self.chip.is_bad(block) {
            Ok(is_bad) => is_bad,
            Err(breach) => return self.breached(breach, block),
        };
        match self.turn(Operation::IsBad) {
            Some(Fault::Nonsense { number, .. }) => self.says(number),
            Some(Fault::Lies(_)) => i32::from(!is_bad),
            _ => i32::from(is_bad),
        }
    }

    fn mark_bad(&mut self, block: u32) -> i32 {
        if let Err(breach) = self.chip.is_bad(block) {
            return self.breached(breach, block);
        }
        let fault = self.turn(Operation::MarkBad);
        if self.harsh || matches!(fault, Some(Fault::Nonsense { left: Remains::Dead, .. })) {
            self.chip.destroy(block);
        }
        match fault {
            Some(Fault::Nonsense { number, left, .. }) => {
                if left == Remains::Intended {
                    self.chip.mark(block);
                }
                self.says(number)
            }
            Some(Fault::Fails(_)) => NAND_FAILED,
            Some(Fault::Lies(_)) => 0,
            _ => {
                self.chip.mark(block);
                0
            }
        }
    }
}

/// Hands bytes over; there is no place for none.
unsafe fn give(bytes: &[u8], to: *mut c_void) {
    if !bytes.is_empty() {
        // SAFETY: the caller promises room for them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    }
}

/// The driver of a context, at the beginning of each function.
unsafe fn driver<'a>(context: *mut c_void) -> &'a mut Driver {
    // SAFETY: the context of every table is a driver, and the harness looks at it between calls alone.
    let driver = unsafe { &mut *context.cast::<Driver>() };
    if let Some(Inside { call, device }) = driver.inside.take() {
        // It comes back before it calls the driver, or the check below finds that it did not.
        call(device);
        assert!(driver.inside.is_none());
    }
    assert!(!driver.ended, "a driver that has failed is called again before a mount");
    driver
}

unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
    // SAFETY: what the face promises.
    let (driver, what) = unsafe { (driver(context), &*what) };
    let shape = driver.chip.shape(what.block);
    let end = u64::from(what.at) + u64::from(what.data_bytes);
    assert!(end <= shape.data as u64 && what.spare_bytes as usize <= shape.spare, "{what:?}");
    assert_eq!(what.data.is_null(), what.data_bytes == 0, "{what:?}");
    assert_eq!(what.spare.is_null(), what.spare_bytes == 0, "{what:?}");
    if !driver.buffer.is_null() {
        assert!(what.data.is_null() || what.data == driver.buffer, "{what:?}");
        let behind = driver.buffer.wrapping_byte_add(shape.data);
        assert!(what.spare.is_null() || what.spare == behind, "{what:?}");
    }
    driver.read(what)
}

unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
    // SAFETY: as in `read`.
    let (driver, what) = unsafe { (driver(context), &*what) };
    let shape = driver.chip.shape(what.block);
    assert!(!what.data.is_null() && !what.spare.is_null(), "{what:?}");
    if !driver.buffer.is_null() {
        let behind = driver.buffer.wrapping_byte_add(shape.data);
        let own = [driver.buffer, behind].map(|part| part.cast_const());
        assert_eq!([what.data, what.spare], own, "{what:?}");
    }
    let mut bytes = vec![0; shape.data + shape.spare];
    // SAFETY: the face promises a whole page and all spare bytes.
    unsafe {
        ptr::copy_nonoverlapping(what.data.cast(), bytes.as_mut_ptr(), shape.data);
        let spare = bytes.as_mut_ptr().add(shape.data);
        ptr::copy_nonoverlapping(what.spare.cast(), spare, shape.spare);
    }
    driver.program(what, bytes.into())
}

unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    unsafe { driver(context) }.erase(block)
}

unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    unsafe { driver(context) }.is_bad(block)
}

unsafe extern "C" fn mark_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    unsafe { driver(context) }.mark_bad(block)
}

/// The table of the driver at that address, which must stay, as must the buffer.
pub(crate) fn table(driver: *mut Driver, geometry: Geometry, buffer: Option<&Memory>) -> Nand {
    let at = buffer.map_or(ptr::null_mut(), Memory::at);
    // SAFETY: the caller's driver, of which no function is at work.
    unsafe { (*driver).buffer = at };
    Nand {
        context: driver.cast(),
        read: Some(read),
        program: Some(program),
        erase: Some(erase),
        is_bad: Some(is_bad),
        mark_bad: Some(mark_bad),
        geometry,
        buffer: at,
        buffer_bytes: buffer.map_or(0, Memory::bytes),
    }
}
