//! The calls of a host, for programs that are looked at, and never run. The code of each call is the FTL's, which the
//! compiler puts into it. All that is given to the FTL comes from [`black_box`], so that nothing of it is folded away.

use core::hint::{black_box, spin_loop};

use ftl_core::{FtlKind, Lent, MountedFtl, NoProbe};
use ftl_iface::{BlockStore, PageCount, Sector, SectorCount};

use crate::chips::BlackBox;
use crate::memory::Memory;

const PAGE: usize = 2048;

#[inline(never)]
fn write(ftl: &mut impl BlockStore, sector: Sector, data: &[u8]) -> bool {
    ftl.write(sector, data).is_ok()
}

#[inline(never)]
fn read(ftl: &mut impl BlockStore, sector: Sector, data: &mut [u8]) -> bool {
    ftl.read(sector, data).is_ok()
}

#[inline(never)]
fn trim(ftl: &mut impl BlockStore, sector: Sector, count: SectorCount) -> bool {
    ftl.trim(sector, count).is_ok()
}

#[inline(never)]
fn flush(ftl: &mut impl BlockStore) -> bool {
    ftl.flush().is_ok()
}

#[inline(never)]
fn maintain(ftl: &mut impl BlockStore, budget: PageCount) -> bool {
    ftl.maintain(budget).is_ok()
}

type Bare<'ram, K> = <K as FtlKind>::Mounted<'ram, BlackBox, NoProbe>;

#[inline(never)]
fn format<'ram, K: FtlKind>(config: &K::Config, ram: Lent<'ram, K::Plan>) -> Option<Bare<'ram, K>> {
    K::format(BlackBox, config, ram, black_box(1), NoProbe).ok()
}

#[inline(never)]
fn mount<'ram, K: FtlKind>(config: &K::Config, ram: Lent<'ram, K::Plan>) -> Option<Bare<'ram, K>> {
    K::mount(BlackBox, config, ram, NoProbe).ok()
}

#[inline(never)]
fn stop<K: FtlKind>(ftl: &mut Bare<'_, K>) -> bool {
    ftl.stop().is_ok()
}

/// Makes every call there is of a host's.
fn use_all<K: FtlKind>(ftl: &mut Bare<'_, K>) -> bool {
    let mut data = black_box([0; 4 * PAGE]);
    let length = black_box(data.len()).min(4 * PAGE);
    let data = data.get_mut(..length).unwrap_or(&mut []);
    let sector = Sector::new(black_box(0));
    write(ftl, sector, data)
        & read(ftl, sector, data)
        & trim(ftl, sector, SectorCount::new(black_box(1)))
        & flush(ftl)
        & maintain(ftl, PageCount::new(black_box(1)))
        & stop::<K>(ftl)
}

/// All that there is of an FTL, and nothing else.
pub fn link<K: FtlKind>(plan: &K::Plan, config: K::Config, memory: Option<Memory>) -> ! {
    let config = black_box(config);
    if let Some(mut memory) = memory {
        if let Some(ram) = memory.lend(plan)
            && let Some(mut ftl) = format::<K>(&config, ram)
        {
            black_box(use_all::<K>(&mut ftl));
        }
        if let Some(ram) = memory.lend(plan)
            && let Some(mut ftl) = mount::<K>(&config, ram)
        {
            black_box(use_all::<K>(&mut ftl));
        }
    }
    loop {
        spin_loop();
    }
}

/// The panic handler of a program in which no panic may be reached: it calls a function that does not exist. Where the
/// linker asks for it, something can panic.
#[macro_export]
macro_rules! no_panic_links {
    () => {
        mod missing {
            #![allow(
                unsafe_code,
                reason = "a function that does not exist cannot be declared otherwise"
            )]

            unsafe extern "C" {
                safe fn a_panic_is_reachable() -> !;
            }

            #[panic_handler]
            fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
                a_panic_is_reachable()
            }
        }
    };
}
