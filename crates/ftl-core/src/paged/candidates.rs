//! Candidates for victims, found without a walk over all blocks for each choice.
//!
//! A clock hand passes over an area's blocks, some for each choice, and keeps the best that it meets. The next victim
//! is the best of those, rated when it is chosen.

use super::address::BlockNumber;
use super::blocks::Blocks;
use super::config::Victims;
use super::shape::{Area, AreaShape};

/// The most pages copied for one page of the host's: twenty of 21 slots of a victim in use.
pub(super) const PACE_MAX: u16 = 21;

/// As many are kept.
const KEPT: usize = 24;
/// At a turn the hand passes at least as many blocks, and at least so large a part of the area: most of what it keeps
/// is used up when it comes round. More is not better: the hand takes blocks in the order in which they were written,
/// and so leaves those in peace that were written late.
const PASSED: u32 = 64;
const ROUND: u32 = 32;
/// Turns of the clock that are added to how far a block's death is: without them nothing but that would count.
const FAR_LEAST: u32 = 32;

/// The best blocks that the hand has met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidates {
    kept: [Option<BlockNumber>; KEPT],
    hand: u32,
}

/// By what blocks are judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    pub(super) victims: Victims,
    pub(super) area: Area,
    /// The turn of the area's clock.
    pub(super) now: u8,
    /// The block that is being emptied.
    pub(super) begun: Option<BlockNumber>,
}

impl Judge {
    /// What emptying a block is worth: more is better. `None`: it may not be emptied, or nothing would be won.
    fn score(self, blocks: &mut Blocks<'_>, shape: &AreaShape, block: BlockNumber) -> Option<u32> {
        let used = u32::from(blocks.to_empty(block).filter(|_| self.begun != Some(block))?);
        let full = shape.block_slots();
        let won = full.saturating_sub(used);
        if self.area == Area::Fast {
            // Sectors leave for the main area, two or more a page, and so all of their block is won. Map pages stay: to
            // write those of a full block anew wins nothing. Age tells nothing, for what is small and hot is replaced
            // at random.
            let (won, cost) = if blocks.holds_map(block) { (won, used) } else { (full, used / 2) };
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
                let far = u32::from(blocks.far(block, self.now));
                // Reading and erasing takes as long as copying the tenth part of a block.
                (won << 8) / (used + full / 10 + 1) * (far + FAR_LEAST) + 1
            }
            Victims::Greedy => won + 1,
        })
    }
}

impl Candidates {
    pub(super) const NONE: Self = Self { kept: [None; KEPT], hand: 0 };

    /// The block to be emptied next.
    pub(super) fn best(
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

    /// What each of the kept blocks is worth now: nothing, where none is kept. One that is worth nothing any more is
    /// forgotten.
    fn scores(&mut self, blocks: &mut Blocks<'_>, shape: &AreaShape, judge: Judge) -> Scores {
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

    /// Continues with the round. Returns what those are worth that are kept now.
    fn pass(&mut self, blocks: &mut Blocks<'_>, shape: &AreaShape, judge: Judge) -> Scores {
        let mut scores = self.scores(blocks, shape, judge);
        let (mut worst_at, mut worst) = least(&scores);
        for _ in 0..shape.blocks.min(PASSED.max(shape.blocks / ROUND)) {
            let block = BlockNumber::new(shape.first_block + self.hand);
            self.hand = if self.hand + 1 >= shape.blocks { 0 } else { self.hand + 1 };
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

/// What each of the kept blocks is worth.
type Scores = [u32; KEPT];

/// The place to be given away first, and what its block is worth.
fn least(scores: &Scores) -> (usize, u32) {
    let mut worst = (0, u32::MAX);
    for (at, score) in scores.iter().enumerate() {
        if *score < worst.1 {
            worst = (at, *score);
        }
    }
    worst
}
