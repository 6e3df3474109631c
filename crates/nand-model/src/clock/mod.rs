//! Simulated time: what an operation waits for and how long it takes.
//!
//! Two views of the same hardware:
//!
//! - *Serial* ([`Time::Serial`], the default): one operation after the other. Nothing overlaps, whatever the layout.
//! - *Overlapped* ([`Time::Overlapped`]): channels, dies and planes work in parallel, for all outstanding requests.
//!
//! # Overlapped operations
//!
//! A die does one operation at a time; others queue for it in the order in which they became ready. A read
//! occupies its die while the cells are sensed and until its data has crossed the channel. A program's data crosses the
//! channel first; its die is occupied from then until the cells are written. An erase occupies only its die. Channels
//! carry one page at a time, in the order in which pages are ready. Planes of one die work together as the multi-plane
//! commands of ONFI parts allow (Open NAND Flash Interface Specification 4.0, section 5, "Multi-plane operations"):
//! reads or programs of the same page number, or erases, that wait for the die together share one operation time; a
//! program can join while the others' data is still crossing the channel. Data still crosses one page after the other.
//!
//! If a block is striped ([`Stripe`](crate::part::Stripe)), its neighbouring pages are on other channels and dies,
//! and an erase of it occupies all of them. A region may have dies of its own, on channels of its own
//! ([`RegionPart`](crate::part::RegionPart)): then the operations of the two regions never meet.
//!
//! # Which operation waits for which
//!
//! An FTL that blocks issues one operation after the other, and takes no time to do so. What each must really wait for
//! is declared beforehand by an [`Order`]: nothing waits for the host's data, but a tag or a map decides what is done
//! next. So the operations of one request depend on each other. Outstanding requests share
//! only the hardware, and the order in which the operations on each block were issued.
//!
//! A request is over when its last operation is. Its time from the beginning of the first one is charged to the
//! operations ([`Label`]), to each the time since the end of the previous one: the parts add up to the
//! whole.
//!
//! # Modules
//!
//! - `job`: requested operations, and the account of a request. `topology`: where pages are. `graph`: which
//!   operation waits for which. `requests`: outstanding requests. `dies`: the state of each die. `schedule`: the
//!   event-driven schedule of the hardware.

use ftl_iface::Bytes;

use self::requests::Requests;
use self::schedule::Schedule;
use self::topology::Topology;
use crate::part::{Nanos, Part, Timing};

mod dies;
mod graph;
mod job;
mod requests;
mod schedule;
mod topology;

pub use self::job::{Done, Label, Order};
pub(crate) use self::job::{Job, Work};

/// Whether operations follow each other or overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Time {
    /// One after the other.
    #[default]
    Serial,
    /// As the part's channels, dies and planes allow.
    Overlapped,
}

/// A device that keeps simulated time. Wrappers pass their inner device's on.
pub trait Timed {
    /// The moment at which the caller may continue.
    fn now(&self) -> Nanos;
}

impl<T: Timed + ?Sized> Timed for &mut T {
    fn now(&self) -> Nanos {
        (**self).now()
    }
}

impl Timing {
    /// How long that many bytes occupy the bus, rounded up to whole nanoseconds.
    #[inline]
    pub const fn transfer(&self, bytes: Bytes) -> Nanos {
        // Of many parts the page times are given whole.
        if self.bus_picos_per_byte == 0 {
            return Nanos::ZERO;
        }
        Nanos::new((bytes.get() as u64 * self.bus_picos_per_byte).div_ceil(1_000))
    }
}

/// The device's clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: Nanos,
    /// The sum over the dies of the time at work.
    active: Nanos,
    /// Of the operations to come.
    order: Order,
    label: Label,
    /// Where operations follow each other, the request under way: when it was handed over, and when it began.
    in_turn: Option<(Nanos, Nanos)>,
    requests: Requests,
    /// Present where operations overlap. It has the time, the sums and the requests then.
    overlapped: Option<Box<Schedule>>,
}

impl Clock {
    pub(crate) fn new(time: Time, part: &Part, now: Nanos, active: Nanos) -> Self {
        let overlapped = match time {
            Time::Serial => None,
            Time::Overlapped => {
                Some(Box::new(Schedule::new(Topology::new(part), now, active, Requests::new(0))))
            }
        };
        let (order, label) = (Order::default(), Label::default());
        let requests = Requests::new(0);
        Self { now, active, order, label, in_turn: None, requests, overlapped }
    }

    pub(crate) const fn time(&self) -> Time {
        match self.overlapped {
            None => Time::Serial,
            Some(_) => Time::Overlapped,
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.overlapped.as_ref().map_or(self.now, |schedule| schedule.now())
    }

    /// When the last operation ends, and the sum over the dies of the time at work until then.
    pub(crate) fn at_rest(&self) -> (Nanos, Nanos) {
        let Some(schedule) = &self.overlapped else {
            return (self.now, self.active);
        };
        let mut schedule = schedule.clone();
        schedule.close();
        schedule.run_out();
        (schedule.now(), schedule.active())
    }

    /// Lets time pass until `moment`, if that is still ahead.
    pub(crate) fn wait_until(&mut self, moment: Nanos) {
        match &mut self.overlapped {
            Some(schedule) => schedule.run_until(moment),
            None => self.now = self.now.max(moment),
        }
    }

    /// Of the operations to come.
    #[inline]
    pub(crate) const fn set_order(&mut self, order: Order, label: Label) {
        (self.order, self.label) = (order, label);
    }

    pub(crate) fn begin(&mut self, at: Nanos) -> u64 {
        if let Some(schedule) = &mut self.overlapped {
            return schedule.begin(at);
        }
        self.end();
        self.now = self.now.max(at);
        self.in_turn = Some((at, self.now));
        self.requests.count()
    }

    pub(crate) fn end(&mut self) {
        if let Some(schedule) = &mut self.overlapped {
            schedule.close();
        } else if let Some((at, begun)) = self.in_turn.take() {
            self.requests.serve(at, begun, self.now);
        }
    }

    pub(crate) fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        match &mut self.overlapped {
            Some(schedule) => schedule.next_done(until),
            None => self.requests.take_done(until),
        }
    }

    pub(crate) fn charged(&self, label: Label) -> Nanos {
        let requests = self.overlapped.as_ref().map_or(&self.requests, |it| &it.requests);
        requests.charged(label)
    }

    /// Does work of that length on idle hardware. What it is and where, only operations that overlap ask.
    #[inline]
    pub(crate) fn spend(&mut self, length: Nanos, asked: impl FnOnce() -> Job) {
        if self.overlapped.is_some() {
            self.overlap(asked());
        } else {
            self.now += length;
            self.active += length;
        }
    }

    /// Out of the way of the serial case, which is the one that long runs take.
    #[cold]
    #[inline(never)]
    fn overlap(&mut self, asked: Job) {
        let Some(schedule) = &mut self.overlapped else { return };
        if schedule.is_open() {
            schedule.issue(asked, self.order, self.label);
        } else {
            schedule.alone(asked, self.order, self.label);
        }
    }
}
