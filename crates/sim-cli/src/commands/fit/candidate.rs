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
    /// The minimum and the maximum, by [`Workload`].
    bounds: [(u64, u64); 2],
}

/// The number of searched parameters.
const COUNT: usize = 16;

/// Sizes, counts and shares of a thousand. Bounds are those of the systems: an NTFS log of 2 to 64 MiB, an ext3
/// journal of 4 to 128 MiB (the defaults of mke2fs from small to large disks), a page of a log written up to 16
/// times before it is full (a record takes some hundred bytes of 4 KiB), hot tables of 1 to 64 MiB in clumps as
/// long as an extent or as short as a buffer of a directory's index, which is 4 KiB, anywhere on the disk or
/// within an area of 16 MiB and more, as the records of files are within NTFS's table of them, single pages all
/// over the disk that are written again and again, from hardly any small write to half of those outside the
/// journal, and small writes in no smaller share than the SLC's on C1 within 15 %, and more of them under ext3 than
/// under NTFS (section 5.4).
const KNOBS: [Knob; COUNT] = [
    knob("small", "", 1, [(600, 740), (740, 900)]),
    knob("journal", "", 1, [(50, 800), (100, 850)]),
    knob("journal_bytes", "KiB", 1, [(2 << 10, 64 << 10), (4 << 10, 128 << 10)]),
    knob("rewrites", "", 1, [(1, 16), (1, 16)]),
    knob("restarts", "", 1, [(8, 512), (8, 512)]),
    knob("hot_pages", "", 1, [(256, 16_384), (256, 16_384)]),
    knob("clump", "", 1, [(1, 64), (1, 128)]),
    knob("hot_area", "MiB", 1, [(16, 20_480), (16, 20_480)]),
    knob("hot_skew", "", 100, [(20, 200), (20, 200)]),
    knob("scattered", "", 1, [(5, 500), (5, 500)]),
    knob("scattered_pages", "", 1, [(1000, 65_536), (1000, 32_768)]),
    knob("scattered_skew", "", 100, [(1, 120), (1, 120)]),
    knob("small_files", "", 1, [(2, 500), (2, 300)]),
    knob("lengthened", "", 1, [(1, 900), (1, 900)]),
    knob("lately", "", 1, [(4, 256), (4, 256)]),
    knob("continued", "", 1, [(500, 960), (500, 960)]),
];

const fn knob(name: &'static str, unit: &'static str, parts: u64, bounds: [(u64, u64); 2]) -> Knob {
    Knob { name, unit, parts, bounds }
}

impl Knob {
    const fn bounds(&self, workload: Workload) -> (u64, u64) {
        self.bounds[workload as usize]
    }
}

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate([u64; COUNT]);

/// How far a new workload goes: of the way to the best, and of the way between two others (differential evolution, R.
/// Storn and K. Price, Journal of Global Optimization 11, 1997; its variant current-to-best).
pub(super) const WAY: f64 = 0.6;

/// The share of parameters that change.
const CHANGED: f64 = 0.5;

/// The share of parameters that a nudge changes, and how far at most: of the way between their bounds, in logarithms.
const NUDGED: f64 = 0.1;
const NUDGE: f64 = 0.15;

impl Candidate {
    /// A random workload, with each parameter uniform in its logarithm.
    pub(super) fn drawn(workload: Workload, dice: &mut fastrand::Rng) -> Self {
        Self(KNOBS.each_ref().map(|knob| draw(knob.bounds(workload), dice)))
    }

    /// A workload on the way from this one to the best, off it by the way between two others, all in logarithms: as the
    /// workloads of a search come nearer to each other, so do its steps become smaller.
    pub(super) fn towards(
        self,
        best: Self,
        ([one, other], way): ([Self; 2], f64),
        workload: Workload,
        dice: &mut fastrand::Rng,
    ) -> Self {
        self.changed(CHANGED, workload, dice, |at, _, _| {
            let [own, best, one, other] = [self, best, one, other].map(|of| log(of.0[at]));
            own + way * (best - own) + way * (one - other)
        })
    }

    /// A workload beside this one: a parameter or two differ a little, whatever the others of a search are like.
    pub(super) fn nudged(self, workload: Workload, dice: &mut fastrand::Rng) -> Self {
        self.changed(NUDGED, workload, dice, |at, (least, most), dice| {
            let step = NUDGE * (log(most) - log(least)) * (2.0 * dice.f64() - 1.0);
            log(self.0[at]) + step
        })
    }

    /// A workload of which about this share of the parameters, and one at least, go elsewhere, in logarithms.
    fn changed(
        self,
        share: f64,
        workload: Workload,
        dice: &mut fastrand::Rng,
        mut to: impl FnMut(usize, (u64, u64), &mut fastrand::Rng) -> f64,
    ) -> Self {
        let mut next = self;
        let sure = dice.usize(..COUNT);
        for (at, knob) in KNOBS.iter().enumerate() {
            if at != sure && dice.f64() >= share {
                continue;
            }
            let bounds = knob.bounds(workload);
            next.0[at] = whole(libm::exp(to(at, bounds, dice)), bounds);
        }
        next
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
fn log(value: u64) -> f64 {
    libm::log(value as f64)
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
    use sim::input::synth::Synth;

    #[test]
    fn every_workload_has_a_name_that_can_be_replayed() {
        let mut dice = fastrand::Rng::with_seed(1);
        for workload in Workload::ALL {
            let [mut candidate, one, other] =
                std::array::from_fn(|_| Candidate::drawn(workload, &mut dice));
            for _ in 0..200 {
                let name = candidate.name(workload, 1000, 7);
                Synth::parse(&name).unwrap_or_else(|reason| panic!("{reason}"));
                for (value, knob) in candidate.0.iter().zip(&KNOBS) {
                    let (least, most) = knob.bounds(workload);
                    assert!((least..=most).contains(value), "{}: {value}", knob.name);
                }
                candidate = candidate.towards(one, ([candidate, other], WAY), workload, &mut dice);
                candidate = candidate.nudged(workload, &mut dice);
            }
        }
    }
}
