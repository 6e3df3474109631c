//! Q. Wang, J. Li, P. Lee, T. Ouyang, C. Shi and L. Huang, "Separating Data via Block Invalidation Time Inference for
//! Write Amplification Reduction in Log-Structured Storage" (FAST '22): `SepBIT`.
//!
//! What is replaced soon should lie in blocks of its own. A write probably lives as long as the data that it replaces,
//! and a copy the longer the older it is. So there are six classes of blocks, two for host writes and four for copies:
//!
//! ```text
//!   host write    short: the replaced data was younger than l      long: all others
//!   copy          of a short block      younger than 4 l      younger than 16 l      older
//! ```
//!
//! `l` is the mean lifespan of the last 16 collected blocks of the class `short`, from the first write to such a block
//! to its collection, and infinite before that. All times are counted in units written by the host.
//!
//! *Our choices.* The time of each unit's last write is a table in RAM; the paper keeps it in the data's spare area,
//! and has a queue of recent writes for what is replaced. Victims are chosen by the kit's cost-benefit, whose age is in
//! programmed units, unless told otherwise. A trim ends the data: the next write there replaces nothing.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    AreaPlan, Fault, Figure, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const MLC: usize = 0;
const SHORT: Stream = Stream::new(MLC, 0);
const LONG: Stream = Stream::new(MLC, 1);
const OF_SHORT: Stream = Stream::new(MLC, 2);
/// Copies of long blocks and of copies, the younger first.
const BY_AGE: [Stream; 3] = [Stream::new(MLC, 3), Stream::new(MLC, 4), Stream::new(MLC, 5)];

const STREAMS: usize = 6;
/// Streams that copies go to.
const OF_COPIES: u32 = 4;

/// Collected short blocks whose mean lifespan decides.
const COLLECTED: u32 = 16;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct SepBitConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// How victims are chosen.
    pub victims: Victims,
}

/// Means that a unit holds nothing.
const NEVER: u32 = 0;

/// The mean lifespan of short blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Lifespan {
    /// The mean, once it is known.
    mean: Option<u64>,
    sum: u64,
    count: u32,
}

impl Lifespan {
    fn note(&mut self, lifespan: u32) {
        self.sum += u64::from(lifespan);
        self.count += 1;
        if self.count == COLLECTED {
            *self = Self { mean: Some(self.sum / u64::from(COLLECTED)), ..Self::default() };
        }
    }

    /// Whether the age is less than that many mean lifespans.
    fn is_above(&self, age: u32, times: u64) -> bool {
        self.mean.is_none_or(|mean| u64::from(age) < times * mean)
    }

    /// The class of copies of that age.
    fn class_of(&self, age: u32) -> Stream {
        match age {
            age if self.is_above(age, 4) => BY_AGE[0],
            age if self.is_above(age, 16) => BY_AGE[1],
            _ => BY_AGE[2],
        }
    }
}

/// The rules.
#[derive(Clone, Debug)]
pub struct SepBit {
    victims: Victims,
    lifespan: Lifespan,
    /// Units written by the host so far, and one: the clock.
    now: u32,
    /// By unit: when the host wrote it last.
    written: Vec<u32>,
    /// By block: when the host wrote its first unit.
    opened: Vec<u32>,
    /// Host writes of the class `short`, and of both.
    short: u64,
    writes: u64,
}

/// `SepBIT` over the MLC of that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &SepBitConfig,
) -> Result<Mapped<D, P, SepBit>, Unfit> {
    let plan = AreaPlan::whole(device.geometry(), Region::Mlc, STREAMS, config.lanes);
    let mut units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    units.area_mut(MLC).keep_free_for(OF_COPIES);
    units.fits(MLC, 0)?;
    let (written, opened) = (units.count() as usize, units.area(MLC).blocks() as usize);
    let rules = SepBit {
        victims: config.victims,
        lifespan: Lifespan::default(),
        now: NEVER,
        written: vec![NEVER; written],
        opened: vec![NEVER; opened],
        short: 0,
        writes: 0,
    };
    Ok(Mapped::new(units, rules))
}

impl SepBit {
    /// Collects blocks until a write finds room.
    fn make_room<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(MLC).is_short() {
            let victim = self.victims.choose(units.area_mut(MLC)).ok_or(Fault::Full)?;
            let is_short = units.area(MLC).stream_of(victim) == SHORT.number;
            if is_short {
                self.lifespan.note(self.now.wrapping_sub(self.opened[victim as usize]));
            }
            let (now, lifespan, written) = (self.now, self.lifespan, &self.written);
            units.collect(MLC, victim, Cause::Gc, |unit| {
                let age = now.wrapping_sub(written[unit.0 as usize]);
                (if is_short { OF_SHORT } else { lifespan.class_of(age) }, Cause::Gc)
            })?;
        }
        Ok(())
    }

    /// The class of a host write, from the age of what it replaces.
    fn class_of(&self, unit: Unit) -> Stream {
        let before = self.written[unit.0 as usize];
        let age = self.now.wrapping_sub(before);
        if before != NEVER && self.lifespan.is_above(age, 1) { SHORT } else { LONG }
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for SepBit {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        self.make_room(units)?;
        self.now = self.now.wrapping_add(1).max(1);
        let class = self.class_of(unit);
        units.put(class, unit, data, Cause::Host)?;
        self.written[unit.0 as usize] = self.now;
        self.writes += 1;
        self.short += u64::from(class == SHORT);
        if let Some((block, 0)) = units.spot_of(unit).map(|(_, place)| units.area(MLC).spot(place))
        {
            self.opened[block as usize] = self.now;
        }
        Ok(())
    }

    #[inline]
    fn glance(&self, unit: Unit) -> u32 {
        self.written.get(unit.0 as usize).copied().unwrap_or(NEVER)
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.written[unit.0 as usize] = NEVER;
        units.forget(unit);
        Ok(())
    }

    fn settle(&mut self, _: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        self.lifespan = Lifespan::default();
        (self.short, self.writes) = (0, 0);
        Ok(())
    }

    /// A time for each unit, and a time and a class for each block.
    fn ram_bytes(&self) -> u64 {
        (self.written.len() * 4 + self.opened.len() * 5) as u64
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        let share = self.short as f64 / self.writes.max(1) as f64;
        let mean = self.lifespan.mean.map(|mean| ("lifespan_of_short", mean as f64));
        [("short_writes", share)].into_iter().chain(mean).collect()
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        let holds = |unit: u32| units.place(Unit(unit)).is_some();
        let stray = (0..).zip(&self.written).find(|(unit, at)| (**at != NEVER) != holds(*unit));
        stray.map_or(Ok(()), |(unit, at)| Err(format!("unit {unit} was written at {at}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_the_last_sixteen_and_infinite_before() {
        let mut lifespan = Lifespan::default();
        (0..15).for_each(|_| lifespan.note(100));
        assert!(lifespan.is_above(u32::MAX, 1));
        lifespan.note(260);
        assert_eq!(lifespan.mean, Some(110));
        (0..15).for_each(|_| lifespan.note(10));
        assert_eq!(lifespan.mean, Some(110));
        lifespan.note(10);
        assert_eq!(lifespan.mean, Some(10));
    }

    #[test]
    fn a_copy_is_of_the_younger_class_the_sooner_it_was_written() {
        let lifespan = Lifespan { mean: Some(10), ..Lifespan::default() };
        let class = |age| BY_AGE.iter().position(|class| *class == lifespan.class_of(age));
        assert_eq!([0, 39, 40, 159, 160].map(class), [0, 0, 1, 1, 2].map(Some));
        assert!(lifespan.is_above(9, 1) && !lifespan.is_above(10, 1));
    }
}
