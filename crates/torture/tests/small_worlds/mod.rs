//! Small worlds: the smallest devices, few requests, and pages that are left unstable for any number of reads. A large
//! device rarely comes to decide anything by such a page; here nearly every page decides something.
// Each test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

mod drawn;
mod host;
mod script;

pub(crate) use drawn::lived;
pub(crate) use script::three_requests;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What went wrong in a world, if anything, and how many cuts it had. A panic is wrong, too.
pub(crate) fn caught(seed: u64) -> Result<u64, String> {
    catch_unwind(AssertUnwindSafe(|| lived(seed))).unwrap_or_else(|_| Err("a panic".into()))
}
