//! FK, "future knowledge": the reference of the `SepBIT` paper (Wang et al., FAST '22), which knows when each write is
//! replaced.
//!
//! Host writes and copies go to the class of their remaining life, counted in units that the host writes: those that
//! live less than a block's units to the first, less than twice as many to the second, and so on; all others to the
//! last. With as many classes as it needs, nothing would ever be copied; the paper's evaluation has six. Where blocks
//! are small, as on flash, six of them are but a small part of the disk, and nearly all data is in the last class. So
//! there is a variant of ours, in which each class reaches four times as far as the one before.
//!
//! *Where the knowledge comes from.* No system has it while it serves requests. Another one, a page map, replays the
//! same requests first and keeps a [`Diary`], from which the [`Future`] of each write follows. If the second run is not
//! of the same requests, its checks fail.
//!
//! *Our choices.* A trim ends a life like a write. Victims are chosen by the kit's cost-benefit unless told otherwise.

use std::sync::{Arc, Mutex, PoisonError};

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{AreaPlan, Fault, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims};
use crate::page_map::{self, PageMap, PageMapConfig};

const MLC: usize = 0;

/// The classes.
const STREAMS: usize = 6;

/// Means that nothing ends that life.
const NEVER: u32 = u32::MAX;

/// An entry of a diary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Written(Unit),
    Trimmed(Unit),
}

/// What the host wrote, unit by unit, and what it trimmed. Its clones are one and the same.
#[derive(Clone, Debug, Default)]
pub struct Diary(Arc<Mutex<Vec<Event>>>);

impl Diary {
    fn note(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// What a system that serves the same requests again would know in advance.
    pub fn future(&self) -> Future {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Future::of(&events)
    }
}

/// When each write is replaced.
#[derive(Clone, Debug, Default)]
pub struct Future {
    /// By number of a write: the number of the write at which its data is dead; [`NEVER`].
    ends: Vec<u32>,
}

impl Future {
    fn of(events: &[Event]) -> Self {
        let (mut ends, mut last) = (Vec::new(), Vec::new());
        let mut end = |ends: &mut Vec<u32>, Unit(unit): Unit, next: u32| {
            let unit = unit as usize;
            last.resize(last.len().max(unit + 1), NEVER);
            let now = ends.len() as u32;
            let before = std::mem::replace(&mut last[unit], next);
            if let Some(dead) = ends.get_mut(before as usize) {
                *dead = now;
            }
        };
        for event in events {
            match *event {
                Event::Written(unit) => {
                    let number = ends.len() as u32;
                    end(&mut ends, unit, number);
                    ends.push(NEVER);
                }
                Event::Trimmed(unit) => end(&mut ends, unit, NEVER),
            }
        }
        Self { ends }
    }
}

/// A page map that keeps a diary.
#[derive(Clone, Debug)]
pub struct Diarist {
    map: PageMap,
    diary: Diary,
}

/// A page map that writes to that diary.
pub fn diarist<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &PageMapConfig,
    diary: Diary,
) -> Result<Mapped<D, P, Diarist>, Unfit> {
    let units = page_map::units(device, probe, config)?;
    Ok(Mapped::new(units, Diarist { map: PageMap::new(config), diary }))
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Diarist {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        request: Request,
    ) -> Result<(), Fault<D::Error>> {
        self.diary.note(Event::Written(unit));
        self.map.write(units, unit, data, request)
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.diary.note(Event::Trimmed(unit));
        self.map.trim(units, unit)
    }

    /// The diary is the experimenter's.
    fn ram_bytes(&self) -> u64 {
        0
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        self.map.check(units)
    }
}

/// How far classes reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Each as long as a block takes to fill: the paper's.
    Equal,
    /// Each four times as far as the one before.
    Widening,
}

impl Reach {
    /// The class of a life of so many blocks.
    fn class_of(self, blocks: u32) -> Stream {
        let class = match self {
            Self::Equal => blocks,
            Self::Widening => blocks.checked_ilog(4).map_or(0, |fours| fours + 1),
        };
        Stream::new(MLC, (class as usize).min(STREAMS - 1))
    }
}

/// The parameters.
#[derive(Clone, Debug)]
pub struct FkConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// How victims are chosen.
    pub victims: Victims,
    /// How far classes reach.
    pub reach: Reach,
    /// When each write is replaced.
    pub future: Arc<Future>,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Fk {
    victims: Victims,
    reach: Reach,
    future: Arc<Future>,
    /// The number of the next write.
    now: u32,
    /// By unit: the number of the write at which its data is dead.
    ends: Vec<u32>,
    /// Units of a block.
    width: u32,
    /// Writes that came before their time, or after it.
    strays: u32,
}

/// FK over the MLC of that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &FkConfig,
) -> Result<Mapped<D, P, Fk>, Unfit> {
    let plan = AreaPlan::whole(device.geometry(), Region::Mlc, STREAMS, config.lanes);
    let units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    units.fits(MLC, 0)?;
    let rules = Fk {
        victims: config.victims,
        reach: config.reach,
        future: Arc::clone(&config.future),
        now: 0,
        ends: vec![NEVER; units.count() as usize],
        width: units.area(MLC).units_in_full().max(1),
        strays: 0,
    };
    Ok(Mapped::new(units, rules))
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Fk {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(MLC).is_short() {
            let victim = self.victims.choose(units.area_mut(MLC)).ok_or(Fault::Full)?;
            let (now, width, reach, ends) = (self.now, self.width, self.reach, &self.ends);
            units.collect(MLC, victim, Cause::Gc, |unit| {
                let left = ends[unit.0 as usize].saturating_sub(now);
                (reach.class_of(left / width), Cause::Gc)
            })?;
        }
        let before = self.ends[unit.0 as usize];
        self.strays += u32::from(before != NEVER && before != self.now);
        let end = self.future.ends.get(self.now as usize).copied();
        self.strays += u32::from(end.is_none());
        let end = end.unwrap_or(NEVER);
        self.ends[unit.0 as usize] = end;
        let class = self.reach.class_of((end - self.now) / self.width);
        self.now += 1;
        units.put(class, unit, data, Cause::Host)
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.ends[unit.0 as usize] = NEVER;
        units.forget(unit);
        Ok(())
    }

    /// The time of death of each unit. That of each write is the oracle's.
    fn ram_bytes(&self) -> u64 {
        self.ends.len() as u64 * 4
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        match self.strays {
            0 => Ok(()),
            strays => Err(format!("{strays} writes came at another time than was foreseen")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_ends_with_the_next_one_there_or_with_a_trim() {
        use Event::{Trimmed, Written};
        let [a, b] = [Unit(0), Unit(5)];
        let events = [Written(a), Written(b), Written(a), Trimmed(b), Written(b), Trimmed(a)];
        assert_eq!(Future::of(&events).ends, [2, 3, 4, NEVER]);
    }

    #[test]
    fn classes_reach_as_far_as_blocks_or_four_times_as_far_as_those_before() {
        let classes = |reach: Reach, blocks: &[u32]| -> Vec<usize> {
            blocks.iter().map(|blocks| reach.class_of(*blocks).number).collect()
        };
        assert_eq!(classes(Reach::Equal, &[0, 1, 4, 5, 6, 1_000]), [0, 1, 4, 5, 5, 5]);
        assert_eq!(classes(Reach::Widening, &[0, 1, 3, 4, 63, 255, 256]), [0, 1, 1, 2, 3, 4, 5]);
    }
}
