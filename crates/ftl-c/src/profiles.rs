//! Named profiles: a chip, a configuration, and the RAM that both take, as a constant.

use ftl_core::paged::{Feature, PagedConfig, PagedPlan};
use ftl_core::{Config, Hybrid, IndexConfig, PageStore, RamPlan, WriteBackConfig};
use ftl_iface::SectorCount;

use crate::device::ram_bytes;
use crate::nand::{Geometry, Pages, Region};

/// Profiles of the page store, for `tandem_profile`. The chips are SPI NAND of 64 pages of 2 KiB a block, with 16 spare
/// bytes; they correct one bit of a codeword (`refresh_main_bits` of the configuration, if yours corrects more).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Profile {
    /// 1 Gbit in 24 KiB, with anchors for quick mounts.
    OneGbit = 1,
    /// 1 Gbit in 17 KiB: a mount reads every block.
    OneGbitSmall = 2,
    /// 512 Mbit in 14 KiB: a mount reads every block.
    HalfGbitSmall = 3,
    /// 1 Gbit in 12 KiB, for a library without the features that `docs/C.md` says can be left out.
    OneGbitLeast = 4,
    /// 512 Mbit in 10.5 KiB, for such a library.
    HalfGbitLeast = 5,
}

/// Profiles of the hybrid, for `tandem_hybrid_profile`, with the same chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum HybridProfile {
    /// 1 Gbit with 64 blocks of log.
    OneGbit = 1,
    /// 512 Mbit in the least RAM: 4 blocks of log.
    HalfGbit = 2,
}

/// Sizes as a header of C's can have them: literals, for pointers of that many bits. That they are right is asserted
/// below.
#[cfg(target_pointer_width = "32")]
mod bytes {
    /// RAM of `TANDEM_PROFILE_ONE_GBIT`.
    pub const RAM_ONE_GBIT: usize = 24_576;
    /// RAM of `TANDEM_PROFILE_ONE_GBIT_SMALL`.
    pub const RAM_ONE_GBIT_SMALL: usize = 17_408;
    /// RAM of `TANDEM_PROFILE_HALF_GBIT_SMALL`.
    pub const RAM_HALF_GBIT_SMALL: usize = 14_336;
    /// RAM of `TANDEM_PROFILE_ONE_GBIT_LEAST`.
    pub const RAM_ONE_GBIT_LEAST: usize = 12_288;
    /// RAM of `TANDEM_PROFILE_HALF_GBIT_LEAST`.
    pub const RAM_HALF_GBIT_LEAST: usize = 11_136;
    /// RAM of `TANDEM_HYBRID_PROFILE_ONE_GBIT`.
    pub const HYBRID_RAM_ONE_GBIT: usize = 26_624;
    /// RAM of `TANDEM_HYBRID_PROFILE_HALF_GBIT`.
    pub const HYBRID_RAM_HALF_GBIT: usize = 9_472;
}

#[cfg(target_pointer_width = "64")]
mod bytes {
    /// RAM of `TANDEM_PROFILE_ONE_GBIT`.
    pub const RAM_ONE_GBIT: usize = 25_088;
    /// RAM of `TANDEM_PROFILE_ONE_GBIT_SMALL`.
    pub const RAM_ONE_GBIT_SMALL: usize = 17_920;
    /// RAM of `TANDEM_PROFILE_HALF_GBIT_SMALL`.
    pub const RAM_HALF_GBIT_SMALL: usize = 14_848;
    /// RAM of `TANDEM_PROFILE_ONE_GBIT_LEAST`.
    pub const RAM_ONE_GBIT_LEAST: usize = 12_544;
    /// RAM of `TANDEM_PROFILE_HALF_GBIT_LEAST`.
    pub const RAM_HALF_GBIT_LEAST: usize = 11_392;
    /// RAM of `TANDEM_HYBRID_PROFILE_ONE_GBIT`.
    pub const HYBRID_RAM_ONE_GBIT: usize = 26_880;
    /// RAM of `TANDEM_HYBRID_PROFILE_HALF_GBIT`.
    pub const HYBRID_RAM_HALF_GBIT: usize = 9_800;
}

pub use bytes::*;

const fn chip(blocks: u32) -> Geometry {
    Geometry {
        slc: Region {
            blocks,
            pages_per_block: 64,
            page_bytes: 2048,
            spare_bytes: 16,
            cell_bits: 1,
            pairing: Pages::Unpaired as u32,
        },
        mlc: Region {
            blocks: 0,
            pages_per_block: 0,
            page_bytes: 0,
            spare_bytes: 0,
            cell_bits: 0,
            pairing: Pages::Unpaired as u32,
        },
    }
}

/// Sectors of a chip of 1,024 blocks, as many as Dhara exports at a GC ratio of 4.
const EXPORTED: u32 = 47_824;

impl Profile {
    pub(crate) fn of(number: u32) -> Option<Self> {
        let all = [
            Self::OneGbit,
            Self::OneGbitSmall,
            Self::HalfGbitSmall,
            Self::OneGbitLeast,
            Self::HalfGbitLeast,
        ];
        all.into_iter().find(|profile| *profile as u32 == number)
    }

    pub(crate) const fn geometry(self) -> Geometry {
        match self {
            Self::OneGbit | Self::OneGbitSmall | Self::OneGbitLeast => chip(1024),
            Self::HalfGbitSmall | Self::HalfGbitLeast => chip(512),
        }
    }

    pub(crate) const fn config(self) -> PagedConfig {
        const BASE: PagedConfig =
            PagedConfig { capacity: Some(SectorCount::new(EXPORTED)), ..PagedConfig::SMALL };
        const HALF: PagedConfig = PagedConfig {
            capacity: Some(SectorCount::new(EXPORTED / 2)),
            anchor_blocks: 0,
            ..BASE
        };
        match self {
            Self::OneGbit => PagedConfig { dirty_entries: 848, ..BASE },
            Self::OneGbitSmall => PagedConfig { dirty_entries: 182, anchor_blocks: 0, ..BASE },
            Self::HalfGbitSmall => PagedConfig { dirty_entries: 195, ..HALF },
            Self::OneGbitLeast => PagedConfig { dirty_entries: 128, anchor_blocks: 0, ..BASE },
            Self::HalfGbitLeast => PagedConfig { dirty_entries: 128, ..HALF },
        }
        .as_built()
    }

    const fn ram_bytes(self) -> usize {
        let Ok(geometry) = ftl_iface::Geometry::new(Some(self.geometry().slc.plain()), None) else {
            panic!("no chip has that shape")
        };
        match PagedPlan::new(&geometry, &self.config()) {
            Ok(plan) => ram_bytes::<PageStore>([plan.halves(), plan.words(), plan.bytes()]),
            Err(_) => panic!("the profile does not fit its chip"),
        }
    }
}

impl HybridProfile {
    pub(crate) fn of(number: u32) -> Option<Self> {
        [Self::OneGbit, Self::HalfGbit].into_iter().find(|profile| *profile as u32 == number)
    }

    pub(crate) const fn geometry(self) -> Geometry {
        match self {
            Self::OneGbit => chip(1024),
            Self::HalfGbit => chip(512),
        }
    }

    pub(crate) const fn config(self) -> Config {
        // Chains are no slower than the log here: what is hot need not follow its chain out of it.
        const WRITE_BACK: WriteBackConfig =
            WriteBackConfig { follow_log_blocks: false, ..Config::HYBRID.write_back };
        match self {
            Self::OneGbit => Config {
                capacity: Some(SectorCount::new(EXPORTED)),
                index: IndexConfig { entries: Some(2_900), ..Config::HYBRID.index },
                write_back: WRITE_BACK,
                mapping_cache_entries: 2,
                chain_sketch_halves: 2,
                ..Config::one_region(64)
            },
            // So small a log turns often, and would stand idle if it had to wear no faster than the chains.
            Self::HalfGbit => Config {
                capacity: Some(SectorCount::new(EXPORTED / 2)),
                index: IndexConfig { entries: Some(128), ..Config::HYBRID.index },
                mapping_cache_entries: 1,
                throttle: false,
                write_back: WRITE_BACK,
                ..Config::one_region(4)
            },
        }
    }

    const fn ram_bytes(self) -> usize {
        let Ok(geometry) = ftl_iface::Geometry::new(Some(self.geometry().slc.plain()), None) else {
            panic!("no chip has that shape")
        };
        match RamPlan::new(&geometry, &self.config()) {
            Ok(plan) => ram_bytes::<Hybrid>([plan.halves(), plan.words(), plan.bytes()]),
            Err(_) => panic!("the profile does not fit its chip"),
        }
    }
}

/// Whether this library has the features that take RAM on a chip of one region, or none of them.
const TAKES_MOST: bool = Feature::Lifetimes.is_built() && Feature::WearLeveling.is_built();
const TAKES_LEAST: bool = !Feature::FastArea.is_built()
    && !Feature::Lifetimes.is_built()
    && !Feature::WearLeveling.is_built();

/// A constant suffices for its profile, and is not much more. With wide block numbers, which only a workspace of hosts
/// builds, a device is larger than the header says.
const fn suits(given: usize, needed: usize) {
    if ftl_core::WIDE {
        return;
    }
    assert!(given >= needed, "the constant is too small for its profile");
    assert!(given < needed + 512, "the constant is larger than its profile needs");
}

const _: () = {
    if TAKES_MOST {
        suits(RAM_ONE_GBIT, Profile::OneGbit.ram_bytes());
        suits(RAM_ONE_GBIT_SMALL, Profile::OneGbitSmall.ram_bytes());
        suits(RAM_HALF_GBIT_SMALL, Profile::HalfGbitSmall.ram_bytes());
    }
    if TAKES_LEAST {
        suits(RAM_ONE_GBIT_LEAST, Profile::OneGbitLeast.ram_bytes());
        suits(RAM_HALF_GBIT_LEAST, Profile::HalfGbitLeast.ram_bytes());
    }
    suits(HYBRID_RAM_ONE_GBIT, HybridProfile::OneGbit.ram_bytes());
    suits(HYBRID_RAM_HALF_GBIT, HybridProfile::HalfGbit.ram_bytes());
};
