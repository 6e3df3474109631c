//! The memory lent to the FTL, and what it holds before a mount: an FTL may not rely on that.

use ftl_core::{Lent, Plan};

use crate::dice::Dice;

/// What lent memory holds before a mount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Held {
    /// Zeros.
    #[default]
    Zeros,
    /// Anything.
    Noise,
    /// What the mount before left there.
    Leftovers,
}

/// Memory to lend, from mount to mount.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    held: Held,
    halves: Vec<u16>,
    words: Vec<u32>,
    bytes: Vec<u8>,
    /// How often it was lent.
    lent: u64,
}

impl Memory {
    /// Memory that holds this before each mount.
    pub(crate) fn holding(held: Held) -> Self {
        Self { held, ..Self::default() }
    }

    /// Lends memory for a plan.
    pub(crate) fn lend<P: Plan>(&mut self, plan: &P) -> Lent<'_, P> {
        self.lent += 1;
        let wanted = plan.elements();
        let same = [self.halves.len(), self.words.len(), self.bytes.len()] == wanted;
        if self.held != Held::Leftovers || !same {
            self.fill(wanted);
        }
        let Self { halves, words, bytes, .. } = self;
        match Lent::lend(plan, halves, words, bytes) {
            Ok(lent) => lent,
            Err(error) => unreachable!("it has just got these lengths: {error}"),
        }
    }

    fn fill(&mut self, [halves, words, bytes]: [usize; 3]) {
        self.halves.resize(halves, 0);
        self.words.resize(words, 0);
        self.bytes.resize(bytes, 0);
        if self.held == Held::Zeros {
            self.halves.fill(0);
            self.words.fill(0);
            self.bytes.fill(0);
            return;
        }
        let mut dice = Dice::new(self.lent);
        self.halves.iter_mut().for_each(|half| *half = dice.next() as u16);
        self.words.iter_mut().for_each(|word| *word = dice.next() as u32);
        self.bytes.chunks_mut(8).for_each(|chunk| {
            chunk.copy_from_slice(&dice.next().to_le_bytes()[..chunk.len()]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan of some bytes.
    #[derive(Clone, Copy, Debug)]
    struct Bytes(usize);

    impl Plan for Bytes {
        fn elements(&self) -> [usize; 3] {
            [self.0, self.0, self.0]
        }

        fn length(&self, _: usize) -> usize {
            self.0
        }
    }

    #[test]
    fn memory_holds_zeros_or_noise_or_what_was_left() {
        let held = |held| {
            let mut memory = Memory::holding(held);
            let _ = memory.lend(&Bytes(100));
            memory.bytes.fill(7);
            let _ = memory.lend(&Bytes(100));
            memory.bytes
        };
        assert_eq!(held(Held::Zeros), [0; 100]);
        assert_eq!(held(Held::Leftovers), [7; 100]);
        let noise = held(Held::Noise);
        assert!(noise != [7; 100] && noise != [0; 100]);
    }
}
