//! The registry: an entry for each system of this repository.

use super::system::Session;
use super::{ours, paged, pslc, rivals, schemes};
use crate::base::Failure;
use crate::input::device::Setup;
use crate::input::spec::{Parameter, Values};

/// Builds a system and runs a session on it.
type BuildAndRun = fn(&Setup, &Values, &mut dyn Session) -> Result<(), Failure>;

/// An entry of the registry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Whether the SLC's size makes a difference to it.
    pub(super) uses_slc: bool,
    pub(super) power: PowerLoss,
    pub(super) run: BuildAndRun,
}

/// The effect of a power loss on acknowledged data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PowerLoss {
    /// It survives.
    Survived,
    /// It is lost: the map is in RAM, and the paper does not say how it is recovered.
    Fatal,
}

impl PowerLoss {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Survived => "power-safe",
            Self::Fatal => "loses data",
        }
    }
}

/// The systems of this repository.
pub(super) const SYSTEMS: &[Entry] = &[
    Entry {
        name: "paged",
        title: "one page map over SLC and MLC; small hot writes and the map itself in the SLC",
        parameters: &paged::PAGED,
        uses_slc: true,
        power: PowerLoss::Survived,
        run: paged::paged,
    },
    Entry {
        name: "hybrid",
        title: "a log, in the SLC if there is one, takes small hot writes, block chains the rest (Chang 2010)",
        parameters: &ours::HYBRID,
        uses_slc: true,
        power: PowerLoss::Survived,
        run: ours::hybrid,
    },
    Entry {
        name: "conventional",
        title: "the same block chains alone, without a log: the paper's baseline",
        parameters: &ours::CONVENTIONAL,
        uses_slc: false,
        power: PowerLoss::Survived,
        run: ours::conventional,
    },
    Entry {
        name: "page-slc",
        title: "a page map, all of the capacity in SLC: the ceiling",
        parameters: &rivals::PAGE_MAP,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::page_slc,
    },
    Entry {
        name: "page-mlc",
        title: "a page map over the MLC alone: the floor",
        parameters: &rivals::PAGE_MAP,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::page_mlc,
    },
    Entry {
        name: "sepgc",
        title: "host writes and copies in blocks of their own: page-mlc with cost-benefit",
        parameters: &schemes::BY_AGE,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: schemes::sep_gc,
    },
    Entry {
        name: "d-choices",
        title: "the least valid of a few blocks drawn at random is collected (Van Houdt 2013)",
        parameters: &schemes::D_CHOICES,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: schemes::d_choices,
    },
    Entry {
        name: "sepbit",
        title: "six classes of blocks, by when data was and will be replaced (Wang et al. 2022)",
        parameters: &schemes::BY_AGE,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: schemes::sep_bit,
    },
    Entry {
        name: "midas",
        title: "a chain of groups by age, whose sizes a model sets (Oh et al. 2024)",
        parameters: &schemes::MIDAS,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: schemes::midas,
    },
    Entry {
        name: "ko",
        title: "short requests to the SLC; pages not updated there move to the MLC (Ko et al. 2011)",
        parameters: &rivals::KO,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::ko,
    },
    Entry {
        name: "combo",
        title: "a hot and a warm SLC region in front of the MLC (Im and Shin 2010)",
        parameters: &rivals::COMBO,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::combo,
    },
    Entry {
        name: "ahdm",
        title: "pages written often enough move to the SLC (Batni and Safaei)",
        parameters: &rivals::AHDM,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::ahdm,
    },
    Entry {
        name: "density",
        title: "MLC blocks in SLC mode for hot data (Kgil et al. 2008, as described by Chang)",
        parameters: &rivals::DENSITY,
        uses_slc: true,
        power: PowerLoss::Fatal,
        run: rivals::density,
    },
    Entry {
        name: "disk-cache",
        title: "SLC and MLC of one chip as a cache in front of a hard disk (Hong and Shin 2010)",
        parameters: &rivals::DISK_CACHE,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::disk_cache,
    },
    Entry {
        name: "multi-scm",
        title: "two byte-addressable memories, a small fast one and a large one (Kinoshita et al. 2018)",
        parameters: &rivals::MULTI_SCM,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: rivals::multi_scm,
    },
    Entry {
        name: "pslc",
        title: "all writes go to a cache of MLC blocks in SLC mode, as in SSDs sold today",
        parameters: &pslc::PSLC,
        uses_slc: false,
        power: PowerLoss::Fatal,
        run: pslc::pslc,
    },
];
