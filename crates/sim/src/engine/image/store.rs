//! What a disk's file asks of the system: few calls, at stated places, so that a test can stop it at each of them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

/// A run of bytes in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

impl Extent {
    /// The byte after the last.
    pub(crate) const fn end(self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

/// Bytes that are read at once.
pub(super) const AT_ONCE: usize = 64 << 10;

/// A file, or what stands for one.
pub(crate) trait Store {
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
    /// Makes the bytes zeros, and gives their room back where the file system can.
    fn clear(&self, extent: Extent) -> io::Result<()>;
    /// The first byte from there on that may be no zero.
    fn next_data(&self, at: u64) -> io::Result<u64>;
}

impl Store for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(self, bytes, at)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        if punched(self, extent) { Ok(()) } else { write_zeros(self, extent) }
    }

    #[cfg(target_os = "linux")]
    fn next_data(&self, at: u64) -> io::Result<u64> {
        match rustix::fs::seek(self, rustix::fs::SeekFrom::Data(at)) {
            Ok(next) => Ok(next),
            Err(rustix::io::Errno::NXIO) => self.length(),
            // A file system that does not know its holes.
            Err(_) => Ok(at),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn next_data(&self, at: u64) -> io::Result<u64> {
        Ok(at)
    }
}

#[cfg(target_os = "linux")]
fn punched(file: &File, extent: Extent) -> bool {
    use rustix::fs::FallocateFlags;
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(file, how, extent.at, extent.bytes).is_ok()
}

#[cfg(not(target_os = "linux"))]
const fn punched(_: &File, _: Extent) -> bool {
    false
}

/// Writes zeros, for stores that have no better way.
pub(crate) fn write_zeros(store: &impl Store, extent: Extent) -> io::Result<()> {
    const MOST: u64 = 1 << 20;
    let zeros = vec![0; MOST.min(extent.bytes) as usize];
    let mut at = extent.at;
    while at < extent.end() {
        let bytes = (extent.end() - at).min(MOST);
        store.write_at(at, &zeros[..bytes as usize])?;
        at += bytes;
    }
    Ok(())
}

/// Bytes of a store in a row, to be read or written.
pub(crate) struct Stream<'s, S> {
    store: &'s S,
    pub(crate) at: u64,
    end: u64,
}

impl<'s, S: Store> Stream<'s, S> {
    /// Those of an extent.
    pub(crate) const fn over(store: &'s S, extent: Extent) -> Self {
        Self { store, at: extent.at, end: extent.end() }
    }
}

impl<S: Store> Read for Stream<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = bytes.len().min(left);
        let count = self.store.read_at(self.at, &mut bytes[..most])?;
        self.at += count as u64;
        Ok(count)
    }
}

impl<S: Store> Write for Stream<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.store.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fills the bytes. `false`: there are not so many.
pub(super) fn filled(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
