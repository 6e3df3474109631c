//! A FAT volume on a Winbond W25N01GV, 1 Gbit of SPI NAND, on a Raspberry Pi Pico: counts its starts in a file.
//!
//! `README.md` tells how the chip is wired. Everything that belongs to the board is in `main`.
#![no_std]
#![no_main]

use defmt::{Debug2Format, info, unwrap, warn};
use embassy_executor::Spawner;
use embassy_rp::clocks::RoscRng;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::spi::{self, Spi};
use embassy_time::{Delay, Timer};
use embedded_hal_bus::spi::ExclusiveDevice;
use embedded_sdmmc::{Mode, TimeSource, Timestamp, VolumeIdx, VolumeManager};
use ftl_adapters::{ByteStore, SdmmcBlocks};
use ftl_core::NoProbe;
use ftl_core::paged::{PageFtl, PagedConfig, PagedMountError, PagedPlan, PagedRam};
use ftl_iface::{BlockStore, Bytes, NandDevice, PageCount, StoreWriteError};
use ftl_spi_nand::{SpiNand, parts};
use static_cell::ConstStaticCell;
use {defmt_rtt as _, panic_probe as _};

/// One map over the whole chip, kept on flash. `tandem size --device spi-nand-1g` tells what it costs.
const CONFIG: PagedConfig = PagedConfig { sector_bytes: Bytes::new(2048), ..PagedConfig::SMALL };

const PLAN: PagedPlan = match PagedPlan::new(&parts::W25N01GV.geometry, &CONFIG) {
    Ok(plan) => plan,
    Err(_) => panic!("the configuration does not fit the chip"),
};
const _: () = assert!(PLAN.total_bytes() <= 32 * 1024, "more than the firmware has for it");

static HALVES: ConstStaticCell<[u16; PLAN.halves()]> = ConstStaticCell::new([0; PLAN.halves()]);
static WORDS: ConstStaticCell<[u32; PLAN.words()]> = ConstStaticCell::new([0; PLAN.words()]);
static BYTES: ConstStaticCell<[u8; PLAN.bytes()]> = ConstStaticCell::new([0; PLAN.bytes()]);

/// A clock that stands still, as on a board without one.
struct NoClock;

impl TimeSource for NoClock {
    fn get_timestamp(&self) -> Timestamp {
        Timestamp {
            year_since_1970: 56,
            zero_indexed_month: 0,
            zero_indexed_day: 0,
            hours: 0,
            minutes: 0,
            seconds: 0,
        }
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let board = embassy_rp::init(embassy_rp::config::Config::default());
    let mut bus = spi::Config::default();
    bus.frequency = 24_000_000; // The chip takes 104 MHz; wires on a breadboard take less.
    let bus = Spi::new_blocking(board.SPI0, board.PIN_18, board.PIN_19, board.PIN_16, bus);
    let select = Output::new(board.PIN_17, Level::High);
    let device = unwrap!(ExclusiveDevice::new(bus, select, Delay).ok());

    let mut nand = match SpiNand::new(device, core::slice::from_ref(&parts::W25N01GV)) {
        Ok(nand) => nand,
        Err(why) => defmt::panic!("the chip cannot be set up: {}", Debug2Format(&why)),
    };
    info!("{} answers; the FTL takes {} bytes of RAM", nand.part().name, PLAN.total_bytes());

    let (halves, words, bytes) = (HALVES.take(), WORDS.take(), BYTES.take());
    let ram = unwrap!(PagedRam::lend(&PLAN, halves, words, bytes).ok());
    match PageFtl::mount(&mut nand, &CONFIG, ram, NoProbe) {
        Ok(ftl) => serve(ftl).await,
        // Only this error means that the chip holds nothing of an FTL's.
        Err(PagedMountError::NotFormatted) => {
            let ram = unwrap!(PagedRam::lend(&PLAN, halves, words, bytes).ok());
            let key = RoscRng.next_u32();
            match PageFtl::format(&mut nand, &CONFIG, ram, key, NoProbe) {
                Ok(ftl) => serve(ftl).await,
                Err(_) => {
                    defmt::panic!("the chip cannot be formatted: has it too many bad blocks?")
                }
            }
        }
        Err(_) => defmt::panic!("the chip does not mount: see ftl_core::paged::PagedMountError"),
    }
}

/// Counts this start in a file, and then takes work out of the way of later writes.
async fn serve<D: NandDevice<Error: 'static>>(mut ftl: PageFtl<'_, &mut D, NoProbe>) -> ! {
    match count_start(&mut ftl) {
        Counted::Yes => {}
        Counted::NoVolume => warn!(
            "there is no FAT volume: format one over USB, as ftl-adapters' example usb_disk shows"
        ),
        Counted::Failed => warn!("the file of starts cannot be written"),
    }
    loop {
        // A page now and then: each call takes a few milliseconds, in which no other task runs.
        match ftl.maintain(PageCount::new(1)) {
            // Its reserve is used up, and it can still be read.
            Ok(_) | Err(StoreWriteError::ReadOnly) => {}
            Err(_) => defmt::panic!("the chip failed: mount again"),
        }
        Timer::after_millis(100).await;
    }
}

/// Whether a start was counted.
enum Counted {
    Yes,
    NoVolume,
    Failed,
}

/// Adds a line to a file. What `write` and `close` return Ok for is on flash.
fn count_start(store: &mut impl BlockStore<Error: 'static>) -> Counted {
    let mut sector = [0; 2048];
    let Ok(bytes) = ByteStore::new(store, &mut sector) else { return Counted::Failed };
    let volumes: VolumeManager<_, _> = VolumeManager::new(SdmmcBlocks::new(bytes), NoClock);
    let Ok(volume) = volumes.open_volume(VolumeIdx(0)) else { return Counted::NoVolume };
    let added = || {
        let root = volume.open_root_dir().ok()?;
        let file = root.open_file_in_dir("STARTS.TXT", Mode::ReadWriteCreateOrAppend).ok()?;
        file.write(b"started\n").ok()?;
        info!("this is start {} of this volume", file.length() / 8);
        file.close().ok()
    };
    added().map_or(Counted::Failed, |()| Counted::Yes)
}
