//! Workloads as points: a number for each parameter of the streams, within plausible bounds for a disk of that time.

use std::fmt::Write;

use crate::commands::repro::paper::Workload;

/// A parameter of `synth:file-system`, and its bounds.
struct Knob {
    name: &'static str,
    /// The suffix of the number.
    unit: &'static str,
    /// The divisor of the number when it is written.
    parts: u64,
    /// The minimum, the values of the first and of the second starting point, and the maximum, by [`Workload`]. The
    /// second was sought by hand with all constraints, without a look at RS.
    known: [[u64; 4]; 2],
}

/// The number of searched parameters.
const COUNT: usize = 13;

/// Sizes, counts and shares of a thousand. Bounds are those of the systems: an NTFS log of 2 to 64 MiB, an ext3
/// journal of 4 to 128 MiB (the defaults of mke2fs from small to large disks), a page of a log written up to 16
/// times before it is full (a record takes some hundred bytes of 4 KiB), hot tables of 1 to 64 MiB in clumps as
/// long as an extent or as short as a buffer of a directory's index, which is 4 KiB, anywhere on the disk or
/// within an area of 16 MiB and more, as the records of files are within NTFS's table of them, and small writes
/// in no smaller share than the SLC's on C1 within 15 %, and more of them under ext3 than under NTFS (section
/// 5.4).
const KNOBS: [Knob; COUNT] = [
    knob("small", "", 1, [[600, 680, 735, 740], [740, 750, 745, 900]]),
    knob("journal", "", 1, [[50, 500, 780, 800], [100, 667, 690, 850]]),
    knob(
        "journal_bytes",
        "KiB",
        1,
        [[2 << 10, 64 << 10, 2448, 64 << 10], [4 << 10, 128 << 10, 128 << 10, 128 << 10]],
    ),
    knob("rewrites", "", 1, [[1, 1, 3, 16], [1, 1, 4, 4]]),
    knob("restarts", "", 1, [[8, 512, 20, 512], [8, 512, 345, 512]]),
    knob("hot_pages", "", 1, [[256, 16_384, 3000, 16_384], [256, 1024, 1029, 16_384]]),
    knob("clump", "", 1, [[1, 16, 1, 64], [1, 64, 41, 128]]),
    knob("hot_area", "MiB", 1, [[16, 20_480, 560, 20_480], [16, 20_480, 20_480, 20_480]]),
    knob("hot_skew", "", 100, [[20, 160, 80, 200], [20, 160, 180, 200]]),
    knob("small_files", "", 1, [[2, 100, 3, 500], [2, 20, 30, 300]]),
    knob("lengthened", "", 1, [[1, 600, 400, 900], [1, 1, 5, 900]]),
    knob("lately", "", 1, [[4, 48, 90, 256], [4, 64, 70, 256]]),
    knob("continued", "", 1, [[500, 785, 765, 960], [500, 785, 787, 960]]),
];

const fn knob(name: &'static str, unit: &'static str, parts: u64, known: [[u64; 4]; 2]) -> Knob {
    Knob { name, unit, parts, known }
}

impl Knob {
    const fn bounds(&self, workload: Workload) -> (u64, u64) {
        let [least, _, _, most] = self.known[workload as usize];
        (least, most)
    }
}

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate([u64; COUNT]);

/// The largest steps of a parameter, as factors: one of them for each workload, because far from agreement small steps
/// take too long, and near it large ones miss.
const STEPS: [f64; 3] = [1.5, 1.2, 1.06];

/// The share of parameters that a step changes.
const CHANGED: f64 = 0.3;

impl Candidate {
    /// The first fit, as close as the bounds allow.
    pub(super) fn first(workload: Workload) -> Self {
        Self(KNOBS.each_ref().map(|knob| knob.known[workload as usize][1]))
    }

    /// The second starting point.
    pub(super) fn second(workload: Workload) -> Self {
        Self(KNOBS.each_ref().map(|knob| knob.known[workload as usize][2]))
    }

    /// A random workload, with each parameter uniform in its logarithm.
    pub(super) fn drawn(workload: Workload, dice: &mut fastrand::Rng) -> Self {
        Self(KNOBS.each_ref().map(|knob| draw(knob.bounds(workload), dice)))
    }

    /// A workload near this one.
    pub(super) fn near(self, workload: Workload, dice: &mut fastrand::Rng) -> Self {
        let mut near = self;
        let most = STEPS[dice.usize(..STEPS.len())];
        for (value, knob) in near.0.iter_mut().zip(&KNOBS) {
            if dice.f64() < CHANGED {
                *value = step(*value, knob.bounds(workload), most, dice);
            }
        }
        near
    }

    /// The name by which it can be replayed.
    pub(super) fn name(self, workload: Workload, requests: u64, seed: u64) -> String {
        let like = workload.name();
        let mut name = format!("synth:file-system?like={like}-1&requests={requests}&seed={seed}");
        for (value, knob) in self.0.iter().zip(&KNOBS) {
            let Knob { name: key, unit, parts, .. } = knob;
            // Writing to a string does not fail.
            let _ = if *parts == 1 {
                write!(name, "&{key}={value}{unit}")
            } else {
                write!(name, "&{key}={}.{:02}", value / parts, value % parts)
            };
        }
        name
    }
}

#[allow(clippy::cast_precision_loss)] // Parameters are small.
fn draw((least, most): (u64, u64), dice: &mut fastrand::Rng) -> u64 {
    let (low, high) = (libm::log(least as f64), libm::log(most as f64));
    whole(libm::exp(low + dice.f64() * (high - low)), (least, most))
}

#[allow(clippy::cast_precision_loss)] // Parameters are small.
fn step(value: u64, bounds: (u64, u64), most: f64, dice: &mut fastrand::Rng) -> u64 {
    let factor = libm::exp((dice.f64() * 2.0 - 1.0) * libm::log(most));
    let next = whole(value as f64 * factor, bounds);
    if next != value {
        return next;
    }
    // The factor was too near to one for so small a number.
    let unit = unit(bounds);
    let next = if factor < 1.0 { value.saturating_sub(unit) } else { value + unit };
    next.clamp(bounds.0, bounds.1)
}

/// A whole number within the bounds.
#[allow(clippy::cast_sign_loss)] // No parameter is below zero.
fn whole(value: f64, (least, most): (u64, u64)) -> u64 {
    let unit = unit((least, most));
    (libm::round(value) as u64).clamp(least, most) / unit * unit
}

/// The unit of a parameter: sizes are in KiB, and whole pages of 4 KiB.
const fn unit((least, _): (u64, u64)) -> u64 {
    if least.is_multiple_of(1 << 10) { 4 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::synth::Synth;

    #[test]
    fn every_workload_has_a_name_that_can_be_replayed() {
        let mut dice = fastrand::Rng::with_seed(1);
        for workload in Workload::ALL {
            let mut candidate = Candidate::drawn(workload, &mut dice);
            for _ in 0..200 {
                let name = candidate.name(workload, 1000, 7);
                Synth::parse(&name).unwrap_or_else(|reason| panic!("{reason}"));
                for (value, knob) in candidate.0.iter().zip(&KNOBS) {
                    let (least, most) = knob.bounds(workload);
                    assert!((least..=most).contains(value), "{}: {value}", knob.name);
                }
                candidate = candidate.near(workload, &mut dice);
            }
        }
    }
}
