//! Loads by name: substitutes for published traces whose files are missing.
//!
//! Each is one of the rules of `places`, with the published figures of the trace: its share of reads, and its size if a
//! study does not scale it to its disk. These and the assumptions are shown beside the results.

use super::kind::{COMMON, LoadKind, SKEWED};
use crate::input::spec::Parameter;

const fn with(parameter: Parameter, default: &'static str) -> Parameter {
    Parameter { default, ..parameter }
}

/// Requests of that size, with that percentage of reads, and some places hotter than others.
const fn skewed(size: &'static str, reads: &'static str, hot: &'static str) -> [Parameter; 7] {
    let [requests, seed, of, footprint, share, interval, skew] = SKEWED;
    [requests, seed, with(of, size), footprint, with(share, reads), interval, with(skew, hot)]
}

/// Requests of that size, one place after the other.
const fn in_order(size: &'static str, reads: &'static str) -> [Parameter; 6] {
    let [requests, seed, of, footprint, share, interval] = COMMON;
    [requests, seed, with(of, size), footprint, with(share, reads), interval]
}

const fn kind(
    name: &'static str,
    title: &'static str,
    rule: &'static str,
    parameters: &'static [Parameter],
) -> LoadKind {
    LoadKind { name, title, rule, parameters }
}

/// `tandem repro` shows beside its figures what is published of each, and what is not.
pub(super) const LOADS: [LoadKind; 12] = [
    kind("rsrch_0", "MSR Cambridge rsrch_0, write-hot", "zipf", &skewed("8KiB", "9", "0.99")),
    kind("stg_1", "MSR Cambridge stg_1, read-cold", "zipf", &skewed("8KiB", "64", "0.6")),
    kind("web_2", "MSR Cambridge web_2, hardly a write", "zipf", &skewed("8KiB", "99", "0.6")),
    kind("prxy_0", "MSR Cambridge prxy_0, write-hot", "zipf", &skewed("4KiB", "3", "0.99")),
    kind("hm_0", "MSR Cambridge hm_0, write-cold", "zipf", &skewed("4KiB", "35", "0.6")),
    kind("prxy_1", "MSR Cambridge prxy_1, read-hot", "zipf", &skewed("4KiB", "65", "0.99")),
    kind("proj_3", "MSR Cambridge proj_3, read-cold", "zipf", &skewed("4KiB", "95", "0.6")),
    kind("financial1", "OLTP, SPC's Financial1", "zipf", &skewed("4KiB", "23", "0.9")),
    kind("financial2", "OLTP, SPC's Financial2", "zipf", &skewed("4KiB", "82", "0.9")),
    kind("iozone", "IOzone, mostly writes", "zipf", &skewed("16KiB", "20", "0.6")),
    kind("bonnie", "bonnie++'s long requests", "sequential", &in_order("64KiB", "50")),
    kind("photoshop", "an editor's long requests", "sequential", &in_order("64KiB", "30")),
];
