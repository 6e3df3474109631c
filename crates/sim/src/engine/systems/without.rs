//! Systems without their SLC: what tells the gain of the SLC from that of the FTL.

use ftl_iface::Region;

use super::{Chosen, Kind, Slc, ours};
use crate::base::Failure;
use crate::input::device::Setup;

/// The systems that run on a device without SLC as they are. Others are built for two memories: where the device has
/// one, a part of it is made an SLC, so that nothing is left out.
const WITHOUT: [&str; 2] = ["hybrid", "paged"];

/// The system that the hybrid is without its log.
const BASELINE: &str = "conventional";

/// What a system is without its SLC.
#[derive(Clone, Debug)]
pub enum Without {
    /// The same system on the device without SLC.
    Own(Chosen),
    /// The system of that index in the comparison, whose run is the same.
    Same(usize),
    /// Nothing that could run.
    Nothing(NotRun),
}

/// Why a system was not run without its SLC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// It is built for two memories.
    BuiltForBoth,
    /// It runs without SLC, but not on this device at this size: for that reason, with what helps.
    Unfit(String),
}

impl Setup {
    /// Whether the device has an SLC that it could do without: beside a memory of another kind.
    pub(crate) fn has_slc_to_spare(&self) -> bool {
        Region::ALL.iter().all(|region| self.part.geometry.region(*region).is_some())
    }

    /// The same device without SLC, which is neither used nor paid for.
    pub(super) fn without_slc(&self) -> Result<Self, Failure> {
        let part = self.part.clone().with_slc_bytes(0)?;
        Ok(Self { part, log_bytes: Some(0), ..self.clone() })
    }

    /// Whether the SLC is made of the other memory's cells, as drives on sale have it: block chains are no measure on
    /// blocks of that size.
    pub(crate) fn is_pseudo_slc(&self) -> bool {
        let (slc, mlc) = (self.part.geometry.slc(), self.part.geometry.mlc());
        let (Some(slc), Some(mlc)) = (slc, mlc) else { return false };
        let mode = self.part.region(Region::Mlc).and_then(|part| part.slc_mode);
        mode.is_some_and(|mode| mode.pages_per_block == slc.pages_per_block)
            && slc.page_bytes == mlc.page_bytes
    }
}

impl Chosen {
    /// The system without SLC.
    fn without_slc(&self) -> Self {
        Self { slc: Slc::None, ..self.clone() }
    }

    /// The system without SLC, where it can do without, and fits the device then.
    pub(super) fn fitting_without_slc(&self, setup: &Setup) -> Result<Option<Self>, Failure> {
        let can_do_without = WITHOUT.contains(&self.base()) && !self.is_chains();
        if !self.uses_slc() || !setup.has_slc_to_spare() || !can_do_without {
            return Ok(None);
        }
        let without = self.without_slc();
        Ok(without.unfit(setup)?.is_none().then_some(without))
    }

    /// Whether this system is that one with a log before it: without its SLC it is the same.
    pub fn is_with_log(&self, other: &Self) -> bool {
        self.is_chains() && other.name == BASELINE
    }

    /// Whether the system without its log is the conventional one.
    fn is_chains(&self) -> bool {
        let Kind::Listed(entry, values) = &self.kind else { return false };
        let shares = |name| values.is_given(name);
        entry.name == "hybrid" && !ours::CONVENTIONAL.iter().any(|parameter| shares(parameter.name))
    }
}

/// What each of the systems is without its SLC; `None` for one that has none on this device.
pub fn without_slc(systems: &[Chosen], setup: &Setup) -> Result<Vec<Option<Without>>, Failure> {
    let baseline = systems.iter().position(|system| system.name == BASELINE);
    let one = |system: &Chosen| {
        if !system.uses_slc() || !setup.has_slc_to_spare() {
            return Ok(None);
        }
        if let Some(at) = baseline.filter(|_| system.is_chains()) {
            return Ok(Some(Without::Same(at)));
        }
        if !WITHOUT.contains(&system.base()) {
            return Ok(Some(Without::Nothing(NotRun::BuiltForBoth)));
        }
        let without = system.without_slc();
        let Some(reason) = without.unfit(setup)? else { return Ok(Some(Without::Own(without))) };
        let remedy = without.quick_remedy(&setup.without_slc()?);
        Ok(Some(Without::Nothing(NotRun::Unfit(format!("{reason}{remedy}")))))
    };
    systems.iter().map(one).collect()
}
