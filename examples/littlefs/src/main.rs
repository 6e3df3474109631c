//! littlefs on an FTL on a simulated chip: a file is written, everything in RAM is dropped, and the file is there.
//!
//! On a microcontroller the chip is a driver and memory is lent from statics; [`Disk`] stays as it is.

use ftl_core::NoProbe;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_iface::{BlockStore, Bytes, NandDevice, Sector, SectorCount};
use littlefs2::consts::{U16, U2048};
use littlefs2::driver::Storage;
use littlefs2::fs::Filesystem;
use littlefs2::io::{Error, Result};
use littlefs2::path;
use nand_model::{Chip, Content, datasheet};

const SECTOR: usize = 2048;

/// A store as littlefs sees a disk. It may write a block without erasing it: what it calls erasing, the FTL takes as
/// the word that nobody wants the data any more.
struct Disk<S>(S);

impl<S: BlockStore> Storage for Disk<S> {
    const READ_SIZE: usize = SECTOR;
    const WRITE_SIZE: usize = SECTOR;
    const BLOCK_SIZE: usize = 2 * SECTOR;
    /// 64 MiB. It can be no more than `capacity` of the store.
    const BLOCK_COUNT: usize = (64 << 20) / Self::BLOCK_SIZE;
    /// The FTL levels wear: littlefs need not move its own metadata for it.
    const BLOCK_CYCLES: isize = -1;
    type CACHE_SIZE = U2048;
    type LOOKAHEAD_SIZE = U16;

    fn read(&mut self, at: usize, data: &mut [u8]) -> Result<usize> {
        self.0.read(sector(at), data).map_err(|_| Error::IO)?;
        Ok(data.len())
    }

    fn write(&mut self, at: usize, data: &[u8]) -> Result<usize> {
        self.0.write(sector(at), data).map_err(|_| Error::IO)?;
        Ok(data.len())
    }

    fn erase(&mut self, at: usize, bytes: usize) -> Result<usize> {
        let count = SectorCount::new((bytes / SECTOR) as u32);
        self.0.trim(sector(at), count).map_err(|_| Error::IO)?;
        Ok(bytes)
    }
}

/// Places are whole sectors: `READ_SIZE` and `WRITE_SIZE` say so.
fn sector(at: usize) -> Sector {
    Sector::new((at / SECTOR) as u32)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let chip = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
    let config = PagedConfig { sector_bytes: Bytes::new(SECTOR as u32), ..PagedConfig::SMALL };
    let plan = PagedPlan::new(chip.geometry(), &config)?;
    let (name, text) = (path!("notes.txt"), b"written before the power went off");

    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut disk = Disk(PageFtl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?);
    Filesystem::format(&mut disk).map_err(told)?;
    Filesystem::mount_and_then(&mut disk, |files| files.write(name, text)).map_err(told)?;
    let (chip, _) = disk.0.into_parts(); // all that was in RAM is gone

    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut disk = Disk(PageFtl::mount(chip, &config, memory.lend(), NoProbe)?);
    let read = Filesystem::mount_and_then(&mut disk, |files| files.read::<64>(name));
    assert_eq!(read.map_err(told)?.as_slice(), text);
    println!("{name} is there after a mount, {} bytes of RAM", plan.total_bytes());
    Ok(())
}

fn told(error: Error) -> String {
    format!("littlefs: {error:?}")
}
