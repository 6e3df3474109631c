//! What the FTL costs on a 1-Gbit chip: instructions, operations of the chip, and stack, of each kind of call. The
//! runner reads the lines that start with `figure`.
//!
//! The workload is that of the comparison in `docs/FIRMWARE.md`: the host uses 80 % of what Dhara exports on the chip.
//! It writes that once in order, then at random until the FTL is at work as it always will be; only then is counted.
//! Then a quarter of what the log can hold is written again and again, as a file system does with its own tables.
//! Every read is compared.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{Config, Ftl, NoProbe, RamPlan};
use ftl_iface::{BlockStore, Geometry, PageCount, Sector, SectorCount};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::stack::Painted;
use tandem_firmware::board::{self, Span, fail, time};
use tandem_firmware::chips::{Asked, FILLER, HEAD, Meter, TagChip};
use tandem_firmware::memory::{Memory, plan};
use tandem_firmware::memory_for;
use tandem_firmware::numbers::Numbers;
use tandem_firmware::part::{SMALL, SPI_NAND_1G, SPI_NAND_512M, SPLIT};

/// The most sectors that a profile uses.
const USED_MOST: u32 = 38_259;
const PAGE: usize = 2048;

/// Calls that are counted of each kind.
const CALLS: u32 = 10_000;
/// Pages of work that the host grants in an idle moment.
const IDLE: PageCount = PageCount::new(16);

/// A chip and a configuration to measure.
struct Profile {
    name: &'static str,
    chip: &'static Geometry,
    config: Config,
    plan: RamPlan,
    /// Sectors that the host uses.
    used: u32,
    /// Sectors among them that it writes again and again.
    hot: u32,
}

const PROFILES: [Profile; 2] = [
    Profile {
        name: "split",
        chip: &SPI_NAND_1G,
        config: SPLIT,
        plan: plan(&SPI_NAND_1G, &SPLIT),
        used: USED_MOST,
        hot: 1008,
    },
    Profile {
        name: "small",
        chip: &SPI_NAND_512M,
        config: SMALL,
        plan: plan(&SPI_NAND_512M, &SMALL),
        used: USED_MOST / 2,
        hot: 63,
    },
];

type Chip = Meter<&'static mut TagChip>;
type Measured<'ram> = Ftl<'ram, &'ram mut Chip>;

/// What the host has written: the version of each sector.
struct Host {
    versions: &'static mut [u32],
    page: &'static mut [u8; PAGE],
    numbers: Numbers,
    next: u32,
    used: u32,
    hot: u32,
}

impl Host {
    fn head(sector: Sector, version: u32) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&sector.get().to_le_bytes());
        head[4..].copy_from_slice(&version.to_le_bytes());
        head
    }

    fn random(&mut self) -> Sector {
        Sector::new(self.numbers.below(self.used))
    }

    /// One of those that are written again and again, which lie scattered over all.
    fn hot(&mut self) -> Sector {
        Sector::new(self.numbers.below(self.hot) * (self.used / self.hot))
    }

    /// The sector after the one before, and the first after the last.
    fn in_order(&mut self) -> Sector {
        self.next = if self.next + 1 < self.used { self.next + 1 } else { 0 };
        Sector::new(self.next)
    }

    /// The page to write there, of a new version.
    fn new_page(&mut self, sector: Sector) -> &[u8] {
        let version = &mut self.versions[sector.get() as usize];
        *version += 1;
        self.page[..HEAD].copy_from_slice(&Self::head(sector, *version));
        &self.page[..]
    }

    /// Whether the page that was read is what was written last.
    fn is_right(&self, sector: Sector, page: &[u8]) -> bool {
        match self.versions[sector.get() as usize] {
            0 => page.iter().all(|byte| *byte == 0),
            version => {
                page[..HEAD] == Self::head(sector, version)
                    && page[HEAD..].iter().all(|byte| *byte == FILLER)
            }
        }
    }
}

/// What the calls of one kind took.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    calls: u32,
    instructions: u64,
    worst: u32,
    asked: [u64; 3],
}

impl Tally {
    fn add(&mut self, taken: Span, asked: Asked) {
        let own = taken.without(asked.spent).instructions() - board::cost_of_measuring();
        self.calls += 1;
        self.instructions += u64::from(own);
        self.worst = self.worst.max(own);
        for (sum, more) in self.asked.iter_mut().zip([asked.reads, asked.programs, asked.erases]) {
            *sum += u64::from(more);
        }
    }

    fn tell(&self, profile: &str, kind: &str, stack: usize) {
        let calls = u64::from(self.calls).max(1);
        let hundredths = |sum: u64| (sum * 100 / calls / 100, sum * 100 / calls % 100);
        println!("figure {profile}/{kind}/instructions {}", self.instructions / calls);
        println!("figure {profile}/{kind}/worst {}", self.worst);
        for (what, sum) in ["reads", "programs", "erases"].into_iter().zip(self.asked) {
            let (whole, part) = hundredths(sum);
            println!("figure {profile}/{kind}/{what} {whole}.{part:02}");
        }
        println!("figure {profile}/{kind}/stack {stack}");
    }
}

/// Makes calls of one kind, tells what they took, and how deep the stack went below this function.
#[inline(never)]
fn phase(
    profile: &str,
    kind: &str,
    calls: u32,
    ftl: &mut Measured<'_>,
    call: &mut dyn FnMut(&mut Measured<'_>) -> Span,
) {
    let mut tally = Tally::default();
    let painted = Painted::below();
    for _ in 0..calls {
        let before = ftl.device().asked();
        let taken = call(ftl);
        tally.add(taken, ftl.device().asked().since(before));
    }
    tally.tell(profile, kind, painted.depth());
}

fn write(ftl: &mut Measured<'_>, sector: Sector, page: &[u8]) -> Span {
    match time(|| ftl.write(sector, page)) {
        (taken, Ok(())) => taken,
        (_, Err(error)) => fail(format_args!("{sector} cannot be written: {error}")),
    }
}

fn read(ftl: &mut Measured<'_>, host: &Host, sector: Sector, page: &mut [u8]) -> Span {
    match time(|| ftl.read(sector, page)) {
        (taken, Ok(())) if host.is_right(sector, page) => taken,
        (_, Ok(())) => fail(format_args!("{sector} does not read as it was written")),
        (_, Err(error)) => fail(format_args!("{sector} cannot be read: {error}")),
    }
}

/// Everything about one configuration.
fn measure(profile: &Profile, memory: &mut Memory, chip: &mut Chip, host: &mut Host) {
    let name = profile.name;
    println!("figure {name}/ram/tables {}", profile.plan.total_bytes());
    println!("figure {name}/ram/state {}", size_of::<Measured<'_>>());
    let mut ftl = start(profile, memory, chip, "format");
    write_phases(name, &mut ftl, host);
    let mut ftl = start(profile, memory, chip, "mount");
    later_phases(name, &mut ftl, host);
}

/// Writes, and reads of what was written.
fn write_phases(name: &str, ftl: &mut Measured<'_>, host: &mut Host) {
    let back = &mut [0; PAGE];
    phase(name, "first sequential write", host.used, ftl, &mut |ftl| {
        let sector = host.in_order();
        write(ftl, sector, host.new_page(sector))
    });
    for _ in 0..host.used {
        let sector = host.random();
        write(ftl, sector, host.new_page(sector));
    }
    phase(name, "random write", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        write(ftl, sector, host.new_page(sector))
    });
    phase(name, "random read", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        read(ftl, host, sector, back)
    });
    for _ in 0..CALLS {
        let sector = host.hot();
        write(ftl, sector, host.new_page(sector));
    }
    phase(name, "hot write", CALLS, ftl, &mut |ftl| {
        let sector = host.hot();
        write(ftl, sector, host.new_page(sector))
    });
    phase(name, "hot read", CALLS, ftl, &mut |ftl| {
        let sector = host.hot();
        read(ftl, host, sector, back)
    });
}

/// What is measured after a mount.
fn later_phases(name: &str, ftl: &mut Measured<'_>, host: &mut Host) {
    let back = &mut [0; PAGE];
    phase(name, "random read after a mount", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        read(ftl, host, sector, back)
    });
    phase(name, "sequential read", CALLS, ftl, &mut |ftl| {
        let sector = host.in_order();
        read(ftl, host, sector, back)
    });
    phase(name, "sequential write", CALLS, ftl, &mut |ftl| {
        let sector = host.in_order();
        write(ftl, sector, host.new_page(sector))
    });
    phase(name, "idle step", CALLS / 10, ftl, &mut |ftl| match time(|| ftl.maintain(IDLE)) {
        (taken, Ok(_)) => taken,
        (_, Err(error)) => fail(format_args!("idle work failed: {error}")),
    });
    phase(name, "trim", CALLS / 10, ftl, &mut |ftl| {
        let sector = host.random();
        host.versions[sector.get() as usize] = 0;
        match time(|| ftl.trim(sector, SectorCount::new(1))) {
            (taken, Ok(())) => taken,
            (_, Err(error)) => fail(format_args!("{sector} cannot be trimmed: {error}")),
        }
    });
    for sector in 0..host.used {
        read(ftl, host, Sector::new(sector), back);
    }
    println!("{name}: all {} sectors read as they were written last", host.used);
}

/// Formats or mounts, and tells what it took.
#[inline(never)]
fn start<'ram>(
    profile: &Profile,
    memory: &'ram mut Memory,
    chip: &'ram mut Chip,
    verb: &str,
) -> Measured<'ram> {
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
            tally.add(taken, ftl.device().asked().since(before));
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
    let mut host = Host { versions, page, numbers: Numbers::new(1), next: 0, used: 0, hot: 1 };
    for profile in &PROFILES {
        host.versions.fill(0);
        (host.used, host.hot, host.next) = (profile.used, profile.hot, profile.used);
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
