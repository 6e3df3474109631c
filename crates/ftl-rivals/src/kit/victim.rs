//! Which block is collected: the policies of the literature.

use super::area::Area;

/// How a victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// The block with the fewest valid units.
    Greedy,
    /// Kawaguchi, Nishioka and Motoda, "A Flash-Memory Based File System" (USENIX 1995): most of age times
    /// (1 - u) / 2u, where u is the share of a block's units that are valid.
    CostBenefit,
    /// Cost age times: Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory"
    /// (1999): least of u / (1 - u), times 1 / age, times the number of cleanings.
    Cat,
    /// The block that was filled first.
    InOrder,
}

/// How many victims one look over the blocks of an area brings, by their number: one for so many. Small areas, those
/// of the papers among them, are looked over for each victim.
const BLOCKS_A_VICTIM: usize = 8192;

impl Victims {
    /// The next victim among the full blocks of an area; none where every full block is valid throughout.
    pub fn choose(self, area: &mut Area) -> Option<u32> {
        let block = match self {
            Self::Greedy => area.least_valid(),
            Self::InOrder => area.oldest(),
            Self::CostBenefit => scored(area, |age, share, _| -age * (1.0 - share) / (2.0 * share)),
            Self::Cat => {
                scored(area, |age, share, cleanings| share / (1.0 - share) / age * cleanings)
            }
        }?;
        (self == Self::InOrder || !area.is_wholly_valid(block)).then_some(block)
    }
}

/// The full block whose score is least.
fn scored(area: &mut Area, score: fn(f32, f32, f32) -> f32) -> Option<u32> {
    while let Some(block) = area.chosen.pop() {
        if area.is_full(block) && !area.is_wholly_valid(block) {
            return Some(block);
        }
    }
    let (blocks, now) = (area.blocks(), area.now());
    let scores = (0..blocks).filter(|block| area.is_full(*block)).map(|block| {
        let (age, share) = (now - area.filled_at(block), area.valid_share(block));
        let cleanings = area.cleanings(block) + 1;
        #[allow(clippy::cast_precision_loss)] // Scores need not be finer than that.
        let score = match share {
            0.0 => f32::NEG_INFINITY,
            1.0 => f32::INFINITY,
            share => score((age + 1) as f32, share, cleanings as f32),
        };
        (score, block)
    });
    let mut best: Vec<(f32, u32)> = scores.collect();
    let wanted = (blocks as usize).div_ceil(BLOCKS_A_VICTIM).min(best.len());
    if wanted == 0 {
        return None;
    }
    best.select_nth_unstable_by(wanted - 1, |one, other| one.0.total_cmp(&other.0));
    best.truncate(wanted);
    best.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
    area.chosen.extend(best.into_iter().map(|(_, block)| block));
    area.chosen.pop()
}
