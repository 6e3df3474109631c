//! The simulator of SSDs with SLC and MLC as a library: a device, a system and requests in, a result out.
//!
//! ```text
//!   requests, traces, synth ──▶ workload ──▶ replay: host ──▶ systems ──▶ ftl-core, ftl-rivals
//!                                               │  verifies all reads        │
//!                                           RunResult                     nand-model
//! ```
//!
//! # A run
//!
//! 1. A device: [`DeviceChoice`] names one of `devices/` or a file, and its size; [`Setup::of`] takes any
//!    [`Part`](nand_model::part::Part).
//! 2. A system: [`Chosen::parse`] takes its name, with parameters as in `hybrid?filter=off`. One of your own is an
//!    [`Own`](engine::systems::own::Own).
//! 3. Requests: [`Workload::of_requests`] takes yours, [`Workload::of_bytes`] a trace in any of the
//!    [formats](input::trace::formats), [`Workload::synthetic`] makes them. With the feature `files`,
//!    `Workload::named` reads files.
//! 4. [`run`] replays them as [`Options`] say, and returns a [`RunResult`]; [`run_all`] does so on several systems. An
//!    [`Observer`] hears how far a run is, and may [`Stop`] it; `()` does neither. An
//!    [`RunObserver`](engine::replay::RunObserver) sees the system meanwhile.
//! 5. [`outage::run`](engine::outage::run) lets power fail in a run, mounts the system again, and reads all of it back.
//!
//! ```
//! use nand_model::part::Nanos;
//! use sim::{Chosen, DeviceChoice, Failure, Op, Options, Request, Workload};
//!
//! let setup = DeviceChoice::named("tiny").setup()?;
//! let system = Chosen::parse("paged").map_err(Failure::Arguments)?;
//! let write = |at: u64| {
//!     let (time, offset) = (Nanos::from_micros(at * 500), at % 8 * 4096);
//!     Request::new(time, Op::Write, offset, 4096)
//! };
//! let workload = Workload::of_requests("eight places", (0..100).map(write).collect())?;
//! let result = sim::run(&workload, &Options::default(), &setup, &system, &())?;
//! assert_eq!(result.requests.writes, 100);
//! println!("{:?} us a write", result.write_us.mean);
//! # Ok::<(), Failure>(())
//! ```
//!
//! # Features
//!
//! All are on by default. Without any, the library needs no threads, no files and no code in C, and builds for
//! WebAssembly. `threads`: several systems replay at once; their figures are the same. `files`: traces by the names of
//! files, and the file that keeps a chip. `compression`: traces packed by bzip2, xz or Zstandard.
//!
//! # Layers
//!
//! From the highest down. A module uses those of lower layers only.
//!
//! 1. [`engine`]: from requests to results. `sweep`: a plan's runs. [`comparison`](engine::comparison): systems side
//!    by side. [`replay`](engine::replay): requests served and timed. `host`: splits them into sectors and verifies
//!    what is read. [`systems`](engine::systems): what is below the host, an entry for each. [`image`](engine::image):
//!    a chip kept in a file. [`outage`](engine::outage): power cuts. [`result`](engine::result): the content of a run's
//!    JSON.
//! 2. [`input`]: [`trace`](input::trace): requests from files. [`synth`](input::synth): synthetic requests.
//!    [`workload`](input::workload): these, one after the other. [`profile`](input::profile): counts of them.
//!    [`device`](input::device): the device. `size`, `spec`: sizes and names with parameters, as typed.
//! 3. `base`: what both use. [`Failure`]: why a run ended. [`Observer`]: who watches it. `clock`: the computer's.
//!    [`files`]: files read whole; `whole`: written whole. [`show`]: readable figures.
#![forbid(unsafe_code)]

pub mod engine;
pub mod input;

mod base;

#[cfg(feature = "files")]
pub use base::whole;
pub use base::{Failure, Observer, Stop, files, show};
pub use engine::replay::{Options, run, run_all};
pub use engine::result::RunResult;
pub use engine::systems::Chosen;
pub use input::device::{DeviceChoice, Setup};
pub use input::trace::{Op, Request};
pub use input::workload::Workload;
