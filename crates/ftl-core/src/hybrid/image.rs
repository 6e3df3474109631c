//! The image of a checkpoint: its length is the sum over the modules, and the checkpoint locations are sized for it.

use ftl_iface::Geometry;

use crate::config::Config;
use crate::filter::SizeFilter;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::mlc::Mlc;
use crate::hybrid::scrub::Scrub;
use crate::hybrid::shape::index::IndexShape;
use crate::hybrid::shape::{CheckpointArea, Shape, ShapeError};
use crate::hybrid::slc::Log;
use crate::hybrid::wear::DualPool;
use crate::hybrid::writeback::WriteBack;
use crate::table::{Bits, word};
use crate::throttle::Throttle;

impl Shape {
    /// Divides the device, or returns why it cannot.
    pub const fn new(geometry: &Geometry, config: &Config) -> Result<Self, ShapeError> {
        let mut place_blocks = 1;
        loop {
            // Larger checkpoint areas leave fewer blocks whose state must be saved. So the loop ends, at the latest
            // with an error when no blocks are left to divide.
            let shape = match Self::with_places(geometry, config, place_blocks) {
                Ok(shape) => shape,
                Err(error) => return Err(error),
            };
            if shape.image_bytes(shape.usual_index_bytes()) <= shape.place_bytes() {
                return Ok(shape);
            }
            place_blocks += 1;
        }
    }

    /// Returns the bytes of an image that a checkpoint area holds, without its seal.
    pub const fn place_bytes(&self) -> u64 {
        CheckpointArea::new(&self.meta, 0).seal() as u64 * self.meta.page_bytes.get() as u64
    }

    /// Returns the bytes of an image of the tables, given those of the log's hash table: the sum of what each module
    /// declares beside its `save`.
    pub const fn image_bytes(&self, index_bytes: u64) -> u64 {
        let (blocks, logical) = (self.chain.blocks, self.logical_blocks);
        let of_log = match &self.log {
            Some(area) => {
                let unproved = Bits::<LogicalBlock>::bytes_for(word(logical)) as u64;
                Log::image_bytes(area, index_bytes) + unproved
            }
            None => 0,
        };
        SizeFilter::IMAGE_BYTES
            + Throttle::IMAGE_BYTES
            + WriteBack::IMAGE_BYTES
            + DualPool::image_bytes(blocks)
            + Mlc::image_bytes(blocks, logical)
            + of_log
            + Scrub::image_bytes(self.width())
    }

    /// Returns the bytes of the hash table for which checkpoint areas are sized: half as many entries as the log has
    /// slots, of five bytes each. The hash table may differ at each mount, but the areas of the device may not.
    const fn usual_index_bytes(&self) -> u64 {
        match &self.log {
            Some(area) => {
                let entries = area.blocks as u64 * area.sectors_per_block() as u64 / 2;
                let most = IndexShape::MOST_ENTRIES as u64;
                5 * if entries < most { entries } else { most }
            }
            None => 0,
        }
    }
}
