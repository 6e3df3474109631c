//! The minimum of many counts that grow by one, and where it is: the wear of `multi_scm`.
//!
//! A tree of minima: above the counts are the minima of each group of them, above these the minima of each group of
//! groups, up to one group. Where the count that grows is not its group's minimum, no other count is read.

/// Counts per group: a few adjacent cache lines.
const GROUP: usize = 64;

/// Counts, each from zero on.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// The counts, and above them the minima of each group of the level below.
    levels: Vec<Vec<u32>>,
}

impl Counts {
    /// That many counts of zero.
    pub(crate) fn new(counts: usize) -> Self {
        let mut levels = vec![vec![0; counts]];
        let mut length = counts;
        while length > GROUP {
            length = length.div_ceil(GROUP);
            levels.push(vec![0; length]);
        }
        Self { levels }
    }

    /// All counts, in order.
    pub(crate) fn all(&self) -> &[u32] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// Increments one count.
    pub(crate) fn raise(&mut self, at: usize) {
        let Some((counts, above)) = self.levels.split_first_mut() else { return };
        let before = counts[at];
        counts[at] += 1;
        let (mut below, mut at) = (counts, at / GROUP);
        for level in above {
            if level[at] != before {
                return;
            }
            level[at] = least(group(below, at));
            if level[at] == before {
                return;
            }
            (below, at) = (level, at / GROUP);
        }
    }

    /// The position of the minimum, the first if several are equal; `None` if there are no counts.
    pub(crate) fn least_at(&self) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let group = group(level, at);
            let least = least(group);
            at = at * GROUP + group.iter().position(|count| *count == least)?;
        }
        Some(at)
    }

    /// Checks that every level matches the one below it.
    pub(crate) fn check(&self) -> Result<(), String> {
        let pairs = self.levels.iter().zip(self.levels.iter().skip(1));
        for (below, level) in pairs {
            let groups = below.chunks(GROUP).map(least);
            if !groups.eq(level.iter().copied()) {
                return Err("a group of counts is said to have another least".into());
            }
        }
        Ok(())
    }
}

fn group(level: &[u32], at: usize) -> &[u32] {
    let first = at * GROUP;
    &level[first..level.len().min(first + GROUP)]
}

fn least(group: &[u32]) -> u32 {
    group.iter().copied().min().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_the_first_of_the_least() {
        assert_eq!(Counts::new(0).least_at(), None);
        for length in [1, 63, 64, 65, 5_000] {
            let mut dice = fastrand::Rng::with_seed(5);
            let mut counts = Counts::new(length);
            for step in 0..20_000 {
                // Mostly the minimum, as in wear leveling.
                let at = if dice.u8(0..4) > 0 {
                    counts.least_at().unwrap()
                } else {
                    dice.usize(0..length)
                };
                counts.raise(at);
                if step % 97 == 0 {
                    counts.check().unwrap();
                    let least = counts.all().iter().copied().min();
                    let first = counts.all().iter().position(|count| Some(*count) == least);
                    assert_eq!(counts.least_at(), first);
                }
            }
        }
    }
}
