//! Outstanding requests: when each was issued, when its last operation ended, and how its time was spent.

use std::collections::VecDeque;

use super::job::{Done, Label};
use crate::part::Nanos;

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Request {
    number: u64,
    at: Nanos,
    /// When its first operation began.
    begun: Option<Nanos>,
    /// Up to here, its time is charged.
    charged: Nanos,
    /// Operations that have not ended.
    left: u32,
    /// Whether more operations may come.
    open: bool,
}

/// All of them, and those that have ended and were not asked for yet.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    under_way: Vec<Option<Request>>,
    free: Vec<u32>,
    count: u64,
    done: VecDeque<Done>,
    /// By [`Label`].
    charges: Vec<Nanos>,
}

impl Requests {
    pub(super) fn new(count: u64) -> Self {
        let charges = vec![Nanos::ZERO; usize::from(u8::MAX) + 1];
        Self { under_way: Vec::new(), free: Vec::new(), count, done: VecDeque::new(), charges }
    }

    /// Takes a request in. Says its number and its place.
    pub(super) fn begin(&mut self, at: Nanos) -> (u64, u32) {
        let number = self.count;
        self.count += 1;
        let request = Request { number, at, begun: None, charged: at, left: 0, open: true };
        let place = self.free.pop().unwrap_or_else(|| {
            self.under_way.push(None);
            (self.under_way.len() - 1) as u32
        });
        self.under_way[place as usize] = Some(request);
        (number, place)
    }

    /// How many requests there were.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    fn at(&mut self, place: u32) -> Option<&mut Request> {
        self.under_way[place as usize].as_mut()
    }

    /// Another operation of it.
    pub(super) fn more(&mut self, place: u32) {
        if let Some(request) = self.at(place) {
            request.left += 1;
        }
    }

    /// Hardware has set to work for it.
    pub(super) fn started(&mut self, place: u32, now: Nanos) {
        if let Some(request) = self.at(place)
            && request.begun.is_none()
        {
            // What passed until then was waiting, and nobody's work.
            (request.begun, request.charged) = (Some(now), now);
        }
    }

    /// One of its operations has ended. The time since the one before it is that operation's.
    pub(super) fn ended(&mut self, place: u32, label: Label, now: Nanos) {
        let Some(request) = self.at(place) else { return };
        let time = now.since(request.charged);
        (request.charged, request.left) = (now, request.left - 1);
        self.charges[usize::from(label.0)] += time;
        self.finish(place, now);
    }

    /// No more operations of it will come.
    pub(super) fn close(&mut self, place: u32, now: Nanos) {
        if let Some(request) = self.at(place) {
            request.open = false;
        }
        self.finish(place, now);
    }

    fn finish(&mut self, place: u32, now: Nanos) {
        let over = |request: &mut Request| request.left == 0 && !request.open;
        let Some(request) = self.under_way[place as usize].take_if(over) else { return };
        self.free.push(place);
        let Request { number, at, begun, .. } = request;
        self.done.push_back(Done { number, at, begun: begun.unwrap_or(now), ended: now });
    }

    /// The next that has ended by then.
    pub(super) fn take_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        let next = self.done.front()?;
        if until.is_some_and(|until| next.ended > until) { None } else { self.done.pop_front() }
    }

    /// Takes out the request of that number, if it has ended.
    pub(super) fn forget(&mut self, number: u64) -> bool {
        let at = self.done.iter().position(|done| done.number == number);
        at.and_then(|at| self.done.remove(at)).is_some()
    }

    /// Notes one that is served from beginning to end at once.
    pub(super) fn serve(&mut self, at: Nanos, begun: Nanos, ended: Nanos) {
        self.done.push_back(Done { number: self.count, at, begun, ended });
        self.count += 1;
    }

    pub(super) fn charged(&self, label: Label) -> Nanos {
        self.charges[usize::from(label.0)]
    }
}
