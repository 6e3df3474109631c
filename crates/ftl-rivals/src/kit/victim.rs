//! The choice of victims: the policies of the literature.

use super::area::Area;

/// How a victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// The block with the fewest valid units.
    Greedy,
    /// Kawaguchi, Nishioka and Motoda, "A Flash-Memory Based File System" (USENIX 1995): the highest age times (1 - u)
    /// / 2u, where u is the share of a block's units that are valid.
    CostBenefit,
    /// Cost age times: Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory"
    /// (1999): the lowest u / (1 - u), times 1 / age, times the number of cleanings.
    Cat,
    /// The oldest full block.
    InOrder,
}

impl Victims {
    /// The next victim among the full blocks of an area; `None` if every full block is entirely valid.
    pub fn choose(self, area: &mut Area) -> Option<u32> {
        match self {
            Self::Greedy => area.least_valid().filter(|block| !area.is_wholly_valid(*block)),
            Self::InOrder => area.oldest(),
            Self::CostBenefit => area.worthiest(|share, _| (1.0 - share) / (2.0 * share)),
            // The maximum of the inverse is the minimum.
            Self::Cat => area.worthiest(|share, cleanings| {
                (1.0 - share) / (share * (f64::from(cleanings) + 1.0))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{Mode, Region};

    use super::super::area::AreaPlan;
    use super::*;

    /// By the formulas of the literature: the highest is best for the first, the lowest for the second.
    #[allow(clippy::cast_precision_loss)] // Small figures.
    fn scores(area: &Area, block: u32, cleanings: u32) -> [f64; 2] {
        let u = f64::from(area.valid(block)) / f64::from(area.units_of(block));
        let age = (area.now() + 1 - area.filled_at(block)) as f64;
        [age * (1.0 - u) / (2.0 * u), u / (1.0 - u) / age * f64::from(cleanings + 1)]
    }

    #[test]
    fn the_victim_is_the_best_by_the_formula_of_all_full_blocks() {
        const BLOCKS: u32 = 40;
        for victims in [Victims::CostBenefit, Victims::Cat] {
            let mut dice = fastrand::Rng::with_seed(3);
            let plan = AreaPlan {
                region: Region::Mlc,
                blocks: 0..BLOCKS,
                streams: vec![Mode::Full],
                lanes: 1,
            };
            let mut area = Area::new(&plan, [16, 0]);
            let mut cleanings = [0; BLOCKS as usize];
            for _ in 0..20_000 {
                if area.next_or_open() {
                    let valid: Vec<u32> =
                        (0..area.places()).filter(|place| area.is_valid(*place)).collect();
                    // Most updates go to few places, so shares and ages differ.
                    let hot = if dice.bool() { valid.len().div_ceil(8) } else { valid.len() };
                    area.invalidate(valid[dice.usize(0..hot)]);
                    continue;
                }
                let best = victims.choose(&mut area);
                let full = (0..BLOCKS).filter(|block| area.is_full(*block));
                let full = full.filter(|block| !area.is_wholly_valid(*block));
                let of = |block: u32| scores(&area, block, cleanings[block as usize]);
                let known = full.map(|block| match victims {
                    Victims::CostBenefit => -of(block)[0],
                    _ => of(block)[1],
                });
                let least = known.reduce(f64::min).expect("a victim");
                let victim = best.expect("a victim");
                let found = match victims {
                    Victims::CostBenefit => -of(victim)[0],
                    _ => of(victim)[1],
                };
                // A block without valid units has no finite score.
                let is_least = found <= least || found - least <= 1e-9 * least.abs();
                assert!(is_least, "{victims:?}: {found} for {least}");
                for place in victim * 16..(victim + 1) * 16 {
                    if area.is_valid(place) {
                        area.invalidate(place);
                    }
                }
                area.release(victim);
                cleanings[victim as usize] += 1;
                area.check().unwrap();
            }
            assert!(cleanings.iter().sum::<u32>() > 500, "{cleanings:?}");
        }
    }

    impl Area {
        /// Programs the stream's next unit; false if no block is free.
        fn next_or_open(&mut self) -> bool {
            let slot = self.next(0).or_else(|| {
                self.take(0)?;
                self.next(0)
            });
            let Some((block, unit)) = slot else { return false };
            self.validate(block * 16 + unit);
            self.note_programmed(0, block);
            true
        }
    }
}
