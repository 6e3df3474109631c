//! What the hybrid costs on a 1-Gbit chip, and on one of half the size, in little RAM, under the workload of `measure`.
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
use tandem_firmware::plans::plan_hybrid;

const PROFILES: [Profile<Hybrid>; 2] = [
    Profile {
        name: "split",
        chip: &SPI_NAND_1G,
        config: SPLIT,
        plan: plan_hybrid(&SPI_NAND_1G, &SPLIT),
        load: Load { used: BESIDE_DHARA, hot: 1008 },
    },
    Profile {
        name: "small",
        chip: &SPI_NAND_512M,
        config: SMALL,
        plan: plan_hybrid(&SPI_NAND_512M, &SMALL),
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
