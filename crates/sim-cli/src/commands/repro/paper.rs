//! The paper's values: L.-P. Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", IEEE Transactions on
//! Computers 59(10), 2010. Its plots have no figures; the values in its text are here.

use super::formula::Known;

/// The two traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workload {
    Ntfs,
    Ext3,
}

impl Workload {
    pub(crate) const ALL: [Self; 2] = [Self::Ntfs, Self::Ext3];

    /// The name of the synthetic workload that stands for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ntfs => "ntfs",
            Self::Ext3 => "ext3",
        }
    }
}

/// Writes of the NTFS trace (section 5.3.2): a month of them.
pub(crate) const WRITES: u64 = 1_534_627;

/// The percentage of reads in our workloads; the paper does not say.
const READS: u64 = 40;

/// Requests of a month: the paper's writes, and our reads.
pub(crate) const MONTH: u64 = (WRITES * 100).div_ceil(100 - READS);

/// Table 3: the conventional disk and the hybrid one, each under [`Workload::ALL`].
pub(crate) const TABLE_3: [[Known; 2]; 2] = [
    [
        Known { alpha: 0.0, n1: 0.0, n2: 0.0, n3: 48.4, n4: 2.0, p1: 0.034, p2: 0.028 },
        Known { alpha: 0.0, n1: 0.0, n2: 0.0, n3: 81.5, n4: 1.97, p1: 0.012, p2: 0.011 },
    ],
    [
        Known { alpha: 0.17, n1: 12.58, n2: 10.29, n3: 44.08, n4: 1.92, p1: 0.011, p2: 0.017 },
        Known { alpha: 0.23, n1: 10.38, n2: 8.63, n3: 82.18, n4: 1.92, p1: 0.005, p2: 0.009 },
    ],
];

/// How far a figure of ours may differ from the paper's and still agree with it, as a factor.
pub(crate) const WITHIN: f64 = 1.15;

/// RS at 256 MiB of SLC, from the text (sections 5.3.2 and 5.3.3): configuration, workload, ratio.
pub(crate) const RS: [(&str, Workload, f64); 3] =
    [("c3", Workload::Ntfs, 1.84), ("c1", Workload::Ntfs, 1.3), ("c3", Workload::Ext3, 1.38)];

/// The paper's results of the closed formula.
pub(super) const RS_BY_FORMULA: [f64; 2] = [1.76, 1.4];

/// Table 4: MiB of SLC; EC; ES under NTFS and under ext3.
pub(super) const TABLE_4: [(u64, f64, [f64; 2]); 5] = [
    (32, 1.005, [0.838, 0.942]),
    (64, 1.010, [0.689, 0.870]),
    (128, 1.020, [0.580, 0.786]),
    (256, 1.041, [0.542, 0.736]),
    (512, 1.082, [0.522, 0.709]),
];

/// Erase cycles of an SLC block per cycle of an MLC block (Table 2): the throttle limits BW to this.
pub(super) const ENDURANCE_RATIO: [(&str, f64); 2] = [("c2", 10.0), ("c3", 20.0)];
