//! What the page store costs on a 1-Gbit chip, in 24 KiB of RAM and in 16, four fifths full and full to the brim.
//!
//! The workload is that of the comparison in `docs/FIRMWARE.md`: the host uses 80 % of what Dhara exports on the chip.
//! It writes that once in order, then at random until the FTL is at work as it always will be; only then is counted.
//! Then some sectors are written again and again, as a file system does with its own tables.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::PageStore;
use ftl_core::paged::PagedConfig;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::board::fail;
use tandem_firmware::measuring::{Load, Profile, measure_all};
use tandem_firmware::memory_for;
use tandem_firmware::part::{BESIDE_DHARA, EXPORTED, PAGED, PAGED_SMALL, SPI_NAND_1G};
use tandem_firmware::plans::plan;

const fn profile(name: &'static str, config: PagedConfig, used: u32) -> Profile<PageStore> {
    let plan = plan(&SPI_NAND_1G, &config);
    Profile { name, chip: &SPI_NAND_1G, config, plan, load: Load { used, hot: 1008 } }
}

const PROFILES: [Profile<PageStore>; 4] = [
    profile("paged", PAGED, BESIDE_DHARA),
    profile("paged, full", PAGED, EXPORTED),
    profile("paged, 16 KiB", PAGED_SMALL, BESIDE_DHARA),
    profile("paged, 16 KiB, full", PAGED_SMALL, EXPORTED),
];

#[entry]
fn main() -> ! {
    measure_all(&PROFILES, memory_for!(PROFILES[0].plan, PROFILES[2].plan))
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
