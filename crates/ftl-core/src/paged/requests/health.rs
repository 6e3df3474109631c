//! The health of the device, and its clean stop.

use ftl_iface::{BlockCount, NandDevice};

use crate::health::{Health, Wear};
use crate::paged::plan::shape::Area;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the health of the device. Reads only the tables in RAM.
    pub fn health(&self) -> Health {
        let shape = &self.shape;
        // Of the area that has fewer.
        let of_both = |main: u32, fast: &dyn Fn() -> u32| match &shape.fast {
            Some(_) => BlockCount::new(main.min(fast())),
            None => BlockCount::new(main),
        };
        let left = |area| self.blocks.good(area).saturating_sub(shape.needed(area));
        let all = |area| shape.area(area).blocks.saturating_sub(shape.needed(area));
        let at_once = |area| left(area).min(self.spares(area));
        Health {
            read_only: self.read_only,
            reserve_left: of_both(left(Area::Main), &|| left(Area::Fast)),
            reserve: of_both(all(Area::Main), &|| all(Area::Fast)),
            at_once: of_both(at_once(Area::Main), &|| at_once(Area::Fast)),
            unmarked_left: BlockCount::new(shape.blocks()),
            failed: BlockCount::new(self.blocks.retired),
            main: self.wear_of(Area::Main),
            fast: shape.fast.map(|_| self.wear_of(Area::Fast)),
            corrected: self.flash.weak.noted.most,
            refreshed: self.flash.weak.noted.refreshed,
            lost: self.lost,
        }
    }

    /// Returns how often since the mount a page or a trim had to wait: for blocks, because an area was down to its
    /// reserve, or for anchors of the first walk. All other requests are within
    /// [`PagedWorstCase`](crate::paged::PagedWorstCase).
    pub const fn waited(&self) -> u32 {
        self.waited
    }

    /// Returns the free blocks beyond those that a request may open while it frees others. In the fast area of two one
    /// more stays: if power fails in a map page, there is no other place to repeat it.
    const fn spares(&self, area: Area) -> u32 {
        let kept = match area {
            Area::Main if self.shape.has_fast() => 2,
            Area::Main | Area::Fast => 3,
        };
        self.blocks.free(area).saturating_sub(kept)
    }

    fn wear_of(&self, area: Area) -> Wear {
        let (mut sum, mut blocks) = (0_u64, 0_u64);
        let mut wear = Wear { least: u32::MAX, mean: 0, most: 0 };
        for block in self.blocks.of(area).filter(|block| !self.blocks.is_bad(*block)) {
            let count = u32::from(self.blocks.wear(block));
            wear.least = wear.least.min(count);
            wear.most = wear.most.max(count);
            sum += u64::from(count);
            blocks += 1;
        }
        match sum.checked_div(blocks) {
            Some(mean) => Wear { mean: mean as u32, ..wear },
            None => Wear::default(),
        }
    }
}
