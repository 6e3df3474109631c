//! Torture: power fails in every operation of a workload, and whatever comes of it is compared with the truth of what
//! was acknowledged.
//!
//! ```text
//!   steps ──▶ life ──▶ FTL ──▶ crossing ──▶ the chip, which lives on
//!              │                  │
//!            truth                └──▶ at every operation, a fork of the chip for each fate of it:
//!              │                       a life in turn, of which the truth knows what was in flight
//!              └──▶ a sector that is neither old nor new: a violation, and the line that shows it again
//! ```
//!
//! # What is held against an FTL
//!
//! - Every sector reads as it was acknowledged last; those of the request in flight as before or as asked for, and
//!   from the mount on always as found then. Trimmed sectors read as zeros.
//! - A sector is reported lost only if a page that held it was made unreadable, and does not come back as something
//!   else.
//! - Every mount succeeds and ends; every request is done, and ends, as long as reserve is left.
//! - Every invariant that it names itself, such as [`Ftl::check`](ftl_core::Ftl::check), holds whenever it is asked.
//! - No rule of the chip is broken, and nothing panics. A device that has failed for good is asked for nothing more,
//!   and no request is answered as if it had not.
//!
//! # Modules
//!
//! - [`setup`]: devices and configurations. [`plan`]: what a run is to do. [`run`]: runs, many beside each other.
//! - [`worlds`]: devices, configurations and lives drawn at random. [`watch`]: who is told, and may end a run.
//! - `on_flash`: an FTL as it lies on a device. `subject`: the same, formatted and mounted. `hybrid`, `paged`: the two
//!   of `ftl-core`. `tags`: what their pages say. `account`, `teller`: on whose account they ask.
//! - [`steps`]: what the host asks for. [`truth`]: what was acknowledged. `life`: both against a device.
//! - `crossing`: the device from which roads lead off. [`fate`]: where they lead. [`faults`]: what else goes wrong.
//!   `reserve`: what faults do, and how many blocks may fail. `injury`: pages that they made unreadable.
//! - [`script`]: any bytes as steps, for fuzzers. [`hostile`]: images altered with intent.
//! - [`report`]: what was tried, and what was broken. [`dice`]: numbers by a seed. `panics`: panics as results.
//!   `history`: what the device was asked last.
#![forbid(unsafe_code)]

pub mod dice;
pub mod fate;
pub mod faults;
pub mod hostile;
pub mod plan;
pub mod report;
pub mod run;
pub mod script;
pub mod setup;
pub mod steps;
pub mod truth;
pub mod watch;
pub mod worlds;

mod account;
mod crossing;
mod history;
mod hybrid;
mod injury;
mod life;
mod on_flash;
mod paged;
mod panics;
mod reserve;
mod subject;
mod tags;
mod teller;

pub use fate::{Cut, Fate};
pub use faults::Faults;
pub use plan::{Cuts, Nested, Plan};
pub use report::{Breach, Found, Tally, Violation};
pub use run::{Outcome, follow_script, torture};
pub use setup::{FtlName, Setup, System};
pub use steps::{Step, Workload};
pub use watch::{Unwatched, Watcher};
