//! The number of cells of the hash table, and the bit fields of an entry.

use core::fmt;

use ftl_iface::{BlockCount, SectorCount};

use super::divide::Divisor;
use crate::config::Probing;

/// The layout of the index: a plain value, computed once, also by the RAM plan.
///
/// An entry is a word of 32 bits, from the lowest:
///
/// ```text
///  displacement   which probe of the sector's window this is
///  virtual        1: a trace of a sector that is not in the log
///  quotient + 1   sector div P; the home cell gives sector mod P
///  place          all bits left: the log slot, or the low bits of a virtual entry's log sequence
/// ```
///
/// If the place does not fit, every entry has a fifth byte with the place's upper bits. The other three fields are
/// always in the word, so that a lookup compares only words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexShape {
    entries: u32,
    sectors: SectorCount,
    slots: u32,
    prime: Divisor,
    probing: Probing,
    probes: u8,
    displacement_bits: u8,
    key_bits: u8,
    wide: bool,
}

/// The bits of an entry's word.
const WORD_BITS: u32 = 32;
/// The bits of an entry with its fifth byte.
const WIDE_BITS: u32 = 40;
/// At least one bit of the place must be in the word; otherwise the place could not be shifted out of it.
const LARGEST_KEY: u32 = WORD_BITS - 1;

/// The size of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSize {
    /// Blocks times pages times sectors per page.
    pub slots: u32,
    /// Its blocks.
    pub blocks: BlockCount,
}

impl IndexShape {
    /// The fewest entries: below three there is no prime.
    pub const FEWEST_ENTRIES: u32 = 3;
    /// The most entries: more would be a table, not an index.
    pub const MOST_ENTRIES: u32 = 1 << 20;
    /// The most probes of a lookup.
    pub const MOST_PROBES: u8 = 32;

    /// Returns the shape of an index of this many entries, for a store of this many sectors and that log.
    ///
    /// P is the largest prime below `entries`, never `entries` itself. Probes that would visit a cell a second time are
    /// omitted: a linear window is at most as long as the table, a quadratic one at most half of P plus one.
    pub const fn new(
        entries: u32,
        sectors: SectorCount,
        log: LogSize,
        max_probes: u8,
        probing: Probing,
    ) -> Result<Self, IndexShapeError> {
        let LogSize { slots, blocks } = log;
        if entries < Self::FEWEST_ENTRIES || entries > Self::MOST_ENTRIES {
            return Err(IndexShapeError::Entries(entries));
        }
        if max_probes == 0 || max_probes > Self::MOST_PROBES {
            return Err(IndexShapeError::Probes(max_probes));
        }
        if sectors.is_zero() {
            return Err(IndexShapeError::NoSectors);
        }
        if blocks.is_zero() || blocks.get() > u16::MAX as u32 || slots < blocks.get() {
            return Err(IndexShapeError::Log { slots, blocks });
        }
        let prime = prime_below(entries);
        let distinct = match probing {
            Probing::Linear => entries,
            Probing::Quadratic => prime / 2 + 1,
        };
        let probes = if distinct < max_probes as u32 { distinct as u8 } else { max_probes };
        let place_bits = place_bits(slots, blocks);
        let displacement_bits = bits_to_hold(probes as u32 - 1);
        let quotient_bits = match (sectors.get() - 1).checked_div(prime) {
            Some(quotient) => bits_to_hold(quotient + 1),
            None => WORD_BITS,
        };
        let key_bits = displacement_bits + 1 + quotient_bits;
        if key_bits > LARGEST_KEY || key_bits + place_bits > WIDE_BITS {
            let fixed = bits_to_hold(max_probes as u32 - 1) + 1;
            let enough = enough_entries(sectors, fixed, place_bits);
            return Err(IndexShapeError::TooWide { bits: key_bits + place_bits, enough });
        }
        Ok(Self {
            entries,
            sectors,
            slots,
            prime: Divisor::new(prime),
            probing,
            probes,
            displacement_bits: displacement_bits as u8,
            key_bits: key_bits as u8,
            wide: key_bits + place_bits > WORD_BITS,
        })
    }

    /// Returns the number of words to lend to the index: one per entry.
    pub const fn low_words(&self) -> usize {
        self.entries as usize
    }

    /// Returns the number of bytes to lend to the index beside its words: one per entry if an entry takes five bytes,
    /// otherwise none.
    pub const fn high_bytes(&self) -> usize {
        if self.wide { self.entries as usize } else { 0 }
    }

    /// Returns the number of cells of the table.
    pub const fn entries(&self) -> u32 {
        self.entries
    }

    /// Returns the most probes of a lookup: as configured, or fewer in a small table.
    pub const fn probes(&self) -> u8 {
        self.probes
    }

    /// Returns the order of the cells in a window.
    pub const fn probing(&self) -> Probing {
        self.probing
    }

    /// Returns the number of sectors of the store; every sector is below it.
    pub const fn sectors(&self) -> SectorCount {
        self.sectors
    }

    /// Returns the number of slots of the log; every slot is below it.
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the number of cells that a sector can be in: all but the few between the end of the last window and the
    /// end of the table.
    pub const fn capacity(&self) -> u32 {
        match self.probing {
            Probing::Quadratic => self.prime.get(),
            Probing::Linear => {
                // The last home cell is P - 1, and its window continues from there.
                let reached = self.prime.get() + self.probes as u32 - 1;
                if reached < self.entries { reached } else { self.entries }
            }
        }
    }

    pub(crate) const fn prime(&self) -> Divisor {
        self.prime
    }

    pub(crate) const fn displacement_bits(&self) -> u32 {
        self.displacement_bits as u32
    }

    pub(crate) const fn key_bits(&self) -> u32 {
        self.key_bits as u32
    }

    /// Returns the bits of the place field: all that the other fields leave.
    pub(crate) const fn place_bits(&self) -> u32 {
        let whole = if self.wide { WIDE_BITS } else { WORD_BITS };
        let left = whole - self.key_bits as u32;
        if left < u32::BITS { left } else { u32::BITS }
    }

    /// Returns the cell of probe number `displacement` in a window.
    #[inline]
    pub(crate) const fn reach(&self, home: u32, displacement: u32) -> u32 {
        match self.probing {
            Probing::Linear => {
                let cell = home + displacement;
                if cell < self.entries { cell } else { cell - self.entries }
            }
            Probing::Quadratic => self.prime.divide(home + displacement * displacement).1,
        }
    }

    /// Returns the home cell of an entry in `cell` at probe number `displacement` of its window.
    #[inline]
    pub(crate) const fn home_of(&self, cell: u32, displacement: u32) -> u32 {
        let (size, offset) = match self.probing {
            Probing::Linear => (self.entries, displacement),
            Probing::Quadratic => {
                (self.prime.get(), self.prime.divide(displacement * displacement).1)
            }
        };
        if cell >= offset { cell - offset } else { cell + size - offset }
    }

    /// Returns the cells of the window that starts at `home`, with the number of each probe.
    #[inline]
    pub(crate) const fn window(&self, home: u32) -> Walk {
        let (size, growth) = match self.probing {
            Probing::Linear => (self.entries, 0),
            Probing::Quadratic => (self.prime.get(), 2),
        };
        Walk { cell: home, displacement: 0, probes: self.probes as u32, step: 1, growth, size }
    }
}

/// Walks a window: squares differ by the odd numbers, neighbours by one.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    cell: u32,
    displacement: u32,
    probes: u32,
    step: u32,
    growth: u32,
    size: u32,
}

impl Iterator for Walk {
    /// The probe's number and its cell.
    type Item = (u32, usize);

    #[inline]
    fn next(&mut self) -> Option<(u32, usize)> {
        if self.displacement >= self.probes {
            return None;
        }
        let probe = (self.displacement, self.cell as usize);
        self.displacement += 1;
        // A step never exceeds the table, because the number of probes is limited for that. So one subtraction is
        // enough.
        self.cell += self.step;
        if self.cell >= self.size {
            self.cell -= self.size;
        }
        self.step += self.growth;
        Some(probe)
    }
}

/// Returns the bits that a field needs to hold `largest`.
const fn bits_to_hold(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Returns the bits of a place: enough for every slot, and for sequences up to twice the log's blocks apart. A virtual
/// entry expires after one lap of the log at the latest, and the clock hand frees it within half a lap more; until then
/// its age must be unambiguous.
const fn place_bits(slots: u32, blocks: BlockCount) -> u32 {
    let slot_bits = bits_to_hold(slots - 1);
    let sequence_bits = bits_to_hold(blocks.get()) + 1;
    if slot_bits > sequence_bits { slot_bits } else { sequence_bits }
}

/// Returns a number of entries whose quotients are small enough, if displacement and virtual bit take `fixed` bits.
const fn enough_entries(sectors: SectorCount, fixed: u32, place_bits: u32) -> Option<u32> {
    let whole =
        if WIDE_BITS - place_bits < LARGEST_KEY { WIDE_BITS - place_bits } else { LARGEST_KEY };
    if whole <= fixed {
        return None;
    }
    // The largest quotient plus one must fit: (sectors - 1) div P + 1 <= 2^bits - 1.
    let largest = (1_u32 << (whole - fixed)) - 1;
    let Some(quotient) = (sectors.get() - 1).checked_div(largest) else { return None };
    let mut prime = quotient + 1;
    while prime < IndexShape::MOST_ENTRIES {
        if is_prime(prime) {
            let entries = prime + 1;
            return Some(if entries < IndexShape::FEWEST_ENTRIES {
                IndexShape::FEWEST_ENTRIES
            } else {
                entries
            });
        }
        prime += 1;
    }
    None
}

/// Returns the largest prime below `limit`, which must be three or more.
const fn prime_below(limit: u32) -> u32 {
    let mut number = limit - 1;
    while number > 2 && !is_prime(number) {
        number -= 1;
    }
    number
}

const fn is_prime(number: u32) -> bool {
    if number < 4 {
        return number >= 2;
    }
    // Numbers here are at most 2^20, so divisors end at 2^10 and no square overflows.
    let mut divisor = 2;
    while divisor * divisor <= number {
        if matches!(number.checked_rem(divisor), Some(0)) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// Why an index cannot have the requested shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexShapeError {
    /// This many entries are too few or too many.
    Entries(u32),
    /// This many probes are too few or too many.
    Probes(u8),
    /// A store without sectors has nothing to look up.
    NoSectors,
    /// The log has no blocks, more than a block's number can name, or fewer slots than blocks.
    Log {
        /// The log's slots.
        slots: u32,
        /// The log's blocks.
        blocks: BlockCount,
    },
    /// An entry does not fit in five bytes.
    TooWide {
        /// The bits that it would take.
        bits: u32,
        /// A number of entries that would make it fit, if there is one.
        enough: Option<u32>,
    },
}

impl fmt::Display for IndexShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries(entries) => write!(
                f,
                "an index of {entries} entries: choose between {} and {}",
                IndexShape::FEWEST_ENTRIES,
                IndexShape::MOST_ENTRIES
            ),
            Self::Probes(probes) => {
                write!(
                    f,
                    "{probes} probes per lookup: choose between 1 and {}",
                    IndexShape::MOST_PROBES
                )
            }
            Self::NoSectors => f.write_str("the store has no sectors: give it at least one"),
            Self::Log { slots, blocks } => write!(
                f,
                "a log of {slots} slots in {blocks}: give it 1 to {} blocks of at least one slot",
                u16::MAX
            ),
            Self::TooWide { bits, enough: Some(enough) } => write!(
                f,
                "an entry of the index takes {bits} bits, and {WIDE_BITS} is the most: {enough} \
                 entries would do"
            ),
            Self::TooWide { bits, enough: None } => write!(
                f,
                "an entry of the index takes {bits} bits, and {WIDE_BITS} is the most: make \
                 sectors larger or the log smaller"
            ),
        }
    }
}

impl core::error::Error for IndexShapeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(
        entries: u32,
        sectors: u32,
        slots: u32,
        blocks: u32,
    ) -> Result<IndexShape, IndexShapeError> {
        let blocks = BlockCount::new(blocks);
        let log = LogSize { slots, blocks };
        IndexShape::new(entries, SectorCount::new(sectors), log, 8, Probing::Linear)
    }

    /// The paper's device: 20 GB of 2-KiB sectors, 256 MiB of SLC in blocks of 64 pages of 2 KiB,
    /// 32,768 entries.
    const PAPER: Result<IndexShape, IndexShapeError> = IndexShape::new(
        32_768,
        SectorCount::new(10 << 20),
        LogSize { slots: 2048 * 64, blocks: BlockCount::new(2048) },
        8,
        Probing::Linear,
    );

    #[test]
    fn the_papers_device_takes_four_bytes_an_entry_and_half_kilobyte_sectors_take_five() {
        let paper = PAPER.unwrap();
        assert_eq!((paper.low_words(), paper.high_bytes()), (32_768, 0));
        assert_eq!(paper.prime().get(), 32_749);
        let small = shape(32_768, 40 << 20, 2048 * 256, 2048).unwrap();
        assert_eq!((small.low_words(), small.high_bytes()), (32_768, 32_768));
    }

    #[test]
    fn the_prime_lies_strictly_below_the_number_of_entries() {
        for (entries, prime) in
            [(3, 2), (4, 3), (5, 3), (6, 5), (13, 11), (200, 199), (1 << 20, 1_048_573)]
        {
            assert_eq!(prime_below(entries), prime);
        }
    }

    #[test]
    fn an_entry_too_wide_is_refused_with_a_number_of_entries_that_works() {
        // 26 bits of sectors, 24 bits of slots: the quotient may take 12 bits.
        let refused = shape(64, u32::MAX, 1 << 22, 65_535);
        let Err(IndexShapeError::TooWide { enough: Some(enough), .. }) = refused else {
            panic!("{refused:?}")
        };
        shape(enough, u32::MAX, 1 << 22, 65_535).unwrap();
        // The prime below the answer was needed: the one before it is too small.
        assert!(shape(enough - 1, u32::MAX, 1 << 22, 65_535).is_err());
        assert!(refused.unwrap_err().to_string().contains(&enough.to_string()));

        let hopeless = shape(64, u32::MAX, u32::MAX, 65_535).unwrap_err();
        assert!(matches!(hopeless, IndexShapeError::TooWide { enough: None, .. }), "{hopeless}");
    }

    #[test]
    fn impossible_figures_are_refused() {
        assert_eq!(shape(2, 9, 9, 9), Err(IndexShapeError::Entries(2)));
        assert_eq!(shape((1 << 20) + 1, 9, 9, 9), Err(IndexShapeError::Entries((1 << 20) + 1)));
        assert_eq!(shape(9, 0, 9, 9), Err(IndexShapeError::NoSectors));
        for (slots, blocks) in [(9, 0), (8, 9), (1 << 20, 1 << 16)] {
            let log = IndexShapeError::Log { slots, blocks: BlockCount::new(blocks) };
            assert_eq!(shape(9, 9, slots, blocks), Err(log));
        }
        for probes in [0, 33] {
            let sectors = SectorCount::new(9);
            let log = LogSize { slots: 9, blocks: BlockCount::new(9) };
            let refused = IndexShape::new(9, sectors, log, probes, Probing::Quadratic);
            assert_eq!(refused, Err(IndexShapeError::Probes(probes)));
        }
    }

    #[test]
    fn a_walk_visits_the_cells_that_reach_names_and_each_of_them_once() {
        for probing in [Probing::Linear, Probing::Quadratic] {
            for entries in 3..150 {
                let sectors = SectorCount::new(1000);
                let log = LogSize { slots: 100, blocks: BlockCount::new(10) };
                let shape = IndexShape::new(entries, sectors, log, 32, probing).unwrap();
                for home in 0..shape.prime().get() {
                    let mut seen = std::collections::BTreeSet::new();
                    for (displacement, cell) in shape.window(home) {
                        assert_eq!(shape.reach(home, displacement) as usize, cell);
                        assert_eq!(shape.home_of(cell as u32, displacement), home);
                        assert!(cell < shape.low_words() && seen.insert(cell));
                    }
                    assert_eq!(seen.len(), usize::from(shape.probes()));
                }
            }
        }
    }
}
