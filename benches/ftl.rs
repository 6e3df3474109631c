//! How long the FTL's hot paths take, on the paper's device, with the device's own work left out: pages have tags and
//! no content (`paths/null.rs`). What is left of the device is measured by itself, as `device: …`.
//!
//! Time is stated a page (a request, a mount). On a microcontroller instructions count instead: `instructions.rs`.

mod paths;
mod patience;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use criterion::Criterion;

use paths::{Null, Path};

/// Lets criterion measure a path: its own set-up is not counted.
fn measure(criterion: &mut Criterion, device: &RefCell<Null>, path: &Path) {
    let name = format!("{} (a {})", path.name, path.unit);
    criterion.bench_function(&name, |bench| {
        bench.iter_custom(|units| {
            let rounds = units.div_ceil(u64::from(path.units));
            let took = time(path, &mut device.borrow_mut(), rounds).as_nanos();
            // Somewhat more units were done than were asked for.
            let done = u128::from(rounds) * u128::from(path.units);
            Duration::from_nanos((took * u128::from(units) / done) as u64)
        });
    });
}

/// The time of so many rounds.
fn time(path: &Path, device: &mut Null, rounds: u64) -> Duration {
    let mut took = Duration::ZERO;
    let (walks, calls) = if path.repeatable { (1, rounds) } else { (rounds, 1) };
    for _ in 0..walks {
        (path.walk)(device, &mut |work| {
            let start = Instant::now();
            (0..calls).for_each(|_| work());
            took += start.elapsed();
        });
    }
    took
}

fn main() {
    let mut criterion = patience::criterion();
    let c3 = RefCell::new(Null::c3());
    let small = RefCell::new(Null::sixteenth());
    for path in paths::DEVICE.iter().chain(paths::all()) {
        measure(&mut criterion, if path.small { &small } else { &c3 }, path);
    }
    let mut slow = criterion.sample_size(10);
    measure(&mut slow, &c3, &paths::MOUNT_C3);
    slow.final_summary();
}
