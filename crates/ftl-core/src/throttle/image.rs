//! The throttle in a checkpoint: the balance, the pressure, and the window. What follows from geometry and endurance
//! is not saved.

use ftl_iface::BlockCount;

use super::Throttle;
use crate::image::{Sink, Source, holds};

impl Throttle {
    /// Bytes in an image.
    pub const IMAGE_BYTES: u64 = 8 + 8 + 4;

    /// Writes down what moves.
    pub fn save(&self, sink: &mut impl Sink) {
        sink.long(self.balance.cast_unsigned());
        sink.long(self.pressure.cast_unsigned());
        sink.word(self.window.get());
    }

    /// Restores it.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        self.balance = source.long()?.cast_signed();
        self.pressure = source.long()?.cast_signed();
        self.window = BlockCount::new(source.word()?);
        holds(self.pressure.unsigned_abs() < self.period)?;
        holds(self.floor <= self.window && self.window <= self.max)
    }
}
