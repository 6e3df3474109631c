//! LRU lists of units. A unit is on at most one list.

/// Means no unit.
const NONE: u32 = u32::MAX;
/// Means no list.
const NOWHERE: u8 = u8::MAX;

/// Several lists over the same units, each unit on at most one of them. Every operation takes constant time.
#[derive(Clone, Debug)]
pub struct Lists {
    /// By list: the most and the least recently used unit, and the length.
    ends: Vec<(u32, u32, u32)>,
    /// By unit: both neighbours, stored together because they are used together and the access misses the cache.
    neighbours: Vec<Neighbours>,
    on: Vec<u8>,
}

/// The neighbours of a unit on its list.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    newer: u32,
    older: u32,
}

/// No neighbours: the unit is alone, or on no list.
const ALONE: Neighbours = Neighbours { newer: NONE, older: NONE };

impl Lists {
    /// That many empty lists over that many units.
    pub fn new(lists: u8, units: u32) -> Self {
        let units = units as usize;
        Self {
            ends: vec![(NONE, NONE, 0); usize::from(lists)],
            neighbours: vec![ALONE; units],
            on: vec![NOWHERE; units],
        }
    }

    /// The list that the unit is on.
    #[inline]
    pub fn list_of(&self, unit: u32) -> Option<u8> {
        let list = self.on[unit as usize];
        (list != NOWHERE).then_some(list)
    }

    /// A neighbour of a unit on its list, to prefetch the entry; zero if the unit is on none.
    #[inline]
    pub(crate) fn glance(&self, unit: u32) -> u32 {
        let at = unit as usize;
        let is_listed = self.on.get(at).is_some_and(|list| *list != NOWHERE);
        if is_listed { self.neighbours[at].older } else { 0 }
    }

    /// The length of a list.
    #[inline]
    pub fn len(&self, list: u8) -> u32 {
        self.ends[usize::from(list)].2
    }

    /// Whether a list is empty.
    pub fn is_empty(&self, list: u8) -> bool {
        self.len(list) == 0
    }

    /// The least recently used unit of a list.
    #[inline]
    pub fn oldest(&self, list: u8) -> Option<u32> {
        let (_, oldest, _) = self.ends[usize::from(list)];
        (oldest != NONE).then_some(oldest)
    }

    /// The units of a list, the least recently used first.
    pub fn from_oldest(&self, list: u8) -> impl Iterator<Item = u32> {
        let newer = |unit: &u32| {
            let newer = self.neighbours[*unit as usize].newer;
            (newer != NONE).then_some(newer)
        };
        std::iter::successors(self.oldest(list), newer)
    }

    /// Moves a unit to the top of a list, wherever it was before.
    #[inline]
    pub fn touch(&mut self, list: u8, unit: u32) {
        self.remove(unit);
        let (newest, oldest, count) = self.ends[usize::from(list)];
        self.neighbours[unit as usize] = Neighbours { newer: NONE, older: newest };
        if newest != NONE {
            self.neighbours[newest as usize].newer = unit;
        }
        self.on[unit as usize] = list;
        let oldest = if oldest == NONE { unit } else { oldest };
        self.ends[usize::from(list)] = (unit, oldest, count + 1);
    }

    /// Removes a unit from its list, if it is on one.
    #[inline]
    pub fn remove(&mut self, unit: u32) {
        let at = unit as usize;
        let list = std::mem::replace(&mut self.on[at], NOWHERE);
        if list == NOWHERE {
            return;
        }
        let Neighbours { newer, older } = self.neighbours[at];
        let ends = &mut self.ends[usize::from(list)];
        ends.2 -= 1;
        match newer {
            NONE => ends.0 = older,
            newer => self.neighbours[newer as usize].older = older,
        }
        match older {
            NONE => ends.1 = newer,
            older => self.neighbours[older as usize].newer = newer,
        }
    }

    /// Empties a list.
    pub fn clear(&mut self, list: u8) {
        while let Some(unit) = self.oldest(list) {
            self.remove(unit);
        }
    }

    /// The units of a list, the most recently used first.
    pub fn iter(&self, list: u8) -> impl Iterator<Item = u32> {
        let mut next = self.ends[usize::from(list)].0;
        std::iter::from_fn(move || {
            let unit = next;
            (unit != NONE).then(|| {
                next = self.neighbours[unit as usize].older;
                unit
            })
        })
    }

    /// Checks that every unit is on its list exactly once.
    pub fn check(&self) -> Result<(), String> {
        for list in 0..self.ends.len() as u8 {
            // One more than there can be, so that a loop in a list ends.
            let units: Vec<u32> = self.iter(list).take(self.on.len() + 1).collect();
            let (_, oldest, count) = self.ends[usize::from(list)];
            if units.len() != count as usize || units.last().copied().unwrap_or(NONE) != oldest {
                return Err(format!("list {list} counts {count} units and holds {}", units.len()));
            }
            if let Some(stray) = units.iter().find(|unit| self.list_of(**unit) != Some(list)) {
                return Err(format!("unit {stray} is on list {list} and says otherwise"));
            }
        }
        let listed = self.on.iter().filter(|list| **list != NOWHERE).count();
        let counted: u32 = self.ends.iter().map(|(_, _, count)| count).sum();
        if listed != counted as usize {
            return Err(format!("{listed} units are on lists that count {counted}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_use_and_stay_disjoint() {
        let mut dice = fastrand::Rng::with_seed(7);
        let mut lists = Lists::new(2, 20);
        let mut truth: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..5_000 {
            let (unit, list) = (dice.u32(0..20), dice.u8(0..2));
            for units in &mut truth {
                units.retain(|other| *other != unit);
            }
            if dice.u8(0..4) == 0 {
                lists.remove(unit);
            } else {
                lists.touch(list, unit);
                truth[usize::from(list)].insert(0, unit);
            }
            lists.check().unwrap();
            for list in 0..2 {
                assert!(lists.iter(list).eq(truth[usize::from(list)].iter().copied()));
                assert_eq!(lists.oldest(list), truth[usize::from(list)].last().copied());
            }
        }
    }
}
