//! What is typed to choose a run: flags that several commands have, and what they mean to the simulator.

pub(crate) mod choices;
pub mod device;
pub(crate) mod numbers;
pub mod options;
pub mod workload;
