//! Simulated time: what an operation waits for and how long it takes.
//!
//! Two views of the same hardware:
//!
//! - *Serial* ([`Time::Serial`], the default): one operation after the other. Nothing overlaps, whatever the layout.
//! - *Overlapped* ([`Time::Overlapped`]): channels, dies and planes work at the same time. A busy die is waited for,
//!   and an operation starts then. A read occupies its die, then its channel, and blocks the caller until its bytes are
//!   across. A program's bytes queue for the channel, then the die is busy with them; an erase keeps its die busy at
//!   once. Neither blocks the caller further: the next operation on another die starts at the same moment.
//!   Planes of one die work together when they are asked to in one breath, as the multi-plane commands of ONFI parts
//!   do (Open NAND Flash Interface Specification 4.0, section 5, "Multi-plane operations"): a program of the same page
//!   number, or an erase, that reaches another plane before the die set to work joins in, and one operation time
//!   covers them all.
//!
//! [`Timed::now`] is the moment at which the caller may go on. [`ChipStats::elapsed`](crate::ChipStats) is the
//! moment at which the last die comes to rest.

use ftl_iface::{Block, Bytes, PageIndex};

use crate::part::{Layout, Nanos, Timing};

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
    /// The moment at which the caller may go on.
    fn now(&self) -> Nanos;
}

impl<T: Timed + ?Sized> Timed for &mut T {
    fn now(&self) -> Nanos {
        (**self).now()
    }
}

impl Timing {
    /// How long so many bytes occupy the bus, rounded up to whole nanoseconds.
    #[inline]
    pub const fn transfer(&self, bytes: Bytes) -> Nanos {
        // Of many parts the page times are given whole.
        if self.bus_picos_per_byte == 0 {
            return Nanos::ZERO;
        }
        Nanos::new((bytes.get() as u64 * self.bus_picos_per_byte).div_ceil(1_000))
    }
}

/// What an operation asks of the hardware.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Cells to register, then over the bus.
    Read { array: Nanos, transfer: Nanos },
    /// Over the bus, then register to cells.
    Program { array: Nanos, transfer: Nanos, page: PageIndex },
    /// A whole block.
    Erase { array: Nanos },
}

/// What planes of a die must share to work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Together {
    Program(PageIndex),
    Erase,
}

/// A die and its last operation.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// When the array set to work, or will.
    array_from: Nanos,
    busy_until: Nanos,
    /// What the last operation was, and the planes in it, as bits. Nobody joins a read.
    last: Option<(Together, u64)>,
}

/// Channels and dies of a device whose operations overlap.
#[derive(Clone, Debug)]
struct Parallel {
    layout: Layout,
    channels: Vec<Nanos>,
    dies: Vec<Die>,
}

/// The device's clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    now: Nanos,
    /// The sum over the dies of the time at work.
    active: Nanos,
    /// Present where operations overlap.
    parallel: Option<Box<Parallel>>,
}

impl Clock {
    pub(crate) fn new(time: Time, layout: Layout, now: Nanos, active: Nanos) -> Self {
        let parallel = match time {
            Time::Serial => None,
            Time::Overlapped => {
                let rest = Die { busy_until: now, ..Die::default() };
                let dies = vec![rest; layout.dies() as usize];
                let channels = vec![now; layout.channels as usize];
                Some(Box::new(Parallel { layout, channels, dies }))
            }
        };
        Self { now, active, parallel }
    }

    pub(crate) const fn time(&self) -> Time {
        match self.parallel {
            None => Time::Serial,
            Some(_) => Time::Overlapped,
        }
    }

    pub(crate) const fn now(&self) -> Nanos {
        self.now
    }

    /// The sum over the dies of the time at work.
    pub(crate) const fn active(&self) -> Nanos {
        self.active
    }

    /// When the last die comes to rest.
    pub(crate) fn all_done(&self) -> Nanos {
        let dies = self.parallel.iter().flat_map(|parallel| parallel.dies.iter());
        dies.map(|die| die.busy_until).fold(self.now, Ord::max)
    }

    /// Lets time pass until `moment`, if that is still ahead.
    pub(crate) fn wait_until(&mut self, moment: Nanos) {
        self.now = self.now.max(moment);
    }

    /// Does work of that length on idle hardware. What it is and on which block, only operations that overlap ask.
    #[inline]
    pub(crate) fn spend(&mut self, length: Nanos, work: impl FnOnce() -> (Block, Work)) {
        if self.parallel.is_some() {
            let (block, work) = work();
            self.overlap(block, work);
        } else {
            self.now += length;
            self.active += length;
        }
    }

    /// Out of the way of the serial case, which is the one that long runs take.
    #[cold]
    #[inline(never)]
    fn overlap(&mut self, block: Block, work: Work) {
        if let Some(parallel) = &mut self.parallel {
            let (now, longer) = parallel.spend(self.now, block, work);
            self.now = now;
            self.active += longer;
        }
    }
}

impl Parallel {
    /// Plane first, then die, then channel, as [`Layout`] says: channel, die of the device, plane.
    fn place(&self, block: Block) -> (usize, usize, u32) {
        let Layout { channels, dies_per_channel, planes_per_die } = self.layout;
        let plane = block.index() % planes_per_die;
        let rest = block.index() / planes_per_die;
        let die = rest % dies_per_channel;
        let channel = rest / dies_per_channel % channels;
        (channel as usize, (channel * dies_per_channel + die) as usize, plane)
    }

    /// The moment at which the caller may go on, and by how much longer the die is at work.
    fn spend(&mut self, now: Nanos, block: Block, work: Work) -> (Nanos, Nanos) {
        let (channel, die, plane) = self.place(block);
        let bus = &mut self.channels[channel];
        let die = &mut self.dies[die];
        match work {
            Work::Read { array, transfer } => {
                let start = now.max(die.busy_until);
                *bus = (start + array).max(*bus) + transfer;
                *die = Die { array_from: start, busy_until: *bus, last: None };
                (*bus, bus.since(start))
            }
            Work::Program { array, transfer, page } => {
                let joined = die.joined(now, Together::Program(page), plane);
                let start = if joined.is_some() { now } else { now.max(die.busy_until) };
                let array_from = start.max(*bus) + transfer;
                *bus = array_from;
                let longer = die.work(start, array_from, array, joined);
                die.last = Some((Together::Program(page), joined.unwrap_or(0) | 1 << plane));
                (start, longer)
            }
            Work::Erase { array } => {
                let joined = die.joined(now, Together::Erase, plane);
                let start = if joined.is_some() { now } else { now.max(die.busy_until) };
                let longer = die.work(start, start, array, joined);
                die.last = Some((Together::Erase, joined.unwrap_or(0) | 1 << plane));
                (start, longer)
            }
        }
    }
}

impl Die {
    /// The planes that the operation joins, if it does.
    fn joined(&self, now: Nanos, what: Together, plane: u32) -> Option<u64> {
        let (last, planes) = self.last?;
        let free = planes & 1 << plane == 0;
        (last == what && free && now <= self.array_from).then_some(planes)
    }

    /// Books the work and says by how much it lengthens the time that the die is busy.
    fn work(
        &mut self,
        start: Nanos,
        array_from: Nanos,
        array: Nanos,
        joined: Option<u64>,
    ) -> Nanos {
        let before = if joined.is_some() { self.busy_until } else { start };
        self.array_from = array_from;
        self.busy_until = (array_from + array).max(before);
        self.busy_until.since(before)
    }
}
