//! The position of the running scrub, and its next page.

use crate::hybrid::flash::{Purpose, Spot};
use crate::hybrid::shape::{HEADER_BLOCKS, Shape};
use crate::image::{Sink, Source};
use crate::table::{BlockNumber, Width, number};

/// The position of a scrub.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scrub {
    /// The next page to read; none if no scrub is running.
    pub(crate) next: Option<Spot>,
    /// Whether it has advanced since the valid checkpoint.
    pub(crate) moved: bool,
}

/// Returns the blocks of an area that are scrubbed, and the pages of each.
pub(crate) fn extent(shape: &Shape, purpose: Purpose) -> (BlockNumber, u16) {
    match purpose {
        Purpose::Meta => (number(HEADER_BLOCKS), shape.meta.pages),
        Purpose::Log => shape.log.map_or((0, 0), |area| (area.blocks, area.pages)),
        Purpose::Chain => (shape.chain.blocks, shape.chain.pages),
    }
}

/// Means in a checkpoint that no scrub is running.
const NO_PAGE: u8 = u8::MAX;

impl Scrub {
    /// Returns the bytes that the position takes in an image.
    pub(crate) const fn image_bytes(width: Width) -> u64 {
        1 + width.bytes() + 2
    }

    /// Saves the position.
    pub(crate) fn save(self, sink: &mut impl Sink, shape: &Shape) {
        let purpose = self.next.map_or(NO_PAGE, |next| next.purpose() as u8);
        sink.byte(purpose);
        shape.width().put(sink, self.next.map_or(0, Spot::block));
        sink.half(self.next.map_or(0, Spot::page));
    }

    /// Restores the position. Whatever the checkpoint holds, the resulting page exists.
    pub(crate) fn load(source: &mut impl Source, shape: &Shape) -> Option<Self> {
        let (purpose, block) = (source.byte()?, shape.width().take(source)?);
        let page = source.half()?;
        let Some(purpose) = Purpose::ALL.get(usize::from(purpose)) else {
            return (purpose == NO_PAGE).then_some(Self::default());
        };
        let (blocks, pages) = extent(shape, *purpose);
        let next = Spot::of_purpose(*purpose, block, page);
        (block < blocks && page < pages).then_some(Self { next: Some(next), moved: false })
    }
}
