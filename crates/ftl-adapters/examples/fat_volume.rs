//! A FAT volume on an FTL on a simulated chip: lists what is in its root directory.
//!
//! On a microcontroller the chip is a driver, memory is lent from statics, and everything else is the same.

use std::ops::ControlFlow;

use embedded_sdmmc::{TimeSource, Timestamp, VolumeIdx, VolumeManager};
use ftl_adapters::{ByteStore, SdmmcBlocks};
use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
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
    let config = Config { sector_bytes: Bytes::new(2048), ..Config::one_region(64) };
    let plan = RamPlan::new(chip.geometry(), &config)?;
    let mut memory = OwnedRam::for_plan(&plan);
    let ftl = Ftl::format(chip, &config, memory.lend(), 0x5EED, NoProbe)?;

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
