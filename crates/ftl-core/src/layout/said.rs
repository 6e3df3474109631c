//! What a page of a log block says, in 24 bits: they stand in the tag of the page that is programmed after it in its
//! block. Should it become unreadable, they tell which sectors that costs.

/// What the page before said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Nothing that these bits could tell.
    Nothing,
    /// It has a page's worth of places, each in its own slot.
    Held {
        /// The page of the data block in which these places are.
        home: u16,
        /// A bit a slot, from the lowest: whether that slot holds the sector of its place.
        slots: u32,
    },
    /// It forgets a run of sectors.
    Trimmed {
        /// The offset of the first in the logical block.
        first: u32,
        /// How many.
        count: u32,
    },
}

const KIND_SHIFT: u32 = 22;
const NOTHING: u32 = 0;
const HELD: u32 = 1;
const TRIMMED: u32 = 2;
const TRIMMED_PAGES: u32 = 3;

/// Pages of up to so many slots have a bit for each; larger ones a first slot and a number of slots.
const MASK_SLOTS: u16 = 8;
const RUN_FIRST: u32 = 5;
const RUN_COUNT: u32 = 5;
const HELD_HOME: u32 = 12;
const TRIM_BITS: u32 = 11;

const fn low(number: u32, bits: u32) -> u32 {
    number & ((1 << bits) - 1)
}

/// Whether a number can be told in so many bits.
const fn fits(number: u32, bits: u32) -> bool {
    number >> bits == 0
}

impl Said {
    /// As it stands in the note of a tag, of a device with pages of so many slots.
    #[inline]
    pub fn note(self, slots: u16) -> u32 {
        match self {
            Self::Held { home, slots: held } if held != 0 => {
                let told = if slots <= MASK_SLOTS { Some(low(held, 8)) } else { run(held) };
                let home = u32::from(home);
                match told.filter(|_| fits(home, HELD_HOME)) {
                    Some(told) => HELD << KIND_SHIFT | home << (RUN_FIRST + RUN_COUNT) | told,
                    None => NOTHING,
                }
            }
            Self::Trimmed { first, count } if count > 0 => {
                let per_page = u32::from(slots);
                let (kind, first, count) = if first % per_page == 0 && count % per_page == 0 {
                    (TRIMMED_PAGES, first / per_page, count / per_page)
                } else {
                    (TRIMMED, first, count)
                };
                if fits(first, TRIM_BITS) && fits(count - 1, TRIM_BITS) {
                    kind << KIND_SHIFT | first << TRIM_BITS | (count - 1)
                } else {
                    NOTHING
                }
            }
            Self::Nothing | Self::Held { .. } | Self::Trimmed { .. } => NOTHING,
        }
    }

    /// Whether it forgets the sector with that offset.
    pub fn trims(self, offset: u32) -> bool {
        match self {
            Self::Trimmed { first, count } => (first..first + count).contains(&offset),
            Self::Nothing | Self::Held { .. } => false,
        }
    }

    /// What stands in a note.
    pub fn of_note(note: u32, slots: u16) -> Self {
        let told = low(note, KIND_SHIFT);
        let scale = if note >> KIND_SHIFT == TRIMMED_PAGES { u32::from(slots) } else { 1 };
        match note >> KIND_SHIFT {
            HELD => {
                let home = (told >> (RUN_FIRST + RUN_COUNT)) as u16;
                let (first, last) = (low(told >> RUN_COUNT, RUN_FIRST), low(told, RUN_COUNT));
                let held = if slots <= MASK_SLOTS {
                    low(told, 8)
                } else {
                    u32::MAX >> (31 - last) << first
                };
                Self::Held { home, slots: held }
            }
            TRIMMED | TRIMMED_PAGES => Self::Trimmed {
                first: (told >> TRIM_BITS) * scale,
                count: (low(told, TRIM_BITS) + 1) * scale,
            },
            _ => Self::Nothing,
        }
    }
}

/// A run of slots as its first and its number less one; `None` where there are gaps.
fn run(held: u32) -> Option<u32> {
    let first = held.trailing_zeros();
    let count = (held >> first).trailing_ones();
    (held.count_ones() == count).then_some(first << RUN_COUNT | (count - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_format_are_these() {
        assert_eq!(Said::Held { home: 5, slots: 0b1011 }.note(4), 0x0040_140B);
        assert_eq!(Said::Trimmed { first: 9, count: 7 }.note(4), 0x0080_4806);
    }

    #[test]
    fn what_fits_comes_back_and_what_does_not_says_nothing() {
        for slots in [1, 2, 4, 8, 16, 32_u16] {
            for home in [0, 1, 767, 4_095, 4_096, 60_000] {
                for held in [0, 1, 2, 3, 0b101, 0xFF, 0xF0F0, 0xFFFF_0000, u32::MAX] {
                    let held = if slots < 32 { held & ((1 << slots) - 1) } else { held };
                    let said = Said::Held { home, slots: held };
                    let gaps = run(held.max(1)).is_none();
                    let told = held != 0 && home < 4_096 && (slots <= 8 || !gaps);
                    let note = said.note(slots);
                    assert!(fits(note, 24), "{said:?}");
                    assert_eq!(Said::of_note(note, slots) == said, told, "{said:?} of {slots}");
                    assert_eq!(note == NOTHING, !told, "{said:?} of {slots}");
                }
            }
            for (first, count) in [(0, 1), (3, 5), (0, 2_048), (2_047, 2_048), (64, 4_096)] {
                let said = Said::Trimmed { first, count };
                let note = said.note(slots);
                let back = Said::of_note(note, slots);
                assert!(fits(note, 24), "{said:?}");
                assert!(back == said || back == Said::Nothing, "{said:?} of {slots}: {back:?}");
                assert!(back == said || first + count > 2_048, "{said:?} of {slots}");
            }
        }
        for note in 0..1 << 24 {
            if let Said::Held { home, slots } = Said::of_note(note, 4) {
                assert!(home < 4_096 && slots < 1 << 8);
            }
        }
    }
}
