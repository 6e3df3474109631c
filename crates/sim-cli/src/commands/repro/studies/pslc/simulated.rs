//! A drive in the simulator, and a host that copies to it.

use std::num::NonZeroU32;

use ftl_iface::Region;
use nand_model::part::{Nanos, Part};
use sim::Failure;
use sim::input::device::{DeviceChoice, Fill, Setup};
use sim::input::trace::{Op, Request};

use super::copy::{Copied, CopyRun, DriveScale, Level};
use super::curve;
use super::drives::SoldDrive;

/// Requests under way, each as large as a row of pages over all planes: they stand for the buffer of a drive, which
/// answers a write before it is programmed.
const DEPTH: NonZeroU32 = NonZeroU32::new(8).expect("more than none");

/// Seconds between two requests of a host that leaves a drive the time to fold.
const SLOWLY: f64 = 0.1;

/// Below this share of its first speed the cache is full.
const FALLEN: f64 = 0.9;

/// Seconds of rest after which a drive has nothing left to do.
const LONG: f64 = 3_600.0;

/// A drive in the simulator.
pub(super) struct Simulated<'a> {
    drive: &'a SoldDrive,
    setup: Setup,
    /// Bytes of a row of pages.
    row: u64,
    divisor: f64,
}

impl<'a> Simulated<'a> {
    pub(super) fn of(drive: &'a SoldDrive, shape: DriveScale) -> Result<Self, Failure> {
        let part = Part::parse(drive.file, drive.name)?;
        let sector = u64::from(part.sector_bytes.get());
        let bytes = part.exported_bytes / shape.smaller / sector * sector;
        let layout = part.layout_of(Region::Mlc);
        let page = part.geometry.mlc().map_or(0, |shape| shape.page_bytes.get());
        let row = u64::from(layout.dies() * layout.planes_per_die * page);
        let device = DeviceChoice::named(drive.name);
        let device = DeviceChoice { capacity: Some(bytes), parallel: true, ..device };
        let setup = Setup { fill: Fill::Nothing, ..device.setup_of(part)? };
        Ok(Self { drive, setup, row, divisor: shape.divisor() })
    }

    fn bytes(&self) -> u64 {
        self.setup.part.exported_bytes
    }

    /// A copy that fills the drive.
    pub(super) fn fill(&self) -> CopyRun {
        let mut host = self.host();
        host.copy(self.bytes(), 0.0);
        self.task(host, 0)
    }

    /// A copy that fills a drive which was filled to that level and has rested.
    pub(super) fn rest(&self, level: Level) -> CopyRun {
        let mut host = self.host_at(level);
        let from = host.requests.len();
        host.copy(self.bytes() / 100 * (100 - level.percent), 0.0);
        self.task(host, from)
    }

    /// A copy after another one that filled the cache, which took so many bytes, and after a pause.
    #[allow(clippy::cast_sign_loss)] // Sizes are not negative.
    pub(super) fn again(&self, level: Level, cached: f64, pause: f64) -> CopyRun {
        let mut host = self.host_at(level);
        host.copy(cached as u64, 0.0);
        host.now += nanos(pause / self.divisor);
        let from = host.requests.len();
        host.copy((1.25 * cached) as u64 + 4 * curve::LEAST as u64 * self.row, 0.0);
        self.task(host, from)
    }

    /// Bytes of a copy that went at the speed of the cache.
    pub(super) fn cached(&self, copied: &Copied) -> f64 {
        let first = self.drive.phases.first().map_or(0.0, |phase| phase.speed);
        curve::until(&copied.steps, FALLEN * first)
    }

    fn host(&self) -> Host {
        let (row, bytes) = (self.row, self.bytes());
        Host { requests: Vec::new(), now: Nanos::ZERO, at: 0, row, bytes }
    }

    /// A host that has filled the drive to that level, and then let it rest.
    fn host_at(&self, level: Level) -> Host {
        let mut host = self.host();
        host.copy(self.bytes() / 100 * level.percent, SLOWLY);
        host.now += nanos(LONG);
        host
    }

    fn task(&self, host: Host, from: usize) -> CopyRun {
        let (setup, requests) = (self.setup.clone(), host.requests);
        CopyRun { setup, system: self.drive.system, requests, depth: DEPTH, from }
    }
}

/// A host that copies, and rests.
struct Host {
    requests: Vec<Request>,
    now: Nanos,
    /// Where it goes on.
    at: u64,
    /// Bytes of a request, and of the drive.
    row: u64,
    bytes: u64,
}

impl Host {
    /// Copies so many bytes, with so many seconds between two requests. Behind its end it begins again.
    fn copy(&mut self, bytes: u64, between: f64) {
        for _ in 0..bytes / self.row {
            self.requests.push(Request::new(self.now, Op::Write, self.at, self.row));
            self.now += nanos(between);
            self.at += self.row;
            if self.at + self.row > self.bytes {
                self.at = 0;
            }
        }
    }
}

#[allow(clippy::cast_sign_loss)] // Pauses are not negative.
fn nanos(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9) as u64)
}
