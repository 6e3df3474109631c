//! Each FTL at work on a microcontroller, the page store first, as firmware uses it: static memory of the plan's
//! lengths, format, mount, write, read, trim, and losses of power, each survived without losing anything that was
//! acknowledged.
//!
//! When power is lost the FTL is dropped, its memory overwritten, and another FTL finds the chip again. It is lost
//! between two requests and inside them, before, within and after an operation: from then on the chip refuses every
//! call.
#![no_std]
#![no_main]

#[cfg(target_arch = "arm")]
use cortex_m_rt::entry;
use ftl_core::{FtlKind, Hybrid, MountedFtl, NoProbe, PageStore, Plan};
use ftl_iface::{BlockStore, PageCount, Sector, SectorCount, StoreWriteError};
#[cfg(target_arch = "riscv32")]
use riscv_rt::entry;
use semihosting::println;
use static_cell::ConstStaticCell;
use tandem_firmware::board::{self, fail};
use tandem_firmware::chips::{ChipError, Cut, RamChip};
use tandem_firmware::memory::Memory;
use tandem_firmware::memory_for;
use tandem_firmware::numbers::Numbers;
use tandem_firmware::part::{TINY, TINY_HYBRID, TINY_PAGED, TINY_SECTORS};
use tandem_firmware::plans::{plan, plan_hybrid};
use tandem_firmware::setup::Setup;

const PAGED: Setup<PageStore> =
    Setup { name: "the page store", config: TINY_PAGED, plan: plan(&TINY, &TINY_PAGED) };
const HYBRID: Setup<Hybrid> =
    Setup { name: "the hybrid", config: TINY_HYBRID, plan: plan_hybrid(&TINY, &TINY_HYBRID) };

const SECTORS: usize = TINY_SECTORS as usize;
const SECTOR: usize = 1024;
/// The longest request, in sectors.
const LONGEST: usize = 8;

/// Lives of the device between two losses of power.
const LIVES: u32 = 400;
/// A life ends within so many programs and erases.
const LONGEST_LIFE: u32 = 60;

/// What a loss of power does to the operation in flight, by turns. None: it is lost between two requests.
const CUTS: [Option<Cut>; 4] = [None, Some(Cut::After), Some(Cut::Before), Some(Cut::Torn)];

type Demo<'ram, K> = <K as FtlKind>::Mounted<'ram, &'ram mut RamChip, NoProbe>;
type WriteError = StoreWriteError<ChipError>;

/// What the host has written: the version of each sector, zero for those that read as zeros.
struct DemoHost {
    versions: [u16; SECTORS],
    latest: u16,
    numbers: Numbers,
}

/// A request that changes something.
#[derive(Clone, Copy)]
enum Change {
    Write { first: usize, count: usize },
    Trim { first: usize, count: usize },
}

impl Change {
    /// The sectors that it may change.
    fn sectors(self) -> core::ops::Range<usize> {
        let (Self::Write { first, count } | Self::Trim { first, count }) = self;
        first..first + count
    }
}

impl DemoHost {
    /// Fills a sector with what nobody else writes: made of its number and version, all zeros for version zero.
    fn fill(sector: usize, version: u16, data: &mut [u8]) {
        let mut state = (sector as u32) << 16 | u32::from(version);
        for word in data.chunks_exact_mut(4) {
            let value = if version == 0 { 0 } else { state };
            word.copy_from_slice(&value.to_le_bytes());
            state = state.wrapping_mul(0x9E37_79B1).rotate_left(9);
        }
    }

    fn is_version(sector: usize, version: u16, data: &[u8]) -> bool {
        let mut expected = [0; SECTOR];
        Self::fill(sector, version, &mut expected);
        data == expected
    }

    fn next_change(&mut self) -> Change {
        let count = 1 + self.numbers.below(LONGEST as u32) as usize;
        let first = self.numbers.below((SECTORS - count) as u32 + 1) as usize;
        if self.numbers.below(8) == 0 {
            Change::Trim { first, count }
        } else {
            Change::Write { first, count }
        }
    }

    /// The version that the sectors of that change get.
    fn version_after(&self, change: Change) -> u16 {
        match change {
            Change::Write { .. } => self.latest + 1,
            Change::Trim { .. } => 0,
        }
    }

    /// Asks for it. The truth is not touched: that is for whoever knows how it went.
    fn ask(
        &self,
        change: Change,
        ftl: &mut impl BlockStore<Error = ChipError>,
    ) -> Result<(), WriteError> {
        match change {
            Change::Write { first, count } => {
                let mut data = [0; LONGEST * SECTOR];
                for (at, sector) in data.chunks_exact_mut(SECTOR).take(count).enumerate() {
                    Self::fill(first + at, self.version_after(change), sector);
                }
                ftl.write(Sector::new(first as u32), &data[..count * SECTOR])
            }
            Change::Trim { first, count } => {
                ftl.trim(Sector::new(first as u32), SectorCount::new(count as u32))
            }
        }
    }

    /// Notes that it was acknowledged.
    fn acknowledge(&mut self, change: Change) {
        let version = self.version_after(change);
        self.versions[change.sectors()].fill(version);
        self.latest = self.latest.max(version);
    }

    /// Compares every sector with the truth. Those of a request that was in flight may be as before it or as it asked;
    /// which of the two is the truth from now on.
    fn compare(&mut self, ftl: &mut impl BlockStore, in_flight: Option<Change>) {
        let mut data = [0; SECTOR];
        for sector in 0..SECTORS {
            if let Err(error) = ftl.read(Sector::new(sector as u32), &mut data) {
                fail(format_args!("sector {sector} cannot be read: {error}"));
            }
            let before = self.versions[sector];
            if Self::is_version(sector, before, &data) {
                continue;
            }
            match in_flight.filter(|change| change.sectors().contains(&sector)) {
                Some(change) if Self::is_version(sector, self.version_after(change), &data) => {
                    self.versions[sector] = self.version_after(change);
                }
                _ => fail(format_args!("sector {sector} lost what was acknowledged: {before}")),
            }
        }
        if let Some(change) = in_flight {
            self.latest = self.latest.max(self.version_after(change));
        }
    }
}

/// Every kind of request once, and a clean mount.
fn first_steps<K: FtlKind>(
    setup: &Setup<K>,
    memory: &mut Memory,
    chip: &mut RamChip,
    host: &mut DemoHost,
) {
    let mut ftl = setup.format(memory, &mut *chip, NoProbe);
    host.compare(&mut ftl, None);
    println!("formatted: {} of {} read as zeros", ftl.capacity(), ftl.sector_bytes());
    let steps = [
        Change::Write { first: 0, count: LONGEST },
        Change::Write { first: 3, count: 1 },
        Change::Trim { first: 5, count: 2 },
        Change::Write { first: SECTORS - 1, count: 1 },
    ];
    for change in steps {
        if let Err(error) = host.ask(change, &mut ftl) {
            fail(format_args!("a request failed: {error}"));
        }
        host.acknowledge(change);
        host.compare(&mut ftl, None);
    }
    let beyond = ftl.write(Sector::new(SECTORS as u32), &[0; SECTOR]);
    if !matches!(beyond, Err(StoreWriteError::OutOfRange { .. })) {
        fail(format_args!("a write beyond the end was not refused"));
    }
    drop(ftl);
    memory.forget();
    host.compare(&mut setup.mount(memory, &mut *chip, NoProbe), None);
    println!("written, read back, trimmed, mounted again, and compared");
}

/// One life: requests until the power is lost. Says which one was in flight.
fn live<K: FtlKind>(ftl: &mut Demo<'_, K>, host: &mut DemoHost, requests: u32) -> Option<Change> {
    for _ in 0..requests {
        let change = host.next_change();
        match host.ask(change, ftl) {
            Ok(()) => host.acknowledge(change),
            Err(_) if ftl.device().is_dead() => return Some(change),
            Err(error) => fail(format_args!("a request failed: {error}")),
        }
        let budget = PageCount::new(host.numbers.below(4));
        match ftl.maintain(budget) {
            Ok(_) => {}
            Err(_) if ftl.device().is_dead() => return None,
            Err(error) => fail(format_args!("idle work failed: {error}")),
        }
    }
    None
}

/// Loses the power again and again, and compares everything after each time.
fn many_lives<K: FtlKind>(
    setup: &Setup<K>,
    memory: &mut Memory,
    chip: &mut RamChip,
    host: &mut DemoHost,
) {
    let mut inside = 0;
    for life in 0..LIVES {
        let end = host.numbers.below(LONGEST_LIFE);
        let requests = match CUTS[life as usize % CUTS.len()] {
            Some(cut) => {
                chip.cut_after(end, cut);
                // Every write programs a page at least, so that the cut comes first.
                u32::MAX
            }
            None => 1 + end / 4,
        };
        let in_flight = live::<K>(&mut setup.mount(memory, &mut *chip, NoProbe), host, requests);
        inside += u32::from(chip.is_dead());
        chip.restore_power();
        memory.forget();
        host.compare(&mut setup.mount(memory, &mut *chip, NoProbe), in_flight);
        // A new version for each write of the longest life would not fit 16 bits for ever.
        if host.latest > u16::MAX - 1_000 {
            fail(format_args!("the host ran out of versions: shorten the demonstration"));
        }
    }
    println!("power lost {} times between requests and {inside} times inside them", LIVES - inside);
    println!(
        "{} writes, and after each loss all {SECTORS} sectors compared: none lost",
        host.latest
    );
}

/// All of it with one FTL, which formats the chip.
fn demonstrate<K: FtlKind>(setup: &Setup<K>, memory: &mut Memory, chip: &mut RamChip) {
    let (tables, state) = (setup.plan.total_bytes(), size_of::<Demo<'_, K>>());
    println!("{}: {tables} bytes of tables and {state} of state", setup.name);
    let mut host = DemoHost { versions: [0; SECTORS], latest: 0, numbers: Numbers::new(1) };
    first_steps(setup, memory, chip, &mut host);
    many_lives(setup, memory, chip, &mut host);
}

#[entry]
fn main() -> ! {
    static CHIP: ConstStaticCell<RamChip> = ConstStaticCell::new(RamChip::new());
    let memory = memory_for!(PAGED.plan, HYBRID.plan);
    let (Some(mut memory), Some(chip)) = (memory, CHIP.try_take()) else {
        fail(format_args!("the memory was taken before"));
    };
    demonstrate(&PAGED, &mut memory, chip);
    demonstrate(&HYBRID, &mut memory, chip);
    println!("PASSED");
    board::end(0)
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
    fail(format_args!("{info}"))
}
