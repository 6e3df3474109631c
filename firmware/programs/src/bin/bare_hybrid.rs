//! The FTL of log and chains with nothing around it: no formatting, no semihosting, a chip that does nothing. Its size
//! is the FTL's, and that it links shows that no panic can be reached: the panic handler calls a function that does not
//! exist.
//!
//! It is not run.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{Hybrid, RamPlan};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::bare::link;
use tandem_firmware::part::{SPI_NAND_1G, SPLIT};
use tandem_firmware::plans::plan;
use tandem_firmware::{memory_for, no_panic_links};

const PLAN: RamPlan = plan(&SPI_NAND_1G, &SPLIT);

#[entry]
fn main() -> ! {
    #[cfg(feature = "plant-panic")]
    core::hint::black_box([1, 2, 3][core::hint::black_box(3)]);
    link::<Hybrid>(&PLAN, SPLIT, memory_for!(PLAN))
}

no_panic_links!();
