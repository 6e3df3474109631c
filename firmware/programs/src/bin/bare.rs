//! The FTL of log and chains with nothing around it: no formatting, no semihosting, a chip that does nothing. Its size
//! is the FTL's, and that it links shows that no panic can be reached: the panic handler calls a function that does not
//! exist.
//!
//! It is not run.
#![no_std]
#![no_main]

use core::hint::{black_box, spin_loop};

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{Config, Ftl, MountError, NoProbe, Ram, RamPlan};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::bare::use_all;
use tandem_firmware::chips::BlackBox;
use tandem_firmware::memory::plan;
use tandem_firmware::part::{SPI_NAND_1G, SPLIT};
use tandem_firmware::{memory_for, no_panic_links};

const PLAN: RamPlan = plan(&SPI_NAND_1G, &SPLIT);

type Bare<'ram> = Ftl<'ram, BlackBox>;

#[inline(never)]
fn format<'ram>(config: &Config, ram: Ram<'ram>) -> Result<Bare<'ram>, MountError<()>> {
    Ftl::format(BlackBox, config, ram, black_box(1), NoProbe)
}

#[inline(never)]
fn mount<'ram>(config: &Config, ram: Ram<'ram>) -> Result<Bare<'ram>, MountError<()>> {
    Ftl::mount(BlackBox, config, ram, NoProbe)
}

#[inline(never)]
fn stop(ftl: &mut Bare<'_>) -> bool {
    ftl.stop().is_ok()
}

#[entry]
fn main() -> ! {
    #[cfg(feature = "plant-panic")]
    black_box([1, 2, 3][black_box(3)]);
    let config = black_box(SPLIT);
    if let Some(mut memory) = memory_for!(PLAN) {
        if let Some(ram) = memory.lend(&PLAN)
            && let Ok(mut ftl) = format(&config, ram)
        {
            black_box(use_all(&mut ftl) & stop(&mut ftl));
        }
        if let Some(ram) = memory.lend(&PLAN)
            && let Ok(mut ftl) = mount(&config, ram)
        {
            black_box(use_all(&mut ftl) & stop(&mut ftl));
        }
    }
    loop {
        spin_loop();
    }
}

no_panic_links!();
