//! Takes frames of a run.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use sim::Observer;
use sim::engine::replay::{Look, RunObserver};
use sim::engine::systems::Hardware;

use crate::frame::Frame;
use crate::told::{AnswerPart, Tell};
use crate::words::on_the_page;

/// Takes frames of a run.
pub(crate) struct FrameRecorder<'a> {
    every: NonZeroU32,
    tell: Tell<'a>,
    /// The hardware at the first look.
    before: Mutex<Option<Hardware>>,
}

impl<'a> FrameRecorder<'a> {
    /// One that takes about so many frames of so many requests.
    pub(crate) fn new(requests: u64, frames: u64, tell: Tell<'a>) -> Self {
        let every = u32::try_from(requests.div_ceil(frames.max(1))).unwrap_or(u32::MAX);
        let every = NonZeroU32::new(every).unwrap_or(NonZeroU32::MIN);
        Self { every, tell, before: Mutex::new(None) }
    }
}

impl Observer for FrameRecorder<'_> {
    fn note(&self, sentence: &str) {
        (self.tell)(&AnswerPart::Note { sentence: &on_the_page(sentence) });
    }
}

impl RunObserver for FrameRecorder<'_> {
    fn every(&self) -> NonZeroU32 {
        self.every
    }

    fn look(&self, look: &Look<'_>) {
        let hardware = look.system.hardware();
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let before = before.get_or_insert_with(|| hardware.clone());
        let frame = Frame::of(look, &hardware, before);
        (self.tell)(&AnswerPart::Frame(&frame));
    }
}
