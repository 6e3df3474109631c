//! The whole way on a microcontroller: FTL, driver, bytes of SPI, cells. First the driver is examined, then the FTL
//! works on it and finds everything again each time that power was off.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_conformance::{Examiner, memory_bytes};
use ftl_core::{Ftl, NoProbe, Ram, RamPlan};
use ftl_iface::{Block, BlockStore, PageCount, Region, Sector};
use ftl_spi_nand::model::{SpiNandModel, Times};
use ftl_spi_nand::wire::Command;
use ftl_spi_nand::{Part, SpiNand};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::{self, fail};
use tandem_firmware::chips::PlainChip;
use tandem_firmware::memory::{Memory, plan};
use tandem_firmware::memory_for;
use tandem_firmware::numbers::Numbers;
use tandem_firmware::part::{SPI_CONFIG, SPI_PLAIN};

const PLAN: RamPlan = plan(&SPI_PLAIN.geometry, &SPI_CONFIG);
const SECTORS: usize = 144;
const SECTOR: usize = 512;
/// A page with all its spare bytes.
const CACHE: usize = 512 + 64;
const HERTZ: u32 = 24_000_000;
const LIVES: u32 = 6;
const WRITES: u32 = 150;

static PARTS: [Part; 1] = [SPI_PLAIN];

type Spi<'m> = SpiNandModel<'m, &'m mut PlainChip>;

/// Switches the chip on, and sets it up.
fn switch_on<'m>(chip: &'m mut PlainChip, cache: &'m mut [u8]) -> SpiNand<'static, Spi<'m>> {
    match SpiNandModel::new(&PARTS[0], chip, Times::W25N01GV, HERTZ, cache) {
        Ok(bus) => match SpiNand::new(bus, &PARTS) {
            Ok(nand) => nand,
            Err(why) => fail(format_args!("{why}")),
        },
        Err(why) => fail(format_args!("{why}")),
    }
}

fn examine(chip: &mut PlainChip, cache: &mut [u8]) {
    let blocks = [3, 4, 23].map(|number| Block::new(Region::Slc, number));
    let mut memory = [0; memory_bytes(SECTOR, 16)];
    let examined = Examiner::new(switch_on(chip, cache), &blocks, &mut memory)
        .and_then(|mut examiner| examiner.examine());
    if let Err(why) = examined {
        fail(format_args!("{why}"));
    }
    println!("the driver keeps its contract");
}

fn content(sector: usize, version: u8) -> [u8; SECTOR] {
    if version == 0 { [0; SECTOR] } else { [version ^ (sector as u8).rotate_left(3); SECTOR] }
}

fn lend(memory: &mut Memory) -> Ram<'_> {
    match memory.lend(&PLAN) {
        Some(ram) => ram,
        None => fail(format_args!("the memory is shorter than the plan")),
    }
}

/// One life: everything is compared, then much is written.
fn live<S: BlockStore>(store: &mut S, versions: &mut [u8; SECTORS], numbers: &mut Numbers) {
    let mut data = [0; SECTOR];
    for (sector, version) in versions.iter().enumerate() {
        if let Err(error) = store.read(Sector::new(sector as u32), &mut data) {
            fail(format_args!("sector {sector} cannot be read: {error}"));
        }
        if data != content(sector, *version) {
            fail(format_args!("sector {sector} lost version {version}"));
        }
    }
    for _ in 0..WRITES {
        let sector = numbers.below(SECTORS as u32) as usize;
        versions[sector] = versions[sector].wrapping_add(1).max(1);
        let written = content(sector, versions[sector]);
        if let Err(error) = store.write(Sector::new(sector as u32), &written) {
            fail(format_args!("sector {sector} cannot be written: {error}"));
        }
        if let Err(error) = store.maintain(PageCount::new(1)) {
            fail(format_args!("idle work failed: {error}"));
        }
    }
}

#[entry]
fn main() -> ! {
    static CHIP: ConstStaticCell<PlainChip> = ConstStaticCell::new(PlainChip::new());
    let (Some(mut memory), Some(chip)) = (memory_for!(PLAN), CHIP.try_take()) else {
        fail(format_args!("the memory was taken before"));
    };
    let mut cache = [0; CACHE];
    examine(chip, &mut cache);
    let (mut versions, mut numbers) = ([0; SECTORS], Numbers::new(3));
    for life in 0..LIVES {
        let mut nand = switch_on(chip, &mut cache);
        let opened = if life == 0 {
            Ftl::format(&mut nand, &SPI_CONFIG, lend(&mut memory), 0x5EED, NoProbe)
        } else {
            Ftl::mount(&mut nand, &SPI_CONFIG, lend(&mut memory), NoProbe)
        };
        match opened {
            Ok(mut ftl) => live(&mut ftl, &mut versions, &mut numbers),
            Err(error) => fail(format_args!("life {life} did not begin: {error}")),
        }
        if life + 1 == LIVES {
            let bus = nand.bus();
            println!("the last life: {WRITES} writes, each with a page of idle work");
            for command in [Command::PageRead, Command::ProgramExecute, Command::BlockErase] {
                let (name, taken) = (command, bus.tally().of(command));
                println!("  {name:?}: {} times, {} us", taken.count, taken.busy.as_micros());
            }
            println!("  {} us in all, at {HERTZ} Hz", bus.now().as_micros());
        }
        memory.forget();
    }
    println!("{} writes over SPI, power off {LIVES} times: none lost", LIVES * WRITES);
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
