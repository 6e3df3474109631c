//! What a disk's file asks of the system: few calls, at stated places, so that a test can stop it at each of them.

use std::io::{self, Read, Write};

/// A run of bytes in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub at: u64,
    pub bytes: u64,
}

impl Extent {
    /// The byte after the last.
    pub const fn end(self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

/// Bytes that are read at once.
pub(super) const AT_ONCE: usize = 64 << 10;

/// A file, or what stands for one.
pub trait FileStore {
    /// Its length.
    fn length(&self) -> io::Result<u64>;
    /// Cuts it, or lengthens it by zeros that take no room.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Reads what is there, and returns how much that is.
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Writes all of it.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Waits until all of it would survive a crash of the machine.
    fn sync(&self) -> io::Result<()>;
    /// Waits until its name would survive one, too.
    fn sync_name(&self) -> io::Result<()>;
    /// Makes the bytes zeros, which take no room where the file system can do that.
    fn clear(&self, extent: Extent) -> io::Result<()>;
    /// Gives back the room of bytes that nobody reads any more, where the file system can.
    fn give_back(&self, extent: Extent);
    /// Gives back all behind that length, which nobody reads any more.
    fn cut(&self, length: u64) {
        let _ = self.set_length(length);
    }
    /// The first byte from there on that may be no zero.
    fn next_data(&self, at: u64) -> io::Result<u64>;
}

/// Bytes of a store in a row, to be read or written.
pub(super) struct StoreBytes<'s, S> {
    store: &'s S,
    pub at: u64,
    end: u64,
}

impl<'s, S: FileStore> StoreBytes<'s, S> {
    /// Those of an extent.
    pub(super) const fn over(store: &'s S, extent: Extent) -> Self {
        Self { store, at: extent.at, end: extent.end() }
    }
}

impl<S: FileStore> Read for StoreBytes<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = bytes.len().min(left);
        let count = self.store.read_at(self.at, &mut bytes[..most])?;
        self.at += count as u64;
        Ok(count)
    }
}

impl<S: FileStore> Write for StoreBytes<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.store.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a read came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Amount {
    /// All that was asked for.
    Whole,
    /// The input ended before.
    Short,
}

/// Fills the bytes.
pub(super) fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<Amount> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(Amount::Whole),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Amount::Short),
        Err(error) => Err(error),
    }
}
