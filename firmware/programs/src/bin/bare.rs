//! The page store with nothing around it: no formatting, no semihosting, a chip that does nothing. Its size is the
//! FTL's, and that it links shows that no panic can be reached: the panic handler calls a function that does not exist.
//!
//! It is not run.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::PageStore;
use ftl_core::paged::PagedPlan;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::bare::link;
use tandem_firmware::part::{PAGED, SPI_NAND_1G};
use tandem_firmware::plans::plan;
use tandem_firmware::{memory_for, no_panic_links};

const PLAN: PagedPlan = plan(&SPI_NAND_1G, &PAGED);

#[entry]
fn main() -> ! {
    #[cfg(feature = "plant-panic")]
    core::hint::black_box([1, 2, 3][core::hint::black_box(3)]);
    link::<PageStore>(&PLAN, PAGED, memory_for!(PLAN))
}

no_panic_links!();
