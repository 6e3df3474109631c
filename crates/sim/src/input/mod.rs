//! What a run is given: requests, a device, and the names by which they are chosen.

pub mod device;
pub mod profile;
pub mod size;
pub mod spec;
pub mod synth;
pub mod trace;
pub mod workload;
