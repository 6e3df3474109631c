//! What the FTL of log and chains costs on a 1-Gbit chip, and on one of half the size, in little RAM.
//!
//! The workload is that of the comparison in `docs/FIRMWARE.md`: the host uses 80 % of what Dhara exports on the chip.
//! It writes that once in order, then at random until the FTL is at work as it always will be; only then is counted.
//! Then a quarter of what the log can hold is written again and again, as a file system does with its own tables.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{Config, Ftl, NoProbe, RamPlan};
use ftl_iface::Geometry;
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::stack::Painted;
use tandem_firmware::board::{self, fail, time};
use tandem_firmware::chips::{FILLER, Meter, TagChip};
use tandem_firmware::measuring::{
    Host, Load, Measured, PAGE, Tally, USED_MOST, later_phases, write_phases,
};
use tandem_firmware::memory::{Memory, plan};
use tandem_firmware::memory_for;
use tandem_firmware::part::{BESIDE_DHARA, SMALL, SPI_NAND_1G, SPI_NAND_512M, SPLIT};

/// A chip and a configuration to measure.
struct Profile {
    name: &'static str,
    chip: &'static Geometry,
    config: Config,
    plan: RamPlan,
    load: Load,
}

const PROFILES: [Profile; 2] = [
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

type Chip = Meter<&'static mut TagChip>;

/// The FTL that is measured. Its chip is lent for one mount after the other.
type Hybrid<'ram> = Ftl<'ram, &'ram mut Chip>;

/// Everything about one configuration.
fn measure(profile: &Profile, memory: &mut Memory, chip: &mut Chip, host: &mut Host) {
    let name = profile.name;
    println!("figure {name}/ram/tables {}", profile.plan.total_bytes());
    println!("figure {name}/ram/state {}", size_of::<Hybrid<'_>>());
    let mut ftl = start(profile, memory, chip, "format");
    write_phases(name, &mut ftl, host);
    let mut ftl = start(profile, memory, chip, "mount");
    later_phases(name, &mut ftl, host);
}

/// Formats or mounts, and tells what it took.
#[inline(never)]
fn start<'ram>(
    profile: &Profile,
    memory: &'ram mut Memory,
    chip: &'ram mut Chip,
    verb: &str,
) -> Hybrid<'ram> {
    let Some(ram) = memory.lend(&profile.plan) else {
        fail(format_args!("the memory is shorter than the plan"));
    };
    let before = chip.asked();
    let painted = Painted::below();
    let (taken, outcome) = time(|| match verb {
        "format" => Ftl::format(chip, &profile.config, ram, 0x5EED, NoProbe),
        _ => Ftl::mount(chip, &profile.config, ram, NoProbe),
    });
    let depth = painted.depth();
    match outcome {
        Ok(ftl) => {
            let mut tally = Tally::default();
            tally.add(taken, ftl.asked().since(before));
            tally.tell(profile.name, verb, depth);
            ftl
        }
        Err(error) => fail(format_args!("the {verb} failed: {error}")),
    }
}

#[entry]
fn main() -> ! {
    static CHIP: ConstStaticCell<TagChip> = ConstStaticCell::new(TagChip::new());
    static VERSIONS: ConstStaticCell<[u32; USED_MOST as usize]> =
        ConstStaticCell::new([0; USED_MOST as usize]);
    static PAGE_TO_WRITE: ConstStaticCell<[u8; PAGE]> = ConstStaticCell::new([FILLER; PAGE]);
    board::start_counting();
    if !board::counts_exactly() {
        fail(format_args!("instructions are not counted here: start QEMU with -icount"));
    }
    println!(
        "a measurement adds {} instructions, and they are taken off",
        board::cost_of_measuring()
    );
    let memory = memory_for!(PROFILES[0].plan, PROFILES[1].plan);
    let (Some(mut memory), Some(chip), Some(versions), Some(page)) =
        (memory, CHIP.try_take(), VERSIONS.try_take(), PAGE_TO_WRITE.try_take())
    else {
        fail(format_args!("the memory was taken before"));
    };
    let mut chip = Meter::new(chip);
    let mut host = Host::new(versions, page);
    for profile in &PROFILES {
        host.take_up(profile.load);
        chip.inner_mut().become_a(profile.chip);
        measure(profile, &mut memory, &mut chip, &mut host);
    }
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
