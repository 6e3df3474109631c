//! The FTL of chains alone, and nothing that they can do without, with nothing around it: see `bare`.
//!
//! It is not run.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::RamPlan;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::bare::link;
use tandem_firmware::part::{BARE_CHAINS, SPI_NAND_1G};
use tandem_firmware::plans::{LeastChains, plan_hybrid};
use tandem_firmware::{memory_for, no_panic_links};

const PLAN: RamPlan = plan_hybrid(&SPI_NAND_1G, &BARE_CHAINS);

#[entry]
fn main() -> ! {
    link::<LeastChains>(&PLAN, BARE_CHAINS, memory_for!(PLAN))
}

no_panic_links!();
