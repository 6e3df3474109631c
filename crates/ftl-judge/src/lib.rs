//! A judge for NAND drivers in C: a driver talks SPI to a simulated chip, and is held to the contract by its clauses.
//!
//! ```text
//!      program in C             tandem_judge.h
//!            │ tandem_judge_driver                          ┌── tandem_judge_transfer ◀─┐
//!      ┌─────▼──────┐                                       │                           │
//!      │ contract   │ trials   what is examined             │                    driver in C
//!      ├────────────┤                                       │                           ▲
//!      │   watch    │          each call of the driver ─────┼── read, program, erase … ─┘
//!      ├────────────┤                                       │
//!      │   blame    │ told     which command was at fault   │
//!      ├────────────┤                                       │
//!      │    bus     │ log      every command         ◀──────┘
//!      ├────────────┤
//!      │   cells    │          a chip of nand-model, its faults, its power
//!      └────────────┘
//! ```
//!
//! `include/tandem_judge.h` is made from these files: what C programmers read there are the comments here.
//! `docs/PORTING.md` shows how to build the static library and how to use it. It is for hosts.
//!
//! # What it sees
//!
//! Everything that `ftl-conformance` sees from above. Since it knows the chip below, also what a good chip does not
//! show in an hour: pages that cannot be corrected, failing programs, erases and marks, marks of the factory, a bus
//! that fails. A breach names the clause, and the command on the bus that was at fault: one that the chip did not take,
//! one that was missing, one whose answer was taken wrongly, or the one that changed what was not to be changed.
//!
//! # What it does not see
//!
//! The model has one data line and the commands that all makers share, and takes the same time for each. The chip is
//! always ready in the end, and a driver that loops for ever is not ended. Only SPI NAND has a model: drivers for other
//! buses are examined on their board, by `tandem_examine`.
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the header is read by C programmers, and says once what each pointer must be"
)]

mod blame;
mod bus;
mod cells;
mod clause;
mod contract;
mod face;
mod figures;
mod judge;
mod log;
mod sent;
mod told;
mod trials;
mod watch;

pub use bus::{JUDGE_NO_POWER, JUDGE_REFUSED};
pub use clause::JudgeClause;
pub use face::*;
pub use figures::{JUDGE_SEE_DETAIL, JUDGE_UNCORRECTABLE, JudgeChip, JudgeSpare};
pub use judge::Judge;
pub use told::{Breach, JUDGE_NOWHERE};
pub use watch::JudgeDriver;
