//! The interface above the FTL: a store of sectors.

use core::fmt;

use crate::address::Sector;
use crate::units::{Bytes, PageCount, SectorCount};

/// A store of sectors: the interface that an FTL implements, and a host uses.
///
/// A request is passed whole, because its size says how hot its data is likely to be. The length of the buffer
/// is the length of the request, a whole number of sectors.
///
/// # What the store promises
///
/// - A write that returned `Ok` survives any power cut; a trim that returned `Ok` stays trimmed.
/// - After a power cut each sector of the request in flight is old or new: never a mix, never an older version.
/// - A sector that was never written, or was trimmed, reads as zeros.
/// - A request that returned an error about its arguments changed nothing.
pub trait BlockStore {
    /// The error of the device below.
    type Error: fmt::Debug;

    /// The size of a sector.
    fn sector_bytes(&self) -> Bytes;

    /// How many sectors the host may use: fixed when the device is formatted.
    fn capacity(&self) -> SectorCount;

    /// Reads the sectors from `first` on.
    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Self::Error>>;

    /// Writes the sectors from `first` on. When it returns, they are on flash.
    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Self::Error>>;

    /// Writes the sectors from `first` on, and says how long the host expects them to live. A store may use that to
    /// put together what dies together; what it promises is the same.
    fn write_hinted(
        &mut self,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), StoreWriteError<Self::Error>> {
        let _ = lifetime;
        self.write(first, data)
    }

    /// Trims `count` sectors from `first` on. They read as zeros until written again.
    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Self::Error>>;

    /// Makes all written data durable. A store that writes through has nothing to do.
    fn flush(&mut self) -> Result<(), StoreWriteError<Self::Error>>;

    /// Does housekeeping while the host is idle, so that later requests need not: at most `budget` page copies. A store
    /// that is read-only does none, and says so.
    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Self::Error>>;
}

impl<S: BlockStore + ?Sized> BlockStore for &mut S {
    type Error = S::Error;

    fn sector_bytes(&self) -> Bytes {
        (**self).sector_bytes()
    }

    fn capacity(&self) -> SectorCount {
        (**self).capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Self::Error>> {
        (**self).read(first, data)
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Self::Error>> {
        (**self).write(first, data)
    }

    fn write_hinted(
        &mut self,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), StoreWriteError<Self::Error>> {
        (**self).write_hinted(first, data, lifetime)
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Self::Error>> {
        (**self).trim(first, count)
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Self::Error>> {
        (**self).flush()
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Self::Error>> {
        (**self).maintain(budget)
    }
}

/// How long data is expected to live before it is written again or trimmed, compared with the rest of the host's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Lifetime {
    /// The host does not know.
    #[default]
    Unknown,
    /// Short: a journal, a temporary file.
    Short,
    /// Neither short nor long.
    Medium,
    /// Long: what is kept.
    Long,
    /// As long as the device.
    Extreme,
}

impl Lifetime {
    /// All of them, the shorter ones first; that which the host does not know comes before.
    pub const ALL: [Self; 5] =
        [Self::Unknown, Self::Short, Self::Medium, Self::Long, Self::Extreme];
}

/// Whether [`BlockStore::maintain`] left work to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Work {
    /// No work is left. Calling again before the next request does nothing.
    Done,
    /// More work is left: call again when there is time.
    Left,
}

/// Why sectors could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StoreReadError<E> {
    /// The request goes past the end of the address space. Nothing was read.
    OutOfRange {
        /// The request's first sector.
        first: Sector,
        /// How many it asked for.
        count: SectorCount,
        /// How many there are.
        capacity: SectorCount,
    },
    /// The buffer is not a whole number of sectors. Nothing was read.
    WrongLength {
        /// The buffer's length, in bytes.
        bytes: usize,
        /// A sector's.
        sector_bytes: Bytes,
    },
    /// This sector's content is lost. The other sectors of the request may be read one by one; this one
    /// gives an error until it is written again, or until a mount finds another copy of it.
    Lost(Sector),
    /// The data on flash is inconsistent. Mount again.
    Corrupt,
    /// The device failed, now or in an earlier request. Mount again.
    Device(Option<E>),
}

/// Why sectors could not be written or trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum StoreWriteError<E> {
    /// The request goes past the end of the address space. Nothing was changed.
    OutOfRange {
        /// The request's first sector.
        first: Sector,
        /// How many it asked for.
        count: SectorCount,
        /// How many there are.
        capacity: SectorCount,
    },
    /// The buffer is not a whole number of sectors. Nothing was changed.
    WrongLength {
        /// The buffer's length, in bytes.
        bytes: usize,
        /// A sector's.
        sector_bytes: Bytes,
    },
    /// More blocks have failed than the reserve had. Everything can still be read.
    ReadOnly,
    /// The data on flash is inconsistent. Mount again.
    Corrupt,
    /// The device failed, now or in an earlier request. Mount again.
    Device(Option<E>),
}

fn out_of_range(
    f: &mut fmt::Formatter<'_>,
    first: Sector,
    count: SectorCount,
    capacity: SectorCount,
) -> fmt::Result {
    write!(f, "{count} from {first} on go past the device's {capacity}: stay within it")
}

fn wrong_length(f: &mut fmt::Formatter<'_>, bytes: usize, sector: Bytes) -> fmt::Result {
    write!(f, "a buffer of {bytes} bytes is not a whole number of sectors of {sector}")
}

const CORRUPT: &str = "the data on flash is inconsistent: mount the device again";

fn device_failed<E: fmt::Debug>(f: &mut fmt::Formatter<'_>, error: Option<&E>) -> fmt::Result {
    match error {
        Some(error) => write!(f, "the device failed ({error:?}): mount it again"),
        None => f.write_str("the device failed in an earlier request: mount it again"),
    }
}

impl<E: fmt::Debug> fmt::Display for StoreReadError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { first, count, capacity } => {
                out_of_range(f, *first, *count, *capacity)
            }
            Self::WrongLength { bytes, sector_bytes } => wrong_length(f, *bytes, *sector_bytes),
            Self::Lost(sector) => {
                write!(f, "the content of {sector} is lost: write it again")
            }
            Self::Corrupt => f.write_str(CORRUPT),
            Self::Device(error) => device_failed(f, error.as_ref()),
        }
    }
}

impl<E: fmt::Debug> fmt::Display for StoreWriteError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { first, count, capacity } => {
                out_of_range(f, *first, *count, *capacity)
            }
            Self::WrongLength { bytes, sector_bytes } => wrong_length(f, *bytes, *sector_bytes),
            Self::ReadOnly => {
                f.write_str("the device is read-only: its reserve of blocks is used up")
            }
            Self::Corrupt => f.write_str(CORRUPT),
            Self::Device(error) => device_failed(f, error.as_ref()),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for StoreReadError<E> {}
impl<E: fmt::Debug> core::error::Error for StoreWriteError<E> {}
