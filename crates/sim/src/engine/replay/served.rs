//! The measurement of a system that real hosts use, the same as in a replay.

use std::convert::Infallible;
use std::time::Duration;

use ftl_iface::{PageCount, SectorCount, StoreWriteError, Work};
use nand_model::part::Nanos;

use super::measurement::{Clocked, Measurement, Moment};
use super::options::Pace;
use super::tally::Tally;
use super::under_way::account;
use crate::base::clock::{Clock, ThreadClock};
use crate::engine::result::Requests;
use crate::engine::systems::{Account, System};
use crate::input::trace::{Op, Request};

/// The measurement of a system, from a moment on.
pub struct Served {
    before: Moment,
    tally: Tally,
    start: Clock,
    busy: Duration,
}

impl Served {
    /// Begins to measure now.
    pub fn begin(system: &dyn System) -> Self {
        let (before, tally) = (Moment::of(system, 0), Tally::new());
        let (start, busy) = (Clock::now(), Duration::ZERO);
        Self { before, tally, start, busy }
    }

    /// Runs and counts a request, and returns how long the device took.
    pub fn measure<T>(
        &mut self,
        system: &mut dyn System,
        request: &Request,
        work: impl FnOnce(&mut dyn System) -> T,
    ) -> (T, Nanos) {
        let (handed_over, before) = (ThreadClock::now(), system.now());
        system.account(account(request.op));
        system.begin(before);
        let outcome = work(system);
        system.end();
        let mut ended = before;
        while let Some(done) = system.next_done(None) {
            ended = ended.max(done.ended);
        }
        let time = ended.since(before);
        let sectors = touched(request, system.sector_bytes().get().into());
        self.tally.note(request, sectors.get().into(), time, Nanos::ZERO);
        self.busy += handed_over.elapsed();
        (outcome, time)
    }

    /// Lets the system do idle work, and returns how long the device took.
    pub fn rest(
        system: &mut dyn System,
        budget: PageCount,
    ) -> (Result<Work, StoreWriteError<Infallible>>, Nanos) {
        let before = system.now();
        system.account(Account::Idle);
        system.begin(before);
        let outcome = system.maintain(budget);
        system.end();
        let mut ended = before;
        while let Some(done) = system.next_done(None) {
            ended = ended.max(done.ended);
        }
        (outcome, ended.since(before))
    }

    /// Requests so far.
    pub fn requests(&self) -> Requests {
        self.tally.requests()
    }

    /// Ends to measure.
    pub fn end(self, name: &str, system: &dyn System) -> Measurement {
        Measurement {
            name: name.to_owned(),
            pace: Pace::default(),
            after: Moment::of(system, 0),
            clocked: Clocked { whole: self.start.elapsed(), busy: self.busy },
            before: self.before,
            tally: self.tally,
            rounds: None,
        }
    }
}

/// Sectors that a request touches.
fn touched(request: &Request, sector: u64) -> SectorCount {
    if request.length == 0 || request.op == Op::Flush {
        return SectorCount::ZERO;
    }
    let last = (request.end() - 1) / sector;
    SectorCount::new((last - request.offset / sector + 1) as u32)
}
