//! Lists of units in the order of their last use. A unit is on one list at most.

/// Stands for no unit.
const NONE: u32 = u32::MAX;
/// Stands for no list.
const NOWHERE: u8 = u8::MAX;

/// Some lists over the same units, each unit on one of them or none. Every step takes constant time.
#[derive(Clone, Debug)]
pub struct Lists {
    /// By list: the unit used last, the unit used longest ago, how many.
    ends: Vec<(u32, u32, u32)>,
    /// By unit: its neighbours, side by side, because both are needed at once and each access is a cache miss.
    neighbours: Vec<Neighbours>,
    on: Vec<u8>,
}

/// The units beside one on its list.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    newer: u32,
    older: u32,
}

/// Of a unit that is alone, or on no list.
const ALONE: Neighbours = Neighbours { newer: NONE, older: NONE };

impl Lists {
    /// So many empty lists over that many units.
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

    /// The neighbour of a unit on its list, for who wants it looked at; zero of one that is on none.
    #[inline]
    pub(crate) fn glance(&self, unit: u32) -> u32 {
        let at = unit as usize;
        let is_listed = self.on.get(at).is_some_and(|list| *list != NOWHERE);
        if is_listed { self.neighbours[at].older } else { 0 }
    }

    /// How many are on a list.
    #[inline]
    pub fn len(&self, list: u8) -> u32 {
        self.ends[usize::from(list)].2
    }

    /// Whether nothing is on a list.
    pub fn is_empty(&self, list: u8) -> bool {
        self.len(list) == 0
    }

    /// The unit of a list that was used longest ago.
    #[inline]
    pub fn oldest(&self, list: u8) -> Option<u32> {
        let (_, oldest, _) = self.ends[usize::from(list)];
        (oldest != NONE).then_some(oldest)
    }

    /// The units of a list, from the one used longest ago on.
    pub fn from_oldest(&self, list: u8) -> impl Iterator<Item = u32> {
        let newer = |unit: &u32| {
            let newer = self.neighbours[*unit as usize].newer;
            (newer != NONE).then_some(newer)
        };
        std::iter::successors(self.oldest(list), newer)
    }

    /// Puts a unit on top of a list, wherever it was before.
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

    /// Takes a unit off its list, if it is on one.
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

    /// Takes every unit off a list.
    pub fn clear(&mut self, list: u8) {
        while let Some(unit) = self.oldest(list) {
            self.remove(unit);
        }
    }

    /// The units of a list, the one used last first.
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

    /// Whether every unit is in its list exactly once.
    pub fn check(&self) -> Result<(), String> {
        for list in 0..self.ends.len() as u8 {
            // One more than there can be, lest a circle continues forever.
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
