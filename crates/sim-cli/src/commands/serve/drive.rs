//! Requests on the system, with measurement, trace and image file.

use std::convert::Infallible;
use std::io::Write;
use std::time::{Duration, Instant};

use ftl_adapters::bytes::{ByteStore, Error};
use ftl_iface::{Lifetime, PageCount, StoreReadError, StoreWriteError, Work};
use nand_model::part::Nanos;
use sim::Failure;
use sim::engine::image::DiskFile;
use sim::engine::replay::{Measurement, Served};
use sim::engine::systems::System;
use sim::input::trace::output::{self, Fields, Output};
use sim::input::trace::{Op, Request};

use super::baseline::{Baseline, Noted};
use super::held::Held;
use super::status::Status;
use super::wire::{Access, Disk, Durability, Errno, Export, Refusal, Zeroing};

/// How long requests take in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// As long as this program needs; the device's time is counted only.
    Host,
    /// As long as the device's.
    Device,
}

/// What a recording tells of each request.
const RECORDED: Fields = Fields::WithLifetime;

/// A request as it arrives now.
const fn asked(op: Op, offset: u64, length: u64) -> Request {
    Request::new(Nanos::ZERO, op, offset, length)
}

/// The state that survives a power loss, because it is not part of the device.
pub(super) struct Ledger {
    /// The measurements; `None` before the first life.
    pub(super) served: Option<Served>,
    disk_file: Option<DiskFile>,
    access: Access,
    record: Option<Output>,
    /// The conventional system beside the served one, if the status is shown.
    baseline: Option<Baseline>,
    start: Instant,
    /// When the device will have completed its requests; `None` if it takes no real time.
    free_at: Option<Instant>,
    /// The device's clock after the last request.
    clock: Nanos,
    /// Why no more requests can be served.
    failure: Option<Failure>,
    /// A buffer for sectors that are changed in part, and for zeros.
    sector: Vec<u8>,
    zeros: Vec<u8>,
}

impl Ledger {
    pub(super) fn new(
        disk_file: Option<DiskFile>,
        access: Access,
        mut record: Option<Output>,
        baseline: Option<Baseline>,
        pace: Pace,
    ) -> Result<Self, Failure> {
        if let Some(record) = &mut record {
            output::begin(RECORDED, record)?;
        }
        let start = Instant::now();
        Ok(Self {
            served: None,
            disk_file,
            access,
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

    /// Writes the rest, and the end of the trace. Returns how many times as fast as the baseline the system was.
    pub(super) fn end(&mut self) -> Result<Option<f64>, Failure> {
        if let Some(record) = self.record.take() {
            record.finish()?;
        }
        self.failed()?;
        Ok(self.baseline.take().and_then(Baseline::end))
    }

    /// Returns an error if no more requests can be served.
    pub(super) fn failed(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Flushes the trace to its file.
    pub(super) fn flush_record(&mut self) {
        if let Some(record) = &mut self.record
            && let Err(error) = record.flush()
        {
            self.fail(error.into());
        }
    }

    /// Notes a failure. The first one is told: those that follow come of it.
    fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// The file of the disk, if it has one, to be closed.
    pub(super) const fn take_disk_file(&mut self) -> Option<DiskFile> {
        self.disk_file.take()
    }

    fn note(&mut self, request: &Request, time: Nanos) {
        if let Some(record) = &mut self.record
            && let Err(error) = output::put(request, RECORDED, record)
        {
            self.fail(error.into());
        }
        if let Some(baseline) = &mut self.baseline {
            baseline.note(Noted::Request(*request, time));
        }
        self.keep_pace(time);
    }

    /// Notes the time of idle work of the device. No client waits for it, but the next request starts after it.
    fn rested(&mut self, time: Nanos) {
        if let Some(baseline) = &mut self.baseline {
            baseline.note(Noted::Rest(RESTED_AT_ONCE));
        }
        if let Some(free_at) = &mut self.free_at {
            *free_at = (*free_at).max(Instant::now()) + Duration::from_nanos(time.get());
        }
    }

    /// Whether the device has completed its requests, in real time if it is slowed down to the device's speed.
    fn is_free(&self) -> bool {
        self.free_at.is_none_or(|free_at| free_at <= Instant::now())
    }

    /// Waits as long as the device would have taken, if slowed down.
    fn keep_pace(&mut self, time: Nanos) {
        if let Some(free_at) = &mut self.free_at {
            *free_at = (*free_at).max(Instant::now()) + Duration::from_nanos(time.get());
            wait_until(*free_at);
        }
    }
}

/// Sleeps until shortly before the end, within the accuracy of sleeping.
fn wait_until(moment: Instant) {
    /// How much longer than requested a sleep may take.
    const SLACK: Duration = Duration::from_micros(80);
    let sleep = moment.saturating_duration_since(Instant::now()).saturating_sub(SLACK);
    if !sleep.is_zero() {
        std::thread::sleep(sleep);
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

/// Pages of idle work at a time: the next request waits at most for these.
const RESTED_AT_ONCE: PageCount = PageCount::new(8);

/// The unit of file systems and page caches.
const USUAL_BLOCK: u32 = 4096;

/// A system in use.
pub(super) struct Drive<'l> {
    disk: Held<'l>,
    ledger: &'l mut Ledger,
    export: Export,
    rest: Rest,
}

/// State to detect that the system is idle.
#[derive(Debug)]
struct Rest {
    /// Requests so far, and the time of the last check.
    asked: u64,
    seen: u64,
    /// The last state reported by the system.
    work: Work,
}

type Answer = Result<(), Error<Infallible>>;

impl<'l> Drive<'l> {
    pub(super) fn new(disk: Held<'l>, ledger: &'l mut Ledger) -> Self {
        let system = disk.system();
        let sector = system.sector_bytes().get();
        let bytes = u64::from(system.capacity().get()) * u64::from(sector);
        let export =
            Export { bytes, preferred_block: sector.max(USUAL_BLOCK), access: ledger.access };
        if ledger.served.is_none() {
            ledger.served = Some(Served::begin(system));
            ledger.clock = system.now();
        }
        // The time of the mount after the power loss.
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

    /// Writes the status line.
    pub(super) fn tell(&mut self, status: &Status, cuts: u64) {
        if let Some(served) = &self.ledger.served {
            let rs = self.ledger.baseline.as_ref().and_then(Baseline::rs);
            status.tell(self.disk.system(), served, cuts, rs);
        }
    }

    /// Ends the measurement.
    pub(super) fn measured(&mut self, system: &str) -> Option<Measurement> {
        Some(self.ledger.served.take()?.end(system, self.disk.system()))
    }

    /// Whether no more requests can be served, because of a power loss or a failure.
    pub(super) fn is_off(&mut self) -> bool {
        self.ledger.failure.is_some() || !self.disk.is_on()
    }

    /// Writes all changes to the journal; replies may be sent after that.
    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        if let Some(baseline) = &mut self.ledger.baseline {
            baseline.hand_over();
        }
        let (Some(disk_file), Some(power)) = (&mut self.ledger.disk_file, self.disk.power()) else {
            return Ok(());
        };
        disk_file.commit(power.inner_mut()).map_err(|failure| self.broken(failure))
    }

    fn broken(&mut self, failure: Failure) -> Refusal {
        self.ledger.fail(failure);
        Refusal::Off
    }

    /// Makes all changes durable; with a file, they survive the end of the machine.
    fn sync(&mut self) -> Result<(), Refusal> {
        let (Some(disk_file), Some(power)) = (&mut self.ledger.disk_file, self.disk.power()) else {
            return Ok(());
        };
        disk_file.sync(power.inner_mut()).map_err(|failure| self.broken(failure))
    }

    /// Does idle work if there was no request since the last call. Call it regularly.
    pub(super) fn rest(&mut self) {
        let is_idle = self.rest.asked == self.rest.seen;
        self.rest.seen = self.rest.asked;
        if !is_idle {
            self.rest.work = Work::Left;
        } else if self.rest.work == Work::Left && self.ledger.is_free() && !self.is_off() {
            self.rest.work = self.maintain();
            // No client waits for an answer. The server ends after a failure.
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

    /// Runs a request on the system.
    #[inline]
    fn serve(
        &mut self,
        request: Request,
        kept: Durability,
        work: impl FnOnce(&mut ByteStore<'_, &mut dyn System>) -> Answer,
    ) -> Result<(), Refusal> {
        if self.is_off() {
            return Err(Refusal::Off);
        }
        let time = Nanos::new(self.ledger.start.elapsed().as_nanos() as u64);
        let request = Request { time, ..request };
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
                if kept == Durability::AtOnce { self.sync() } else { Ok(()) }
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
        let request = asked(Op::Read, offset, data.len() as u64);
        self.serve(request, Durability::Flushed, |bytes| bytes.read_bytes(offset, data))
    }

    fn write(
        &mut self,
        offset: u64,
        data: &[u8],
        kept: Durability,
        lifetime: Lifetime,
    ) -> Result<(), Refusal> {
        let request = asked(Op::Write, offset, data.len() as u64).living(lifetime);
        self.serve(request, kept, |bytes| bytes.write_bytes_hinted(offset, data, lifetime))
    }

    fn trim(&mut self, offset: u64, bytes: u32, kept: Durability) -> Result<(), Refusal> {
        let length = u64::from(bytes);
        let request = asked(Op::Trim, offset, length);
        self.serve(request, kept, |bytes| bytes.trim_bytes(offset, length))
    }

    /// Trimmed bytes read as zeros. Sectors that are covered in part are written.
    fn zero(
        &mut self,
        offset: u64,
        bytes: u32,
        how: Zeroing,
        kept: Durability,
    ) -> Result<(), Refusal> {
        let sector = self.ledger.sector.len() as u64;
        let end = offset + u64::from(bytes);
        let (first, last) = (offset.next_multiple_of(sector), end / sector * sector);
        if how == Zeroing::MustWrite || first >= last {
            return self.write_zeros(offset, bytes, kept);
        }
        if first > offset {
            self.write_zeros(offset, (first - offset) as u32, Durability::Flushed)?;
        }
        if end > last {
            self.write_zeros(last, (end - last) as u32, Durability::Flushed)?;
        }
        self.trim(first, (last - first) as u32, kept)
    }

    // A method by its name would be one of a single lifetime.
    #[allow(clippy::redundant_closure_for_method_calls)]
    fn flush(&mut self) -> Result<(), Refusal> {
        self.serve(asked(Op::Flush, 0, 0), Durability::AtOnce, |bytes| bytes.flush())
    }
}

impl Drive<'_> {
    fn write_zeros(&mut self, offset: u64, bytes: u32, kept: Durability) -> Result<(), Refusal> {
        let mut zeros = std::mem::take(&mut self.ledger.zeros);
        if zeros.len() < bytes as usize {
            zeros.resize(bytes as usize, 0);
        }
        let outcome = self.write(offset, &zeros[..bytes as usize], kept, Lifetime::Unknown);
        self.ledger.zeros = zeros;
        outcome
    }
}
