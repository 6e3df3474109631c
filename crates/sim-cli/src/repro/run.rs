//! A run: its workload, its system, and its length.

use super::paper::Workload;

/// One run: its workload and its system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) workload: Workload,
    pub(super) device: &'static str,
    /// The system with its parameters.
    pub(super) system: String,
    /// MiB of SLC; the conventional disk has none.
    pub(super) slc: u64,
    /// The sector size, if not the device's.
    pub(super) sector: Option<u32>,
    /// The divisor of its number of requests.
    pub(super) one_in: u64,
}

/// Bytes that the paper's disk exports.
pub(crate) const EXPORTED: u64 = 20 << 30;

/// The paper's default size of SLC, in MiB.
pub(super) const SLC: u64 = 256;

impl Run {
    pub(super) fn conventional(workload: Workload, device: &'static str) -> Self {
        // The system uses only the MLC.
        Self { workload, device, system: "conventional".into(), slc: SLC, sector: None, one_in: 1 }
    }

    pub(super) fn hybrid(workload: Workload, device: &'static str, slc: u64) -> Self {
        // Half as many entries as places, instead of our default.
        Self { slc, system: "hybrid?entries=half".into(), ..Self::conventional(workload, device) }
    }
}

/// The length of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) requests: u64,
    pub(super) seed: u64,
    pub(super) passes: u32,
}

/// The divisor of the number of requests for Figure 11, which has more runs than all other figures together, each
/// longer because of its small sectors. Figure 8b, whose disks are filled first, uses it, too.
pub(super) const IN_MANY_RUNS: u64 = 3;

impl Length {
    /// The length of a run.
    pub(super) fn of(self, run: &Run) -> Self {
        Self { requests: (self.requests / run.one_in).max(1), ..self }
    }

    /// The workload's name in full.
    pub(super) fn trace(&self, workload: Workload) -> String {
        format!("synth:{}?requests={}&seed={}", workload.name(), self.requests, self.seed)
    }
}
