//! The kinds of workloads: each has a name, a rule, and parameters.

use crate::input::spec::Parameter;

/// The parameters of workloads with requests of one size.
pub(super) const COMMON: [Parameter; 6] = [
    Parameter { name: "requests", default: "1000000", title: "number of requests" },
    Parameter { name: "seed", default: "1", title: "another seed gives other requests" },
    Parameter { name: "size", default: "4KiB", title: "size of each request" },
    Parameter { name: "footprint", default: "all", title: "bytes of the disk that are accessed" },
    Parameter { name: "reads", default: "0", title: "percent of the requests that are reads" },
    Parameter { name: "interval_us", default: "1000", title: "time between arrivals" },
];

/// The same with the skew.
pub(super) const SKEWED: [Parameter; 7] = {
    let [requests, seed, size, footprint, reads, interval] = COMMON;
    let skew = Parameter {
        name: "skew",
        default: "0.99",
        title: "0 is uniform; larger values make hot data hotter",
    };
    [requests, seed, size, footprint, reads, interval, skew]
};

/// Those of two writers.
pub(super) const WRITERS: [Parameter; 7] = {
    let [requests, seed, size, footprint, _, interval] = COMMON;
    let speed = Parameter {
        name: "speed",
        default: "4",
        title: "how many times as much the first writer writes as the second",
    };
    let hints = Parameter {
        name: "hints",
        default: "on",
        title: "on: each write says that its data lives short (the first writer's) or long",
    };
    [requests, seed, size, footprint, interval, speed, hints]
};

/// A kind of synthetic workload.
pub(super) struct LoadKind {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The rule by which its places are chosen; its own name, if it is a rule.
    pub(super) rule: &'static str,
    pub(super) parameters: &'static [Parameter],
}
