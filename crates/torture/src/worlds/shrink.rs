//! The shortest run of a world that still fails: lives, requests, power cuts and faults are removed as long as the same
//! kind of promise is broken.

use std::mem::discriminant;

use super::live::{FoundBreach, live};
use super::script::Life;
use super::world::World;
use crate::history::History;

/// The most runs tried for it.
const TRIALS: u32 = 1_500;

/// The rest of a world.
struct Shrinking<'a> {
    world: &'a World,
    lives: Vec<Life>,
    found: FoundBreach,
    trials: u32,
}

/// Finds the smallest part that fails like these lives, and its failure.
pub(super) fn shrink(
    world: &World,
    lives: Vec<Life>,
    found: FoundBreach,
) -> (Vec<Life>, FoundBreach) {
    let mut shrinking = Shrinking { world, lives, found, trials: TRIALS };
    loop {
        let before = shrinking.size();
        shrinking.drop_lives();
        shrinking.drop_steps();
        shrinking.calm();
        if shrinking.size() == before || shrinking.trials == 0 {
            return (shrinking.lives, shrinking.found);
        }
    }
}

impl Shrinking<'_> {
    fn size(&self) -> usize {
        let one = |life: &Life| {
            2 + life.steps.len() + usize::from(life.cut.is_some()) + usize::from(life.faulty)
        };
        self.lives.iter().map(one).sum()
    }

    /// Takes these lives if they fail in the same way, and removes everything after the failure.
    fn take(&mut self, mut lives: Vec<Life>) -> bool {
        let Some(left) = self.trials.checked_sub(1) else { return false };
        self.trials = left;
        let Some(found) = live(self.world, &lives, History::NONE).wrong else { return false };
        if discriminant(&found.breach) != discriminant(&self.found.breach) {
            return false;
        }
        lives.retain(|life| life.number <= found.life);
        (self.lives, self.found) = (lives, found);
        true
    }

    /// Removes runs of lives, long ones first.
    fn drop_lives(&mut self) {
        let mut run = self.lives.len().div_ceil(2);
        while run > 0 {
            let mut at = 0;
            while at < self.lives.len() {
                let mut fewer = self.lives.clone();
                fewer.drain(at..(at + run).min(fewer.len()));
                if !self.take(fewer) {
                    at += run;
                }
            }
            run /= 2;
        }
    }

    /// Removes runs of steps of each life, from the last one on.
    fn drop_steps(&mut self) {
        for nth in (0..self.lives.len()).rev() {
            let steps = |lives: &[Life]| lives.get(nth).map_or(0, |life| life.steps.len());
            let mut run = steps(&self.lives);
            while run > 0 {
                let mut at = 0;
                while at < steps(&self.lives) {
                    let mut fewer = self.lives.clone();
                    let end = (at + run).min(steps(&fewer));
                    fewer[nth].steps.drain(at..end);
                    if !self.take(fewer) {
                        at += run;
                    }
                }
                run /= 2;
            }
        }
    }

    /// Removes faults, and power cuts.
    fn calm(&mut self) {
        let calms: [fn(&mut Life); 2] = [|life| life.faulty = false, |life| life.cut = None];
        for calm in calms {
            for nth in 0..self.lives.len() {
                let mut calmer = self.lives.clone();
                let Some(life) = calmer.get_mut(nth) else { break };
                if life.faulty || life.cut.is_some() {
                    calm(life);
                    self.take(calmer);
                }
            }
        }
    }
}
