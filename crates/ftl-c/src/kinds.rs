//! What differs between the FTLs where C meets them: configurations, and the reasons why a device is not mounted.

use core::ffi::CStr;

use ftl_core::paged::{self, Feature, PagedMountError, PagedShapeError};
use ftl_core::{FtlKind, Hybrid, MountError, OtherFormat, PageStore, ShapeError};

use crate::config::{Config, HybridConfig};
use crate::error::Error;
use crate::told::Fault;

/// An FTL as C knows it.
pub(crate) trait Face: FtlKind {
    /// Its configuration in C.
    type C: Copy;
    /// Marks the RAM of a mounted device.
    const MAGIC: usize;

    /// The configuration as the FTL knows it.
    fn checked(config: &Self::C) -> Result<Self::Config, Fault>;

    /// Why a configuration does not fit.
    fn misfit(misfit: &Self::Misfit) -> Fault;

    /// Why a device was not formatted or mounted.
    fn refused(error: &Self::MountError<i32>) -> Fault;
}

impl Face for PageStore {
    type C = Config;
    const MAGIC: usize = 0x5A6E_0B57;

    fn checked(config: &Config) -> Result<paged::PagedConfig, Fault> {
        config.checked()
    }

    fn misfit(misfit: &PagedShapeError) -> Fault {
        let (what, number) = match misfit {
            PagedShapeError::SectorBytes => {
                (c"sector_bytes: a power of two from 512 to the smaller page", 0)
            }
            PagedShapeError::SpareBytes => {
                (c"spare_bytes: too few for a page's tag; choose larger sectors", 0)
            }
            PagedShapeError::BlockSlots => {
                (c"sector_bytes: a block has more than 8190 sectors; choose larger ones", 0)
            }
            PagedShapeError::Places => {
                (c"sector_bytes: the chip has more than 2^30 sectors; choose larger ones", 0)
            }
            PagedShapeError::Table => {
                (c"dirty_entries: those of two blocks at least, 2^24 at most", 0)
            }
            PagedShapeError::Cache => (c"cached_leaves: two at least", 0),
            PagedShapeError::Anchors => (c"anchor_blocks: none, or two and more", 0),
            PagedShapeError::WordLines => {
                (c"pages_per_block: a block that holds a header needs two word lines", 0)
            }
            PagedShapeError::NotBuilt(feature) => (lacking(*feature), 0),
            PagedShapeError::Capacity { main, .. } => (
                c"capacity: it needs more blocks than the chip has; detail.number of the main area",
                *main,
            ),
            _ => (c"the configuration", 0),
        };
        Fault::saying(Error::Misfit, what).and_number(number)
    }

    fn refused(error: &PagedMountError<i32>) -> Fault {
        match *error {
            PagedMountError::WrongPlan => Error::Misfit.into(),
            PagedMountError::NotFormatted => Error::NotFormatted.into(),
            PagedMountError::OfHybrid => Error::OtherFtl.into(),
            PagedMountError::OtherVersion(other) => other_format(other),
            PagedMountError::DamagedHeader => Error::DamagedHeader.into(),
            PagedMountError::OtherConfig(other) => {
                Fault::saying(Error::OtherConfig, setting(other.setting))
                    .and_number(other.formatted)
            }
            PagedMountError::BlockFailed => Error::WornOut.into(),
            PagedMountError::Device(code) => Fault::of_driver(code),
            PagedMountError::Corrupt | _ => Error::Corrupt.into(),
        }
    }
}

fn other_format(other: OtherFormat) -> Fault {
    match other {
        OtherFormat::Earlier(version) => Fault::numbered(Error::EarlierVersion, version.into()),
        OtherFormat::Later(version) => Fault::numbered(Error::OtherVersion, version.into()),
        OtherFormat::Features(features) => Fault::numbered(Error::Features, features),
        _ => Error::OtherVersion.into(),
    }
}

const fn setting(setting: paged::FormatSetting) -> &'static CStr {
    use paged::FormatSetting;
    match setting {
        FormatSetting::AnchorBlocks => c"anchor_blocks",
        FormatSetting::SectorBytes => c"sector_bytes",
        FormatSetting::Capacity => c"capacity",
        FormatSetting::DirtyEntries => c"dirty_entries",
        FormatSetting::PairedPages => c"guard_pairs",
        FormatSetting::MainBlocks => c"blocks of the main area",
        FormatSetting::MainPageBytes => c"page_bytes of the main area",
        FormatSetting::MainPages => c"pages_per_block of the main area",
        FormatSetting::MainPairing => c"pairing of the main area",
        FormatSetting::FastBlocks => c"blocks of the fast area",
        FormatSetting::FastPageBytes => c"page_bytes of the fast area",
        FormatSetting::FastPages => c"pages_per_block of the fast area",
        FormatSetting::FastPairing => c"pairing of the fast area",
        #[allow(unreachable_patterns, reason = "a format may get more settings")]
        _ => c"a setting",
    }
}

impl Face for Hybrid {
    type C = HybridConfig;
    const MAGIC: usize = 0x4B1D_0B57;

    fn checked(config: &HybridConfig) -> Result<ftl_core::Config, Fault> {
        config.checked()
    }

    fn misfit(misfit: &ShapeError) -> Fault {
        let (what, number) = match misfit {
            ShapeError::SectorBytes(_) => {
                (c"sector_bytes: a power of two from 512 to the smaller page", 0)
            }
            ShapeError::SlotsPerPage { .. } | ShapeError::TooManySectors { .. } => {
                (c"sector_bytes: too many sectors; choose larger ones", 0)
            }
            ShapeError::SpareBytes { needed, .. } => {
                (c"spare_bytes: too few for a page's tag; detail.number are needed", *needed as u32)
            }
            ShapeError::TooManyBlocks { .. } => (c"blocks: more than 65534 for chains", 0),
            ShapeError::TooManyLogBlocks { .. } => (c"log_blocks: more than 65534", 0),
            ShapeError::LogRegion(_) => (c"log: the chip has no such region", 0),
            ShapeError::LogBlocks { .. } => (c"log_blocks: two at least, or no log", 0),
            ShapeError::LogPages { .. } | ShapeError::MetaPages { .. } => {
                (c"pages_per_block: too few", 0)
            }
            ShapeError::LogPlaces => (c"log_blocks: too many sectors in the log", 0),
            ShapeError::ChainLogBlocks { most } => (c"chain_log_blocks: 1 to detail.number", *most),
            ShapeError::Capacity { most, .. } => (c"capacity: 1 to detail.number", most.get()),
            ShapeError::Index(_) => (c"table_entries or table_probes", 0),
            _ => (c"the configuration", 0),
        };
        Fault::saying(Error::Misfit, what).and_number(number)
    }

    #[allow(
        clippy::useless_conversion,
        reason = "a number of blocks has 16 bits, or 32 with the feature `wide`"
    )]
    fn refused(error: &MountError<i32>) -> Fault {
        match *error {
            MountError::WrongPlan => Error::Misfit.into(),
            MountError::TooFewBlocks { needed, .. } => {
                Fault::numbered(Error::TooFewBlocks, u32::from(needed))
            }
            MountError::NotFormatted => Error::NotFormatted.into(),
            MountError::OfPageStore => Error::OtherFtl.into(),
            MountError::Version(other) => other_format(other),
            MountError::DamagedHeader => Error::DamagedHeader.into(),
            MountError::OtherConfig(other) => {
                Fault::saying(Error::OtherConfig, hybrid_setting(other.setting))
                    .and_number(other.formatted)
            }
            MountError::BlockFailed => Error::WornOut.into(),
            MountError::Device(code) => Fault::of_driver(code),
            MountError::Corrupt | _ => Error::Corrupt.into(),
        }
    }
}

const fn hybrid_setting(setting: ftl_core::FormatSetting) -> &'static CStr {
    use ftl_core::FormatSetting;
    match setting {
        FormatSetting::MetaBlocks => c"blocks before the log or the chains",
        FormatSetting::SectorBytes => c"sector_bytes",
        FormatSetting::Capacity => c"capacity",
        FormatSetting::LogBlocks => c"log_blocks",
        FormatSetting::ChainBlocks => c"blocks of the chains",
        FormatSetting::FirstPageBytes => c"page_bytes of the first region",
        FormatSetting::FirstPages => c"pages_per_block of the first region",
        FormatSetting::FirstPairing => c"pairing of the first region",
        FormatSetting::ChainPageBytes => c"page_bytes of the chains",
        FormatSetting::ChainPages => c"pages_per_block of the chains",
        FormatSetting::ChainPairing => c"pairing of the chains",
        FormatSetting::TableEntries => c"table_entries",
        FormatSetting::TableProbes => c"table_probes",
        FormatSetting::TableProbing => c"quadratic",
        _ => c"a setting",
    }
}

/// The field that asks for a feature that the library was built without.
const fn lacking(feature: Feature) -> &'static CStr {
    match feature {
        Feature::Anchors => c"anchor_blocks: the library was built without anchors",
        Feature::FastArea => c"two regions: the library was built without a fast area",
        Feature::History => c"heed_history: the library was built without history",
        Feature::Bursts => c"bursts_to_fast: the library was built without bursts",
        Feature::Throttle => c"fast_cycles, main_cycles: the library was built without a throttle",
        Feature::Lifetimes => {
            c"streams of 5, or cost_benefit: the library was built without lifetimes"
        }
        Feature::PairedPages => c"guard_pairs: the library was built without paired pages",
        Feature::Refresh => {
            c"refresh_fast_bits, refresh_main_bits: the library was built without refresh"
        }
        Feature::WearLeveling => c"level_from: the library was built without wear leveling",
        _ => c"the library was built without a feature that the configuration asks for",
    }
}
