//! The code of `docs/PORTING.md` as it is pasted, on a microcontroller: the driver is examined, the first start formats
//! and writes, and another mount finds what was written. The chip is a model, as large as the one of the guide.
#![no_std]
#![no_main]

mod few;
// Its tests of power cuts run on a PC, in `ftl-spi-nand`.
#[allow(dead_code, reason = "power is not cut here")]
#[path = "../../../../../crates/ftl-spi-nand/examples/porting/port.rs"]
mod port;

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::NoProbe;
use ftl_core::paged::{PageFtl, PagedConfig, PagedRam};
use ftl_iface::{BlockStore, NandDevice, Sector};
use ftl_spi_nand::model::{SpiNandModel, Times};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::{self, fail};

use few::FewBlocks;
use port::{GD5F4GQ6UE, PARTS, PLAN};

const HERTZ: u32 = 24_000_000;
/// A page with all its spare bytes.
const CACHE: usize = 2048 + GD5F4GQ6UE.spare_bytes as usize;
const CONFIG: &PagedConfig = PLAN.config();

static CELLS: ConstStaticCell<FewBlocks> = ConstStaticCell::new(FewBlocks::new());
static HALVES: ConstStaticCell<[u16; PLAN.halves()]> = ConstStaticCell::new([0; PLAN.halves()]);
static WORDS: ConstStaticCell<[u32; PLAN.words()]> = ConstStaticCell::new([0; PLAN.words()]);
static BYTES: ConstStaticCell<[u8; PLAN.bytes()]> = ConstStaticCell::new([0; PLAN.bytes()]);

/// The first byte of what the guide's firmware keeps, as another mount finds it.
fn kept<D: NandDevice>(driver: D) -> u8 {
    let (halves, words, bytes) = (HALVES.take(), WORDS.take(), BYTES.take());
    let Ok(ram) = PagedRam::lend(const { &PLAN }, halves, words, bytes) else {
        fail(format_args!("the memory is not as long as planned"))
    };
    let mut settings = [0; 2048];
    match PageFtl::mount(driver, CONFIG, ram, NoProbe) {
        Ok(mut ftl) => match ftl.read(Sector::new(0), &mut settings) {
            Ok(()) => settings[0],
            Err(error) => fail(format_args!("the settings cannot be read: {error}")),
        },
        Err(error) => fail(format_args!("another mount failed: {error}")),
    }
}

#[entry]
fn main() -> ! {
    let mut cache = [0; CACHE];
    let bus = match SpiNandModel::new(&PARTS[0], CELLS.take(), Times::GD5F1GQ4UA, HERTZ, &mut cache)
    {
        Ok(bus) => bus,
        Err(why) => fail(format_args!("{why}")),
    };
    let mut nand = match port::driver(bus) {
        Ok(nand) => nand,
        Err(why) => fail(format_args!("{why}")),
    };
    if let Err(why) = port::examine(&mut nand) {
        fail(format_args!("{why}"));
    }
    println!("the driver of the guide keeps its contract");
    if let Err(why) = port::start(&mut nand, 0x5EED) {
        fail(format_args!("{why}"));
    }
    match kept(&mut nand) {
        1 => println!("the FTL of the guide formats, writes, and is mounted again"),
        other => fail(format_args!("the settings begin with {other}")),
    }
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
