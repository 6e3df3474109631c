//! The filter in a checkpoint: the histogram, the writes since the threshold was last found, and the threshold.

use ftl_iface::SectorCount;

use super::SizeFilter;
use super::histogram::{CLASSES, Histogram};
use crate::image::{Sink, Source, holds};

impl SizeFilter {
    /// Bytes in an image.
    pub const IMAGE_BYTES: u64 = 8 * CLASSES as u64 + 4 + 4;

    /// Writes down what was seen.
    pub fn save(&self, sink: &mut impl Sink) {
        self.histogram.save(sink);
        sink.word(self.seen);
        sink.word(self.threshold.get());
    }

    /// Restores it.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        self.histogram.load(source)?;
        self.seen = source.word()?;
        self.threshold = SectorCount::new(source.word()?);
        holds(self.seen < self.period && self.threshold <= self.largest)
    }
}

impl Histogram {
    /// Writes down writes and sectors of each class.
    fn save(&self, sink: &mut impl Sink) {
        for (writes, sectors) in self.counts() {
            sink.word(writes);
            sink.word(sectors);
        }
    }

    /// Restores them: any counts are possible ones.
    fn load(&mut self, source: &mut impl Source) -> Option<()> {
        for (writes, sectors) in self.counts_mut() {
            (*writes, *sectors) = (source.word()?, source.word()?);
        }
        Some(())
    }
}
