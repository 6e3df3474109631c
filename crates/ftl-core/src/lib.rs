//! A hybrid SLC/MLC flash translation layer.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod address;
pub mod filter;
pub mod slc;
pub mod table;
pub mod throttle;
pub mod wear;
pub mod writeback;
