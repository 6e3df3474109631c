//! What a page of a log block notes of itself, in 24 bits. Each page repeats its predecessor's note: the note is in
//! the tag of the page that is programmed next in the block. Should the page become unreadable, it tells which sectors
//! that costs.

/// What a page notes of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageNote {
    /// Nothing that fits these bits.
    Nothing,
    /// It holds sectors whose places are in one page of the data block, each in the slot of its place.
    Held {
        /// The offset of the first in the logical block.
        first: u32,
        /// A bit a sector from the first on, from the lowest: whether it is held. The lowest is set.
        run: u32,
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

/// In pages of up to that many slots each sector has a bit; larger ones give a number.
const MASK_SLOTS: u16 = 8;
const MASK_BITS: u32 = 8;
const COUNT_BITS: u32 = 5;
const TRIM_BITS: u32 = 11;

const fn low(number: u32, bits: u32) -> u32 {
    number & ((1 << bits) - 1)
}

/// Whether a number fits that many bits.
const fn fits(number: u32, bits: u32) -> bool {
    number >> bits == 0
}

impl PageNote {
    /// The note of a page with a run of host sectors.
    #[inline]
    pub const fn held_run(first: u32, count: u16) -> Self {
        // At least one, and as many as a page has slots at most.
        Self::Held { first, run: u32::MAX >> ((32 - count as u32) & 31) }
    }

    /// The note of a page with sectors in these slots, the lowest of which has that offset.
    #[inline]
    pub const fn held_slots(first: u32, slots: u32) -> Self {
        match slots {
            0 => Self::Nothing,
            _ => Self::Held { first, run: slots >> slots.trailing_zeros() },
        }
    }

    /// Its code in a tag, on a device with pages of that many slots.
    #[inline]
    pub const fn code(self, slots: u16) -> u32 {
        match self {
            Self::Held { first, run } if slots <= MASK_SLOTS => {
                if fits(first, KIND_SHIFT - MASK_BITS) && fits(run, MASK_BITS) {
                    HELD << KIND_SHIFT | first << MASK_BITS | run
                } else {
                    NOTHING
                }
            }
            Self::Held { first, run } => {
                let gaps = run & run.wrapping_add(1) != 0;
                if fits(first, KIND_SHIFT - COUNT_BITS) && !gaps {
                    HELD << KIND_SHIFT | first << COUNT_BITS | (run.count_ones() - 1)
                } else {
                    NOTHING
                }
            }
            Self::Trimmed { first, count } => Self::trim_note(first, count, slots as u32),
            Self::Nothing => NOTHING,
        }
    }

    const fn trim_note(first: u32, count: u32, per_page: u32) -> u32 {
        let pages = first.is_multiple_of(per_page) && count.is_multiple_of(per_page);
        let kind = if pages { TRIMMED_PAGES } else { TRIMMED };
        // A page has a slot at least, which the compiler does not know.
        let unit = if pages && per_page > 1 { per_page } else { 1 };
        let (first, rest) = (first / unit, (count / unit).wrapping_sub(1));
        if fits(first, TRIM_BITS) && fits(rest, TRIM_BITS) {
            kind << KIND_SHIFT | first << TRIM_BITS | rest
        } else {
            NOTHING
        }
    }

    /// The content of a note.
    pub const fn of_code(note: u32, slots: u16) -> Self {
        let told = low(note, KIND_SHIFT);
        let kind = note >> KIND_SHIFT;
        match kind {
            HELD if slots <= MASK_SLOTS => {
                Self::Held { first: told >> MASK_BITS, run: low(told, MASK_BITS) }
            }
            HELD => Self::held_run(told >> COUNT_BITS, low(told, COUNT_BITS) as u16 + 1),
            TRIMMED | TRIMMED_PAGES => {
                let unit = if kind == TRIMMED_PAGES { slots as u32 } else { 1 };
                Self::Trimmed {
                    first: (told >> TRIM_BITS) * unit,
                    count: (low(told, TRIM_BITS) + 1) * unit,
                }
            }
            _ => Self::Nothing,
        }
    }

    /// Whether it names the sector with that offset.
    #[cfg(feature = "check")]
    pub fn is_of(self, offset: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::Held { first, run } => {
                offset.checked_sub(first).is_some_and(|bit| bit < 32 && run >> bit & 1 != 0)
            }
            Self::Trimmed { .. } => self.trims(offset),
        }
    }

    /// Whether it forgets the sector with that offset.
    pub fn trims(self, offset: u32) -> bool {
        match self {
            Self::Trimmed { first, count } => (first..first + count).contains(&offset),
            Self::Nothing | Self::Held { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_format_are_these() {
        assert_eq!(PageNote::held_slots(20, 0b1011).code(4), 0x0040_140B);
        assert_eq!(PageNote::Trimmed { first: 9, count: 7 }.code(4), 0x0080_4806);
    }

    #[test]
    fn what_fits_comes_back_and_what_does_not_says_nothing() {
        for slots in [1, 2, 4, 8, 16, 32_u16] {
            for first in [0, 1, 767, 16_383, 16_384, 131_071, 131_072] {
                for held in [0, 1, 2, 3, 0b101, 0xFF, 0xF0F0, 0xFFFF_0000, u32::MAX] {
                    let held = if slots < 32 { held & ((1 << slots) - 1) } else { held };
                    let note = PageNote::held_slots(first, held);
                    let gaps = held != 0
                        && (held >> held.trailing_zeros()).trailing_ones() < held.count_ones();
                    let most = if slots <= 8 { 16_384 } else { 131_072 };
                    let told = held != 0 && first < most && (slots <= 8 || !gaps);
                    let code = note.code(slots);
                    assert!(fits(code, 24), "{note:?}");
                    assert_eq!(code != NOTHING, told, "{note:?} of {slots}");
                    let back = if told { note } else { PageNote::Nothing };
                    assert_eq!(PageNote::of_code(code, slots), back, "{note:?} of {slots}");
                }
                for count in 1..=slots {
                    let run = PageNote::held_run(first, count);
                    assert_eq!(
                        run,
                        PageNote::held_slots(first, u32::MAX >> (32 - u32::from(count)))
                    );
                }
            }
            for (first, count) in [(0, 1), (3, 5), (0, 2_048), (2_047, 2_048), (64, 4_096)] {
                let note = PageNote::Trimmed { first, count };
                let code = note.code(slots);
                let back = PageNote::of_code(code, slots);
                assert!(fits(code, 24), "{note:?}");
                assert!(back == note || back == PageNote::Nothing, "{note:?} of {slots}: {back:?}");
                assert!(back == note || first + count > 2_048, "{note:?} of {slots}");
            }
        }
    }
}
