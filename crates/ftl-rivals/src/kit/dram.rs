//! An LRU buffer of units in RAM, of the systems that have a write cache.

use hashbrown::HashMap;

use super::lists::Lists;
use super::units::Unit;

/// A unit in the buffer.
#[derive(Clone, Debug)]
pub struct Buffered {
    /// Which.
    pub unit: Unit,
    /// Whether it is newer than the copy below (dirty).
    pub is_new: bool,
    /// Its data.
    pub data: Vec<u8>,
}

/// The buffer.
#[derive(Clone, Debug)]
pub struct Dram {
    slots: Vec<Option<Buffered>>,
    /// The slots in use, by last use, and the free ones.
    order: Lists,
    free: Vec<u32>,
    places: HashMap<Unit, u32>,
    /// Buffers of units that were removed, for reuse.
    spare: Vec<Vec<u8>>,
}

/// The list of the slots in use.
const USED: u8 = 0;

impl Dram {
    /// An empty buffer of that many units.
    pub fn new(most: usize) -> Self {
        Self {
            slots: vec![None; most],
            order: Lists::new(1, most as u32),
            free: (0..most as u32).rev().collect(),
            places: HashMap::new(),
            spare: Vec::new(),
        }
    }

    /// Units that it holds.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// A unit, which becomes the most recently used.
    pub fn touch(&mut self, unit: Unit) -> Option<&mut Buffered> {
        let slot = *self.places.get(&unit)?;
        self.order.touch(USED, slot);
        self.slots[slot as usize].as_mut()
    }

    /// Removes the least recently used unit if there is no room for another.
    pub fn displaced(&mut self) -> Option<Buffered> {
        if !self.free.is_empty() {
            return None;
        }
        let oldest = self.order.oldest(USED)?;
        self.slots[oldest as usize]
            .as_ref()
            .map(|slot| slot.unit)
            .and_then(|unit| self.remove(unit))
    }

    /// Removes a unit.
    pub fn remove(&mut self, unit: Unit) -> Option<Buffered> {
        let slot = self.places.remove(&unit)?;
        self.order.remove(slot);
        self.free.push(slot);
        self.slots[slot as usize].take()
    }

    /// Keeps a removed unit's buffer for reuse.
    pub fn reuse(&mut self, data: Vec<u8>) {
        if self.spare.len() < self.free.len() {
            self.spare.push(data);
        }
    }

    /// Inserts a unit that is not there yet. There must be room.
    pub fn insert(&mut self, unit: Unit, data: &[u8], is_new: bool) {
        let Some(slot) = self.free.pop() else { return };
        let mut held = self.spare.pop().unwrap_or_default();
        held.clear();
        held.extend_from_slice(data);
        self.places.insert(unit, slot);
        self.order.touch(USED, slot);
        self.slots[slot as usize] = Some(Buffered { unit, is_new, data: held });
    }

    /// The dirty units, in their order on the disk.
    pub fn new_units(&self) -> Vec<Unit> {
        let new = self.slots.iter().flatten().filter(|slot| slot.is_new);
        let mut units: Vec<Unit> = new.map(|slot| slot.unit).collect();
        units.sort_unstable();
        units
    }

    /// Checks that units, places and lists agree.
    pub fn check(&self) -> Result<(), String> {
        let held = self.slots.iter().zip(0..).filter_map(|(slot, at)| Some((slot.as_ref()?, at)));
        let all_agree = held.clone().all(|(slot, at)| {
            self.places.get(&slot.unit) == Some(&at) && self.order.list_of(at) == Some(USED)
        });
        let counts = [self.places.len(), self.order.len(USED) as usize];
        let held = held.count();
        if !all_agree || counts != [held; 2] || held + self.free.len() != self.slots.len() {
            let most = self.slots.len();
            return Err(format!("the buffer of {most} units does not know what it holds"));
        }
        Ok(())
    }
}
