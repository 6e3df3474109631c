//! S. Oh, J. Kim, S. Han, J. Kim, S. Lee and S. Noh, "MIDAS: Minimizing Write Amplification in Log-Structured Systems
//! through Adaptive Group Number and Size Configuration" (FAST '24).
//!
//! Blocks are in a chain of groups. What is still valid when a block of a group is collected is older than the rest,
//! and moves to the next group. Groups have sizes: one that is over its size gives its oldest block, and when none is,
//! the last group is collected. A hot group before the chain has the units that were replaced soon, three times in a
//! row.
//!
//! A model (`model`) predicts the amplification for any sizes from the intervals at which units are written
//! (`intervals`), and the best ones are set after each epoch. Until the first, and from the group on whose collected
//! blocks are fuller than was predicted, groups have no sizes: any of their blocks is collected, and what was copied
//! more often lies further down.
//!
//! *Our choices.* The paper's text leaves constants open; those of the authors' public simulator are used, with these
//! exceptions. Units are sampled one in 13, not one in 100, because our disks are small. The Markov chain is solved for
//! its steady state, and the last group modelled otherwise. Sizes are set only if they are predicted to amplify less
//! than the epoch did. Groups are judged once they had a quarter of an epoch to fill. The last group, and groups
//! without sizes, are collected by cost-benefit unless told otherwise.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    Area, AreaPlan, Fault, Figure, Mapped, Policy, Request, Stream, Unfit, Unit, Units,
};

mod hot;
mod intervals;
mod model;

use hot::{HotFilter, Replaced};
use intervals::Intervals;
use model::{Model, SIZED, Sizes, Space};

const MLC: usize = 0;

/// The hot group, and the first of the chain.
const HOT: usize = 0;
const FIRST: usize = 1;

/// Groups at most: the hot one, those with sizes, and the last.
const STREAMS: usize = SIZED + 2;

/// Groups without sizes that are told apart by how often their data was copied.
const UNSIZED: usize = 4;

/// An epoch, in disks that the host writes.
const EPOCH: u32 = 4;

/// By how much a group's collected blocks may be fuller than predicted.
const TOLERANCE: f64 = 0.1;

/// Collected blocks of a group that are enough to judge it.
const JUDGED: u32 = 16;

/// How victims are chosen where groups have no sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooled {
    /// The block with the fewest valid units.
    Greedy,
    /// The highest age times (1 - u) / u.
    CostBenefit,
}

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct MidasConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// How victims are chosen where groups have no sizes.
    pub pooled: Pooled,
}

/// The groups at present.
#[derive(Clone, Debug)]
struct Groups {
    /// By group: its size, from the hot one on. Those beyond have none.
    sizes: Vec<u32>,
    /// By group of the chain with a size: the valid share that was predicted.
    expected: Vec<f64>,
    /// The last group: what is collected there stays there.
    last: usize,
}

impl Groups {
    /// Without sizes: all of them are collected alike.
    const fn pooled() -> Self {
        Self { sizes: Vec::new(), expected: Vec::new(), last: UNSIZED }
    }

    fn of(sizes: &Sizes) -> Self {
        let chain = [&[sizes.hot], &sizes.chain[..]].concat();
        Self { last: chain.len(), sizes: chain, expected: sizes.valid.clone() }
    }

    /// Takes the sizes from the groups from that one on.
    fn give_up(&mut self, from: usize) {
        self.sizes.truncate(from);
        self.expected.truncate(from - FIRST);
        self.last = (from + UNSIZED - 1).min(STREAMS - 1);
    }

    /// Where a group's valid data goes.
    const fn next(&self, group: usize) -> usize {
        if group < self.last { group + 1 } else { self.last }
    }
}

/// What was collected of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Collected {
    blocks: u32,
    valid: f64,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Midas {
    pooled: Pooled,
    groups: Groups,
    filter: HotFilter,
    intervals: Intervals,
    /// Units that the host wrote, counted from one.
    now: u32,
    /// When the epoch ends.
    until: u32,
    /// Units of the disk, and blocks of the device.
    disk: u32,
    blocks: u32,
    /// Units that were copied in this epoch.
    copied: u64,
    /// By group: what was collected since the sizes were set.
    collected: [Collected; STREAMS],
    /// The amplification that was predicted, and how often a group was given up.
    predicted: f64,
    given_up: u32,
}

/// `MiDAS` over the MLC of that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &MidasConfig,
) -> Result<Mapped<D, P, Midas>, Unfit> {
    let plan = AreaPlan::whole(device.geometry(), Region::Mlc, STREAMS, config.lanes);
    let mut units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    // A block's data goes to one group, so that it needs at most as many blocks as it frees.
    units.area_mut(MLC).keep_free_for(1);
    units.fits(MLC, 0)?;
    let (count, block) = (units.count(), units.area(MLC).units_in_full());
    let rules = Midas {
        pooled: config.pooled,
        groups: Groups::pooled(),
        filter: HotFilter::new(count),
        intervals: Intervals::new(count, block),
        now: 0,
        until: count.saturating_mul(EPOCH),
        disk: count.max(1),
        blocks: units.area(MLC).blocks(),
        copied: 0,
        collected: [Collected::default(); STREAMS],
        predicted: 0.0,
        given_up: 0,
    };
    Ok(Mapped::new(units, rules))
}

impl Midas {
    /// The sizes of the first groups in blocks, the hot one first, for inspection. The others have none.
    pub fn sizes(&self) -> &[u32] {
        &self.groups.sizes
    }

    /// Collects blocks until a write finds room.
    fn make_room<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(MLC).is_short() {
            let area = units.area(MLC);
            let victim = self.victim(area).ok_or(Fault::Full)?;
            let group = area.stream_of(victim);
            let collected = &mut self.collected[group];
            collected.blocks += 1;
            self.copied += u64::from(area.valid(victim));
            collected.valid += f64::from(area.valid(victim)) / f64::from(area.units_of(victim));
            if group == HOT {
                self.filter.note_collected(area.now() - area.filled_at(victim));
            }
            let to = Stream::new(MLC, self.groups.next(group));
            let filter = &mut self.filter;
            units.collect(MLC, victim, Cause::Gc, |unit| {
                match group {
                    HOT => filter.cool(unit, 2),
                    FIRST => filter.cool(unit, 1),
                    _ => {}
                }
                (to, Cause::Gc)
            })?;
        }
        Ok(())
    }

    /// The oldest block of a group that is over its size, or the best of the groups without one.
    fn victim(&self, area: &Area) -> Option<u32> {
        let sized = self.groups.sizes.len();
        let mut counts = [0; STREAMS];
        let mut oldest: [Option<(u64, u32)>; STREAMS] = [None; STREAMS];
        let mut best: Option<(f64, u32)> = None;
        for block in (0..area.blocks()).filter(|block| area.is_full(*block)) {
            let group = area.stream_of(block);
            if group < sized {
                counts[group] += 1;
                let age = (area.filled_at(block), block);
                oldest[group] = Some(oldest[group].map_or(age, |other| other.min(age)));
            } else if !area.is_wholly_valid(block) {
                let worth = self.worth(area, block);
                let is_best = best.is_none_or(|(most, _)| worth > most);
                best = if is_best { Some((worth, block)) } else { best };
            }
        }
        let over = (0..sized).find(|group| counts[*group] > self.groups.sizes[*group]);
        let oldest = over.and_then(|group| oldest[group]).map(|(_, block)| block);
        let least = || area.least_valid().filter(|block| !area.is_wholly_valid(*block));
        oldest.or(best.map(|(_, block)| block)).or_else(least)
    }

    #[allow(clippy::cast_precision_loss)] // Worths are compared.
    fn worth(&self, area: &Area, block: u32) -> f64 {
        let share = f64::from(area.valid(block)) / f64::from(area.units_of(block));
        let age = (area.now() + 1 - area.filled_at(block)) as f64;
        match self.pooled {
            Pooled::Greedy => 1.0 - share,
            Pooled::CostBenefit => age * (1.0 - share) / share.max(1e-12),
        }
    }

    /// Sets the sizes that suit the epoch that ends, or none if no model fits it.
    fn adapt<D: NandDevice, P: Probe>(&mut self, units: &mut Units<D, P>) {
        let area = units.area(MLC);
        let data: u32 = (0..area.blocks()).map(|block| area.valid(block)).sum();
        let block = area.units_in_full();
        let full = (0..area.blocks()).filter(|block| area.is_full(*block)).count() as u32;
        let data = f64::from(data) / f64::from(block);
        let space = Space { blocks: full, data };
        let uid = self.intervals.take();
        #[allow(clippy::cast_precision_loss)] // Amplifications are compared.
        let measured = 1.0 + self.copied as f64 / f64::from(self.disk.saturating_mul(EPOCH));
        let best = Model { uid: &uid, space }.best();
        let best = best.filter(|sizes| sizes.amplification < measured);
        self.predicted = best.as_ref().map_or(0.0, |sizes| sizes.amplification);
        self.groups = best.as_ref().map_or(Groups::pooled(), Groups::of);
        self.seal_unused(units);
        self.begin();
    }

    /// Begins an epoch.
    fn begin(&mut self) {
        self.until = self.now.saturating_add(self.disk.saturating_mul(EPOCH));
        self.collected = [Collected::default(); STREAMS];
        self.copied = 0;
    }

    /// Fills no more blocks of groups beyond the last.
    fn seal_unused<D: NandDevice, P: Probe>(&self, units: &mut Units<D, P>) {
        (self.groups.last + 1..STREAMS).for_each(|group| units.area_mut(MLC).seal(group));
    }

    /// Gives up the sizes from the first group on whose blocks are fuller than predicted.
    fn judge<D: NandDevice, P: Probe>(&mut self, units: &mut Units<D, P>) {
        let is_wrong = |(expected, collected): (&f64, &Collected)| {
            collected.blocks >= JUDGED
                && collected.valid / f64::from(collected.blocks) > expected + TOLERANCE
        };
        let chain = self.groups.expected.iter().zip(&self.collected[FIRST..]);
        if let Some(at) = chain.map(is_wrong).position(|is_wrong| is_wrong) {
            self.groups.give_up(FIRST + at);
            self.given_up += 1;
            self.seal_unused(units);
        }
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Midas {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        self.make_room(units)?;
        self.now = self.now.wrapping_add(1).max(1);
        self.intervals.note(unit, self.now);
        self.filter.note(unit, replaced(units, unit));
        let group = if self.filter.is_hot(unit) { HOT } else { FIRST };
        units.put(Stream::new(MLC, group), unit, data, Cause::Host)?;
        match self.until.saturating_sub(self.now) {
            0 => self.adapt(units),
            // Until then, groups were brought to their sizes.
            left if left == self.disk.saturating_mul(EPOCH - 1) => {
                self.collected = [Collected::default(); STREAMS];
            }
            left if left % self.disk == 0 => self.judge(units),
            _ => {}
        }
        Ok(())
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.intervals.forget(unit);
        units.forget(unit);
        Ok(())
    }

    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        self.groups = Groups::pooled();
        self.filter = HotFilter::new(units.count());
        self.intervals.take();
        self.begin();
        (self.predicted, self.given_up) = (0.0, 0);
        Ok(())
    }

    /// The filter, the intervals, and a byte for each block's group.
    fn ram_bytes(&self) -> u64 {
        self.filter.ram_bytes() + self.intervals.ram_bytes() + u64::from(self.blocks)
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        vec![
            ("groups", (self.groups.last + 1) as f64),
            ("predicted_amplification", self.predicted),
            ("given_up", f64::from(self.given_up)),
        ]
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        let Groups { sizes, expected, last } = &self.groups;
        let is_chain = sizes.len() <= *last && *last < STREAMS;
        if is_chain && expected.len() == sizes.len().saturating_sub(1) {
            return Ok(());
        }
        Err(format!("{} groups have sizes, and group {last} is the last", sizes.len()))
    }
}

/// Where the data lies that a host write of the unit replaces.
fn replaced<D: NandDevice, P: Probe>(units: &Units<D, P>, unit: Unit) -> Replaced {
    let Some((_, block)) = units.block_of(unit) else { return Replaced::Elsewhere };
    let area = units.area(MLC);
    match area.stream_of(block) {
        HOT => Replaced::InHot,
        FIRST if area.is_full(block) => Replaced::InFirst(area.now() - area.filled_at(block)),
        FIRST => Replaced::InFirst(0),
        _ => Replaced::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_is_given_up_takes_those_after_it_along() {
        let sizes =
            Sizes { hot: 2, chain: vec![10, 20, 30], valid: vec![0.7; 3], amplification: 2.0 };
        let mut groups = Groups::of(&sizes);
        assert_eq!((groups.last, groups.next(HOT), groups.next(3)), (4, 1, 4));
        assert_eq!(groups.next(4), 4);
        groups.give_up(2);
        assert_eq!((&groups.sizes[..], groups.expected.len()), (&[2, 10][..], 1));
        // Four groups without sizes follow the first one of the chain.
        assert_eq!((groups.last, groups.next(7), groups.next(2)), (5, 5, 3));
    }
}
