//! The FTL with nothing around it: no formatting, no semihosting, a chip that does nothing. Its size is the FTL's, and
//! that it links shows that no panic can be reached: the panic handler calls a function that does not exist.
//!
//! It is not run. All that it is given comes from [`black_box`], so that nothing of the FTL is folded away.
#![no_std]
#![no_main]

use core::hint::{black_box, spin_loop};

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{Config, Ftl, MountError, NoProbe, Ram, RamPlan};
use ftl_iface::{
    Block, BlockStore, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page,
    PageCount, ProgramError, ReadError, Sector, SectorCount,
};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::memory::plan;
use tandem_firmware::memory_for;
use tandem_firmware::part::{SPI_NAND_1G, SPLIT};

const PLAN: RamPlan = plan(&SPI_NAND_1G, &SPLIT);
const PAGE: usize = 2048;

/// A chip of which nobody can foresee what it does.
struct BlackBox;

/// What the chip says to an operation.
enum Answer {
    Done,
    Failed,
    NoBus,
}

#[inline(never)]
fn answer() -> Answer {
    match black_box(0) {
        0 => Answer::Done,
        1 => Answer::Failed,
        _ => Answer::NoBus,
    }
}

impl NandDevice for BlackBox {
    type Error = ();

    fn geometry(&self) -> &Geometry {
        black_box(&SPI_NAND_1G)
    }

    #[inline(never)]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<()>> {
        black_box((page, at, data, spare));
        match answer() {
            Answer::Done => Ok(Corrected::NONE),
            Answer::Failed => Err(ReadError::Uncorrectable),
            Answer::NoBus => Err(ReadError::Driver(())),
        }
    }

    #[inline(never)]
    fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ProgramError<()>> {
        black_box((page, data, spare));
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(ProgramError::Failed),
            Answer::NoBus => Err(ProgramError::Driver(())),
        }
    }

    #[inline(never)]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<()>> {
        black_box(block);
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(EraseError::Failed),
            Answer::NoBus => Err(EraseError::Driver(())),
        }
    }

    #[inline(never)]
    fn is_bad(&mut self, block: Block) -> Result<bool, ()> {
        black_box(Ok(block.index() == 0))
    }

    #[inline(never)]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<()>> {
        black_box(block);
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(MarkError::Failed),
            Answer::NoBus => Err(MarkError::Driver(())),
        }
    }
}

type Bare<'ram> = Ftl<'ram, BlackBox>;

/// The calls of a host. Their code is the FTL's, which the compiler puts into them.
mod host {
    use super::{
        Bare, BlackBox, BlockStore, Config, Ftl, MountError, NoProbe, PageCount, Ram, Sector,
        SectorCount, black_box,
    };

    #[inline(never)]
    pub(super) fn format<'ram>(
        config: &Config,
        ram: Ram<'ram>,
    ) -> Result<Bare<'ram>, MountError<()>> {
        Ftl::format(BlackBox, config, ram, black_box(1), NoProbe)
    }

    #[inline(never)]
    pub(super) fn mount<'ram>(
        config: &Config,
        ram: Ram<'ram>,
    ) -> Result<Bare<'ram>, MountError<()>> {
        Ftl::mount(BlackBox, config, ram, NoProbe)
    }

    #[inline(never)]
    pub(super) fn write(ftl: &mut Bare<'_>, sector: Sector, data: &[u8]) -> bool {
        ftl.write(sector, data).is_ok()
    }

    #[inline(never)]
    pub(super) fn read(ftl: &mut Bare<'_>, sector: Sector, data: &mut [u8]) -> bool {
        ftl.read(sector, data).is_ok()
    }

    #[inline(never)]
    pub(super) fn trim(ftl: &mut Bare<'_>, sector: Sector, count: SectorCount) -> bool {
        ftl.trim(sector, count).is_ok()
    }

    #[inline(never)]
    pub(super) fn flush(ftl: &mut Bare<'_>) -> bool {
        ftl.flush().is_ok()
    }

    #[inline(never)]
    pub(super) fn maintain(ftl: &mut Bare<'_>, budget: PageCount) -> bool {
        ftl.maintain(budget).is_ok()
    }

    #[inline(never)]
    pub(super) fn stop(ftl: &mut Bare<'_>) -> bool {
        ftl.stop().is_ok()
    }
}

/// Makes every call there is.
fn use_all(ftl: &mut Bare<'_>) -> bool {
    let mut data = black_box([0; 4 * PAGE]);
    let length = black_box(data.len()).min(4 * PAGE);
    let data = data.get_mut(..length).unwrap_or(&mut []);
    let sector = Sector::new(black_box(0));
    host::write(ftl, sector, data)
        & host::read(ftl, sector, data)
        & host::trim(ftl, sector, SectorCount::new(black_box(1)))
        & host::flush(ftl)
        & host::maintain(ftl, PageCount::new(black_box(1)))
        & host::stop(ftl)
}

#[entry]
fn main() -> ! {
    #[cfg(feature = "plant-panic")]
    black_box([1, 2, 3][black_box(3)]);
    let config = black_box(SPLIT);
    if let Some(mut memory) = memory_for!(PLAN) {
        if let Some(ram) = memory.lend(&PLAN)
            && let Ok(mut ftl) = host::format(&config, ram)
        {
            black_box(use_all(&mut ftl));
        }
        if let Some(ram) = memory.lend(&PLAN)
            && let Ok(mut ftl) = host::mount(&config, ram)
        {
            black_box(use_all(&mut ftl));
        }
    }
    loop {
        spin_loop();
    }
}

/// Does not exist. Where the linker asks for it, something can panic.
mod missing {
    #![allow(unsafe_code, reason = "a function that does not exist cannot be declared otherwise")]

    unsafe extern "C" {
        safe fn a_panic_is_reachable() -> !;
    }

    #[panic_handler]
    fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
        a_panic_is_reachable()
    }
}
