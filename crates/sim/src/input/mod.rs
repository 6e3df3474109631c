//! What a run is given: requests, a device, and what is typed to choose them.

pub mod device;
pub mod options;
pub(crate) mod size;
pub(crate) mod spec;
pub mod synth;
pub mod trace;
pub mod workload;
