//! The write-back policy in a checkpoint: its averages, and the sums since their last update.

use super::{BATCH, Share, WARM, WriteBack};
use crate::image::{Sink, Source, holds};

impl WriteBack {
    /// Bytes in an image.
    pub const IMAGE_BYTES: u64 = 3 * (4 + 4) + 1 + 2 + 1;

    /// Saves all but the rules in force.
    pub fn save(&self, sink: &mut impl Sink) {
        for share in [self.batch, self.short, self.long] {
            sink.word(share.updates);
            sink.word(share.sectors);
        }
        sink.byte(self.requests);
        sink.half(self.batches);
        sink.byte(u8::from(self.suspended));
    }

    /// Loads it.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        for share in [&mut self.batch, &mut self.short, &mut self.long] {
            let (updates, sectors) = (source.word()?, source.word()?);
            holds(updates <= sectors)?;
            *share = Share { updates, sectors };
        }
        self.requests = source.byte()?;
        self.batches = source.half()?;
        let suspended = source.byte()?;
        self.suspended = suspended == 1;
        holds(self.requests < BATCH && self.batches <= WARM && suspended <= 1)?;
        holds(!self.suspended || self.config.suspend_when_updates_fall)
    }
}
