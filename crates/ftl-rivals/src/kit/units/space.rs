//! Room for writes: blocks are collected until enough are free, or emptied together.

use ftl_iface::{Cause, NandDevice, Probe};

use super::Units;
use crate::kit::area::Stream;
use crate::kit::flash::Fault;
use crate::kit::victim::Victims;

impl<D: NandDevice, P: Probe> Units<D, P> {
    /// Collects blocks of an area until a write finds room, into a stream of the same area.
    #[inline]
    pub fn make_room(&mut self, victims: Victims, copies: Stream) -> Result<(), Fault<D::Error>> {
        while self.area(copies.area).is_short() {
            let victim = victims.choose(self.area_mut(copies.area)).ok_or(Fault::Full)?;
            self.collect(copies.area, victim, Cause::Gc, |_| (copies, Cause::Gc))?;
        }
        Ok(())
    }

    /// Collects blocks of an area in the order in which they were filled, until a write finds room: valid units go to a
    /// stream of another area, with that cause. `below` makes room there, before each block. Returns the number of
    /// units moved.
    #[inline]
    pub fn spill(
        &mut self,
        area: usize,
        (to, cause): (Stream, Cause),
        mut below: impl FnMut(&mut Self) -> Result<(), Fault<D::Error>>,
    ) -> Result<u64, Fault<D::Error>> {
        let mut spilled = 0;
        while self.area(area).is_short() {
            below(self)?;
            let victim = Victims::InOrder.choose(self.area_mut(area)).ok_or(Fault::Full)?;
            spilled += u64::from(self.area(area).valid(victim));
            self.collect(area, victim, cause, |_| (to, cause))?;
        }
        Ok(spilled)
    }

    /// Moves up to `most` of these full blocks' valid units to a stream, and frees the blocks that have none left.
    /// Returns how many were moved. The units take turns, one of each block: blocks that were filled in turn are moved
    /// in the order in which they were filled, so that neighbours are not put to one lane.
    pub fn drain(
        &mut self,
        area: usize,
        blocks: &[u32],
        to: Stream,
        most: u32,
    ) -> Result<u32, Fault<D::Error>> {
        let held = &self.areas[area];
        let units = blocks.iter().flat_map(|block| held.valid_units(*block));
        let mut left: Vec<u32> = units.collect();
        // The sort is stable: within a turn the blocks keep their order.
        left.sort_by_key(|local| held.spot(*local).1);
        left.truncate(most as usize);
        let mut data = std::mem::take(&mut self.moved);
        let moved = left.iter().try_for_each(|local| {
            let unit = self.load(area, *local, &mut data, Cause::WriteBack)?;
            self.put(to, unit, &data, Cause::WriteBack)
        });
        self.moved = data;
        moved?;
        for block in blocks {
            if self.areas[area].valid(*block) == 0 {
                self.release(area, *block);
            }
        }
        Ok(left.len() as u32)
    }
}
