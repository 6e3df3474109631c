//! A FAT volume on an FTL on a simulated chip: lists what is in its root directory.
//!
//! On a microcontroller the chip is a driver, memory is lent from statics, and everything else is the same.

use std::ops::ControlFlow;

use embedded_sdmmc::{TimeSource, Timestamp, VolumeIdx, VolumeManager};
use ftl_adapters::{ByteStore, SdmmcBlocks};
use ftl_core::NoProbe;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_iface::{Bytes, NandDevice};
use nand_model::{Chip, Content, datasheet};

/// A clock that stands still, as on a board without one.
struct NoClock;

impl TimeSource for NoClock {
    fn get_timestamp(&self) -> Timestamp {
        Timestamp {
            year_since_1970: 0,
            zero_indexed_month: 0,
            zero_indexed_day: 0,
            hours: 0,
            minutes: 0,
            seconds: 0,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chip = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
    let config = PagedConfig { sector_bytes: Bytes::new(2048), ..PagedConfig::SMALL };
    let plan = PagedPlan::new(chip.geometry(), &config)?;
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;

    let mut sector = [0; 2048];
    let blocks = SdmmcBlocks::new(ByteStore::new(ftl, &mut sector)?);
    let volumes: VolumeManager<_, _> = VolumeManager::new(blocks, NoClock);
    match volumes.open_volume(VolumeIdx(0)) {
        Ok(volume) => volume.open_root_dir()?.iterate_dir(|entry| {
            println!("{} {}", entry.name, entry.size);
            ControlFlow::Continue(())
        })?,
        // The device is new: a host formats it, over USB say.
        Err(why) => println!("there is no volume yet ({why:?})"),
    }
    Ok(())
}
