//! What the page store costs on a 1-Gbit chip, in 24 KiB of RAM and in 16, four fifths full and full to the brim.
//!
//! The workload is that of the comparison in `docs/FIRMWARE.md`: the host uses 80 % of what Dhara exports on the chip.
//! It writes that once in order, then at random until the FTL is at work as it always will be; only then is counted.
//! Then a quarter of what the log can hold is written again and again, as a file system does with its own tables.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::NoProbe;
use ftl_core::paged::{PageFtl, PagedConfig, PagedPlan};
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
use tandem_firmware::memory::{Memory, plan_paged};
use tandem_firmware::memory_for;
use tandem_firmware::part::{BESIDE_DHARA, EXPORTED, PAGED, PAGED_SMALL, SPI_NAND_1G};

/// A configuration to measure, and how full the chip is.
struct Profile {
    name: &'static str,
    config: PagedConfig,
    plan: PagedPlan,
    load: Load,
}

const fn profile(name: &'static str, config: PagedConfig, used: u32) -> Profile {
    let plan = plan_paged(&SPI_NAND_1G, &config);
    Profile { name, config, plan, load: Load { used, hot: 1008 } }
}

const PROFILES: [Profile; 4] = [
    profile("paged", PAGED, BESIDE_DHARA),
    profile("paged, full", PAGED, EXPORTED),
    profile("paged, 16 KiB", PAGED_SMALL, BESIDE_DHARA),
    profile("paged, 16 KiB, full", PAGED_SMALL, EXPORTED),
];

type Chip = Meter<&'static mut TagChip>;

/// The FTL that is measured. Its chip is lent for one mount after the other.
type Paged<'ram> = PageFtl<'ram, &'ram mut Chip>;

/// Everything about one configuration.
fn measure(profile: &Profile, memory: &mut Memory, chip: &mut Chip, host: &mut Host) {
    let name = profile.name;
    println!("figure {name}/ram/tables {}", profile.plan.total_bytes());
    println!("figure {name}/ram/state {}", size_of::<Paged<'_>>());
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
) -> Paged<'ram> {
    let Some(ram) = memory.lend_paged(&profile.plan) else {
        fail(format_args!("the memory is shorter than the plan"));
    };
    let before = chip.asked();
    let painted = Painted::below();
    let (taken, outcome) = time(|| match verb {
        "format" => PageFtl::format(chip, &profile.config, ram, 0x5EED, NoProbe),
        _ => PageFtl::mount(chip, &profile.config, ram, NoProbe),
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
    let memory = memory_for!(PROFILES[0].plan, PROFILES[2].plan);
    let (Some(mut memory), Some(chip), Some(versions), Some(page)) =
        (memory, CHIP.try_take(), VERSIONS.try_take(), PAGE_TO_WRITE.try_take())
    else {
        fail(format_args!("the memory was taken before"));
    };
    let mut chip = Meter::new(chip);
    let mut host = Host::new(versions, page);
    for profile in &PROFILES {
        host.take_up(profile.load);
        chip.inner_mut().become_a(&SPI_NAND_1G);
        measure(profile, &mut memory, &mut chip, &mut host);
    }
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
