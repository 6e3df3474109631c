//! The block that is worth most, where each gains worth as it ages, and at its own pace.
//!
//! Cost-benefit and cost age times both multiply a block's age by a figure that stays until one of its units becomes
//! invalid. So a block's worth is a straight line over time, and two lines cross once: a tournament between the blocks
//! knows at each of its matches until when the winner stays ahead. A look at it costs the matches of those blocks that
//! changed and of those that were overtaken since the look before, not one of every block. (J. Basch, L. J. Guibas and
//! J. Hershberger, "Data Structures for Mobile Data", Journal of Algorithms 31(1), 1999: a kinetic tournament.)

/// Stands for no block.
const NONE: u32 = u32::MAX;

/// One block of the race.
#[derive(Clone, Copy, Debug, Default)]
struct Runner {
    /// What it gains with each unit of time; nothing is gained by a block that does not take part.
    pace: f64,
    /// When it began.
    start: f64,
}

impl Runner {
    fn at(self, now: f64) -> f64 {
        self.pace * (now - self.start)
    }
}

/// The match of a node of the tournament: between the winners of the two nodes below.
#[derive(Clone, Copy, Debug)]
struct Match {
    winner: u32,
    /// The moment from which the winner here or at a match below may be another.
    until: u64,
}

const EMPTY: Match = Match { winner: NONE, until: u64::MAX };

/// Blocks that gain worth with time.
#[derive(Clone, Debug)]
pub(super) struct Race {
    runners: Vec<Runner>,
    /// The final is at 1; the matches below that at `n` are those at `2n` and `2n + 1`. The last half are the blocks.
    matches: Vec<Match>,
    /// Blocks that changed since the last look, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl Race {
    /// A race of so many blocks, each of which is to be looked at.
    pub(super) fn new(blocks: u32) -> Self {
        let blocks = blocks as usize;
        Self {
            runners: vec![Runner::default(); blocks],
            matches: vec![EMPTY; 2 * blocks.next_power_of_two()],
            changed: (0..blocks as u32).collect(),
            is_changed: vec![true; blocks],
        }
    }

    /// The block is to be looked at again.
    #[inline]
    pub(super) fn note(&mut self, block: u32) {
        if !std::mem::replace(&mut self.is_changed[block as usize], true) {
            self.changed.push(block);
        }
    }

    /// The block that is worth most now. `runner` tells of a block that changed what it gains with each unit of time,
    /// and when it began; none where it takes no part.
    #[allow(clippy::cast_precision_loss)] // The clock counts pages: it stays far below 2^53.
    pub(super) fn best(
        &mut self,
        now: u64,
        runner: impl Fn(u32) -> Option<(f64, u64)>,
    ) -> Option<u32> {
        let leaves = self.matches.len() / 2;
        let mut nodes = std::mem::take(&mut self.changed);
        nodes.sort_unstable();
        for node in &mut nodes {
            let block = *node as usize;
            self.is_changed[block] = false;
            let told = runner(*node).filter(|(pace, _)| *pace > 0.0);
            let (pace, start) = told.unwrap_or_default();
            self.runners[block] = Runner { pace, start: start as f64 };
            let winner = if told.is_some() { *node } else { NONE };
            self.matches[leaves + block] = Match { winner, until: u64::MAX };
            *node += leaves as u32;
        }
        // One round after the other, so that a match of several that changed is played once.
        while nodes.first().is_some_and(|node| *node > 1) {
            nodes.iter_mut().for_each(|node| *node /= 2);
            nodes.dedup();
            nodes.iter().for_each(|node| self.play(*node as usize, now));
        }
        nodes.clear();
        self.changed = nodes;
        self.overtake(1, now);
        let winner = self.matches[1].winner;
        (winner != NONE).then_some(winner)
    }

    /// Plays the matches again whose winner may have been overtaken.
    fn overtake(&mut self, node: usize, now: u64) {
        if self.matches[node].until <= now {
            self.overtake(2 * node, now);
            self.overtake(2 * node + 1, now);
            self.play(node, now);
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // As above, and no moment is before the first.
    fn play(&mut self, node: usize, now: u64) {
        let [one, other] = [self.matches[2 * node], self.matches[2 * node + 1]];
        let until = one.until.min(other.until);
        self.matches[node] = match (one.winner, other.winner) {
            (winner, NONE) | (NONE, winner) => Match { winner, until },
            (one, other) => {
                let [first, second] = [one, other].map(|block| self.runners[block as usize]);
                let is_first = first.at(now as f64) >= second.at(now as f64);
                let (winner, ahead, behind) =
                    if is_first { (one, first, second) } else { (other, second, first) };
                let faster = behind.pace - ahead.pace;
                let crossing = if faster > 0.0 {
                    let moment = (behind.pace * behind.start - ahead.pace * ahead.start) / faster;
                    (moment as u64).max(now + 1)
                } else {
                    u64::MAX
                };
                Match { winner, until: until.min(crossing) }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_winner_is_the_best_of_all_at_every_look() {
        for blocks in [1, 2, 3, 50, 300] {
            let mut dice = fastrand::Rng::with_seed(u64::from(blocks));
            let mut told: Vec<Option<(f64, u64)>> = vec![None; blocks as usize];
            let mut race = Race::new(blocks);
            let mut now = 0;
            for _ in 0..4_000 {
                now += dice.u64(0..200);
                for _ in 0..dice.u32(0..6) {
                    let block = dice.u32(0..blocks);
                    let pace = 1.0 / f64::from(dice.u32(1..=2_000));
                    told[block as usize] =
                        (dice.u8(0..4) > 0).then_some((pace, now - dice.u64(0..=now.min(9_000))));
                    race.note(block);
                }
                let worth = |told: &Option<(f64, u64)>| {
                    told.map(|(pace, start)| pace * (now as f64 - start as f64))
                };
                let most = told.iter().filter_map(worth).reduce(f64::max);
                let best = race.best(now, |block| told[block as usize]);
                let found = best.and_then(|block| worth(&told[block as usize]));
                let is_best = match (most, found) {
                    (Some(most), Some(found)) => most - found <= 1e-9 * most.abs().max(1.0),
                    (most, found) => most == found,
                };
                assert!(is_best, "{found:?} for {most:?} at {now} of {blocks} blocks");
            }
        }
    }
}
