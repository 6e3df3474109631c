//! What the last page of a data block notes: its wear, and how many blocks it replaced.

/// The note of the last page of a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldEnd {
    /// How often the block had been erased, in 20 bits.
    pub wear: u32,
    /// How many blocks the fold froze: the most that four bits can say stands for more, too.
    pub frozen: u16,
}

const WEAR_BITS: u32 = 20;

impl FoldEnd {
    /// As many frozen blocks, or more.
    pub const FROZEN_MAX: u16 = 15;

    /// The note.
    pub const fn code(self) -> u32 {
        let frozen = if self.frozen < Self::FROZEN_MAX { self.frozen } else { Self::FROZEN_MAX };
        self.wear & ((1 << WEAR_BITS) - 1) | (frozen as u32) << WEAR_BITS
    }

    /// What a note says.
    pub const fn of_code(code: u32) -> Self {
        let frozen = (code >> WEAR_BITS) as u16 & Self::FROZEN_MAX;
        Self { wear: code & ((1 << WEAR_BITS) - 1), frozen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_both_and_no_more_than_fits() {
        for (wear, frozen) in [(0, 0), (1, 3), ((1 << 20) - 1, 14), (77, FoldEnd::FROZEN_MAX)] {
            let end = FoldEnd { wear, frozen };
            assert!(end.code() < 1 << 24);
            assert_eq!(FoldEnd::of_code(end.code()), end);
        }
        let more = FoldEnd { wear: 1 << 20, frozen: 40 };
        let said = FoldEnd { wear: 0, frozen: FoldEnd::FROZEN_MAX };
        assert_eq!(FoldEnd::of_code(more.code()), said);
    }
}
