//! Requests on a mounted device, for any FTL.

use core::ffi::c_void;
use core::slice;

use ftl_core::MountedFtl;
use ftl_iface::{
    BlockStore, Lifetime, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};

use crate::device::{Device, Entered, Mounted};
use crate::error::Error;
use crate::kinds::Face;
use crate::nand::Stretch;
use crate::start::put;
use crate::told::{Detail, Fault, Health};

/// What `tandem_maintain` returns if more work is left.
pub const WORK_LEFT: i32 = 1;

impl From<StoreReadError<i32>> for Fault {
    fn from(error: StoreReadError<i32>) -> Self {
        match error {
            StoreReadError::OutOfRange { capacity, .. } => {
                Self::numbered(Error::OutOfRange, capacity.get())
            }
            StoreReadError::Lost(sector) => Self::numbered(Error::Lost, sector.get()),
            StoreReadError::Device(code) => Self::of_driver(code),
            StoreReadError::Corrupt | _ => Error::Corrupt.into(),
        }
    }
}

impl From<StoreWriteError<i32>> for Fault {
    fn from(error: StoreWriteError<i32>) -> Self {
        match error {
            StoreWriteError::OutOfRange { capacity, .. } => {
                Self::numbered(Error::OutOfRange, capacity.get())
            }
            StoreWriteError::ReadOnly => Error::ReadOnly.into(),
            StoreWriteError::Device(code) => Self::of_driver(code),
            StoreWriteError::Corrupt | _ => Error::Corrupt.into(),
        }
    }
}

/// The sectors of a request.
#[derive(Clone, Copy)]
pub(crate) struct Sectors {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// The bytes of a request, once they are known to exist and to be the caller's alone.
enum Bytes {
    None,
    Some(Stretch),
}

impl<K: Face> Entered<K> {
    /// Finds out what bytes a request is about, before a slice of them is made.
    fn bytes(self, sectors: Sectors, data: *mut c_void) -> Result<(Self, Bytes), Error> {
        match self.stretch(sectors, data) {
            (entered, Ok(bytes)) => Ok((entered, bytes)),
            (entered, Err(fault)) => Err(entered.refuse(fault)),
        }
    }

    fn stretch(mut self, sectors: Sectors, data: *mut c_void) -> (Self, Result<Bytes, Fault>) {
        let (capacity, sector_bytes) = self.shape();
        let end = u64::from(sectors.first) + u64::from(sectors.count);
        if end > u64::from(capacity) {
            return (self, Err(Fault::numbered(Error::OutOfRange, capacity)));
        }
        if sectors.count == 0 {
            return (self, Ok(Bytes::None));
        }
        if data.is_null() {
            return (self, Err(Fault::saying(Error::Null, c"the data")));
        }
        // No object is larger than half of the address space.
        let bytes = (sectors.count as usize).checked_mul(sector_bytes as usize);
        let Some(bytes) = bytes.filter(|bytes| isize::try_from(*bytes).is_ok()) else {
            return (self, Err(Fault::numbered(Error::OutOfRange, capacity)));
        };
        let stretch = Stretch { at: data.cast(), bytes };
        if self.is_apart(stretch) {
            (self, Ok(Bytes::Some(stretch)))
        } else {
            (self, Err(Fault::saying(Error::Overlap, c"the data")))
        }
    }
}

/// Reads.
pub(crate) unsafe fn read<K: Face>(
    device: *mut Device<K>,
    sectors: Sectors,
    data: *mut c_void,
) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let (entered, bytes) = unsafe { Entered::new(device) }?.bytes(sectors, data)?;
    let data = match bytes {
        Bytes::None => return entered.work(|_| Ok(())),
        // SAFETY: not null, no larger than an object may be, and apart from what the device writes to; the caller
        // promises that it is that long and nobody else's during the call.
        Bytes::Some(stretch) => unsafe { slice::from_raw_parts_mut(stretch.at, stretch.bytes) },
    };
    entered.work(|ftl| Ok(ftl.read(Sector::new(sectors.first), data)?))
}

/// Writes, with what the host expects of the data's lifetime.
pub(crate) unsafe fn write<K: Face>(
    device: *mut Device<K>,
    sectors: Sectors,
    data: *const c_void,
    hint: u32,
) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let (entered, bytes) = unsafe { Entered::new(device) }?.bytes(sectors, data.cast_mut())?;
    let Some(lifetime) = lifetime(hint) else {
        return Err(entered.refuse(Fault::saying(Error::Value, c"the hint")));
    };
    let data = match bytes {
        Bytes::None => return entered.work(|_| Ok(())),
        // SAFETY: as in `read`, for reading.
        Bytes::Some(stretch) => unsafe {
            slice::from_raw_parts(stretch.at.cast_const(), stretch.bytes)
        },
    };
    entered.work(|ftl| Ok(ftl.write_hinted(Sector::new(sectors.first), data, lifetime)?))
}

const fn lifetime(hint: u32) -> Option<Lifetime> {
    match hint {
        0 => Some(Lifetime::Unknown),
        1 => Some(Lifetime::Short),
        2 => Some(Lifetime::Medium),
        3 => Some(Lifetime::Long),
        4 => Some(Lifetime::Extreme),
        _ => None,
    }
}

/// How long data is expected to live, compared with the rest of the host's (`tandem_write_hinted`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Life {
    /// The host does not know.
    Unknown = 0,
    /// A journal, a temporary file.
    Short = 1,
    /// Neither short nor long.
    Medium = 2,
    /// What is kept.
    Long = 3,
    /// As long as the device.
    Extreme = 4,
}

/// Trims.
pub(crate) unsafe fn trim<K: Face>(device: *mut Device<K>, sectors: Sectors) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let entered = unsafe { Entered::new(device) }?;
    entered.work(|ftl| {
        let count = SectorCount::new(sectors.count);
        Ok(ftl.trim(Sector::new(sectors.first), count)?)
    })
}

/// Lets the FTL do something that only the chip can refuse.
pub(crate) unsafe fn work<K: Face>(
    device: *mut Device<K>,
    work: impl FnOnce(&mut Mounted<K>) -> Result<(), StoreWriteError<i32>>,
) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let entered = unsafe { Entered::new(device) }?;
    entered.work(|ftl| Ok(work(ftl)?))
}

/// Idle work: what is left, or an error.
pub(crate) unsafe fn maintain<K: Face>(device: *mut Device<K>, pages: u32) -> i32 {
    // SAFETY: the caller's device.
    let outcome = unsafe { Entered::new(device) }
        .and_then(|entered| entered.work(|ftl| Ok(ftl.maintain(PageCount::new(pages))?)));
    match outcome {
        Ok(Work::Done) => crate::error::OK,
        Ok(Work::Left) => WORK_LEFT,
        Err(error) => error.number(),
    }
}

/// A scrub begins.
pub(crate) unsafe fn scrub<K: Face>(device: *mut Device<K>) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let entered = unsafe { Entered::new(device) }?;
    entered.work(|ftl| {
        ftl.scrub();
        Ok(())
    })
}

impl<K: Face> Entered<K> {
    /// Capacity and sector size.
    fn shape(&mut self) -> (u32, u32) {
        let ftl = self.peek();
        (ftl.capacity().get(), ftl.sector_bytes().get())
    }

    /// Puts what is told where the caller wants it, unless the device or the driver writes there.
    unsafe fn tell<T>(&mut self, to: *mut T, told: T) -> Result<(), Error> {
        if !self.is_apart(Stretch::of(to)) {
            return Err(Error::Overlap);
        }
        // SAFETY: as the caller promises.
        unsafe { put(to, told) }
    }
}

/// The capacity, or zero.
pub(crate) unsafe fn capacity<K: Face>(device: *mut Device<K>) -> u32 {
    // SAFETY: the caller's device.
    unsafe { Entered::new(device) }.map_or(0, |mut entered| entered.shape().0)
}

/// The sector size, or zero.
pub(crate) unsafe fn sector_bytes<K: Face>(device: *mut Device<K>) -> u32 {
    // SAFETY: the caller's device.
    unsafe { Entered::new(device) }.map_or(0, |mut entered| entered.shape().1)
}

/// Reserve, wear, and corrected errors.
pub(crate) unsafe fn health<K: Face>(
    device: *mut Device<K>,
    health: *mut Health,
) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let mut entered = unsafe { Entered::new(device) }?;
    let found = entered.peek().health().into();
    // SAFETY: where the caller wants it.
    unsafe { entered.tell(health, found) }
}

/// What was told of the call before.
pub(crate) unsafe fn detail<K: Face>(
    device: *mut Device<K>,
    detail: *mut Detail,
) -> Result<(), Error> {
    // SAFETY: the caller's device.
    let mut entered = unsafe { Entered::new(device) }?;
    let found = entered.detail();
    // SAFETY: where the caller wants it.
    unsafe { entered.tell(detail, found) }
}

/// The end.
pub(crate) unsafe fn close<K: Face>(device: *mut Device<K>) -> Result<(), Error> {
    // SAFETY: the caller's device.
    unsafe { Entered::new(device) }?.close();
    Ok(())
}
