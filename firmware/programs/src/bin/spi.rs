//! The whole way on a microcontroller: FTL, driver, bytes of SPI, cells. First the driver is examined, then each FTL
//! works on it, the page store first, and finds everything again each time that power was off, also where it failed
//! inside an operation.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_conformance::{Examiner, memory_bytes};
use ftl_core::{FtlKind, Hybrid, NoProbe, PageStore};
use ftl_iface::{Block, BlockStore, PageCount, Region, Sector, StoreReadError, StoreWriteError};
use ftl_spi_nand::model::{SpiNandModel, Times};
use ftl_spi_nand::wire::Command;
use ftl_spi_nand::{Part, SpiNand};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::{self, fail};
use tandem_firmware::chips::{Cut, PlainChip};
use tandem_firmware::memory::Memory;
use tandem_firmware::memory_for;
use tandem_firmware::numbers::Numbers;
use tandem_firmware::part::{SPI_HYBRID, SPI_PAGED, SPI_PLAIN, SPI_SECTORS};
use tandem_firmware::plans::{plan, plan_hybrid};
use tandem_firmware::setup::Setup;

const PAGED: Setup<PageStore> = Setup {
    name: "the page store",
    config: SPI_PAGED,
    plan: plan(&SPI_PLAIN.geometry, &SPI_PAGED),
};
const HYBRID: Setup<Hybrid> = Setup {
    name: "the hybrid",
    config: SPI_HYBRID,
    plan: plan_hybrid(&SPI_PLAIN.geometry, &SPI_HYBRID),
};
const SECTORS: usize = SPI_SECTORS as usize;
const SECTOR: usize = 512;
/// A page with all its spare bytes.
const CACHE: usize = 512 + 64;
const HERTZ: u32 = 24_000_000;
/// The last of them ends between two requests, and compares what the one before it has left.
const LIVES: u32 = 41;
/// Writes of a life whose power does not fail.
const WRITES: u32 = 150;
/// Programs and erases until it does, at most.
const LONGEST_LIFE: u32 = 100;
/// What a loss of power does to the operation in flight, by turns. None: it is lost between two requests.
const CUTS: [Option<Cut>; 4] = [None, Some(Cut::Torn), Some(Cut::Before), Some(Cut::After)];

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

/// What the host has written.
struct SpiHost {
    /// The version of each sector, zero for those that read as zeros.
    versions: [u8; SECTORS],
    /// The write that power failed in: its sector and version.
    in_flight: Option<(usize, u8)>,
    numbers: Numbers,
    writes: u32,
}

/// What becomes of power in a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    Holds,
    Fails,
}

impl SpiHost {
    /// Compares everything. What was in flight may be as before or as it was to be. `false`: power failed before the
    /// end, where it may; the first read sets right what the life before has left, and programs for it.
    fn compare<S: BlockStore>(&mut self, store: &mut S, power: Power) -> bool {
        let mut data = [0; SECTOR];
        for (sector, version) in self.versions.iter_mut().enumerate() {
            match store.read(Sector::new(sector as u32), &mut data) {
                Ok(()) => {}
                Err(StoreReadError::Device(_)) if power == Power::Fails => return false,
                Err(error) => fail(format_args!("sector {sector} cannot be read: {error}")),
            }
            if data == content(sector, *version) {
                continue;
            }
            match self.in_flight {
                Some((flying, new)) if flying == sector && data == content(sector, new) => {
                    *version = new;
                }
                _ => fail(format_args!("sector {sector} lost version {version}")),
            }
        }
        self.in_flight = None;
        true
    }

    /// One life: everything is compared, then much is written, until power fails if it is to.
    fn live<S: BlockStore>(&mut self, store: &mut S, power: Power) {
        if !self.compare(store, power) {
            return;
        }
        for _ in 0..WRITES {
            let sector = self.numbers.below(SECTORS as u32) as usize;
            let version = self.versions[sector].wrapping_add(1).max(1);
            match store.write(Sector::new(sector as u32), &content(sector, version)) {
                Ok(()) => self.versions[sector] = version,
                Err(StoreWriteError::Device(_)) if power == Power::Fails => {
                    self.in_flight = Some((sector, version));
                    return;
                }
                Err(error) => fail(format_args!("sector {sector} cannot be written: {error}")),
            }
            self.writes += 1;
            match store.maintain(PageCount::new(1)) {
                Ok(_) => {}
                Err(StoreWriteError::Device(_)) if power == Power::Fails => return,
                Err(error) => fail(format_args!("idle work failed: {error}")),
            }
        }
    }
}

fn tell_times(bus: &Spi<'_>) {
    println!("the first life: {WRITES} writes, each with a page of idle work");
    for command in [Command::PageRead, Command::ProgramExecute, Command::BlockErase] {
        let (name, taken) = (command, bus.tally().of(command));
        println!("  {name:?}: {} times, {} us", taken.count, taken.busy.as_micros());
    }
    println!("  {} us in all, at {HERTZ} Hz", bus.now().as_micros());
}

/// Formats the chip and lives on it, with one FTL.
fn play<K: FtlKind>(setup: &Setup<K>, memory: &mut Memory, chip: &mut PlainChip) {
    println!("{}:", setup.name);
    let mut cache = [0; CACHE];
    let mut host =
        SpiHost { versions: [0; SECTORS], in_flight: None, numbers: Numbers::new(3), writes: 0 };
    let mut inside = 0;
    for life in 0..LIVES {
        let cut = CUTS[life as usize % CUTS.len()].filter(|_| life > 0);
        if let Some(cut) = cut {
            chip.cut_after(host.numbers.below(LONGEST_LIFE), cut);
        }
        let mut nand = switch_on(chip, &mut cache);
        let power = cut.map_or(Power::Holds, |_| Power::Fails);
        if life == 0 {
            host.live(&mut setup.format(memory, &mut nand, NoProbe), power);
            tell_times(nand.bus());
        } else {
            host.live(&mut setup.mount(memory, &mut nand, NoProbe), power);
        }
        let failed = nand.release().into_cells().restore_power();
        if failed != cut.is_some() {
            fail(format_args!("life {life} was to end otherwise"));
        }
        inside += u32::from(failed);
        memory.forget();
    }
    println!(
        "{} writes over SPI; power off {} times between requests and {inside} times inside them: none lost",
        host.writes,
        LIVES - inside,
    );
}

#[entry]
fn main() -> ! {
    static CHIP: ConstStaticCell<PlainChip> = ConstStaticCell::new(PlainChip::new());
    let (Some(mut memory), Some(chip)) = (memory_for!(PAGED.plan, HYBRID.plan), CHIP.try_take())
    else {
        fail(format_args!("the memory was taken before"));
    };
    examine(chip, &mut [0; CACHE]);
    play(&PAGED, &mut memory, chip);
    play(&HYBRID, &mut memory, chip);
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
