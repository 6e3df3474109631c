//! The clock hand: its position, and what it collects.

use crate::hybrid::address::{BlockNumber, ChainBlock};
use crate::image::{Sink, Source, holds};
use crate::quotient;
use crate::table::{Width, word};

/// A sweep over all blocks ends within this many erases. A swap absorbs some TH erases, so about one in sixteen erases
/// asks for a cold block: by then the hand has visited a hundred blocks or more.
pub const ERASES_A_SWEEP: BlockNumber = 1024;

/// The hand visits at least this many blocks per erase, so that the choice is wide on small devices too.
const FEWEST_VISITS: BlockNumber = 8;

/// The hot pool's bit in a block's nibble; the other three hold the effective count.
pub(super) const HOT: u8 = 0b1000;

/// The largest effective count, in steps. The next larger, in the hot pool, means that the block is retired.
pub(super) const MOST_STEPS: u8 = 6;

/// The position of the hand, and what it has collected.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The next block to visit.
    pub(super) hand: BlockNumber,
    /// Blocks visited at each erase.
    pub(super) stride: BlockNumber,
    /// By how much this sweep lowers effective counts, in steps.
    pub(super) lower: u8,
    /// The smallest effective count of the hot blocks visited in this sweep, in steps.
    pub(super) least_steps: u8,
    /// The smallest erase count of the blocks visited in this sweep.
    pub(super) least_count: u16,
    /// The largest erase count of the hot blocks erased in the sweep before.
    pub(super) frontier: u16,
    /// The same of this sweep, so far.
    pub(super) rising: u16,
}

impl Sweep {
    pub(super) fn new(blocks: BlockNumber) -> Self {
        Self {
            hand: 0,
            stride: (quotient::ceil(word(blocks), word(ERASES_A_SWEEP)) as BlockNumber)
                .max(FEWEST_VISITS),
            lower: 0,
            least_steps: u8::MAX,
            least_count: u16::MAX,
            frontier: 0,
            rising: 0,
        }
    }

    /// The largest erase count of the hot blocks erased lately.
    pub(super) fn frontier(&self) -> u16 {
        self.frontier.max(self.rising)
    }

    /// Notes that a hot block was erased, with its count.
    pub(super) fn erased_hot(&mut self, count: u16) {
        self.rising = self.rising.max(count);
    }

    /// Notes that a block joined the hot pool with an effective count of zero.
    pub(super) fn joined_hot(&mut self) {
        self.least_steps = 0;
    }

    /// Notes that a worn block left the hot pool: the frontier may have been its own.
    pub(super) fn left_hot(&mut self) {
        (self.frontier, self.rising) = (0, 0);
    }

    /// A block's effective count in steps, as if the hand had already visited it in this sweep.
    pub(super) fn lowered(&self, block: ChainBlock, nibble: u8) -> u8 {
        let ahead_of_hand = block.get() >= self.hand;
        (nibble & !HOT).saturating_sub(if ahead_of_hand { self.lower } else { 0 })
    }

    /// Notes that all erase counts fall by that amount.
    pub(super) fn lower_counts(&mut self, by: u16) {
        self.frontier = self.frontier.saturating_sub(by);
        self.rising = self.rising.saturating_sub(by);
        self.least_count = self.least_count.saturating_sub(by);
    }

    /// Bytes in an image.
    pub(super) const fn image_bytes(width: Width) -> u64 {
        width.bytes() + 1 + 1 + 2 + 2 + 2
    }

    /// Saves all but the stride.
    pub(super) fn save(&self, sink: &mut impl Sink, width: Width) {
        width.put(sink, self.hand);
        sink.byte(self.lower);
        sink.byte(self.least_steps);
        sink.half(self.least_count);
        sink.half(self.frontier);
        sink.half(self.rising);
    }

    /// Loads it.
    pub(super) fn load(&mut self, source: &mut impl Source, blocks: BlockNumber) -> Option<()> {
        self.hand = Width::of(blocks).take(source)?;
        self.lower = source.byte()?;
        self.least_steps = source.byte()?;
        self.least_count = source.half()?;
        self.frontier = source.half()?;
        self.rising = source.half()?;
        holds(self.hand < blocks && self.lower <= MOST_STEPS)
    }
}
