//! Every single response time of a run, and the wear of every block: for those who analyse them by themselves.

use std::collections::BTreeMap;

use nand_model::part::Nanos;

use crate::input::trace::Op;

/// The requests of a run one by one, and its blocks.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The requests, in the order in which they were issued.
    pub responses: Responses,
    /// The cycles of each block during the run, by the name of the memory.
    pub wear: BTreeMap<String, Vec<u32>>,
}

/// What was requested, and how long it took, each in the order of the requests.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// The operations.
    pub ops: Vec<Op>,
    /// Their response times.
    pub times: Vec<Nanos>,
}

impl Responses {
    /// Notes that a request was issued.
    pub(super) fn issue(&mut self, op: Op) {
        self.ops.push(op);
        self.times.push(Nanos::ZERO);
    }

    /// Notes the response time of the request of that number.
    pub(super) fn complete(&mut self, number: usize, time: Nanos) {
        if let Some(place) = self.times.get_mut(number) {
            *place = time;
        }
    }
}
