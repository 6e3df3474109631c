//! What a call costs: instructions, operations of the chip, and stack, by kinds of calls. The runner reads the lines
//! that start with `figure`. Every read is compared.

use core::fmt;

use ftl_core::Ftl;
use ftl_core::paged::PageFtl;
use ftl_iface::{BlockStore, NandDevice, PageCount, Sector, SectorCount};
use semihosting::println;

use crate::board::stack::Painted;
use crate::board::{self, Span, fail, time};
use crate::chips::{Asked, FILLER, HEAD, Meter};
use crate::numbers::Numbers;

/// The most sectors that a profile uses.
pub const USED_MOST: u32 = 47_824;
/// Bytes of a page.
pub const PAGE: usize = 2048;

/// Calls that are counted of each kind.
const CALLS: u32 = 10_000;
/// Pages of work that the host grants in an idle moment.
const IDLE: PageCount = PageCount::new(16);

/// An FTL whose chip tells what it was asked.
pub trait Measured: BlockStore<Error: fmt::Debug> {
    /// What the chip was asked so far.
    fn asked(&self) -> Asked;
}

impl<D: NandDevice> Measured for Ftl<'_, &mut Meter<D>> {
    fn asked(&self) -> Asked {
        self.device().asked()
    }
}

impl<D: NandDevice> Measured for PageFtl<'_, &mut Meter<D>> {
    fn asked(&self) -> Asked {
        self.device().asked()
    }
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
pub struct Host {
    versions: &'static mut [u32],
    page: &'static mut [u8; PAGE],
    numbers: Numbers,
    next: u32,
    used: u32,
    hot: u32,
}

impl Host {
    /// A host that has written nothing yet.
    pub fn new(versions: &'static mut [u32], page: &'static mut [u8; PAGE]) -> Self {
        Self { versions, page, numbers: Numbers::new(1), next: 0, used: 0, hot: 1 }
    }

    /// Begins anew, with that load.
    pub fn take_up(&mut self, load: Load) {
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
pub struct Tally {
    calls: u32,
    instructions: u64,
    worst: u32,
    asked: [u64; 3],
}

impl Tally {
    /// Adds a call.
    pub fn add(&mut self, taken: Span, asked: Asked) {
        let own = taken.without(asked.spent).instructions() - board::cost_of_measuring();
        self.calls += 1;
        self.instructions += u64::from(own);
        self.worst = self.worst.max(own);
        for (sum, more) in self.asked.iter_mut().zip([asked.reads, asked.programs, asked.erases]) {
            *sum += u64::from(more);
        }
    }

    /// Tells the figures.
    pub fn tell(&self, profile: &str, kind: &str, stack: usize) {
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
fn phase<F: Measured>(
    profile: &str,
    kind: &str,
    calls: u32,
    ftl: &mut F,
    call: &mut dyn FnMut(&mut F) -> Span,
) {
    let mut tally = Tally::default();
    let painted = Painted::below();
    for _ in 0..calls {
        let before = ftl.asked();
        let taken = call(ftl);
        tally.add(taken, ftl.asked().since(before));
    }
    tally.tell(profile, kind, painted.depth());
}

fn write<F: Measured>(ftl: &mut F, sector: Sector, page: &[u8]) -> Span {
    match time(|| ftl.write(sector, page)) {
        (taken, Ok(())) => taken,
        (_, Err(error)) => fail(format_args!("{sector} cannot be written: {error}")),
    }
}

fn read<F: Measured>(ftl: &mut F, host: &Host, sector: Sector, page: &mut [u8]) -> Span {
    match time(|| ftl.read(sector, page)) {
        (taken, Ok(())) if host.is_right(sector, page) => taken,
        (_, Ok(())) => fail(format_args!("{sector} does not read as it was written")),
        (_, Err(error)) => fail(format_args!("{sector} cannot be read: {error}")),
    }
}

/// Writes, and reads of what was written.
pub fn write_phases<F: Measured>(name: &str, ftl: &mut F, host: &mut Host) {
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
pub fn later_phases<F: Measured>(name: &str, ftl: &mut F, host: &mut Host) {
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
