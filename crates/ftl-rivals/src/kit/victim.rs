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

/// The share of a block of which nothing is valid, where a share divides: it is worth more than all others.
const NOTHING: f64 = 1e-12;

impl Victims {
    /// The next victim among the full blocks of an area; none where every full block is valid throughout.
    pub fn choose(self, area: &mut Area) -> Option<u32> {
        match self {
            Self::Greedy => area.least_valid().filter(|block| !area.is_wholly_valid(*block)),
            Self::InOrder => area.oldest(),
            Self::CostBenefit => area.worthiest(|share, _| (1.0 - share) / (2.0 * share)),
            // The most of the inverse is the least.
            Self::Cat => area.worthiest(|share, cleanings| {
                (1.0 - share) / (share * (f64::from(cleanings) + 1.0))
            }),
        }
    }
}

/// The share of valid units among all of a block, as the policies divide by it.
pub(super) fn share(valid: u32, units: u32) -> f64 {
    (f64::from(valid) / f64::from(units)).max(NOTHING)
}
