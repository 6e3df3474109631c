//! A hard disk: seek, rotation, transfer, spin-down and spin-up, and its energy.
//!
//! ```text
//!   seek      none on the place where the last request ended; else from a track to the next, plus what grows with the
//!             root of the distance, so that the mean over random places is the data sheet's
//!   turn      until the sector comes by: the platters turn on while nobody asks
//!   transfer  a track in a turn
//! ```
//!
//! A request that begins where the last one ended costs only its transfer, because the drive's buffer reads ahead and
//! collects writes. After some time without requests the platters stop, and the next request waits for the spin-up.

use std::path::Path;

use ftl_rivals::kit::Unit;
use nand_model::Energy;
use nand_model::part::Nanos;
use serde::Deserialize;

use crate::base::{Failure, files};

/// A disk's figures, as in its file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiskPart {
    pub(super) title: String,
    turns_per_minute: u32,
    track_kib: u32,
    seek_track_us: u32,
    seek_mean_us: u32,
    spin_up_ms: u32,
    spin_down_after_ms: u32,
    watts_active: f64,
    watts_seek: f64,
    watts_idle: f64,
    watts_standby: f64,
    watts_spin_up: f64,
    pub(super) dollars: f64,
}

/// The default disk.
pub(super) const BUILTIN: &str = "hm080h1";

/// The longest file of a disk, because a file may be endless.
const LONGEST: u64 = 64 << 10;

impl DiskPart {
    /// The built-in disk of that name, or that of a file.
    pub(super) fn open(name: &str) -> Result<Self, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::Arguments(format!("the disk {name} cannot be used: {reason}"))
        };
        let text = if name == BUILTIN {
            include_str!("../../../parts/hm080h1.toml").to_owned()
        } else {
            files::text(Path::new(name), LONGEST).map_err(|error| wrong(&error))?
        };
        let part: Self = files::keys(&text).map_err(|error| wrong(&error))?;
        if part.turns_per_minute == 0
            || part.track_kib == 0
            || part.seek_mean_us < part.seek_track_us
        {
            return Err(wrong(
                &"a disk turns, its tracks hold something, and the mean seek is not the shortest",
            ));
        }
        Ok(part)
    }

    const fn turn(&self) -> u64 {
        60_000_000_000 / self.turns_per_minute as u64
    }

    const fn track(&self) -> u64 {
        self.track_kib as u64 * 1024
    }

    /// The seek time over that share of the full stroke.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn seek(&self, share: f64) -> u64 {
        /// The mean of the root of the distance between two random places.
        const MEAN_ROOT: f64 = 8.0 / 15.0;
        let (track, mean) = (f64::from(self.seek_track_us), f64::from(self.seek_mean_us));
        ((track + (mean - track) / MEAN_ROOT * share.sqrt()) * 1e3) as u64
    }
}

/// Units per run. Memory that was never written costs nothing, so a run may be long.
const RUN: usize = 1024;

/// The operations of a disk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DiskWork {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) spin_ups: u64,
}

/// A disk in use.
#[derive(Debug)]
pub(super) struct SpinningDisk {
    pub(super) part: DiskPart,
    pub(super) bytes: u64,
    /// The content of the units, in runs of [`RUN`] units each; a run without writes is empty, and reads as zeros.
    runs: Vec<Box<[u8]>>,
    /// Bytes to store per sector of a unit: the rest is never compared.
    kept: Option<(usize, usize)>,
    /// Where the last request ended, and when.
    at: u64,
    rested: Nanos,
    /// The energy used until then, in nanojoules.
    used: f64,
    pub(super) work: DiskWork,
}

impl SpinningDisk {
    /// A disk of that many bytes. If sectors hold stamps, only their first bytes are stored.
    pub(super) fn new(part: DiskPart, bytes: u64, kept: Option<(usize, usize)>) -> Self {
        let (runs, work) = (Vec::new(), DiskWork::default());
        Self { part, bytes, runs, kept, at: 0, rested: Nanos::ZERO, used: 0.0, work }
    }

    /// Bytes stored of a unit of that size.
    fn kept_bytes(&self, unit_bytes: usize) -> usize {
        self.kept.map_or(unit_bytes, |(sector, kept)| unit_bytes / sector * kept)
    }

    /// The stored bytes of a unit, if its run was written.
    fn held(&mut self, unit: Unit, unit_bytes: usize) -> Option<&mut [u8]> {
        let (kept, unit) = (self.kept_bytes(unit_bytes), unit.0 as usize);
        let run = self.runs.get_mut(unit / RUN)?;
        run.get_mut(unit % RUN * kept..)?.get_mut(..kept)
    }

    /// Whether its platters spin.
    pub(super) fn is_spinning(&self, now: Nanos) -> bool {
        now.since(self.rested).get() < u64::from(self.part.spin_down_after_ms) * 1_000_000
    }

    /// Reads a unit, and returns when its data is there.
    pub(super) fn read(&mut self, now: Nanos, unit: Unit, data: &mut [u8]) -> Nanos {
        self.work.reads += 1;
        data.fill(0);
        let kept = self.kept;
        if let Some(held) = self.held(unit, data.len()) {
            match kept {
                None => data.copy_from_slice(held),
                Some((sector, kept)) => {
                    let sectors = data.chunks_exact_mut(sector).zip(held.chunks_exact(kept));
                    sectors.for_each(|(sector, held)| sector[..kept].copy_from_slice(held));
                }
            }
        }
        self.serve(now, unit, data.len() as u64)
    }

    /// Writes a unit, and returns when that is done.
    pub(super) fn write(&mut self, now: Nanos, unit: Unit, data: &[u8]) -> Nanos {
        self.work.writes += 1;
        let (kept, run) = (self.kept, unit.0 as usize / RUN);
        if run >= self.runs.len() {
            self.runs.resize_with(run + 1, Box::default);
        }
        if self.runs[run].is_empty() {
            self.runs[run] = vec![0; RUN * self.kept_bytes(data.len())].into();
        }
        if let Some(held) = self.held(unit, data.len()) {
            match kept {
                None => held.copy_from_slice(data),
                Some((sector, kept)) => {
                    let sectors = data.chunks_exact(sector).zip(held.chunks_exact_mut(kept));
                    sectors.for_each(|(sector, held)| held.copy_from_slice(&sector[..kept]));
                }
            }
        }
        self.serve(now, unit, data.len() as u64)
    }

    /// Trims a unit, which reads as zeros; the disk gets no command for it.
    pub(super) fn forget(&mut self, unit: Unit) {
        let unit = unit.0 as usize;
        if let Some(run) = self.runs.get_mut(unit / RUN) {
            let kept = run.len() / RUN;
            run[unit % RUN * kept..][..kept].fill(0);
        }
    }

    #[allow(clippy::cast_precision_loss)] // Places and times need not be finer.
    fn serve(&mut self, now: Nanos, unit: Unit, bytes: u64) -> Nanos {
        let mut time = now.max(self.rested).get();
        let was_spinning = self.is_spinning(Nanos::new(time));
        self.rest_until(time);
        if !was_spinning {
            let spin_up = u64::from(self.part.spin_up_ms) * 1_000_000;
            self.used += spin_up as f64 * self.part.watts_spin_up;
            time += spin_up;
            self.work.spin_ups += 1;
        }
        let offset = u64::from(unit.0) * bytes;
        if offset != self.at {
            let distance = offset.abs_diff(self.at) as f64 / self.bytes.max(1) as f64;
            let seek = self.part.seek(distance.min(1.0));
            self.used += seek as f64 * self.part.watts_seek;
            time += seek;
            let (turn, track) = (self.part.turn(), self.part.track());
            let angle = offset % track * turn / track;
            let wait = (angle + turn - time % turn) % turn;
            self.used += wait as f64 * self.part.watts_idle;
            time += wait;
        }
        let transfer = bytes * self.part.turn() / self.part.track();
        self.used += transfer as f64 * self.part.watts_active;
        self.at = offset + bytes;
        self.rested = Nanos::new(time + transfer);
        self.rested
    }

    /// Accounts for the time without requests.
    #[allow(clippy::cast_precision_loss)]
    fn rest_until(&mut self, time: u64) {
        self.used += self.used_at_rest(time);
        self.rested = self.rested.max(Nanos::new(time));
    }

    #[allow(clippy::cast_precision_loss)]
    fn used_at_rest(&self, time: u64) -> f64 {
        let rest = time.saturating_sub(self.rested.get());
        let spinning = rest.min(u64::from(self.part.spin_down_after_ms) * 1_000_000);
        let standing = rest - spinning;
        spinning as f64 * self.part.watts_idle + standing as f64 * self.part.watts_standby
    }

    /// The energy used until then.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn energy(&self, now: Nanos) -> Energy {
        let nanojoules = self.used + self.used_at_rest(now.get());
        Energy::from_attojoules((nanojoules * 1e9) as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: usize = 4096;
    const MILLI: u64 = 1_000_000;

    fn disk() -> SpinningDisk {
        SpinningDisk::new(DiskPart::open(BUILTIN).unwrap(), 80 << 30, None)
    }

    #[test]
    fn what_follows_costs_its_transfer_and_what_lies_elsewhere_a_seek_and_a_turn() {
        let mut disk = disk();
        let mut data = [0; UNIT];
        let first = disk.write(Nanos::ZERO, Unit(0), &[7; UNIT]);
        let next = disk.read(first, Unit(1), &mut data);
        // 8 KiB a 1/64 turn of 11.1 ms: 4 KiB in 86.8 us.
        assert_eq!((first.get(), next.since(first).get()), (86_805, 86_805));
        let mut dice = fastrand::Rng::with_seed(3);
        let (mut now, count) = (next, 2_000);
        for _ in 0..count {
            now = disk.read(now, Unit(dice.u32(..(80 << 18))), &mut data);
        }
        // The mean seek of 12 ms, half a turn of 5.56 ms, the transfer.
        let mean = now.since(next).get() / count;
        assert!((17_100_000..18_200_000).contains(&mean), "{mean}");
        assert!(disk.read(now, Unit(0), &mut data).since(now).get() > MILLI);
        assert_eq!(data, [7; UNIT]);
    }

    #[test]
    fn a_disk_at_rest_stops_and_the_next_request_waits_for_it() {
        let mut disk = disk();
        let mut data = [0; UNIT];
        let done = disk.read(Nanos::ZERO, Unit(0), &mut data);
        let later = Nanos::new(done.get() + 60_000 * MILLI);
        assert!(disk.is_spinning(done) && !disk.is_spinning(later));
        // Ten seconds at 0.85 W, fifty at 0.25 W.
        let rest = disk.energy(later).as_microjoules_f64() - disk.energy(done).as_microjoules_f64();
        assert!((rest / 1e6 - 21.0).abs() < 0.001, "{rest}");
        let woken = disk.read(later, Unit(1), &mut data);
        assert!(woken.since(later).get() >= 4_000 * MILLI);
        assert_eq!(disk.work.spin_ups, 1);
    }

    #[test]
    fn of_stamped_sectors_the_stamps_are_kept() {
        let mut disk =
            SpinningDisk::new(DiskPart::open(BUILTIN).unwrap(), 1 << 30, Some((2048, 8)));
        let written: Vec<u8> = (0..UNIT).map(|at| (at / 1000) as u8 + 1).collect();
        disk.write(Nanos::ZERO, Unit(3), &written);
        let mut data = [9; UNIT];
        disk.read(Nanos::ZERO, Unit(3), &mut data);
        assert_eq!((data[7], data[8], data[2048 + 7]), (1, 0, written[2055]));
        disk.forget(Unit(3));
        disk.read(Nanos::ZERO, Unit(3), &mut data);
        assert_eq!(data, [0; UNIT]);
        assert!(DiskPart::open("/none/such").unwrap_err().to_string().contains("/none/such"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let reason = DiskPart::open("/dev/zero").unwrap_err().to_string();
        assert!(reason.contains("more than 65536 bytes"), "{reason}");
    }
}
