//! The time of the same requests without SLC: the conventional system runs beside the served one, in a separate thread,
//! on a chip that stores no bytes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use ftl_adapters::bytes::ByteStore;
use ftl_iface::PageCount;
use nand_model::Stamp;
use nand_model::part::Nanos;
use nand_model::power::Cut;
use sim::Failure;
use sim::engine::systems::{Chosen, Ended, Live, Owner, System};
use sim::input::device::Setup;
use sim::input::trace::{Op, Request};

use super::wire::PIECE;

/// An action of the served system.
pub(super) enum Noted {
    /// A request, and its time.
    Request(Request, Nanos),
    /// Idle work of at most that many pages.
    Rest(PageCount),
}

/// Actions passed on together.
type Batch = Vec<Noted>;

/// The most batches that may wait. If the baseline is further behind, the server waits for it.
const WAITING: usize = 256;

/// The conventional system, while the status is shown.
pub(super) struct Baseline {
    outlet: Option<SyncSender<Batch>>,
    batch: Batch,
    times: Arc<Times>,
    thread: Option<JoinHandle<()>>,
}

/// Response times of the same requests on both, added up, in nanoseconds.
#[derive(Debug, Default)]
struct Times {
    both: Mutex<[u64; 2]>,
    /// Whether the baseline failed, so that its times are invalid.
    failed: AtomicBool,
}

impl Baseline {
    /// The conventional system on the same device; `None` if it does not fit.
    pub(super) fn new(setup: &Setup) -> Option<Self> {
        let blueprint = Chosen::parse("conventional").ok()?.blueprint(setup).ok()?;
        let chip = blueprint.stamped(setup).ok()?;
        let chip = blueprint.format(chip).ok()?;
        let (outlet, batches) = sync_channel(WAITING);
        let times = Arc::new(Times::default());
        let mut follower = Follower { batches, times: times.clone() };
        let thread = std::thread::Builder::new().name("baseline".into());
        let thread = thread.spawn(move || {
            // A baseline that fails is dropped, because only the served system matters.
            if blueprint.run(chip, &mut follower).is_err() {
                follower.times.failed.store(true, Ordering::Relaxed);
            }
        });
        let (outlet, thread) = (Some(outlet), Some(thread.ok()?));
        Some(Self { outlet, batch: Batch::new(), times, thread })
    }

    /// Notes an action.
    pub(super) fn note(&mut self, noted: Noted) {
        self.batch.push(noted);
    }

    /// Passes the noted actions on.
    pub(super) fn hand_over(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        if self.outlet.as_ref().is_some_and(|outlet| outlet.send(batch).is_err()) {
            self.outlet = None;
        }
    }

    /// How many times as fast the served system was, over all requests that both have done.
    #[allow(clippy::cast_precision_loss)] // Three digits are shown.
    pub(super) fn rs(&self) -> Option<f64> {
        let [served, baseline] = *self.times.both.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = self.times.failed.load(Ordering::Relaxed);
        (!failed && served > 0).then(|| baseline as f64 / served as f64)
    }

    /// The same after all requests are done.
    pub(super) fn end(mut self) -> Option<f64> {
        self.hand_over();
        self.outlet = None;
        // A panic there was reported on standard error; the counts until then are valid.
        let _ = self.thread.take().map(JoinHandle::join);
        self.rs()
    }
}

/// Repeats the actions on the conventional system.
struct Follower {
    batches: Receiver<Batch>,
    times: Arc<Times>,
}

impl Owner for Follower {
    fn next_cut(&mut self) -> Cut {
        Cut::never()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        let size = disk.sector_bytes().as_usize();
        let mut sector = vec![0; size];
        // Each sector is stamped, so the chip stores four bytes of it. Reads return stamps or zeros.
        let mut data = vec![0; PIECE as usize];
        let mut read = data.clone();
        data.chunks_mut(size).for_each(|sector| Stamp::new(1).write_to(sector));
        while let Ok(batch) = self.batches.recv() {
            let (mut served, mut taken) = (Nanos::ZERO, Nanos::ZERO);
            for noted in batch {
                let system: &mut dyn System = &mut *disk;
                let (request, time) = match noted {
                    Noted::Request(request, time) => (request, time),
                    Noted::Rest(budget) => {
                        system.maintain(budget).map_err(|error| broken(&error))?;
                        continue;
                    }
                };
                let start = system.now();
                let bytes = ByteStore::new(system, &mut sector);
                let mut bytes = bytes.map_err(|error| broken(&error))?;
                let length = request.length as usize;
                let outcome = match request.op {
                    Op::Read => bytes.read_bytes(request.offset, &mut read[..length]),
                    Op::Write => bytes.write_bytes(request.offset, &data[..length]),
                    Op::Trim => bytes.trim_bytes(request.offset, request.length),
                    Op::Flush => bytes.flush(),
                };
                outcome.map_err(|error| broken(&error))?;
                served += time;
                taken += disk.now().since(start);
            }
            let mut both = self.times.both.lock().unwrap_or_else(PoisonError::into_inner);
            both[0] += served.get();
            both[1] += taken.get();
        }
        Ok(Ended::Stopped)
    }
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::Violation(format!("the baseline failed: {error}"))
}
