//! Copies onto a disk that is full of data, its cache empty at first.

use std::num::NonZeroU32;

use nand_model::part::Nanos;
use sim::Failure;
use sim::input::device::DeviceChoice;
use sim::input::trace::{Op, Request};

use super::copy::{CopyRun, DriveScale};

/// How a cache is used, and the system.
pub(super) const SYSTEMS: [(&str, &str); 4] = [
    ("written past when it is full", "pslc"),
    ("folded when it is full", "pslc?full=fold"),
    ("the same, of 3 %", "pslc?full=fold&static=30&dynamic=0"),
    ("none", "pslc?static=0&dynamic=0"),
];

/// The disk's bytes, those of a request, and how many of them are under way.
const DISK: u64 = 32 << 30;
const EACH: u64 = 256 << 10;
const DEPTH: NonZeroU32 = NonZeroU32::new(4).expect("more than none");

/// The copies, one for each system.
pub(super) fn tasks(shape: DriveScale) -> Result<Vec<CopyRun>, Failure> {
    let device = DeviceChoice::named("tlc-pslc");
    let capacity = Some(DISK / shape.smaller);
    let setup = DeviceChoice { capacity, parallel: true, ..device }.setup()?;
    let request = |at| Request::new(Nanos::ZERO, Op::Write, at * EACH, EACH);
    let requests: Vec<Request> = (0..shape.copied).map(request).collect();
    let task = |(_, system)| {
        let (setup, requests) = (setup.clone(), requests.clone());
        CopyRun { setup, system, requests, depth: DEPTH, from: 0 }
    };
    Ok(SYSTEMS.into_iter().map(task).collect())
}
