//! A breach names the line of the FTL that broke its promise, not one of the model's, under every wrapper.
//!
//! One test alone: the hook that hears of panics is the process's.

mod support;

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

use ftl_iface::{Bytes, NandDevice};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut};
use nand_model::tracer::Tracer;
use support::{chip, mlc, page, slc};

/// Where the last panic was.
static SEEN: Mutex<Option<(String, u32)>> = Mutex::new(None);

/// Breaks promises of every kind; returns the lines on which that was done.
fn breaches<D: NandDevice>(device: &mut D) -> Vec<u32> {
    let mut lines = Vec::new();
    let mut tried = |number: u32, breach: &mut dyn FnMut()| {
        *SEEN.lock().unwrap() = None;
        panic::catch_unwind(AssertUnwindSafe(breach)).expect_err("a breach");
        let (file, line) = SEEN.lock().unwrap().take().expect("the hook was called");
        assert_eq!((file.as_str(), line), (file!(), number));
        lines.push(number);
    };
    tried(line!(), &mut || drop(device.program(page(slc(0), 0), &[0; 511], &[0; 16])));
    tried(line!(), &mut || drop(device.program(page(slc(99), 0), &[0; 512], &[0; 16])));
    tried(line!(), &mut || drop(device.read(page(slc(0), 0), Bytes::ZERO, &mut [0; 513], &mut [])));
    tried(line!(), &mut || drop(device.read(page(slc(0), 99), Bytes::ZERO, &mut [0], &mut [])));
    tried(line!(), &mut || drop(device.erase(mlc(999))));
    tried(line!(), &mut || drop(device.is_bad(mlc(999))));
    tried(line!(), &mut || drop(device.mark_bad(mlc(999))));
    lines
}

#[test]
fn a_breach_names_the_callers_line() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().expect("a place");
        *SEEN.lock().unwrap() = Some((place.file().to_owned(), place.line()));
    }));
    let wrapped = || PowerCut::new(FaultInjector::new(chip(), 1), Cut::never());
    let lines = [
        breaches(&mut chip()),
        breaches(&mut FaultInjector::new(chip(), 1)),
        breaches(&mut wrapped()),
        breaches(&mut Tracer::new(wrapped(), |_: &str| {})),
        breaches(&mut &mut wrapped()),
    ];
    let _ = panic::take_hook();
    assert!(lines.iter().all(|lines| lines.len() == 7), "{lines:?}");
}
