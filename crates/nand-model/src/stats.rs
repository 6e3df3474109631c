//! Statistics of a chip: operations, time and energy.

use ftl_iface::Region;

use crate::energy::Energy;
use crate::part::Nanos;

/// What a region was asked for, and the time that took on idle hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RegionTally {
    /// Page reads, partial ones included.
    pub reads: u64,
    /// Page programs.
    pub programs: u64,
    /// Block erases.
    pub erases: u64,
    /// The sum of the operations' own times, transfers included and waiting left out.
    pub busy: Nanos,
}

/// What a region did and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionStats {
    /// Operations and their time.
    pub tally: RegionTally,
    /// The energy of that time at the part's active current.
    pub energy: Energy,
}

/// What a chip did since it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipStats {
    /// The SLC region's share; zeros where there is none.
    pub slc: RegionStats,
    /// The MLC region's share; zeros where there is none.
    pub mlc: RegionStats,
    /// The moment at which the last operation ends.
    pub elapsed: Nanos,
    /// The standby energy of dies until then.
    pub idle_energy: Energy,
}

impl ChipStats {
    /// That region's share.
    pub const fn region(&self, region: Region) -> &RegionStats {
        match region {
            Region::Slc => &self.slc,
            Region::Mlc => &self.mlc,
        }
    }

    /// All of the energy, idle time included.
    pub fn energy(&self) -> Energy {
        self.slc.energy + self.mlc.energy + self.idle_energy
    }
}
