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
    /// The divisor of its number of requests.
    pub(super) one_in: u64,
}

/// The paper's hybrid disk: half as many entries as places, instead of our default.
const HYBRID: &str = "hybrid?entries=half";

/// The conventional one.
const CONVENTIONAL: &str = "conventional";

/// Bytes that the paper's disk exports.
pub(crate) const EXPORTED: u64 = 20 << 30;

/// The paper's default size of SLC, in MiB.
pub(super) const SLC: u64 = 256;

impl Run {
    pub(super) fn conventional(workload: Workload, device: &'static str) -> Self {
        // The system uses only the MLC.
        Self { workload, device, system: CONVENTIONAL.into(), slc: SLC, one_in: 1 }
    }

    pub(super) fn hybrid(workload: Workload, device: &'static str, slc: u64) -> Self {
        Self { slc, system: HYBRID.into(), ..Self::conventional(workload, device) }
    }

    /// Whether it is one of those that figures show by block or by place: the paper's disks, at their default size.
    pub(super) fn is_shown_in_detail(&self) -> bool {
        self.one_in == 1
            && self.slc == SLC
            && [CONVENTIONAL, HYBRID].contains(&self.system.as_str())
    }
}

/// The length of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) requests: u64,
    pub(super) seed: u64,
    pub(super) passes: u32,
    /// Whether also the figures with the most runs have all requests.
    pub(super) is_whole: bool,
}

/// The divisor of the number of requests, unless the page is made at its full length, for figures that take longer
/// than all others together: Figure 11, which has the most runs; Figure 8b, whose disks are filled first; and the
/// baseline's freedoms.
pub(super) const IN_MANY_RUNS: u64 = 3;

impl Length {
    /// The run with all requests, if the page is made at its full length.
    pub(super) fn whole(self, run: Run) -> Run {
        Run { one_in: if self.is_whole { 1 } else { run.one_in }, ..run }
    }

    /// What a figure with many runs says of their length.
    pub(super) fn of_many_runs(self) -> String {
        let shorter = || format!(" These runs have one request in {IN_MANY_RUNS} of the others'.");
        if self.is_whole { String::new() } else { shorter() }
    }

    /// The length of a run.
    pub(super) fn of(self, run: &Run) -> Self {
        Self { requests: (self.requests / run.one_in).max(1), ..self }
    }

    /// The workload's name in full.
    pub(super) fn trace(&self, workload: Workload) -> String {
        format!("synth:{}?requests={}&seed={}", workload.name(), self.requests, self.seed)
    }
}
