//! `ftl-c` for a host, with the chip model behind its table of functions, whose power can be cut: `./ci c` plays cuts
//! with it. One library, because a program can hold only one with Rust's `std`.
#![allow(unsafe_code, reason = "it is called by C")]

#[path = "../../../crates/ftl-c/tests/face/model.rs"]
#[allow(dead_code, reason = "the tests of ftl-c use more of it")]
mod model;

pub use ftl_c::*;

use model::{Model, table};

/// A chip of 32 blocks of 16 pages of 512 bytes, one bit per cell.
#[unsafe(no_mangle)]
extern "C" fn model_new() -> *mut Model {
    Box::into_raw(Box::new(Model::slc(32)))
}

/// Its table of functions.
#[unsafe(no_mangle)]
unsafe extern "C" fn model_table(model: *mut Model, nand: *mut Nand) {
    // SAFETY: a model of `model_new`, and where the caller wants the table.
    unsafe { nand.write(table(model)) }
}

/// Lets power fail in the program, erase or mark after so many others.
#[unsafe(no_mangle)]
unsafe extern "C" fn model_cut_after(model: *mut Model, operations: u32, seed: u32) {
    // SAFETY: a model of `model_new`.
    unsafe { (*model).cut_after(operations.into(), seed.into()) }
}

/// Power is back. Returns 1 if a cut had come.
#[unsafe(no_mangle)]
unsafe extern "C" fn model_power_again(model: *mut Model) -> i32 {
    // SAFETY: a model of `model_new`.
    unsafe { (*model).power_again() }.into()
}

/// The end of it.
#[unsafe(no_mangle)]
unsafe extern "C" fn model_free(model: *mut Model) {
    // SAFETY: a model of `model_new`, which is not used any more.
    drop(unsafe { Box::from_raw(model) });
}
