//! The judge for NAND drivers in C as a static library for hosts. The FTLs are in it, too: a program can hold only one
//! library with Rust's `std`.

pub use ftl_c::*;
pub use ftl_judge::*;
