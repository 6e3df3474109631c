//! Candidates for victims, found without a walk over all blocks for each choice.
//!
//! A clock hand visits some of an area's blocks for each choice, and keeps the best. The next victim is the best of
//! these, rated when it is chosen.

use core::num::NonZeroU16;

use super::blocks::Blocks;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::config::Victims;
use crate::paged::plan::feature::Feature;
use crate::paged::plan::shape::{Area, AreaShape};
use crate::quotient::{floor, floor_wide};

/// The most pages copied for one host page: 21 of 22 slots of a victim are in use.
pub(crate) const PACE_MAX: u16 = 21;

/// The number of candidates kept.
const KEPT: usize = 24;
/// Each search examines at least this many blocks and at least this share of the area, so that most candidates are used
/// up when the search wraps. More is not better: the search follows the order in which blocks were written, and so
/// spares those that were written late.
const PASSED: u32 = 64;
const ROUND: u32 = 32;

/// The best blocks found so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    kept: [Option<BlockNumber>; KEPT],
    hand: u32,
}

/// What the rating depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) victims: Victims,
    pub(crate) area: Area,
    pub(crate) shape: &'a AreaShape,
    /// The current victim.
    pub(crate) begun: Option<BlockNumber>,
    /// Whether map pages that a victim's copies take count among its costs.
    pub(crate) map_cost: MapCost,
}

/// What the map pages count that are written for a victim's copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapCost {
    /// Nothing.
    Free,
    /// A page for so many sectors. A block of map pages costs none beside those that it holds.
    OneFor(NonZeroU16),
}

impl MapCost {
    /// Returns the slots that map pages take for so many references.
    fn slots(self, used: u32, shape: &AreaShape) -> u32 {
        match self {
            Self::Free => 0,
            Self::OneFor(sectors) => floor(used * u32::from(shape.slots), sectors.get().into()),
        }
    }
}

impl Judge<'_> {
    const fn victims(self) -> Victims {
        if Feature::Lifetimes.is_built() { self.victims } else { Victims::Greedy }
    }

    const fn is_fast(self) -> bool {
        Feature::FastArea.is_built() && matches!(self.area, Area::Fast)
    }

    /// Returns the value of emptying a block: more is better. `None`: it must not be emptied, or no space would be
    /// freed.
    fn score(self, blocks: &Blocks<'_>, block: BlockNumber) -> Option<u32> {
        let used = blocks.to_empty(block).filter(|_| self.begun != Some(block))?;
        self.value(blocks, block, used)
    }

    /// Returns the value of emptying a block with so many references.
    #[inline]
    fn value(self, blocks: &Blocks<'_>, block: BlockNumber, used: u16) -> Option<u32> {
        let used = u32::from(used);
        // Where pages are skipped, a block of copies is no fuller, and emptying it would free nothing.
        let full = self.shape.copied_slots;
        let won = full.saturating_sub(used);
        if self.is_fast() {
            // Sectors move to the main area, two or more per page, so all of their block is freed. Map pages stay:
            // rewriting those of a full block frees nothing. Age does not count, because small hot data is replaced at
            // random.
            let (won, cost) = if blocks.holds_map(block) { (won, used) } else { (full, used / 2) };
            return (won > 0).then(|| (won << 8) / (cost + 1) + 1);
        }
        if won == 0 {
            return None;
        }
        Some(match self.victims() {
            Victims::CostBenefit => {
                if won * (u32::from(PACE_MAX) + 1) < full {
                    return None;
                }
                benefit(full, used, blocks.stays(block))
            }
            Victims::Greedy => {
                let used = if blocks.holds_map(block) { 0 } else { used };
                self.even() + won - self.map_cost.slots(used, self.shape)
            }
        })
    }

    /// Returns the greedy value of a block that takes as much as it frees: one, and the most that map pages take.
    fn even(self) -> u32 {
        1 + self.map_cost.slots(self.shape.copied_slots, self.shape)
    }

    /// Returns the value from which on a search ends: the block frees something, unless it is the fast area's.
    fn enough(self) -> u32 {
        match self.map_cost {
            MapCost::Free => 1,
            MapCost::OneFor(_) => self.even() + 1,
        }
    }

    /// Returns the most references of a block whose value may exceed this one. So most blocks need not be rated.
    #[inline(never)]
    fn used_most(self, value: u32, longest: u16) -> u16 {
        let full = self.shape.copied_slots;
        let most = match (self.area, self.victims()) {
            (Area::Fast, _) => u16::MAX.into(),
            (Area::Main, Victims::Greedy) => (full + self.even() - 1).saturating_sub(value),
            (Area::Main, Victims::CostBenefit) => used_for(full, value, longest),
        };
        most.min(u16::MAX.into()) as u16
    }
}

/// One, in the numbers in which benefits are computed.
const ONE: u32 = 1 << 12;

/// Returns the value of emptying a block whose data stays so long.
///
/// If the blocks of each group are emptied when they are full to a share u, a device copies least if all groups have
/// the same ratio of x − ln(1 + x) to the rate at which their data is replaced, where x = (1 − u) ÷ u is what is won
/// for each sector that is copied. That is x² ÷ (x + 2), nearly.
#[inline]
const fn benefit(full: u32, used: u32, stays: u16) -> u32 {
    let x = floor((full - used) * ONE, used + costs(full));
    let won = (x * floor(x * ONE, x + 2 * ONE)) >> 8;
    ((won as u64 * stays as u64) >> 6) as u32 + 1
}

/// Returns the most references for which the benefit may exceed this one, of data that stays so long: the equation
/// above, solved for x. It is rounded up.
const fn used_for(full: u32, value: u32, stays: u16) -> u32 {
    /// More than any block is worth.
    const WON_MOST: u64 = 1 << 20;
    let won = floor_wide((value.saturating_sub(1) as u64) << 6, stays as u64);
    let won = if won > WON_MOST { WON_MOST as u32 } else { won as u32 };
    let half = won >> 5;
    let x = ((half * half + won * (ONE >> 3)).isqrt() + half).saturating_sub(2);
    floor((full * ONE).saturating_sub(x * costs(full)), x + ONE) + 1
}

/// Reading and erasing a block takes as long as copying a tenth of it.
const fn costs(full: u32) -> u32 {
    full / 10 + 1
}

impl Candidates {
    pub(crate) const NONE: Self = Self { kept: [None; KEPT], hand: 0 };

    /// Returns the next victim.
    pub(crate) fn best(
        &mut self,
        blocks: &mut Blocks<'_>,
        judge: Judge<'_>,
    ) -> Option<BlockNumber> {
        for turn in 0..=ROUND {
            let scores = self.pass(blocks, judge);
            let (at, best) = scores.iter().enumerate().max_by_key(|(_, score)| **score)?;
            if *best >= judge.enough() || *best > 0 && turn == ROUND {
                return self.kept.get_mut(at)?.take();
            }
        }
        None
    }

    /// Returns the current value of each candidate, zero for an empty place. Candidates without value are dropped.
    fn scores(&mut self, blocks: &Blocks<'_>, judge: Judge<'_>) -> Scores {
        let mut scores = [0; KEPT];
        for (score, kept) in scores.iter_mut().zip(&mut self.kept) {
            if let Some(block) = *kept {
                *score = judge.score(blocks, block).unwrap_or(0);
            }
            if *score == 0 {
                *kept = None;
            }
        }
        scores
    }

    /// Continues the search. Returns the values of the candidates.
    fn pass(&mut self, blocks: &mut Blocks<'_>, judge: Judge<'_>) -> Scores {
        let shape = judge.shape;
        let learns = Feature::Lifetimes.is_built() && judge.area == Area::Main;
        if learns {
            blocks.rates.learn_if_due();
        }
        let mut scores = self.scores(blocks, judge);
        let mut left = shape.blocks.min(PASSED.max(shape.blocks / ROUND));
        while left > 0 {
            let first = BlockNumber::new(shape.first_block + self.hand);
            let run = left.min(shape.blocks - self.hand);
            blocks.times.move_along(first, run as usize);
            if learns {
                blocks.note_there(first, run as usize);
            }
            self.rate(&mut scores, first, run as usize, blocks, judge);
            self.hand = if self.hand + run >= shape.blocks { 0 } else { self.hand + run };
            left -= run;
        }
        scores
    }

    /// Keeps the best of some blocks, in place of the worst candidates.
    fn rate(
        &mut self,
        scores: &mut Scores,
        first: BlockNumber,
        run: usize,
        blocks: &Blocks<'_>,
        judge: Judge<'_>,
    ) {
        let (mut worst_at, mut worst) = least(scores);
        let longest = blocks.rates.longest();
        let mut most = judge.used_most(worst, longest);
        for (block, used) in blocks.all_to_empty(first, run) {
            if used > most || judge.begun == Some(block) {
                continue;
            }
            let Some(score) = judge.value(blocks, block, used) else { continue };
            if score <= worst || self.kept.contains(&Some(block)) {
                continue;
            }
            if let (Some(kept), Some(place)) =
                (self.kept.get_mut(worst_at), scores.get_mut(worst_at))
            {
                (*kept, *place) = (Some(block), score);
            }
            (worst_at, worst) = least(scores);
            most = judge.used_most(worst, longest);
        }
    }
}

/// The value of each candidate.
type Scores = [u32; KEPT];

/// Returns the place to be reused first, and the value of its block.
#[inline(never)]
fn least(scores: &Scores) -> (usize, u32) {
    let mut worst = (0, u32::MAX);
    for (at, score) in scores.iter().enumerate() {
        if *score < worst.1 {
            worst = (at, *score);
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shape whose blocks have so many slots.
    fn shape(full: u32) -> AreaShape {
        use ftl_iface::{BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry};
        let region = RegionGeometry {
            cell: Cell::Slc,
            blocks: BlockCount::new(1_000),
            pages_per_block: PageCount::new(full),
            page_bytes: Bytes::new(2048),
            spare_bytes: Bytes::new(16),
            pairing: Pairing::None,
        };
        let geometry = Geometry::new(Some(region), None).unwrap();
        let config =
            crate::paged::PagedConfig { dirty_entries: 4096, ..crate::paged::PagedConfig::SMALL };
        crate::paged::PagedShape::new(&geometry, &config).unwrap().main
    }

    #[test]
    fn no_block_is_passed_over_that_is_worth_more() {
        for full in [64, 256] {
            let shape = shape(full);
            let judge = Judge {
                victims: Victims::CostBenefit,
                area: Area::Main,
                shape: &shape,
                begun: None,
                map_cost: MapCost::Free,
            };
            for stays in [1, 64, 700, 32_832] {
                for used in 1..full {
                    let value = benefit(full, used, stays);
                    assert!(u32::from(judge.used_most(value - 1, stays)) >= used, "{used} {stays}");
                }
            }
            for used in 1..full - full / 16 {
                let most = u32::from(judge.used_most(benefit(full, used, 64), 64));
                assert!(most <= used + 1 + full / 32, "{used}: {most}");
            }
        }
    }
}
