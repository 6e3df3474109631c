//! A FAT volume in a partition: made by one implementation, written by another, read by both.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};

use embedded_sdmmc::{Error as VolumeError, Mode, TimeSource, Timestamp, VolumeIdx, VolumeManager};
use fatfs::{FatType, FileSystem, FormatVolumeOptions, FsOptions};
use ftl_adapters::sdmmc::SdmmcError;
use ftl_adapters::{ByteStore, SdmmcBlocks};
use ftl_iface::BlockStore;

use crate::world::{CAPACITY, SECTOR};

const BLOCK: u64 = 512;
/// Where the partition begins, in blocks: on a sector's boundary.
const PARTITION: u64 = 64;

/// A clock that stands still.
struct FixedClock;

impl TimeSource for FixedClock {
    fn get_timestamp(&self) -> Timestamp {
        Timestamp::from_calendar(2026, 1, 1, 12, 0, 0).unwrap()
    }
}

/// The partition as a file of the standard library's, for `fatfs`.
struct Partition<'b, S> {
    bytes: ByteStore<'b, S>,
    at: u64,
}

impl<S: BlockStore> Partition<'_, S> {
    fn length(&self) -> u64 {
        self.bytes.capacity_bytes() - PARTITION * BLOCK
    }
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::other(format!("{error:?}"))
}

impl<S: BlockStore> Read for Partition<'_, S> {
    fn read(&mut self, data: &mut [u8]) -> Result<usize> {
        let length = data.len().min((self.length() - self.at) as usize);
        self.bytes.read_bytes(PARTITION * BLOCK + self.at, &mut data[..length]).map_err(failed)?;
        self.at += length as u64;
        Ok(length)
    }
}

impl<S: BlockStore> Write for Partition<'_, S> {
    fn write(&mut self, data: &[u8]) -> Result<usize> {
        let length = data.len().min((self.length() - self.at) as usize);
        self.bytes.write_bytes(PARTITION * BLOCK + self.at, &data[..length]).map_err(failed)?;
        self.at += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes.flush().map_err(failed)
    }
}

impl<S: BlockStore> Seek for Partition<'_, S> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.length(), by),
        };
        self.at = from
            .checked_add_signed(by)
            .filter(|at| *at <= self.length())
            .ok_or_else(|| Error::from(ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// Writes the partition table and formats the one partition.
pub(crate) fn make_volume<S: BlockStore>(mut bytes: ByteStore<'_, S>) {
    let blocks = (u64::from(CAPACITY) * SECTOR as u64 / BLOCK - PARTITION) as u32;
    let mut table = [0; BLOCK as usize];
    // The first entry: FAT16 by block numbers, where it begins, how long it is.
    table[446 + 4] = 0x0E;
    table[446 + 8..446 + 12].copy_from_slice(&(PARTITION as u32).to_le_bytes());
    table[446 + 12..446 + 16].copy_from_slice(&blocks.to_le_bytes());
    table[510..].copy_from_slice(&[0x55, 0xAA]);
    bytes.write_bytes(0, &table).unwrap();
    let options = FormatVolumeOptions::new()
        .fat_type(FatType::Fat16)
        .bytes_per_cluster(512)
        .total_sectors(blocks);
    let mut partition = Partition { bytes, at: 0 };
    fatfs::format_volume(&mut partition, options).unwrap();
}

pub(crate) fn content(file: u32) -> Vec<u8> {
    (0..2_000 + file * 777).map(|at| (at.wrapping_mul(file + 3) >> 2) as u8).collect()
}

pub(crate) fn name(file: u32) -> String {
    format!("FILE{file}.DAT")
}

/// Writes a file over whatever has its name, and closes it.
pub(crate) fn write_file<S: BlockStore>(
    bytes: ByteStore<'_, S>,
    file: u32,
    data: &[u8],
) -> std::result::Result<(), VolumeError<SdmmcError<S::Error>>>
where
    S::Error: 'static,
{
    let volumes: VolumeManager<_, _> = VolumeManager::new(SdmmcBlocks::new(bytes), FixedClock);
    let volume = volumes.open_volume(VolumeIdx(0))?;
    let root = volume.open_root_dir()?;
    let open = root.open_file_in_dir(name(file).as_str(), Mode::ReadWriteCreateOrTruncate)?;
    for part in data.chunks(700) {
        open.write(part)?;
    }
    open.close()
}

/// What a file holds, as `embedded-sdmmc` reads it.
pub(crate) fn read_file<S: BlockStore>(bytes: ByteStore<'_, S>, file: u32) -> Vec<u8>
where
    S::Error: 'static,
{
    let volumes: VolumeManager<_, _> = VolumeManager::new(SdmmcBlocks::new(bytes), FixedClock);
    let volume = volumes.open_volume(VolumeIdx(0)).unwrap();
    let root = volume.open_root_dir().unwrap();
    let open = root.open_file_in_dir(name(file).as_str(), Mode::ReadOnly).unwrap();
    let mut data = vec![0; open.length() as usize + 10];
    let mut length = 0;
    while !open.is_eof() {
        length += open.read(&mut data[length..]).unwrap();
    }
    data.truncate(length);
    data
}

/// What each of those files holds, as `fatfs` reads it.
pub(crate) fn read_files_by_fatfs<S: BlockStore>(
    bytes: ByteStore<'_, S>,
    files: &[u32],
) -> Vec<Vec<u8>> {
    let volume = FileSystem::new(Partition { bytes, at: 0 }, FsOptions::new()).unwrap();
    let root = volume.root_dir();
    let read = |file: &u32| {
        let mut data = Vec::new();
        root.open_file(&name(*file)).unwrap().read_to_end(&mut data).unwrap();
        data
    };
    files.iter().map(read).collect()
}
