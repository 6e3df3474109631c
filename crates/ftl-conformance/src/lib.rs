//! Tests whether a driver keeps the contract of [`NandDevice`](ftl_iface::NandDevice), on the chip itself, and names
//! the clause that is broken.
//!
//! ```text
//!   your driver ──▶ Examiner: a few blocks, a page of memory
//!                      │
//!                      ├─ examine            all that can be seen while power holds
//!                      ├─ examine_marks      what a bad-block mark does; costs a block
//!                      ├─ before_power_off   ─▶ power off and on ─▶  after_power_off
//!                      └─ before_power_fails, until_power_fails  ─▶ cut power anywhere ─▶ after_power_failed
//! ```
//!
//! It needs neither `std` nor an allocator, only the blocks and the memory that are lent to it. **The content of these
//! blocks is lost**; no other block is touched. A failure says which promise is broken, at which page, what was
//! expected and what was found.
//!
//! ```
//! use ftl_conformance::{Examiner, memory_bytes};
//! use ftl_iface::{Block, NandDevice, Region};
//! # use nand_model::{Chip, Content, datasheet};
//! # let part = datasheet::builtin("tiny")?;
//! # let mut driver = Chip::new(&part, Content::Bytes)?;
//! let mut memory = [0; memory_bytes(2048, 64)];
//! let blocks = [0, 1, 2].map(|number| Block::new(Region::Slc, number));
//! match Examiner::new(&mut driver, &blocks, &mut memory).and_then(|mut it| it.examine()) {
//!     Ok(()) => println!("the driver keeps its contract"),
//!     Err(why) => println!("{why}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! [`clause`]: the promises, one by one. [`breach`]: what is reported when one is broken. [`examiner`]: the checks
//! while power holds. [`power`]: those around a loss of power. `pattern`: what pages are filled with.
//!
//! Optimised, it contains no code that could panic: `libtandem.a` has it for drivers in C.
//!
//! # What it cannot tell
//!
//! Bit errors, worn-out blocks and failing programs are rare: a good chip shows none in an hour. Test how a driver
//! handles them on a model that can be told to fail.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod breach;
pub mod clause;
pub mod examiner;
pub mod power;

mod pattern;

pub use breach::{Breach, Location, Observed, Stopped};
pub use clause::Clause;
pub use examiner::{BLOCKS_MIN, Examiner, memory_bytes};
