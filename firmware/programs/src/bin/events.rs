//! What each FTL does and decides, the page store first, as `defmt` tells it. Each frame is printed as a line of
//! hexadecimal digits, and the runner decodes it by the table in this very program, as a probe on a board would.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_adapters::LogProbe;
use ftl_core::{FtlKind, Hybrid, NoProbe, PageStore};
use ftl_iface::{BlockStore, Sector, SectorCount, StoreWriteError};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::{self, fail};
use tandem_firmware::chips::{ChipError, Cut, RamChip};
use tandem_firmware::memory::Memory;
use tandem_firmware::memory_for;
use tandem_firmware::part::{TINY, TINY_HYBRID, TINY_PAGED};
use tandem_firmware::plans::{plan, plan_hybrid};
use tandem_firmware::setup::Setup;

const PAGED: Setup<PageStore> =
    Setup { name: "the page store", config: TINY_PAGED, plan: plan(&TINY, &TINY_PAGED) };
const HYBRID: Setup<Hybrid> =
    Setup { name: "the hybrid", config: TINY_HYBRID, plan: plan_hybrid(&TINY, &TINY_HYBRID) };

const SECTOR: usize = 1024;
/// Longer than any request that is hot.
const LONG: usize = 8;

/// The longest frame: a few numbers.
const FRAME: usize = 128;
static BYTES: [AtomicU8; FRAME] = [const { AtomicU8::new(0) }; FRAME];
static FILLED: AtomicUsize = AtomicUsize::new(0);

/// Where the frames go.
#[defmt::global_logger]
struct Lines;

// SAFETY: there is one core and no interrupt, so that nobody comes between `acquire` and `release`.
unsafe impl defmt::Logger for Lines {
    fn acquire() {
        FILLED.store(0, Relaxed);
    }

    unsafe fn flush() {}

    unsafe fn release() {
        let mut digits = [0; 2 * FRAME];
        let filled = FILLED.load(Relaxed);
        for (byte, pair) in BYTES[..filled].iter().zip(digits.chunks_exact_mut(2)) {
            let byte = usize::from(byte.load(Relaxed));
            pair[0] = b"0123456789abcdef"[byte >> 4];
            pair[1] = b"0123456789abcdef"[byte & 15];
        }
        println!("frame {}", core::str::from_utf8(&digits[..2 * filled]).unwrap_or("?"));
    }

    unsafe fn write(bytes: &[u8]) {
        for byte in bytes {
            let at = FILLED.load(Relaxed);
            if let Some(cell) = BYTES.get(at) {
                cell.store(*byte, Relaxed);
                FILLED.store(at + 1, Relaxed);
            }
        }
    }
}

/// Logs how a request ended.
fn tell(what: &str, outcome: Result<(), StoreWriteError<ChipError>>) {
    match outcome {
        Ok(()) => defmt::info!("{=str}: done", what),
        Err(error) => defmt::error!("{=str}: {}", what, error),
    }
}

/// Every kind of end that a request has, and enough writes for either FTL to collect garbage.
fn log_requests(ftl: &mut impl BlockStore<Error = ChipError>) {
    let data = [0x5A; LONG * SECTOR];
    tell("a short write", ftl.write(Sector::new(7), &data[..SECTOR]));
    tell("a long write", ftl.write(Sector::new(64), &data));
    tell("a write beyond the end", ftl.write(Sector::new(320), &data[..SECTOR]));
    tell("a trim", ftl.trim(Sector::new(64), SectorCount::new(2)));
    for round in 0..200 {
        let sector = Sector::new(round * 37 % 310);
        let length = if round % 3 == 0 { LONG } else { 1 };
        if ftl.write(sector, &data[..length * SECTOR]).is_err() {
            fail(format_args!("round {round} was not written"));
        }
    }
}

/// Formats the chip, then logs two lives of it: one with requests, and one in which power fails.
fn log_lives<K: FtlKind>(setup: &Setup<K>, memory: &mut Memory, chip: &mut RamChip) {
    chip.restore_power();
    // What a format erases is not told: it would be all there is to read.
    drop(setup.format(memory, &mut *chip, NoProbe));
    log_requests(&mut setup.mount(memory, &mut *chip, LogProbe::<NoProbe>::default()));
    chip.cut_after(0, Cut::Before);
    let mut ftl = setup.mount(memory, &mut *chip, LogProbe::<NoProbe>::default());
    tell("a write without power", ftl.write(Sector::new(7), &[1; SECTOR]));
}

#[entry]
fn main() -> ! {
    static CHIP: ConstStaticCell<RamChip> = ConstStaticCell::new(RamChip::new());
    let memory = memory_for!(PAGED.plan, HYBRID.plan);
    let (Some(mut memory), Some(chip)) = (memory, CHIP.try_take()) else {
        fail(format_args!("the memory was taken before"));
    };
    log_lives(&PAGED, &mut memory, chip);
    log_lives(&HYBRID, &mut memory, chip);
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
