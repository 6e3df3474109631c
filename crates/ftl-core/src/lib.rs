//! A hybrid SLC/MLC flash translation layer.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod address;
pub mod bound;
#[cfg(feature = "check")]
pub mod check;
pub mod config;
pub mod error;
pub mod filter;
pub mod flash;
pub mod ftl;
pub mod layout;
pub mod mlc;
pub mod mount;
pub mod probe;
pub mod ram;
pub mod shape;
pub mod slc;
pub mod table;
pub mod throttle;
pub mod wear;
pub mod writeback;

pub use config::Config;
pub use ftl::Ftl;
pub use mount::MountError;
pub use ram::{Ram, RamPlan};
