//! Bytes anywhere, over whole sectors: the one place where a part of a sector is read, changed and written.
//!
//! # What it costs
//!
//! A write that covers a sector in part reads it and writes it whole. With sectors of 2 KiB and blocks of 512 bytes:
//!
//! | the host writes | the store reads | the store writes | for each byte |
//! |---|---|---|---|
//! | 2 KiB, aligned | nothing | a sector | 1 |
//! | a block anywhere | a sector | a sector | 4 |
//! | four blocks of a sector in order, one by one | a sector | four sectors | 4 |
//!
//! [`Cost`] counts what it really was. Where it hurts, format the FTL with smaller sectors, or let the host use larger
//! blocks: FAT clusters as large as a sector, aligned, are written at cost 1 for the most part.
//!
//! The sector that was touched last stays in memory, so that reading on in it is free. Writes are never held back: what
//! was written is on flash when the call returns, and a loss of power leaves the rest of a sector that was written in
//! part as it was, since the store below keeps or changes whole sectors.

use core::fmt;

use ftl_iface::{
    BlockStore, Bytes, Lifetime, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};

/// What the difference between bytes and sectors cost until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cost {
    /// Bytes that the host wrote.
    pub bytes_asked: u64,
    /// Sectors that were written whole because the host covered them.
    pub sectors_covered: u64,
    /// Sectors that were written for a part of them.
    pub sectors_in_part: u64,
    /// Sectors that had to be read for that.
    pub sectors_read_to_write: u64,
}

impl Cost {
    /// Bytes that the store was given.
    pub const fn bytes_written(&self, sector: Bytes) -> u64 {
        (self.sectors_covered + self.sectors_in_part) * sector.get() as u64
    }
}

/// Why a request for bytes failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error<E> {
    /// The request leaves the store. Nothing was done.
    OutOfRange {
        /// Its first byte.
        offset: u64,
        /// How many it asked for.
        bytes: u64,
        /// How many there are.
        capacity: u64,
    },
    /// The lent buffer holds no sector.
    BufferBytes {
        /// What it must hold.
        needed: Bytes,
    },
    /// The store could not read.
    Read(StoreReadError<E>),
    /// The store could not write. Sectors before this one may have been written.
    Write(StoreWriteError<E>),
}

impl<E: fmt::Debug> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { offset, bytes, capacity } => write!(
                f,
                "{bytes} bytes from {offset} on go past the device's {capacity}: stay within it"
            ),
            Self::BufferBytes { needed } => {
                write!(f, "the buffer is smaller than a sector: lend {needed}")
            }
            Self::Read(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}

impl<E> From<StoreReadError<E>> for Error<E> {
    fn from(error: StoreReadError<E>) -> Self {
        Self::Read(error)
    }
}

impl<E> From<StoreWriteError<E>> for Error<E> {
    fn from(error: StoreWriteError<E>) -> Self {
        Self::Write(error)
    }
}

/// A store of bytes over a store of sectors, with a sector of lent memory.
#[derive(Debug)]
pub struct ByteStore<'b, S> {
    store: S,
    /// One sector.
    buffer: &'b mut [u8],
    /// Whose content the buffer holds.
    held: Option<Sector>,
    cost: Cost,
}

/// How a sector came into the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Holding {
    /// It was there.
    Already,
    /// It was read.
    Read,
}

/// A request's next piece: where in its sector it lies.
struct Piece {
    sector: Sector,
    at: usize,
    /// Sectors that it covers; zero for a part of one.
    covered: usize,
    bytes: usize,
}

impl<'b, S: BlockStore> ByteStore<'b, S> {
    /// Puts the adapter over a store. The buffer holds at least a sector.
    pub fn new(store: S, buffer: &'b mut [u8]) -> Result<Self, Error<S::Error>> {
        let needed = store.sector_bytes();
        match buffer.get_mut(..needed.as_usize()) {
            Some(buffer) => Ok(Self { store, buffer, held: None, cost: Cost::default() }),
            None => Err(Error::BufferBytes { needed }),
        }
    }

    /// The store below.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// Gives the store back. Nothing is lost: every write is on flash.
    pub fn into_inner(self) -> S {
        self.store
    }

    /// What the difference between bytes and sectors cost until now.
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// The size in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        u64::from(self.store.capacity().get()) * u64::from(self.store.sector_bytes().get())
    }

    /// Reads the bytes from `offset` on.
    pub fn read_bytes(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Error<S::Error>> {
        self.check(offset, data.len() as u64)?;
        let (mut offset, mut left) = (offset, data);
        while !left.is_empty() {
            let piece = self.piece(offset, left.len());
            let (now, later) = left.split_at_mut(piece.bytes);
            if piece.covered > 0 {
                self.store.read(piece.sector, now)?;
            } else {
                let _ = self.hold(piece.sector)?;
                now.copy_from_slice(&self.buffer[piece.at..piece.at + piece.bytes]);
            }
            offset += piece.bytes as u64;
            left = later;
        }
        Ok(())
    }

    /// Writes the bytes from `offset` on. They are on flash when it returns.
    pub fn write_bytes(&mut self, offset: u64, data: &[u8]) -> Result<(), Error<S::Error>> {
        self.write_bytes_hinted(offset, data, Lifetime::Unknown)
    }

    /// Writes bytes from there on, and says how long the host expects them to live.
    pub fn write_bytes_hinted(
        &mut self,
        offset: u64,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), Error<S::Error>> {
        self.check(offset, data.len() as u64)?;
        self.cost.bytes_asked += data.len() as u64;
        let (mut offset, mut left) = (offset, data);
        while !left.is_empty() {
            let piece = self.piece(offset, left.len());
            let (now, later) = left.split_at(piece.bytes);
            if piece.covered > 0 {
                self.forget(piece.sector, piece.covered as u64);
                self.store.write_hinted(piece.sector, now, lifetime)?;
                self.cost.sectors_covered += piece.covered as u64;
            } else {
                self.write_part(&piece, now, lifetime)?;
            }
            offset += piece.bytes as u64;
            left = later;
        }
        Ok(())
    }

    /// Forgets the sectors that the bytes cover whole; what they cover in part stays as it is.
    pub fn trim_bytes(&mut self, offset: u64, bytes: u64) -> Result<(), Error<S::Error>> {
        self.check(offset, bytes)?;
        let size = u64::from(self.store.sector_bytes().get());
        let (first, end) = (offset.div_ceil(size), (offset + bytes) / size);
        if first >= end {
            return Ok(());
        }
        let (first, count) = (Sector::new(first as u32), end - first);
        self.forget(first, count);
        Ok(self.store.trim(first, SectorCount::new(count as u32))?)
    }

    /// Makes durable what the store holds back; an FTL that writes through holds nothing.
    pub fn flush(&mut self) -> Result<(), Error<S::Error>> {
        Ok(self.store.flush()?)
    }

    /// Lets the store do work while the host is idle: at most `budget` page copies.
    pub fn maintain(&mut self, budget: PageCount) -> Result<Work, Error<S::Error>> {
        Ok(self.store.maintain(budget)?)
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<(), Error<S::Error>> {
        let capacity = self.capacity_bytes();
        match offset.checked_add(bytes) {
            Some(end) if end <= capacity => Ok(()),
            _ => Err(Error::OutOfRange { offset, bytes, capacity }),
        }
    }

    /// As much from `offset` on as one request to the store can serve.
    fn piece(&self, offset: u64, left: usize) -> Piece {
        let size = self.buffer.len();
        let (sector, at) = (offset / size as u64, (offset % size as u64) as usize);
        let covered = if at == 0 { left / size } else { 0 };
        let bytes = if covered > 0 { covered * size } else { left.min(size - at) };
        Piece { sector: Sector::new(sector as u32), at, covered, bytes }
    }

    /// Reads the sector into the buffer, unless it is there.
    fn hold(&mut self, sector: Sector) -> Result<Holding, Error<S::Error>> {
        if self.held == Some(sector) {
            return Ok(Holding::Already);
        }
        self.held = None;
        self.store.read(sector, self.buffer)?;
        self.held = Some(sector);
        Ok(Holding::Read)
    }

    fn write_part(
        &mut self,
        piece: &Piece,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), Error<S::Error>> {
        let held = self.hold(piece.sector)?;
        self.cost.sectors_read_to_write += u64::from(held == Holding::Read);
        // Until the write has succeeded, nothing is known of the sector.
        self.held = None;
        self.buffer[piece.at..piece.at + data.len()].copy_from_slice(data);
        self.store.write_hinted(piece.sector, self.buffer, lifetime)?;
        self.held = Some(piece.sector);
        self.cost.sectors_in_part += 1;
        Ok(())
    }

    fn forget(&mut self, first: Sector, count: u64) {
        let first = u64::from(first.get());
        let gone = |held: &Sector| (first..first + count).contains(&u64::from(held.get()));
        self.held = self.held.filter(|held| !gone(held));
    }
}
