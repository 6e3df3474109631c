//! Where in the log a sector is: a hash table of four or five bytes per entry.
//!
//! The table answers three questions. Where is this sector (reads)? Can this request enter all its sectors (acceptance,
//! all or nothing)? Was this sector rejected recently (virtual sectors, by which the throttle notices new hot data)?
//!
//! A sector's *home cell* is its number modulo P, the largest prime below the number of entries. Its *window* is the
//! home cell and the few cells that probing visits after it. An entry is in its sector's window or absent, and a lookup
//! checks the whole window. So removal needs no tombstones, and the cost of a lookup does not depend on the table's
//! past. An entry stores the quotient and its displacement; home and cell give the rest of the sector's number.
//! [`IndexShape`] shows the bits.
//!
//! # Real and virtual
//!
//! A *real* entry names the log slot that holds its sector. A *virtual* entry names the log block
//! that was open when its sector was rejected (or folded away, or when a running request
//! reserved it); it expires when that block leaves the log. No virtual entry ever evicts a real one.
//! A real one takes the cell of the oldest virtual one if no cell is free. Expired
//! entries count as absent at once and are freed by a clock hand, a few cells whenever a block is
//! opened ([`Index::expire`]).
//!
//! # Modules
//!
//! `shape`: sizes and bits. `divide`: sector div P, sector mod P. `room`: how an entry finds a
//! cell. `moves`: how a mount finds a cell in a full window. `check`: the invariants.
//! `image`: the table in a checkpoint.

mod check;
mod image;
mod moves;
mod order;
mod room;

use ftl_iface::{BlockCount, Sector};

use crate::config::Probing;
pub use crate::hybrid::shape::index::{IndexShape, LogSize};

/// A place in the log: (block · pages a block + page) · sectors a page + place in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogSlot(u32);

impl LogSlot {
    /// The slot with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The running number of a log block that was opened: the first is 0, each next one is one more, and the last number
/// wraps to 0. A virtual entry stores its low bits, as many as its place field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogSequence(u32);

impl LogSequence {
    /// The opening with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The log blocks that virtual entries may be tied to: the newest and those opened before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The block opened last.
    pub head: LogSequence,
    /// How many blocks of the log are in use, the head included.
    pub blocks: BlockCount,
}

/// What the index knows of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The sector's newest copy is in this slot of the log.
    Real(LogSlot),
    /// The sector is not in the log, but was rejected recently.
    Virtual,
}

/// The word of an empty cell.
///
/// No entry has this word: the quotient is stored plus one, in a field wide enough for that, so every entry has a bit
/// set. For the same reason no lookup's key matches it.
const EMPTY: u32 = 0;

/// The window length that is compiled to branch-free code, eight words at once: the paper's.
const STRAIGHT: usize = 8;

/// Where a sector's window starts, and its key: an entry's word with displacement, virtual bit and
/// place zero.
#[derive(Clone, Copy, Debug)]
struct Home {
    cell: u32,
    key: u32,
}

/// The hash table over lent memory.
#[derive(Debug)]
pub struct Index<'ram> {
    low: &'ram mut [u32],
    high: &'ram mut [u8],
    shape: IndexShape,
    straight: bool,
    displacement_mask: u32,
    virtual_bit: u32,
    key_mask: u32,
    reals: u32,
    virtuals: u32,
    hand: u32,
}

impl<'ram> Index<'ram> {
    /// An empty index over that memory: [`IndexShape::low_words`] words and
    /// [`IndexShape::high_bytes`] bytes.
    pub fn new(shape: IndexShape, low: &'ram mut [u32], high: &'ram mut [u8]) -> Self {
        debug_assert!(low.len() >= shape.low_words(), "the index was lent too few words");
        debug_assert!(high.len() >= shape.high_bytes(), "the index was lent too few bytes");
        let mut index = Self {
            low: low.get_mut(..shape.low_words()).unwrap_or_default(),
            high: high.get_mut(..shape.high_bytes()).unwrap_or_default(),
            shape,
            straight: matches!(shape.probing(), Probing::Linear)
                && usize::from(shape.probes()) == STRAIGHT,
            displacement_mask: (1 << shape.displacement_bits()) - 1,
            virtual_bit: 1 << shape.displacement_bits(),
            key_mask: (1 << shape.key_bits()) - 1,
            reals: 0,
            virtuals: 0,
            hand: 0,
        };
        index.clear();
        index
    }

    /// Forgets every entry.
    pub fn clear(&mut self) {
        self.low.fill(EMPTY);
        self.high.fill(0);
        (self.reals, self.virtuals, self.hand) = (0, 0, 0);
    }

    /// The slot that holds a sector, if the log holds it: the read path.
    #[inline]
    pub fn find(&self, sector: Sector) -> Option<LogSlot> {
        let home = self.home(sector);
        let word = self.probe(home, self.key_mask);
        if word == EMPTY { None } else { Some(LogSlot(self.place_of(home, word))) }
    }

    /// Whether the log holds any of `count` consecutive sectors.
    #[inline]
    pub fn finds(&self, first: Sector, count: u16) -> bool {
        let mut home = self.home(first);
        (0..count).any(|_| {
            let found = self.probe(home, self.key_mask) != EMPTY;
            home = self.next_home(home);
            found
        })
    }

    /// What the index knows of a sector, within that window of the log.
    #[inline]
    pub fn get(&self, sector: Sector, window: Window) -> Option<Entry> {
        let home = self.home(sector);
        let word = self.probe(home, self.any_mask());
        if word == EMPTY {
            return None;
        }
        let place = self.place_of(home, word);
        if !self.is_virtual(word) {
            return Some(Entry::Real(LogSlot(place)));
        }
        (self.age(place, window.head) < window.blocks.get()).then_some(Entry::Virtual)
    }

    /// Notes that a sector is now in that slot. The sector must have an entry of either kind, expired or not; `false`
    /// if it has none.
    #[inline]
    pub fn set(&mut self, sector: Sector, slot: LogSlot) -> bool {
        self.check_slot(slot);
        let home = self.home(sector);
        let word = self.probe(home, self.any_mask());
        if word == EMPTY {
            return false;
        }
        self.put(self.cell_of(home, word), word & self.any_mask(), slot.0);
        true
    }

    /// Makes a sector's real entry virtual, tied to the log block opened last: the sector was forced out of the log,
    /// and has not cooled down. Without a real entry nothing changes.
    #[inline]
    pub fn virtualise(&mut self, sector: Sector, head: LogSequence) {
        let home = self.home(sector);
        let word = self.probe(home, self.key_mask);
        if word != EMPTY {
            self.put(self.cell_of(home, word), word & self.key_mask | self.virtual_bit, head.0);
        }
    }

    /// Removes a sector's entry of either kind.
    #[inline]
    pub fn remove(&mut self, sector: Sector) {
        let home = self.home(sector);
        let word = self.probe(home, self.any_mask());
        if word != EMPTY {
            self.put(self.cell_of(home, word), EMPTY, 0);
        }
    }

    /// Removes a sector's real entry. A virtual entry stays.
    #[inline]
    pub fn remove_real(&mut self, sector: Sector) {
        let home = self.home(sector);
        let word = self.probe(home, self.key_mask);
        if word != EMPTY {
            self.put(self.cell_of(home, word), EMPTY, 0);
        }
    }

    /// Real entries: sectors that the log holds.
    #[inline]
    pub fn real_count(&self) -> u32 {
        self.reals
    }

    /// Virtual entries, including those that expired and are not freed yet.
    #[inline]
    pub fn virtual_count(&self) -> u32 {
        self.virtuals
    }

    /// The most entries that the table can hold.
    pub fn capacity(&self) -> u32 {
        self.shape.capacity()
    }

    /// The sum, over all real entries, of the cells that a search visits to find the entry, its own included.
    pub fn probes(&self) -> u64 {
        let reals = self.low.iter().filter(|word| **word != EMPTY && !self.is_virtual(**word));
        reals.map(|word| u64::from(word & self.displacement_mask) + 1).sum()
    }

    /// The layout of the index.
    pub fn shape(&self) -> &IndexShape {
        &self.shape
    }

    /// Every entry, in the order of cells, including expired ones.
    pub fn iter(&self) -> impl Iterator<Item = (Sector, Entry)> {
        self.low.iter().enumerate().filter(|(_, word)| **word != EMPTY).map(|(cell, word)| {
            let entry = if self.is_virtual(*word) {
                Entry::Virtual
            } else {
                Entry::Real(LogSlot(self.place_at(cell, *word)))
            };
            (Sector::new(self.sector_of(cell, *word)), entry)
        })
    }

    /// Whether a sector belongs to the store.
    #[inline]
    pub fn covers(&self, sector: Sector) -> bool {
        sector.get() < self.shape.sectors().get()
    }

    // Below: how words and cells are read and written.

    /// A sector's window and key.
    #[inline]
    fn home(&self, sector: Sector) -> Home {
        debug_assert!(self.covers(sector), "{sector} of {}", self.shape.sectors());
        let (quotient, cell) = self.shape.prime().divide(sector.get());
        // The quotient plus one fits for every sector of the store; any other sector would lose its upper bits.
        Home { cell, key: quotient.wrapping_add(1) << (self.shape.displacement_bits() + 1) }
    }

    /// The window and key of the next sector.
    #[inline]
    fn next_home(&self, home: Home) -> Home {
        if home.cell + 1 < self.shape.prime().get() {
            Home { cell: home.cell + 1, ..home }
        } else {
            let one = self.virtual_bit << 1;
            Home { cell: 0, key: home.key.wrapping_add(one) }
        }
    }

    /// The word in the window whose masked bits are the key with the displacement of its cell; [`EMPTY`] if there is
    /// none.
    ///
    /// No sector has two entries, so at most one word matches, and all words can be compared without a branch.
    #[inline]
    fn probe(&self, home: Home, mask: u32) -> u32 {
        if self.straight
            && let Some(window) = self.low.get(home.cell as usize..).and_then(<[u32]>::first_chunk)
        {
            return probe_straight(window, home.key, mask);
        }
        self.probe_any(home, mask)
    }

    /// [`probe`](Self::probe) for every window length and probing, and for windows over the table's
    /// end.
    fn probe_any(&self, home: Home, mask: u32) -> u32 {
        for (displacement, cell) in self.shape.window(home.cell) {
            let word = self.word(cell);
            if word & mask == home.key | displacement {
                return word;
            }
        }
        EMPTY
    }

    #[inline]
    fn word(&self, cell: usize) -> u32 {
        self.low.get(cell).copied().unwrap_or(EMPTY)
    }

    /// The mask under which both real and virtual entries match.
    #[inline]
    fn any_mask(&self) -> u32 {
        self.key_mask ^ self.virtual_bit
    }

    #[inline]
    fn is_virtual(&self, word: u32) -> bool {
        word & self.virtual_bit != 0
    }

    /// The cell of a word of this window.
    #[inline]
    fn cell_of(&self, home: Home, word: u32) -> usize {
        self.shape.reach(home.cell, word & self.displacement_mask) as usize
    }

    /// The place in a word of this window: the word's upper bits, and the fifth byte above them.
    #[inline]
    fn place_of(&self, home: Home, word: u32) -> u32 {
        if self.high.is_empty() {
            return word >> self.shape.key_bits();
        }
        self.place_at(self.cell_of(home, word), word)
    }

    /// The place in the word of a cell.
    #[inline]
    fn place_at(&self, cell: usize, word: u32) -> u32 {
        let high = self.high.get(cell).map_or(0, |high| u32::from(*high));
        word >> self.shape.key_bits() | high << (u32::BITS - self.shape.key_bits())
    }

    /// The sector whose entry is in a cell.
    fn sector_of(&self, cell: usize, word: u32) -> u32 {
        let home = self.home_at(cell, word);
        let quotient = home.key >> (self.shape.displacement_bits() + 1);
        quotient.wrapping_sub(1).wrapping_mul(self.shape.prime().get()).wrapping_add(home.cell)
    }

    /// The window of the sector whose entry is in a cell.
    #[inline]
    fn home_at(&self, cell: usize, word: u32) -> Home {
        Home {
            cell: self.shape.home_of(cell as u32, word & self.displacement_mask),
            key: word & self.any_mask() & !self.displacement_mask,
        }
    }

    /// The age of a virtual entry: how many blocks were opened after the one that it is tied to.
    #[inline]
    fn age(&self, place: u32, head: LogSequence) -> u32 {
        let bits = self.shape.place_bits();
        // Running numbers wrap at the end of their field, so only differences are compared.
        head.0.wrapping_sub(place) << (u32::BITS - bits) >> (u32::BITS - bits)
    }

    /// Writes a cell: the key with displacement and virtual bit, and a place, whose bits beyond the field are dropped.
    /// The counts are updated by the old and the new entry.
    #[inline]
    fn put(&mut self, cell: usize, key: u32, place: u32) {
        let new = if key == EMPTY { EMPTY } else { key | place << self.shape.key_bits() };
        let Some(word) = self.low.get_mut(cell) else { return };
        let old = core::mem::replace(word, new);
        if let Some(high) = self.high.get_mut(cell) {
            *high = (place >> (u32::BITS - self.shape.key_bits())) as u8;
        }
        let is_virtual = |word| u32::from(word & self.virtual_bit != 0);
        let is_real = |word| u32::from(word != EMPTY) - is_virtual(word);
        // The old entry was counted, so neither count falls below zero.
        self.reals = self.reals.wrapping_add(is_real(new)).wrapping_sub(is_real(old));
        self.virtuals = self.virtuals.wrapping_add(is_virtual(new)).wrapping_sub(is_virtual(old));
    }

    #[inline]
    fn check_slot(&self, slot: LogSlot) {
        debug_assert!(slot.0 < self.shape.slots(), "slot {} of {}", slot.0, self.shape.slots());
    }
}

/// Whether the machine compares four words at once. There, comparing all eight is faster than stopping at the first
/// match (on an x86-64: a hit 4.5 ns against 6, a miss 4.5 against 8). A Cortex-M4 compares one by one and branches
/// cheaply: there stopping early saves half of a hit's instructions.
const VECTORS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Compares the eight words of a contiguous window with the key and its displacements.
#[inline]
fn probe_straight(window: &[u32; STRAIGHT], key: u32, mask: u32) -> u32 {
    let mut found = EMPTY;
    for (word, displacement) in window.iter().zip(0_u32..) {
        let matches = word & mask == key | displacement;
        if VECTORS {
            // A matching word is kept, all others become zero.
            found |= if matches { *word } else { EMPTY };
        } else if matches {
            return *word;
        }
    }
    found
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
