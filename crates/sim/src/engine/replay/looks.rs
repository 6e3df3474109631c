//! When an observer looks, and at what.

use nand_model::part::Nanos;

use super::run_observer::{Look, RunObserver};
use super::under_way::UnderWay;
use crate::engine::systems::System;

/// The looks of an observer, if there is one.
pub(super) struct Looks<'a> {
    run_observer: Option<&'a dyn RunObserver>,
    begun: Nanos,
    requests: u64,
    /// Of those, issued since the last look.
    since: u64,
}

impl<'a> Looks<'a> {
    /// The looks at a replay that begins then.
    pub(super) fn of(run_observer: Option<&'a dyn RunObserver>, begun: Nanos) -> Self {
        Self { run_observer, begun, requests: 0, since: 0 }
    }

    /// Looks before the first request.
    pub(super) fn begin(&mut self, system: &dyn System, under_way: &mut UnderWay) {
        if self.run_observer.is_some() {
            under_way.keep_answers();
        }
        self.look(system, under_way);
    }

    /// Looks after these requests, if it is time.
    #[inline]
    pub(super) fn after(&mut self, requests: usize, system: &dyn System, under_way: &mut UnderWay) {
        self.requests += requests as u64;
        self.since += requests as u64;
        if self
            .run_observer
            .is_some_and(|run_observer| self.since >= run_observer.every().get().into())
        {
            self.look(system, under_way);
        }
    }

    /// Looks at the end, when all requests are completed.
    pub(super) fn end(&mut self, system: &dyn System, under_way: &mut UnderWay) {
        if self.since > 0 || under_way.has_answers() {
            self.look(system, under_way);
        }
    }

    #[cold]
    fn look(&mut self, system: &dyn System, under_way: &mut UnderWay) {
        let Some(run_observer) = self.run_observer else { return };
        self.since = 0;
        let (answers, written) = (under_way.take_answers(), under_way.written());
        let Self { begun, requests, .. } = *self;
        run_observer.look(&Look { system, begun, requests, written, answers: &answers });
    }
}
