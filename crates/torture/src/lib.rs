//! Power-cut tests: power fails in every operation of a workload, and the result is compared with what was
//! acknowledged.
//!
//! ```text
//!   steps ──▶ life ──▶ FTL ──▶ device ──▶ the chip, which lives on
//!              │                  │
//!            truth                └──▶ at every operation, a fork of the chip for each fate of it:
//!              │                       a life in turn, of which the truth knows what was in flight
//!              └──▶ a sector that is neither old nor new: a violation, and the command that repeats it
//! ```
//!
//! # What is required of an FTL
//!
//! - Every sector reads as last acknowledged; those of the request in flight read as before or as requested, and from
//!   the mount on always as found then. Trimmed sectors read as zeros.
//! - A sector is reported lost only if a page that held it was made unreadable, and never reads as something else
//!   later.
//! - Every mount succeeds and ends; every request succeeds and ends, as long as reserve is left.
//! - Its own invariants, such as [`Ftl::check`](ftl_core::Ftl::check), hold at every check.
//! - No rule of the chip is broken, and nothing panics. A device that failed permanently is not used any more, and no
//!   request succeeds on it.
//!
//! # Modules
//!
//! - [`setup`]: devices and configurations. [`plan`]: what a run does. [`run`]: runs, many in parallel.
//! - [`worlds`]: devices, configurations and lives drawn at random. [`watch`]: follows a run, and may end it.
//! - `on_flash`: an FTL's layout on a device. `subject`: the FTL, formatted and mounted. `hybrid`, `paged`: the two of
//!   `ftl-core`. `tags`: the tags of their pages. `account`, `cause_probe`: the cause of each operation.
//! - [`steps`]: the host's requests. [`truth`]: what was acknowledged. `life`: both on a device.
//! - `test_device`: the device that forks a branch at each cut. [`fate`]: the outcomes of a cut. [`faults`]: other
//!   faults. `reserve`: their effects, and how many blocks may fail. `unreadable_pages`: pages that they made
//!   unreadable; `compared`: comparisons in which such pages are found.
//! - [`script`]: any bytes as steps, for fuzzers. [`hostile`]: images altered with intent.
//! - [`report`]: what was tried, and what was violated; [`told`]: for programs. [`dice`]: random numbers from a seed.
//!   `panics`: panics as results. `history`: the last operations on the device.
#![forbid(unsafe_code)]

pub mod dice;
pub mod exhaustive;
pub mod fate;
pub mod faults;
pub mod hostile;
pub mod plan;
pub mod report;
pub mod run;
pub mod script;
pub mod setup;
pub mod steps;
pub mod told;
pub mod truth;
pub mod watch;
pub mod worlds;

mod account;
mod cause_probe;
mod compared;
mod history;
mod hybrid;
mod life;
mod memory;
mod on_flash;
mod paged;
mod panics;
pub mod played;
mod reserve;
mod subject;
mod sudden;
mod tags;
mod test_device;
mod unreadable_pages;
mod wrong_mounts;

pub use fate::{Cut, Fate};
pub use faults::Faults;
pub use plan::{Cuts, Nested, Plan};
pub use report::{Breach, ReadBack, Tally, Violation};
pub use run::{Outcome, follow_script, seeds, torture};
pub use setup::{FtlName, Setup, System};
pub use steps::{Step, Workload};
pub use watch::{Unwatched, Watcher};
