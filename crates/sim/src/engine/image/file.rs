//! A real file as the store of a disk.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::store::{Extent, FileStore};
use crate::base::files;

/// A file, and the path that it was found by.
#[derive(Debug)]
pub struct NamedFile {
    pub(super) file: File,
    path: PathBuf,
}

impl NamedFile {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.into() }
    }
}

impl FileStore for NamedFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        // Of another kind than a write that finds no room: what was written before may be gone.
        let unsynced = |error| io::Error::other(format!("not all of it reached the disk: {error}"));
        self.file.sync_data().map_err(unsynced)
    }

    fn sync_name(&self) -> io::Result<()> {
        // The folder of the file itself, if the path is a link.
        let path = fs::canonicalize(&self.path);
        files::sync_folder(path.as_ref().unwrap_or(&self.path))
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        if punched(&self.file, extent) { Ok(()) } else { write_zeros(&self.file, extent) }
    }

    fn give_back(&self, extent: Extent) {
        let _ = punched(&self.file, extent);
    }

    #[cfg(target_os = "linux")]
    fn next_data(&self, at: u64) -> io::Result<u64> {
        match rustix::fs::seek(&self.file, rustix::fs::SeekFrom::Data(at)) {
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

/// Writes zeros, where the file system has no better way.
fn write_zeros(file: &File, extent: Extent) -> io::Result<()> {
    const MOST: u64 = 1 << 20;
    let zeros = vec![0; MOST.min(extent.bytes) as usize];
    let mut at = extent.at;
    while at < extent.end() {
        let bytes = (extent.end() - at).min(MOST);
        file.write_all_at(&zeros[..bytes as usize], at)?;
        at += bytes;
    }
    Ok(())
}
