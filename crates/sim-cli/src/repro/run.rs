//! A run: what is replayed on what, and for how long.

use super::paper::Workload;

/// One run: what is replayed on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) workload: Workload,
    pub(super) device: &'static str,
    /// With its parameters.
    pub(super) system: String,
    /// MiB of SLC; the conventional disk has none.
    pub(super) slc: u64,
    /// Another sector size than the device's.
    pub(super) sector: Option<u32>,
    /// It gets one in that many of the requests.
    pub(super) one_in: u64,
}

/// Bytes that the paper's disk exports.
pub(crate) const EXPORTED: u64 = 20 << 30;

/// Bytes that C1 exports here. Its blocks have 128 KiB, and tables of two bytes an entry, the paper's and ours, number
/// no more than 65,534 of them.
pub(crate) const EXPORTED_BY_C1: u64 = 7 << 30;

/// The paper's size of SLC, in MiB, where nothing else is reported.
pub(super) const SLC: u64 = 256;

impl Run {
    pub(super) fn conventional(workload: Workload, device: &'static str) -> Self {
        // What the device has beside its MLC, the system leaves alone.
        Self { workload, device, system: "conventional".into(), slc: SLC, sector: None, one_in: 1 }
    }

    pub(super) fn hybrid(workload: Workload, device: &'static str, slc: u64) -> Self {
        // Half as many entries as places, whatever this house would choose.
        Self { slc, system: "hybrid?entries=half".into(), ..Self::conventional(workload, device) }
    }
}

/// How long the runs are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) requests: u64,
    pub(super) seed: u64,
    pub(super) passes: u32,
}

/// Figure 11 has more runs than all others together, and each is longer for its small sectors: they get one request in
/// that many. Figure 8b, whose disks are written whole first, gets as many.
pub(super) const IN_MANY_RUNS: u64 = 3;

impl Length {
    /// That of a run.
    pub(super) fn of(self, run: &Run) -> Self {
        Self { requests: (self.requests / run.one_in).max(1), ..self }
    }

    /// The workload's name in full.
    pub(super) fn trace(&self, workload: Workload) -> String {
        format!("synth:{}?requests={}&seed={}", workload.name(), self.requests, self.seed)
    }
}
