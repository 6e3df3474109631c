//! The parts that page-mapped FTLs have in common, so that a paper's file holds only what is specific to the paper.
//!
//! ```text
//!   Mapped: a BlockStore; cuts requests into units, reads before it writes a part of one
//!      │ one unit at a time
//!   Policy: a paper's rules: where a unit goes, what is collected, what moves
//!      │ put, move, forget
//!   Units: the map, and the areas that the units lie in ──▶ Area: blocks, open blocks, free blocks, victims
//!      │                                                      lists: least recently used
//!      │                                                      tournament: worth that grows with age
//!   Flash: the door to the device; every operation with its cause and its tag
//! ```
//!
//! [`dram`] is a buffer in front of the flash; `least` finds the least worn of many places; `dice` are random numbers.
//!
//! A *unit* is the mapping unit, as large as the largest page in use. In a region of smaller pages it takes several.

pub mod area;
mod dice;
pub mod dram;
pub mod flash;
pub(crate) mod least;
pub mod lists;
pub mod mapped;
mod tournament;
pub mod units;
pub mod victim;

pub use area::{Area, AreaPlan, Lanes, Stream};
pub use dice::Dice;
pub use flash::{Fault, Flash};
pub use lists::Lists;
pub use mapped::{Backing, Figure, Mapped, Policy, Request, Rival};
pub use units::{Place, Unfit, Unit, Units};
pub use victim::Victims;
