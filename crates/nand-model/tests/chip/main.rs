//! The tests of the chip model, as one program: it is compiled and linked for them once.

mod contract;
mod datasheets;
mod faults;
mod image;
mod leeway;
mod memory;
mod model;
mod modes;
mod overlap;
mod power;
mod rules;
mod seeds;
mod timing;
mod wrappers;

#[path = "../support/mod.rs"]
mod support;
