//! What garbage collection in the main area costs: a mean over the last victims.

/// The parts of a page in which costs are counted.
pub(crate) const PARTS: u32 = 16;
/// The weight of all victims but the last one, in parts of all.
const OTHERS: u32 = 8;

/// The mean cost of emptying a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Sectors that were copied, for the last few victims.
    copied: u32,
    /// Sectors that were won.
    won: u32,
}

impl Effort {
    /// No block was emptied yet.
    pub(crate) const NONE: Self = Self { copied: 0, won: 0 };

    /// Notes a victim with so many sectors in use, of so many.
    pub(crate) const fn note(&mut self, used: u32, full: u32) {
        self.copied = self.copied - self.copied / OTHERS + used;
        self.won = self.won - self.won / OTHERS + full.saturating_sub(used);
    }

    /// Returns how much is copied for a page that is won, in [`PARTS`] of a page. Even blocks that are nearly empty
    /// take some steps.
    pub(crate) fn rate(self) -> u32 {
        let unknown = if self.copied == 0 { PARTS } else { u32::MAX };
        let rate = (self.copied * PARTS).checked_div(self.won).unwrap_or(unknown);
        rate.clamp(PARTS / 2, u32::from(super::candidates::PACE_MAX) * PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_what_recent_victims_cost() {
        let mut effort = Effort::NONE;
        assert_eq!(effort.rate(), PARTS);
        effort.note(128, 128);
        assert_eq!(effort.rate(), u32::from(super::super::candidates::PACE_MAX) * PARTS);
        for _ in 0..100 {
            effort.note(96, 128);
        }
        assert_eq!(effort.rate(), 3 * PARTS);
        for _ in 0..100 {
            effort.note(2, 128);
        }
        assert_eq!(effort.rate(), PARTS / 2);
    }
}
