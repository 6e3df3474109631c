//! The hybrid with nothing around it: see `bare`.
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
use tandem_firmware::plans::plan_hybrid;
use tandem_firmware::{memory_for, no_panic_links};

const PLAN: RamPlan = plan_hybrid(&SPI_NAND_1G, &SPLIT);

#[entry]
fn main() -> ! {
    link::<Hybrid>(&PLAN, SPLIT, memory_for!(PLAN))
}

no_panic_links!();
