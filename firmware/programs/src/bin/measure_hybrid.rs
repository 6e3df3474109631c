//! What the FTL of log and chains costs on a 1-Gbit chip, and on one of half the size, in little RAM.
//!
//! The workload is that of the comparison in `docs/FIRMWARE.md`: the host uses 80 % of what Dhara exports on the chip.
//! It writes that once in order, then at random until the FTL is at work as it always will be; only then is counted.
//! Then a quarter of what the log can hold is written again and again, as a file system does with its own tables.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::Hybrid;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use tandem_firmware::board::fail;
use tandem_firmware::measuring::{Load, Profile, measure_all};
use tandem_firmware::memory_for;
use tandem_firmware::part::{BESIDE_DHARA, SMALL, SPI_NAND_1G, SPI_NAND_512M, SPLIT};
use tandem_firmware::plans::plan;

const PROFILES: [Profile<Hybrid>; 2] = [
    Profile {
        name: "split",
        chip: &SPI_NAND_1G,
        config: SPLIT,
        plan: plan(&SPI_NAND_1G, &SPLIT),
        load: Load { used: BESIDE_DHARA, hot: 1008 },
    },
    Profile {
        name: "small",
        chip: &SPI_NAND_512M,
        config: SMALL,
        plan: plan(&SPI_NAND_512M, &SMALL),
        load: Load { used: BESIDE_DHARA / 2, hot: 63 },
    },
];

#[entry]
fn main() -> ! {
    measure_all(&PROFILES, memory_for!(PROFILES[0].plan, PROFILES[1].plan))
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
