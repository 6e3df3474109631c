//! When an onlooker looks, and at what.

use nand_model::part::Nanos;

use super::onlooker::{Look, Onlooker};
use super::under_way::UnderWay;
use crate::engine::systems::System;

/// The looks of an onlooker, if there is one.
pub(super) struct Looks<'a> {
    onlooker: Option<&'a dyn Onlooker>,
    begun: Nanos,
    requests: u64,
    /// Of those, issued since the last look.
    since: u64,
}

impl<'a> Looks<'a> {
    /// The looks at a replay that begins then.
    pub(super) fn of(onlooker: Option<&'a dyn Onlooker>, begun: Nanos) -> Self {
        Self { onlooker, begun, requests: 0, since: 0 }
    }

    /// Looks before the first request.
    pub(super) fn begin(&mut self, system: &dyn System, under_way: &mut UnderWay) {
        if self.onlooker.is_some() {
            under_way.keep_answers();
        }
        self.look(system, under_way);
    }

    /// Looks after these requests, if it is time.
    #[inline]
    pub(super) fn after(&mut self, requests: usize, system: &dyn System, under_way: &mut UnderWay) {
        self.requests += requests as u64;
        self.since += requests as u64;
        if self.onlooker.is_some_and(|onlooker| self.since >= onlooker.every().get().into()) {
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
        let Some(onlooker) = self.onlooker else { return };
        self.since = 0;
        let (answers, written) = (under_way.take_answers(), under_way.written());
        let Self { begun, requests, .. } = *self;
        onlooker.look(&Look { system, begun, requests, written, answers: &answers });
    }
}
