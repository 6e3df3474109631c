//! The block of the highest worth, when each block's worth grows with its age, at its own rate.
//!
//! Cost-benefit and cost age times both multiply a block's age by a factor that is constant until one of its units
//! becomes invalid. So a block's worth is a straight line over time, and two lines cross at most once: a tournament
//! between the blocks records at each of its matches until when the winner stays ahead. A query costs the matches of
//! the blocks that changed or were overtaken since the last query, not one for every block. (J. Basch, L. J. Guibas and
//! J. Hershberger, "Data Structures for Mobile Data", Journal of Algorithms 31(1), 1999: a kinetic tournament.)

/// Means no block.
const NONE: u32 = u32::MAX;

/// How the worth of one block grows.
#[derive(Clone, Copy, Debug, Default)]
struct WorthLine {
    /// Its gain per unit of time; zero for a block that does not take part.
    pace: f64,
    /// The start of its line.
    start: f64,
}

impl WorthLine {
    fn at(self, now: f64) -> f64 {
        self.pace * (now - self.start)
    }
}

/// The match of a node of the tournament: between the winners of the two nodes below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    winner: u32,
    /// The time from which the winner here or at a match below may change.
    until: u64,
}

/// A match without participants.
const NOBODY: Match = Match { winner: NONE, until: u64::MAX };

/// Blocks that gain worth with time.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    lines: Vec<WorthLine>,
    /// The final is at 1; the matches below that at `n` are those at `2n` and `2n + 1`. The last half are the blocks.
    matches: Vec<Match>,
    /// Blocks whose matches must be replayed, each listed once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl Tournament {
    /// Of that many blocks, all still to be evaluated.
    pub(super) fn new(blocks: u32) -> Self {
        let count = blocks as usize;
        Self {
            lines: vec![WorthLine::default(); count],
            matches: vec![NOBODY; 2 * count.next_power_of_two()],
            changed: (0..blocks).collect(),
            is_changed: vec![true; count],
        }
    }

    /// Notes that the block must be evaluated again.
    #[inline]
    pub(super) fn note(&mut self, block: u32) {
        if !std::mem::replace(&mut self.is_changed[block as usize], true) {
            self.changed.push(block);
        }
    }

    /// The block of the highest worth now. `runner` returns the gain and the start of a changed block; `None` if it
    /// takes no part.
    pub(super) fn best(
        &mut self,
        now: u64,
        runner: impl Fn(u32) -> Option<(f64, u64)>,
    ) -> Option<u32> {
        self.overtake(1, now);
        let mut changed = std::mem::take(&mut self.changed);
        changed.drain(..).for_each(|block| self.enter(block, runner(block), now));
        self.changed = changed;
        let winner = self.matches[1].winner;
        (winner != NONE).then_some(winner)
    }

    /// Replays the matches whose winner may have been overtaken.
    fn overtake(&mut self, node: usize, now: u64) {
        if self.matches[node].until <= now {
            self.overtake(2 * node, now);
            self.overtake(2 * node + 1, now);
            self.matches[node] = self.play(node, now);
        }
    }

    /// Replays the matches of a changed block, up to one that it neither wins nor alters.
    #[allow(clippy::cast_precision_loss)] // The clock counts pages: it stays far below 2^53.
    fn enter(&mut self, block: u32, told: Option<(f64, u64)>, now: u64) {
        let (pace, start) = told.filter(|(pace, _)| *pace > 0.0).unwrap_or_default();
        self.is_changed[block as usize] = false;
        self.lines[block as usize] = WorthLine { pace, start: start as f64 };
        let mut node = self.matches.len() / 2 + block as usize;
        let winner = if pace > 0.0 { block } else { NONE };
        self.matches[node] = Match { winner, ..NOBODY };
        while node > 1 {
            node /= 2;
            let again = self.play(node, now);
            let before = std::mem::replace(&mut self.matches[node], again);
            if again == before && before.winner != block {
                return;
            }
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // As above, and no moment is before the first.
    fn play(&self, node: usize, now: u64) -> Match {
        let [one, other] = [self.matches[2 * node], self.matches[2 * node + 1]];
        let until = one.until.min(other.until);
        let (one, other) = match (one.winner, other.winner) {
            (winner, NONE) | (NONE, winner) => return Match { winner, until },
            pair => pair,
        };
        let [first, second] = [one, other].map(|block| self.lines[block as usize]);
        let is_first = first.at(now as f64) >= second.at(now as f64);
        let (winner, ahead, behind) =
            if is_first { (one, first, second) } else { (other, second, first) };
        let gain = behind.pace - ahead.pace;
        if gain <= 0.0 {
            return Match { winner, until };
        }
        let overtaken = (behind.pace * behind.start - ahead.pace * ahead.start) / gain;
        Match { winner, until: until.min((overtaken as u64).max(now + 1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::cast_precision_loss)] // Small figures.
    #[test]
    fn the_winner_is_the_best_of_all_at_every_look() {
        for blocks in [1, 2, 3, 50, 300] {
            let mut dice = fastrand::Rng::with_seed(u64::from(blocks));
            let mut told: Vec<Option<(f64, u64)>> = vec![None; blocks as usize];
            let mut tournament = Tournament::new(blocks);
            let mut now = 0;
            for _ in 0..4_000 {
                now += dice.u64(0..200);
                for _ in 0..dice.u32(0..6) {
                    let block = dice.u32(0..blocks);
                    let pace = 1.0 / f64::from(dice.u32(1..=2_000));
                    told[block as usize] =
                        (dice.u8(0..4) > 0).then_some((pace, now - dice.u64(0..=now.min(9_000))));
                    tournament.note(block);
                }
                let worth = |told: &Option<(f64, u64)>| {
                    told.map(|(pace, start)| pace * (now as f64 - start as f64))
                };
                let most = told.iter().filter_map(worth).reduce(f64::max);
                let best = tournament.best(now, |block| told[block as usize]);
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
