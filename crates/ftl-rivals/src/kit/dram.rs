//! A buffer of units in RAM, of which the one that was used longest ago leaves first.

use std::collections::HashMap;

use super::units::Unit;

/// A unit in the buffer.
#[derive(Clone, Debug)]
pub struct Buffered {
    /// Which.
    pub unit: Unit,
    /// Whether it is newer than what lies below.
    pub is_new: bool,
    /// Its data.
    pub data: Vec<u8>,
    used: u64,
}

/// The buffer. It is small, as in the papers: whoever leaves is looked for among all.
#[derive(Clone, Debug)]
pub struct Dram {
    slots: Vec<Buffered>,
    places: HashMap<Unit, usize>,
    most: usize,
    now: u64,
}

impl Dram {
    /// An empty buffer of so many units.
    pub fn new(most: usize) -> Self {
        Self { slots: Vec::with_capacity(most), places: HashMap::new(), most, now: 0 }
    }

    /// Units that it holds.
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it holds none.
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A unit, which is used thereby.
    pub fn touch(&mut self, unit: Unit) -> Option<&mut Buffered> {
        let slot = &mut self.slots[*self.places.get(&unit)?];
        self.now += 1;
        slot.used = self.now;
        Some(slot)
    }

    /// Takes the unit out that must leave before another can come, if there is no room.
    pub fn displaced(&mut self) -> Option<Buffered> {
        if self.slots.len() < self.most {
            return None;
        }
        let oldest = self.slots.iter().min_by_key(|slot| slot.used)?.unit;
        self.remove(oldest)
    }

    /// Takes a unit out.
    pub fn remove(&mut self, unit: Unit) -> Option<Buffered> {
        let at = self.places.remove(&unit)?;
        let removed = self.slots.swap_remove(at);
        if let Some(moved) = self.slots.get(at) {
            self.places.insert(moved.unit, at);
        }
        Some(removed)
    }

    /// Puts a unit in, which is not there yet. Room was made for it.
    pub fn insert(&mut self, unit: Unit, data: &[u8], is_new: bool) {
        self.now += 1;
        self.places.insert(unit, self.slots.len());
        self.slots.push(Buffered { unit, is_new, data: data.to_vec(), used: self.now });
    }

    /// The units that are newer than what lies below, in their order on the disk.
    pub fn new_units(&self) -> Vec<Unit> {
        let new = self.slots.iter().filter(|slot| slot.is_new);
        let mut units: Vec<Unit> = new.map(|slot| slot.unit).collect();
        units.sort_unstable();
        units
    }

    /// Whether units and places agree, and no more are there than fit.
    pub fn check(&self) -> Result<(), String> {
        let agree = |(at, slot): (usize, &Buffered)| self.places.get(&slot.unit) == Some(&at);
        let all_agree = self.slots.iter().enumerate().all(agree);
        if !all_agree || self.places.len() != self.slots.len() || self.slots.len() > self.most {
            return Err(format!("the buffer of {} units does not know what it holds", self.most));
        }
        Ok(())
    }
}
