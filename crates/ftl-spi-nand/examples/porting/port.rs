//! The code of `docs/PORTING.md`, piece by piece: on a PC it runs over a model of the chip, and in `firmware/` on
//! microcontrollers under QEMU.
#![allow(unreachable_pub)] // It is pasted into a library, for firmware to use.

use ftl_spi_nand::{Detail, EccReport, EccStatus, Part, Run};

/// `GigaDevice` GD5F4GQ6UE, 4 Gbit, as Linux drives it.
pub const GD5F4GQ6UE: Part = {
    use EccStatus::{Clean, SeeDetail, Uncorrectable};
    // Of each 16 of the first 64 spare bytes, the last 12: free, corrected, and none of them the mark.
    const SPARE: &[Run] = &[
        Run { at: 4, length: 12 },
        Run { at: 20, length: 12 },
        Run { at: 36, length: 12 },
        Run { at: 52, length: 12 },
    ];
    let Ok(geometry) = Part::shape(4096, 64, 2048, SPARE) else { panic!("no chip has that shape") };
    let rest = Uncorrectable;
    Part {
        name: "GD5F4GQ6UE",
        id: &[0xC8, 0x55],
        geometry,
        spare_bytes: 128,
        spare_runs: SPARE,
        // Register B0h: correction on.
        configuration: 0x10,
        // Bits 5 and 4 of the status; at 1, bits 5 and 4 of register F0h tell how many bits, less one.
        ecc: EccReport {
            shift: 4,
            mask: 3,
            verdicts: [Clean, SeeDetail, Uncorrectable, rest, rest, rest, rest, rest],
            detail: Some(Detail { register: 0xF0, shift: 4, mask: 3, plus: 1 }),
            correctable_bits: 4,
        },
        plane_bit: None,
    }
};
const _: () = assert!(GD5F4GQ6UE.is_sound());

use embedded_hal::spi::SpiDevice;
use ftl_spi_nand::{SetupError, SpiNand};

/// What may be on the bus; `ftl_spi_nand::parts::ALL` has six chips more.
pub static PARTS: [Part; 1] = [GD5F4GQ6UE];

/// The chip on the board's bus: reset, found by its number, its correction switched on, its protection lifted.
pub fn driver<S: SpiDevice>(spi: S) -> Result<SpiNand<'static, S>, SetupError<S::Error>> {
    SpiNand::new(spi, &PARTS)
}

use ftl_conformance::{Examiner, Stopped, memory_bytes};
use ftl_iface::{Block, NandDevice, Region};

/// Blocks that hold nothing of value.
const LENT: [Block; 3] =
    [Block::new(Region::Slc, 4093), Block::new(Region::Slc, 4094), Block::new(Region::Slc, 4095)];

/// Finds out whether the driver keeps its contract.
pub fn examine<D: NandDevice>(driver: &mut D) -> Result<(), Stopped<D::Error>> {
    let mut memory = [0; memory_bytes(2048, 48)];
    Examiner::new(driver, &LENT, &mut memory)?.examine()
}

use ftl_conformance::power::InFlight;

/// Writes until the power is cut.
pub fn cut_me<D: NandDevice>(
    driver: &mut D,
    ready: impl FnOnce(),
) -> Result<(), Stopped<D::Error>> {
    let mut memory = [0; memory_bytes(2048, 48)];
    let mut examiner = Examiner::new(driver, &LENT, &mut memory)?;
    examiner.before_power_fails(InFlight::Programs)?;
    ready();
    examiner.until_power_fails(InFlight::Programs, 0)
}

/// At the next start: finds out whether what the cut left is as promised.
pub fn after_cut<D: NandDevice>(driver: &mut D) -> Result<(), Stopped<D::Error>> {
    let mut memory = [0; memory_bytes(2048, 48)];
    Examiner::new(driver, &LENT, &mut memory)?.after_power_failed(InFlight::Programs)
}

use ftl_core::paged::{PagedConfig, PagedPlan, RefreshLimits};
use ftl_iface::{Bytes, Corrected};
use static_cell::ConstStaticCell;

/// Of four bits that the chip corrects in a codeword, three are a warning.
const CONFIG: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(2048),
    refresh: RefreshLimits { fast: Corrected::bits(3), main: Corrected::bits(3) },
    ..PagedConfig::SMALL
};

/// How the memory is divided.
pub const PLAN: PagedPlan = match PagedPlan::new(&GD5F4GQ6UE.geometry, &CONFIG) {
    Ok(plan) => plan,
    Err(_) => panic!("the configuration does not fit the chip"),
};
const _: () = assert!(PLAN.total_bytes() <= 64 * 1024, "more than the board can give");

static HALVES: ConstStaticCell<[u16; PLAN.halves()]> = ConstStaticCell::new([0; PLAN.halves()]);
static WORDS: ConstStaticCell<[u32; PLAN.words()]> = ConstStaticCell::new([0; PLAN.words()]);
static BYTES: ConstStaticCell<[u8; PLAN.bytes()]> = ConstStaticCell::new([0; PLAN.bytes()]);

use ftl_core::NoProbe;
use ftl_core::paged::{PageFtl, PagedMountError, PagedRam};

/// The first start formats, every later one mounts.
pub fn start<D: NandDevice>(mut driver: D, key: u32) -> Result<(), PagedMountError<D::Error>> {
    let (halves, words, bytes) = (HALVES.take(), WORDS.take(), BYTES.take());
    let wrong = |_| PagedMountError::WrongPlan;
    let ram = PagedRam::lend(&PLAN, halves, words, bytes).map_err(wrong)?;
    match PageFtl::mount(&mut driver, &CONFIG, ram, NoProbe) {
        Ok(ftl) => serve(ftl),
        Err(PagedMountError::NotFormatted) => {
            let ram = PagedRam::lend(&PLAN, halves, words, bytes).map_err(wrong)?;
            serve(PageFtl::format(&mut driver, &CONFIG, ram, key, NoProbe)?);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

use ftl_iface::{BlockStore, PageCount, Sector};

/// Whatever the firmware is for.
pub fn serve<S: BlockStore>(mut store: S) {
    let mut settings = [0; 2048];
    if store.read(Sector::new(0), &mut settings).is_ok() {
        settings[0] = settings[0].wrapping_add(1);
        // When this returns Ok, the settings are on flash.
        let _ = store.write(Sector::new(0), &settings);
    }
    // The host has nothing to ask: take work out of the way of its next write.
    let _ = store.maintain(PageCount::new(16));
}
