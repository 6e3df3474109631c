//! A timed model of SLC, MLC and TLC NAND chips that fail like real ones.
#![forbid(unsafe_code)]

pub mod part;
