//! What lies in the caller's RAM: a head that tells a mounted device from anything else, the FTL, and its tables.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::slice;

use ftl_core::{FtlKind, Lent, NoProbe, Plan};

use crate::error::Error;
use crate::kinds::Face;
use crate::nand::{Chip, Stretch};
use crate::told::{Detail, Fault};

/// The FTL in the RAM. The tables that it borrows lie behind it, and nobody else touches them until it is closed.
pub(crate) type Mounted<K> = <K as FtlKind>::Mounted<'static, Chip, NoProbe>;

/// What the RAM begins with.
#[repr(C)]
pub(crate) struct Device<K: Face> {
    head: Head,
    ftl: MaybeUninit<Mounted<K>>,
}

/// Apart from the FTL, so that a call from inside the driver can be told while the FTL is at work.
#[repr(C)]
struct Head {
    /// The kind's magic number, changed by the address: a device that was copied elsewhere is none.
    magic: usize,
    /// Not zero while a call is at work.
    at_work: u32,
    ram: Stretch,
    /// The driver's buffer.
    buffer: Stretch,
    /// Of the call before this one.
    detail: Detail,
}

/// The alignment that RAM must have.
pub const RAM_ALIGN: usize = 8;

const fn round_up(bytes: usize) -> usize {
    (bytes + RAM_ALIGN - 1) & !(RAM_ALIGN - 1)
}

/// Bytes of RAM for tables of so many elements of 16, 32 and 8 bits.
pub(crate) const fn ram_bytes<K: Face>([halves, words, bytes]: [usize; 3]) -> usize {
    const { assert!(align_of::<Device<K>>() <= RAM_ALIGN) };
    round_up(round_up(size_of::<Device<K>>()) + 4 * words + 2 * halves + bytes)
}

/// RAM that was found to be large enough and aligned, all zeros: nothing in it is used yet.
pub(crate) struct ClearedRam {
    ram: Stretch,
}

impl ClearedRam {
    /// Examines the RAM for a plan, and clears it.
    pub(crate) unsafe fn new<K: Face>(
        ram: *mut c_void,
        bytes: usize,
        plan: &K::Plan,
    ) -> Result<Self, Fault> {
        let ram = Stretch { at: ram.cast(), bytes };
        if ram.at.is_null() {
            return Err(Fault::saying(Error::Null, c"the RAM"));
        }
        if !ram.at.addr().is_multiple_of(RAM_ALIGN) {
            return Err(Fault::saying(Error::Misaligned, c"the RAM"));
        }
        let needed = ram_bytes::<K>(plan.elements());
        if bytes < needed {
            return Err(Fault::numbered(Error::RamTooSmall, needed as u32));
        }
        let ram = Stretch { bytes: needed, ..ram };
        // SAFETY: the caller promises so many bytes, which are its own and nobody else's.
        unsafe { ptr::write_bytes(ram.at, 0, needed) };
        Ok(Self { ram })
    }

    /// Lends the tables, which lie behind the device.
    pub(crate) fn lend<K: Face>(&self, plan: &K::Plan) -> Result<Lent<'static, K::Plan>, Fault> {
        let [halves, words, bytes] = plan.elements();
        let words_at = self.ram.at.wrapping_add(round_up(size_of::<Device<K>>()));
        let halves_at = words_at.wrapping_add(4 * words);
        let bytes_at = halves_at.wrapping_add(2 * halves);
        // SAFETY: `new` found the RAM as large as `ram_bytes` of these three lengths, and cleared it, so they lie
        // within it one behind the other. The first is aligned to 8, the second to 4. They do not overlap each other
        // or the device. They live until the device is closed, when it forgets them; a new start over the same RAM is
        // that, too, for it overwrites the head.
        #[allow(clippy::cast_ptr_alignment, reason = "see above")]
        let (words, halves, bytes) = unsafe {
            (
                slice::from_raw_parts_mut(words_at.cast::<u32>(), words),
                slice::from_raw_parts_mut(halves_at.cast::<u16>(), halves),
                slice::from_raw_parts_mut(bytes_at, bytes),
            )
        };
        Lent::lend(plan, halves, words, bytes).map_err(|_| Error::Misfit.into())
    }

    /// Where the FTL is to lie.
    pub(crate) fn place<K: Face>(&self) -> Site<K> {
        let device = self.ram.at.cast::<Device<K>>();
        // SAFETY: the RAM is aligned and begins with room for a device.
        Site { ftl: unsafe { &raw mut (*device).ftl } }
    }

    /// Declares the RAM a mounted device, once the FTL is in its place.
    pub(crate) fn settle_in<K: Face>(self, buffer: Stretch) -> *mut Device<K> {
        let device = self.ram.at.cast::<Device<K>>();
        let head =
            Head { magic: magic(device), at_work: 0, ram: self.ram, buffer, detail: Detail::NONE };
        // SAFETY: as in `place`.
        unsafe { ptr::write(&raw mut (*device).head, head) };
        device
    }
}

/// The place of an FTL that is not mounted yet.
pub(crate) struct Site<K: Face> {
    ftl: *mut MaybeUninit<Mounted<K>>,
}

impl<K: Face> Site<K> {
    pub(crate) fn fill(self, ftl: Mounted<K>) {
        // SAFETY: it lies in the RAM of `ClearedRam::place`, in which nothing is in use.
        unsafe { ptr::write(self.ftl, MaybeUninit::new(ftl)) };
    }
}

/// What marks a device that is mounted at that address.
fn magic<K: Face>(device: *const Device<K>) -> usize {
    K::MAGIC ^ device.addr()
}

/// A mounted device on which no call is at work.
pub(crate) struct Entered<K: Face> {
    device: *mut Device<K>,
}

impl<K: Face> Entered<K> {
    /// Examines what the caller says is a device.
    pub(crate) unsafe fn new(device: *mut Device<K>) -> Result<Self, Error> {
        if device.is_null() {
            return Err(Error::Null);
        }
        if !device.addr().is_multiple_of(RAM_ALIGN) {
            return Err(Error::Misaligned);
        }
        // SAFETY: the pointer is aligned, and the caller promises that it came from a format or a mount, or leads to
        // memory that may be read at least. Only the head is looked at, which the FTL does not borrow, and of it
        // nothing but the magic number until that is right.
        let at_work = unsafe {
            if ptr::read(&raw const (*device).head.magic) != magic(device) {
                return Err(Error::NotADevice);
            }
            ptr::read(&raw const (*device).head.at_work)
        };
        if at_work == 0 { Ok(Self { device }) } else { Err(Error::Busy) }
    }

    fn head(&mut self) -> &mut Head {
        // SAFETY: the head is whole, and only looked at between calls, when nothing else borrows it.
        unsafe { &mut (*self.device).head }
    }

    /// Whether these bytes of the caller's are apart from all that the device writes to.
    pub(crate) fn is_apart(&mut self, data: Stretch) -> bool {
        let head = self.head();
        !data.meets(head.ram) && !data.meets(head.buffer)
    }

    /// The FTL, to be asked what it knows without the chip.
    pub(crate) fn peek(&mut self) -> &mut Mounted<K> {
        // SAFETY: `start` has put an FTL there, and nothing else borrows it: a call from inside the driver is
        // turned away by `at_work` in the head.
        unsafe { (*self.device).ftl.assume_init_mut() }
    }

    /// What was told of the call before.
    pub(crate) fn detail(&mut self) -> Detail {
        self.head().detail
    }

    /// Lets the FTL work.
    pub(crate) fn work<R>(
        mut self,
        work: impl FnOnce(&mut Mounted<K>) -> Result<R, Fault>,
    ) -> Result<R, Error> {
        self.head().at_work = 1;
        let outcome = work(self.peek());
        self.head().at_work = 0;
        let (outcome, detail) = match outcome {
            Ok(result) => (Ok(result), Detail::NONE),
            Err(fault) => (Err(fault.error), fault.detail),
        };
        self.head().detail = detail;
        outcome
    }

    /// Notes an error that was found before the FTL was asked.
    pub(crate) fn refuse(mut self, fault: Fault) -> Error {
        self.head().detail = fault.detail;
        fault.error
    }

    /// Makes the RAM the caller's again.
    pub(crate) fn close(mut self) {
        self.head().magic = 0;
        // SAFETY: as in `peek`; without its magic number nobody takes the RAM for a device any more.
        unsafe { (*self.device).ftl.assume_init_drop() };
    }
}
