//! What a call costs: instructions, operations of the chip, and stack, by kinds of calls. The runner reads the lines
//! that start with `figure`. Every read is compared.

use ftl_core::{FtlKind, MountedFtl, NoProbe, Plan};
use ftl_iface::{BlockStore, Geometry, PageCount, Sector, SectorCount};
use semihosting::println;
use static_cell::ConstStaticCell;

use crate::board::stack::Painted;
use crate::board::{self, Span, fail, time};
use crate::chips::{Asked, FILLER, HEAD, Meter, TagChip};
use crate::memory::Memory;
use crate::numbers::Numbers;

/// The most sectors that a profile uses.
const USED_MOST: u32 = 47_824;
/// Bytes of a page.
const PAGE: usize = 2048;

/// Calls that are counted of each kind.
const CALLS: u32 = 10_000;
/// Calls right after a mount: a block of pages, which pay for what the mount left.
const FIRST: u32 = 64;
/// Pages of work that the host grants in an idle moment.
const IDLE: PageCount = PageCount::new(16);

/// A chip that counts what it is asked.
type Chip = Meter<&'static mut TagChip>;

/// The FTL that is measured. Its chip is lent for one mount after the other.
type Running<'ram, K> = <K as FtlKind>::Mounted<'ram, &'ram mut Chip, NoProbe>;

/// A chip and a configuration to measure, and how full the chip is.
#[derive(Debug)]
pub struct Profile<K: FtlKind> {
    /// What the figures are called.
    pub name: &'static str,
    /// The chip.
    pub chip: &'static Geometry,
    /// What the FTL is told to be.
    pub config: K::Config,
    /// Its memory.
    pub plan: K::Plan,
    /// What the host does.
    pub load: Load,
}

/// Sectors that the host uses, and how many of them it writes again and again.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Sectors in use.
    pub used: u32,
    /// Sectors among them that are written again and again.
    pub hot: u32,
}

/// What the host has written: the version of each sector.
#[derive(Debug)]
struct Host {
    versions: &'static mut [u32],
    page: &'static mut [u8; PAGE],
    numbers: Numbers,
    next: u32,
    used: u32,
    hot: u32,
}

impl Host {
    /// A host that has written nothing yet.
    fn new(versions: &'static mut [u32], page: &'static mut [u8; PAGE]) -> Self {
        Self { versions, page, numbers: Numbers::new(1), next: 0, used: 0, hot: 1 }
    }

    /// Begins anew, with that load.
    fn take_up(&mut self, load: Load) {
        self.versions.fill(0);
        (self.used, self.hot, self.next) = (load.used, load.hot, load.used);
    }

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
    /// Adds a call.
    fn add(&mut self, taken: Span, asked: Asked) {
        let own = taken.without(asked.spent).instructions() - board::cost_of_measuring();
        self.calls += 1;
        self.instructions += u64::from(own);
        self.worst = self.worst.max(own);
        for (sum, more) in self.asked.iter_mut().zip([asked.reads, asked.programs, asked.erases]) {
            *sum += u64::from(more);
        }
    }

    /// Tells the figures.
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
fn phase<K: FtlKind>(
    profile: &str,
    kind: &str,
    calls: u32,
    ftl: &mut Running<'_, K>,
    call: &mut dyn FnMut(&mut Running<'_, K>) -> Span,
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

fn write(ftl: &mut impl BlockStore, sector: Sector, page: &[u8]) -> Span {
    match time(|| ftl.write(sector, page)) {
        (taken, Ok(())) => taken,
        (_, Err(error)) => fail(format_args!("{sector} cannot be written: {error}")),
    }
}

fn read(ftl: &mut impl BlockStore, host: &Host, sector: Sector, page: &mut [u8]) -> Span {
    match time(|| ftl.read(sector, page)) {
        (taken, Ok(())) if host.is_right(sector, page) => taken,
        (_, Ok(())) => fail(format_args!("{sector} does not read as it was written")),
        (_, Err(error)) => fail(format_args!("{sector} cannot be read: {error}")),
    }
}

/// Writes, and reads of what was written.
fn write_phases<K: FtlKind>(name: &str, ftl: &mut Running<'_, K>, host: &mut Host) {
    let back = &mut [0; PAGE];
    phase::<K>(name, "first sequential write", host.used, ftl, &mut |ftl| {
        let sector = host.in_order();
        write(ftl, sector, host.new_page(sector))
    });
    for _ in 0..host.used {
        let sector = host.random();
        write(ftl, sector, host.new_page(sector));
    }
    phase::<K>(name, "random write", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        write(ftl, sector, host.new_page(sector))
    });
    phase::<K>(name, "random read", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        read(ftl, host, sector, back)
    });
    for _ in 0..CALLS {
        let sector = host.hot();
        write(ftl, sector, host.new_page(sector));
    }
    phase::<K>(name, "hot write", CALLS, ftl, &mut |ftl| {
        let sector = host.hot();
        write(ftl, sector, host.new_page(sector))
    });
    phase::<K>(name, "hot read", CALLS, ftl, &mut |ftl| {
        let sector = host.hot();
        read(ftl, host, sector, back)
    });
}

/// What is measured after a mount, up to a clean stop.
fn later_phases<K: FtlKind>(name: &str, ftl: &mut Running<'_, K>, host: &mut Host) {
    let back = &mut [0; PAGE];
    phase::<K>(name, "random read after a mount", CALLS, ftl, &mut |ftl| {
        let sector = host.random();
        read(ftl, host, sector, back)
    });
    phase::<K>(name, "sequential write after a mount", FIRST, ftl, &mut |ftl| {
        let sector = host.in_order();
        write(ftl, sector, host.new_page(sector))
    });
    phase::<K>(name, "sequential read", CALLS, ftl, &mut |ftl| {
        let sector = host.in_order();
        read(ftl, host, sector, back)
    });
    phase::<K>(name, "sequential write", CALLS, ftl, &mut |ftl| {
        let sector = host.in_order();
        write(ftl, sector, host.new_page(sector))
    });
    phase::<K>(name, "idle step", CALLS / 10, ftl, &mut |ftl| match time(|| ftl.maintain(IDLE)) {
        (taken, Ok(_)) => taken,
        (_, Err(error)) => fail(format_args!("idle work failed: {error}")),
    });
    phase::<K>(name, "trim", CALLS / 10, ftl, &mut |ftl| {
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
    if let Err(error) = ftl.stop() {
        fail(format_args!("the clean stop failed: {error}"));
    }
}

/// Formats or mounts, and tells what it took.
#[inline(never)]
fn start<'ram, K: FtlKind>(
    profile: &Profile<K>,
    memory: &'ram mut Memory,
    chip: &'ram mut Chip,
    verb: &str,
) -> Running<'ram, K> {
    let Some(ram) = memory.lend(&profile.plan) else {
        fail(format_args!("the memory is shorter than the plan"));
    };
    let before = chip.asked();
    let painted = Painted::below();
    let (taken, outcome) = time(|| match verb {
        "format" => K::format(chip, &profile.config, ram, 0x5EED, NoProbe),
        _ => K::mount(chip, &profile.config, ram, NoProbe),
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

/// Measures one profile after the other, and ends the program.
pub fn measure_all<K: FtlKind>(profiles: &[Profile<K>], memory: Option<Memory>) -> ! {
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
    let (Some(mut memory), Some(chip), Some(versions), Some(page)) =
        (memory, CHIP.try_take(), VERSIONS.try_take(), PAGE_TO_WRITE.try_take())
    else {
        fail(format_args!("the memory was taken before"));
    };
    let mut chip = Meter::new(chip);
    let mut host = Host::new(versions, page);
    for profile in profiles {
        let name = profile.name;
        host.take_up(profile.load);
        chip.inner_mut().become_a(profile.chip);
        println!("figure {name}/ram/tables {}", profile.plan.total_bytes());
        println!("figure {name}/ram/state {}", size_of::<Running<'_, K>>());
        write_phases::<K>(name, &mut start(profile, &mut memory, &mut chip, "format"), &mut host);
        later_phases::<K>(name, &mut start(profile, &mut memory, &mut chip, "mount"), &mut host);
        let _ = start(profile, &mut memory, &mut chip, "mount after a clean stop");
    }
    println!("PASSED");
    board::end(0)
}
