//! The extension module of the package `tandem`: what its Python code calls.
//!
//! ```text
//!   tandem/*.py: names, arrays, results ──▶ _native ──▶ watched: a thread ──▶ sim, torture
//!                        ▲                                  │
//!                        └── progress, notes, Ctrl-C ◀──────┘
//! ```
//!
//! # Modules
//!
//! - `watched`: work on a thread of its own, without the interpreter's lock. `failed`: failures as exceptions.
//!   `typed`: what is typed as a string or a number.
//! - `device`, `workload`: what a run is given. `runs`, `sweep`, `torture`, `synth`: what is done with it. `lists`:
//!   what can be named.
//! - `system`: an FTL in Python, and `flash`: the device that it has. `quiet`: what it says
//!   to a rule that is broken.
#![forbid(unsafe_code)]
// What Python hands over is extracted, and then owned.
#![allow(clippy::needless_pass_by_value)]

use pyo3::prelude::*;

mod device;
mod failed;
mod flash;
mod lists;
mod quiet;
mod runs;
mod sweep;
mod synth;
mod system;
mod torture;
mod typed;
mod watched;
mod workload;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    /// Adds the version, which is the workspace's.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pymodule_export]
    use super::device::Device;
    #[pymodule_export]
    use super::flash::Flash;
    #[pymodule_export]
    use super::lists::{devices, formats, systems, table, workloads};
    #[pymodule_export]
    use super::runs::{compare, profile, replay};
    #[pymodule_export]
    use super::sweep::sweep;
    #[pymodule_export]
    use super::synth::{save, synth};
    #[pymodule_export]
    use super::torture::{cuts, script, small, worlds};
    #[pymodule_export]
    use super::workload::Workload;
}
