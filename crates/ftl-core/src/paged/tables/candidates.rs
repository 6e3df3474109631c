//! Candidates for victims, found without a walk over all blocks for each choice.
//!
//! A clock hand visits some of an area's blocks for each choice, and keeps the best. The next victim is the best of
//! these, rated when it is chosen.

use super::blocks::Blocks;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::config::Victims;
use crate::paged::plan::shape::{Area, AreaShape};

/// The most pages copied for one host page: 21 of 22 slots of a victim are in use.
pub(crate) const PACE_MAX: u16 = 21;

/// The number of candidates kept.
const KEPT: usize = 24;
/// Each search examines at least this many blocks and at least this share of the area, so that most candidates are used
/// up when the search wraps. More is not better: the search follows the order in which blocks were written, and so
/// spares those that were written late.
const PASSED: u32 = 64;
const ROUND: u32 = 32;
/// Ticks added to the time until data is expected to be replaced: without them only that time would count.
const FAR_LEAST: u32 = 96;
/// A block that lost data this many half ticks ago has half of its value: more of it is about to be replaced.
const RESTING: u32 = 4;

/// The best blocks found so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidates {
    kept: [Option<BlockNumber>; KEPT],
    hand: u32,
}

/// What the rating depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    pub(crate) victims: Victims,
    pub(crate) area: Area,
    /// The current victim.
    pub(crate) begun: Option<BlockNumber>,
}

impl Judge {
    /// Returns the value of emptying a block: more is better. `None`: it must not be emptied, or no space would be
    /// freed.
    fn score(self, blocks: &Blocks<'_>, shape: &AreaShape, block: BlockNumber) -> Option<u32> {
        let used = u32::from(blocks.to_empty(block).filter(|_| self.begun != Some(block))?);
        // Where pages are skipped, a block of copies is no fuller, and emptying it would free nothing.
        let full = shape.copied_slots;
        let won = full.saturating_sub(used);
        if self.area == Area::Fast {
            // Sectors move to the main area, two or more per page, so all of their block is freed. Map pages stay:
            // rewriting those of a full block frees nothing. Age does not count, because small hot data is replaced at
            // random.
            let (won, cost) =
                if blocks.times.holds_map(block) { (won, used) } else { (full, used / 2) };
            return (won > 0).then(|| (won << 8) / (cost + 1) + 1);
        }
        if won == 0 {
            return None;
        }
        Some(match self.victims {
            Victims::CostBenefit => {
                if won * (u32::from(PACE_MAX) + 1) < full {
                    return None;
                }
                let far = u32::from(blocks.times.far(block).ticks());
                let rest = u32::from(blocks.times.rest(block).half_ticks());
                // Reading and erasing takes as long as copying a tenth of a block.
                let freed = (won << 8) / (used + full / 10 + 1);
                freed * (far + FAR_LEAST) / (rest + RESTING) * rest + 1
            }
            Victims::Greedy => won + 1,
        })
    }
}

impl Candidates {
    pub(crate) const NONE: Self = Self { kept: [None; KEPT], hand: 0 };

    /// Returns the next victim.
    pub(crate) fn best(
        &mut self,
        blocks: &mut Blocks<'_>,
        shape: &AreaShape,
        judge: Judge,
    ) -> Option<BlockNumber> {
        for _ in 0..=ROUND {
            let scores = self.pass(blocks, shape, judge);
            let (at, best) = scores.iter().enumerate().max_by_key(|(_, score)| **score)?;
            if *best > 0 {
                return self.kept.get_mut(at)?.take();
            }
        }
        None
    }

    /// Returns the current value of each candidate, zero for an empty place. Candidates without value are dropped.
    fn scores(&mut self, blocks: &Blocks<'_>, shape: &AreaShape, judge: Judge) -> Scores {
        let mut scores = [0; KEPT];
        for (score, kept) in scores.iter_mut().zip(&mut self.kept) {
            if let Some(block) = *kept {
                *score = judge.score(blocks, shape, block).unwrap_or(0);
            }
            if *score == 0 {
                *kept = None;
            }
        }
        scores
    }

    /// Continues the search. Returns the values of the candidates.
    fn pass(&mut self, blocks: &mut Blocks<'_>, shape: &AreaShape, judge: Judge) -> Scores {
        let mut scores = self.scores(blocks, shape, judge);
        let (mut worst_at, mut worst) = least(&scores);
        for _ in 0..shape.blocks.min(PASSED.max(shape.blocks / ROUND)) {
            let block = BlockNumber::new(shape.first_block + self.hand);
            self.hand = if self.hand + 1 >= shape.blocks { 0 } else { self.hand + 1 };
            blocks.times.move_along(block);
            let Some(score) = judge.score(blocks, shape, block) else { continue };
            if score <= worst || self.kept.contains(&Some(block)) {
                continue;
            }
            if let (Some(kept), Some(place)) =
                (self.kept.get_mut(worst_at), scores.get_mut(worst_at))
            {
                (*kept, *place) = (Some(block), score);
            }
            (worst_at, worst) = least(&scores);
        }
        scores
    }
}

/// The value of each candidate.
type Scores = [u32; KEPT];

/// Returns the place to be reused first, and the value of its block.
fn least(scores: &Scores) -> (usize, u32) {
    let mut worst = (0, u32::MAX);
    for (at, score) in scores.iter().enumerate() {
        if *score < worst.1 {
            worst = (at, *score);
        }
    }
    worst
}
