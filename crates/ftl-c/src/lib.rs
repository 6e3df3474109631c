//! The FTLs of `ftl-core` for firmware in C.
//!
//! ```text
//!      firmware in C            tandem.h
//!            │ tandem_mount, tandem_read, tandem_write …
//!      ┌─────▼──────┐
//!      │ page_store │  hybrid      the functions of the header, one file for each FTL
//!      ├────────────┤
//!      │   calls    │  start       what they do, written once for both
//!      ├────────────┤
//!      │   device   │              what lies in the caller's RAM
//!      ├────────────┤
//!      │    nand    │              a table of C functions as a NandDevice
//!      └─────┬──────┘
//!            │ read, program, erase, is_bad, mark_bad
//!      driver in C
//! ```
//!
//! `include/tandem.h` is made from these files: what C programmers read there are the comments here. `docs/C.md` shows
//! how to build the static library and how to use it.
//!
//! # What a caller in C can do wrong
//!
//! Every pointer, size and number is examined before it is used, and whatever is wrong with it is an error number
//! ([`Error`]). What cannot be seen: a pointer that is neither null nor misaligned but leads nowhere, a buffer that is
//! shorter than said, and two calls at once. None of that is examined here, so every function is `unsafe`.
//!
//! `examine` is beside all that: what `ftl-conformance` sees of a driver, on its board.
//!
//! There is no allocation, no global state, and no panic: the library's panic handler calls a function that does not
//! exist, so a program that could panic does not link.
#![no_std]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the header is read by C programmers, and says once what each pointer must be"
)]

mod calls;
mod config;
mod device;
mod error;
mod examine;
mod hybrid;
mod kinds;
mod nand;
mod page_store;
mod profiles;
mod start;
mod told;

pub use calls::{Life, WORK_LEFT};
pub use config::*;
pub use device::RAM_ALIGN;
pub use error::*;
pub use examine::*;
pub use hybrid::*;
pub use nand::*;
pub use page_store::*;
pub use profiles::*;
pub use told::*;
