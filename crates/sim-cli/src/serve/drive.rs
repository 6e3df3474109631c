//! Requests on the system, and what is measured, recorded and kept of them.

use std::convert::Infallible;
use std::io::Write;
use std::time::{Duration, Instant};

use ftl_adapters::bytes::{ByteStore, Error};
use ftl_iface::{PageCount, StoreReadError, StoreWriteError, Work};
use nand_model::part::Nanos;

use super::baseline::{Baseline, Noted};
use super::held::Held;
use super::status::Status;
use super::wire::{Disk, Errno, Export, Kept, Refusal, Zeroing};
use crate::Failure;
use crate::image::{About, Keeper};
use crate::replay::Served;
use crate::result::RunResult;
use crate::systems::System;
use crate::trace::output::{self, Output};
use crate::trace::{Op, Request};

/// How long requests take by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As long as this program needs; the device's time is only counted.
    Host,
    /// As long as the device's.
    Device,
}

/// What outlives a loss of power, because it is no part of the device.
pub(super) struct Ledger {
    /// What was measured; none before the first life.
    pub(super) served: Option<Served>,
    keeper: Option<Keeper>,
    about: About,
    record: Option<Output>,
    /// The conventional system beside the one that is served, where somebody watches.
    baseline: Option<Baseline>,
    start: Instant,
    /// When the device has done what it was asked; none where it takes no time.
    free_at: Option<Instant>,
    /// The device's clock after the last request.
    clock: Nanos,
    /// Why nothing more can be served.
    failure: Option<Failure>,
    /// Sectors that are changed in part, and zeros that are written.
    sector: Vec<u8>,
    zeros: Vec<u8>,
}

impl Ledger {
    pub(super) fn new(
        keeper: Option<Keeper>,
        about: About,
        mut record: Option<Output>,
        baseline: Option<Baseline>,
        pace: Pace,
    ) -> Result<Self, Failure> {
        if let Some(record) = &mut record {
            output::begin(record)?;
        }
        let start = Instant::now();
        Ok(Self {
            served: None,
            keeper,
            about,
            record,
            baseline,
            start,
            free_at: (pace == Pace::Device).then_some(start),
            clock: Nanos::ZERO,
            failure: None,
            sector: Vec::new(),
            zeros: Vec::new(),
        })
    }

    /// Writes what is left, and the end of the record. Returns how many times as fast as the baseline the system was.
    pub(super) fn end(&mut self) -> Result<Option<f64>, Failure> {
        if let Some(record) = self.record.take() {
            record.finish()?;
        }
        self.failed()?;
        Ok(self.baseline.take().and_then(Baseline::end))
    }

    /// Says why nothing more can be served, if so.
    pub(super) fn failed(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Has what was recorded reach its file.
    pub(super) fn flush_record(&mut self) {
        if let Some(record) = &mut self.record
            && let Err(error) = record.flush()
        {
            self.failure = Some(error.into());
        }
    }

    /// The file of the disk, if it has one.
    pub(super) fn keeper(&mut self) -> Option<&mut Keeper> {
        self.keeper.as_mut()
    }

    fn note(&mut self, request: &Request, time: Nanos) {
        if let Some(record) = &mut self.record
            && let Err(error) = output::put(request, record)
        {
            self.failure = Some(error.into());
        }
        if let Some(baseline) = &mut self.baseline {
            baseline.note(Noted::Request(*request, time));
        }
        self.keep_pace(time);
    }

    /// Notes that the device worked for itself so long. Nobody waits for it, but the next request comes after it.
    fn rested(&mut self, time: Nanos) {
        if let Some(baseline) = &mut self.baseline {
            baseline.note(Noted::Rest(RESTED_AT_ONCE));
        }
        if let Some(free_at) = &mut self.free_at {
            *free_at = (*free_at).max(Instant::now()) + Duration::from_nanos(time.get());
        }
    }

    /// Whether the device has done what it was asked, by the clock where it is to be as slow as itself.
    fn is_free(&self) -> bool {
        self.free_at.is_none_or(|free_at| free_at <= Instant::now())
    }

    /// Waits as long as the device would have taken, if it shall.
    fn keep_pace(&mut self, time: Nanos) {
        if let Some(free_at) = &mut self.free_at {
            *free_at = (*free_at).max(Instant::now()) + Duration::from_nanos(time.get());
            wait_until(*free_at);
        }
    }
}

/// Waits to within what sleeping is good for.
fn wait_until(moment: Instant) {
    /// What a sleep may take longer than it was asked to.
    const SLACK: Duration = Duration::from_micros(80);
    let sleep = moment.saturating_duration_since(Instant::now()).saturating_sub(SLACK);
    if !sleep.is_zero() {
        std::thread::sleep(sleep);
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

/// Pages that a system may spend at once while no host asks: whoever asks then waits no longer than for these.
const RESTED_AT_ONCE: PageCount = PageCount::new(8);

/// What file systems and page caches work in.
const USUAL_BLOCK: u32 = 4096;

/// A system in use.
pub(super) struct Drive<'l> {
    disk: Held<'l>,
    ledger: &'l mut Ledger,
    export: Export,
    rest: Rest,
}

/// What tells whether hosts leave the system time to work.
#[derive(Debug)]
struct Rest {
    /// Requests so far, and when it was last looked.
    asked: u64,
    seen: u64,
    /// What the system said last.
    work: Work,
}

type Outcome = Result<(), Error<Infallible>>;

impl<'l> Drive<'l> {
    pub(super) fn new(disk: Held<'l>, ledger: &'l mut Ledger) -> Self {
        let system = disk.system();
        let sector = system.sector_bytes().get();
        let bytes = u64::from(system.capacity().get()) * u64::from(sector);
        let export = Export { bytes, preferred_block: sector.max(USUAL_BLOCK) };
        if ledger.served.is_none() {
            ledger.served = Some(Served::begin(system));
            ledger.clock = system.now();
        }
        // What the mount took since power failed.
        ledger.keep_pace(system.now().since(ledger.clock));
        ledger.sector.resize(sector as usize, 0);
        let rest = Rest { asked: 0, seen: 0, work: Work::Left };
        Self { disk, ledger, export, rest }
    }

    pub(super) const fn export(&self) -> Export {
        self.export
    }

    pub(super) fn disk(&mut self) -> &mut Held<'l> {
        &mut self.disk
    }

    pub(super) fn ledger(&mut self) -> &mut Ledger {
        self.ledger
    }

    /// Writes the line of the moment.
    pub(super) fn tell(&mut self, status: &Status, cuts: u64) {
        if let Some(served) = &self.ledger.served {
            let rs = self.ledger.baseline.as_ref().and_then(Baseline::rs);
            status.tell(self.disk.system(), served, cuts, rs);
        }
    }

    /// What was measured.
    pub(super) fn result(&self, system: &str) -> Option<RunResult> {
        Some(self.ledger.served.as_ref()?.result(system, self.disk.system()))
    }

    /// Whether nothing more can be served, for want of power or because something is broken.
    pub(super) fn is_off(&mut self) -> bool {
        self.ledger.failure.is_some() || !self.disk.is_on()
    }

    /// Has what was done reach the file: replies may be sent after that.
    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        if let Some(baseline) = &mut self.ledger.baseline {
            baseline.hand_over();
        }
        let (Some(keeper), Some(power)) = (&mut self.ledger.keeper, self.disk.power()) else {
            return Ok(());
        };
        let chip = power.inner_mut();
        let mut committed = keeper.commit(chip);
        if committed.is_ok() && keeper.is_long() {
            committed = keeper.save(&self.ledger.about, chip);
        }
        committed.map_err(|failure| self.broken(failure))
    }

    fn broken(&mut self, failure: Failure) -> Refusal {
        self.ledger.failure = Some(failure);
        Refusal::Off
    }

    /// Makes what was done durable, beyond the end of the machine where there is a file.
    fn sync(&mut self) -> Result<(), Refusal> {
        self.commit()?;
        let synced = self.ledger.keeper.as_ref().map_or(Ok(()), Keeper::sync);
        synced.map_err(|failure| self.broken(failure))
    }

    /// To be called now and then: a system that nobody has asked since the last time works for itself.
    pub(super) fn rest(&mut self) {
        let is_idle = self.rest.asked == self.rest.seen;
        self.rest.seen = self.rest.asked;
        if !is_idle {
            self.rest.work = Work::Left;
        } else if self.rest.work == Work::Left && self.ledger.is_free() && !self.is_off() {
            self.rest.work = self.maintain();
            // Nobody waits for an answer; what fails here is told by the next request.
            let _ = self.commit();
        }
    }

    fn maintain(&mut self) -> Work {
        let (outcome, time) = Served::rest(self.disk.system_mut(), RESTED_AT_ONCE);
        self.ledger.clock = self.disk.system().now();
        self.ledger.rested(time);
        match outcome {
            Ok(work) => work,
            Err(StoreWriteError::ReadOnly) => Work::Done,
            Err(_) if !self.disk.is_on() => Work::Done,
            Err(error) => {
                self.broken(Failure::Violation(format!("idle work failed: {error}")));
                Work::Done
            }
        }
    }

    /// Does a request on the system.
    #[inline]
    fn serve(
        &mut self,
        (op, offset, bytes): (Op, u64, u32),
        kept: Kept,
        work: impl FnOnce(&mut ByteStore<'_, &mut dyn System>) -> Outcome,
    ) -> Result<(), Refusal> {
        if self.is_off() {
            return Err(Refusal::Off);
        }
        let time = Nanos::new(self.ledger.start.elapsed().as_nanos() as u64);
        let request = Request { time, op, offset, length: bytes.into() };
        let Some(served) = &mut self.ledger.served else {
            return Err(Refusal::Off);
        };
        let buffer = &mut self.ledger.sector;
        self.rest.asked += 1;
        let (outcome, time) = served.measure(self.disk.system_mut(), &request, |system| {
            work(&mut ByteStore::new(system, buffer)?)
        });
        match outcome {
            Ok(()) => {
                self.ledger.clock = self.disk.system().now();
                self.ledger.note(&request, time);
                if kept == Kept::AtOnce { self.sync() } else { Ok(()) }
            }
            Err(error) => Err(self.refusal(&error)),
        }
    }

    fn refusal(&mut self, error: &Error<Infallible>) -> Refusal {
        if !self.disk.is_on() {
            return Refusal::Off;
        }
        match error {
            Error::Read(StoreReadError::Lost(_)) => Refusal::Error(Errno::Io),
            Error::Write(StoreWriteError::ReadOnly) => Refusal::Error(Errno::Permission),
            Error::OutOfRange { .. } => Refusal::Error(Errno::Invalid),
            error => self.broken(Failure::Violation(format!("the system failed: {error}"))),
        }
    }
}

impl Disk for Drive<'_> {
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Refusal> {
        let request = (Op::Read, offset, data.len() as u32);
        self.serve(request, Kept::Flushed, |bytes| bytes.read_bytes(offset, data))
    }

    fn write(&mut self, offset: u64, data: &[u8], kept: Kept) -> Result<(), Refusal> {
        let request = (Op::Write, offset, data.len() as u32);
        self.serve(request, kept, |bytes| bytes.write_bytes(offset, data))
    }

    fn trim(&mut self, offset: u64, bytes: u32, kept: Kept) -> Result<(), Refusal> {
        let length = u64::from(bytes);
        let request = (Op::Trim, offset, bytes);
        self.serve(request, kept, |bytes| bytes.trim_bytes(offset, length))
    }

    /// What is forgotten reads as zeros. Sectors that are covered in part are written.
    fn zero(&mut self, offset: u64, bytes: u32, how: Zeroing, kept: Kept) -> Result<(), Refusal> {
        let sector = self.ledger.sector.len() as u64;
        let end = offset + u64::from(bytes);
        let (first, last) = (offset.next_multiple_of(sector), end / sector * sector);
        if how == Zeroing::MustWrite || first >= last {
            return self.write_zeros(offset, bytes, kept);
        }
        if first > offset {
            self.write_zeros(offset, (first - offset) as u32, Kept::Flushed)?;
        }
        if end > last {
            self.write_zeros(last, (end - last) as u32, Kept::Flushed)?;
        }
        self.trim(first, (last - first) as u32, kept)
    }

    // A method by its name would be one of a single lifetime.
    #[allow(clippy::redundant_closure_for_method_calls)]
    fn flush(&mut self) -> Result<(), Refusal> {
        self.serve((Op::Flush, 0, 0), Kept::AtOnce, |bytes| bytes.flush())
    }
}

impl Drive<'_> {
    fn write_zeros(&mut self, offset: u64, bytes: u32, kept: Kept) -> Result<(), Refusal> {
        let mut zeros = std::mem::take(&mut self.ledger.zeros);
        if zeros.len() < bytes as usize {
            zeros.resize(bytes as usize, 0);
        }
        let outcome = self.write(offset, &zeros[..bytes as usize], kept);
        self.ledger.zeros = zeros;
        outcome
    }
}
