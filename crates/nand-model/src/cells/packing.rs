//! Pages in fewer bytes, where the spare areas of a block are alike.
//!
//! An FTL's tags repeat much: the count of a block's erases is in each of them, and so do the upper bits of numbers
//! that grow slowly; the sectors of a block are near each other. A packed block keeps what its pages share once, and a
//! row a page:
//!
//! ```text
//! block  | word 1 | lower half of word 2 | 0 | from where sectors count | word 0 of the first page | a row a page ...
//!          4        2                      2   4                          4
//! row    | how far word 0 is, a flag | upper half of word 2 | a distance a further word | a stamp a sector |
//!          2                           2                      2 x words                   4 x sectors
//! ```
//!
//! Words are the kept spare bytes, four at a time, little-endian. Word 0 holds a number that rises from page to page
//! above a byte that is the same in all of them. The *note* is the upper byte of word 1 under the lower half of word 2,
//! as a number of 24 bits. It is the first page's; or, where the flag says so, it is how far word 0 has risen: an FTL
//! tells there how much younger than the first a page is. Distances are taken between words turned left by two bits: an
//! FTL marks sectors in the upper bits of their numbers. The first page that does not fit such a row makes its block a
//! plain one, where every page has a record of all it says. In the MLC of the paper a row is 16 bytes and a record 29.

use crate::content::Format;
use crate::stamp::{self, State};

/// What the pages of a block share.
const HEAD: usize = 16;
/// The words of a row that are no distances, as long as the page has them in its spare area.
const OWN: usize = 12;
/// The same in a row.
const OWN_PACKED: usize = 4;
/// Further words that a page may have: those of the most sectors that an FTL puts on a page.
const FURTHER_MAX: usize = 32;
/// Where the number in word 0 begins that rises.
const RISEN_SHIFT: u32 = 8;
/// The bits of what it may have risen by: fifteen.
const RISEN_MASK: u32 = 0x7FFF << RISEN_SHIFT;
/// In a row, beside what word 0 has risen by: the note is that, too.
const NOTE_IS_RISEN: u16 = 1 << 15;
/// Where the note begins in word 1.
const NOTE_SHIFT: u32 = 24;
/// How much of it is there.
const NOTE_LOW: u32 = 8;
/// By how much an FTL's marks are turned away.
const MARKS: u32 = 2;
/// Stands for a word of ones: nothing.
const NOTHING: u16 = u16::MAX;

/// How pages of a region lie in packed blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    /// Spare bytes kept.
    spare: usize,
    /// Of a row.
    further_bytes: usize,
    row: usize,
    sector: usize,
    sector_shift: u32,
}

impl Packing {
    /// How pages of that format are packed, if they can be.
    pub(super) fn of(format: &Format) -> Option<Self> {
        let sector = format.sector_bytes();
        Self::new(format.spare_kept(), sector, format.page_bytes().checked_div(sector)?)
    }

    /// The packing of pages of that many sectors, if that many spare bytes can be packed.
    fn new(spare: usize, sector: usize, sectors: usize) -> Option<Self> {
        let further = spare.checked_sub(OWN)? / 4;
        let fits = sector > 0 && spare.is_multiple_of(4) && further <= FURTHER_MAX;
        let further_bytes = 2 * further;
        let row = OWN_PACKED + further_bytes + 4 * sectors;
        let sector_shift = sector.trailing_zeros();
        fits.then_some(Self { spare, further_bytes, row, sector, sector_shift })
    }

    /// Bytes of a packed block of that many pages.
    #[inline]
    pub(super) const fn block_bytes(&self, pages: u16) -> usize {
        HEAD + self.row * pages as usize
    }

    /// Writes a page to its row, if it fits one. The first page has what the block's pages share.
    #[inline]
    pub(super) fn store(&self, block: &mut [u8], page: u16, data: &[u8], spare: &[u8]) -> bool {
        let Some((head, rows)) = block.split_first_chunk_mut::<HEAD>() else { return false };
        let Some((own, words)) = spare[..self.spare].split_first_chunk::<OWN>() else {
            return false;
        };
        let words = words.as_chunks().0;
        let [a, b, c, d, shared @ .., low_0, low_1, high_0, high_1] = *own;
        let (rising, shared) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(shared));
        let low = u16::from_le_bytes([low_0, low_1]);
        let head = if page == 0 {
            let first = Head::of(rising, shared, low, words);
            *head = first.to_bytes();
            first
        } else {
            Head::from_bytes(head)
        };
        let risen = rising.wrapping_sub(head.rising);
        let flag = if shared == head.shared && low == head.low {
            0
        } else if (shared, low) == head.with_note(risen >> RISEN_SHIFT) {
            NOTE_IS_RISEN
        } else {
            return false;
        };
        if risen & RISEN_MASK != risen {
            return false;
        }
        let start = usize::from(page) * self.row;
        let Some(row) = rows.get_mut(start..start + self.row) else { return false };
        let Some((tag, rest)) = row.split_first_chunk_mut::<OWN_PACKED>() else { return false };
        let [risen_0, risen_1] = ((risen >> RISEN_SHIFT) as u16 | flag).to_le_bytes();
        *tag = [risen_0, risen_1, high_0, high_1];
        let (further, stamps) = rest.split_at_mut(self.further_bytes);
        let (further, stamps) = (further.as_chunks_mut().0, stamps.as_chunks_mut().0);
        // Both loops are straight code where pages have two sectors, as those of the paper's MLC.
        match (further, words, stamps) {
            ([to_0, to_1], [word_0, word_1], [stamp_0, stamp_1]) => {
                let further = [(to_0, word_0), (to_1, word_1)];
                head.put_distances(further.into_iter())
                    && self.put_stamps([stamp_0, stamp_1].into_iter(), data)
            }
            (further, words, stamps) => {
                head.put_distances(further.iter_mut().zip(words))
                    && self.put_stamps(stamps.iter_mut(), data)
            }
        }
    }

    #[inline]
    fn put_stamps<'a>(
        &self,
        stamps: impl Iterator<Item = &'a mut [u8; 4]>,
        mut data: &[u8],
    ) -> bool {
        // Chunks of a size that is known at run time only would cost a division.
        for at in stamps {
            let Some((sector, rest)) = data.split_at_checked(self.sector) else { return false };
            let Some(word) = stamp::word_of(sector) else { return false };
            *at = word.to_le_bytes();
            data = rest;
        }
        true
    }

    fn row<'a>(&self, block: &'a [u8], page: u16) -> (Head, &'a [u8]) {
        let (head, rows) = block.split_at(HEAD);
        let start = usize::from(page) * self.row;
        (Head::from_bytes(head.first_chunk().unwrap_or(&[0; HEAD])), &rows[start..start + self.row])
    }

    /// Reads a page from its row.
    #[inline]
    pub(super) fn load(
        &self,
        block: &[u8],
        page: u16,
        at: usize,
        mut data: &mut [u8],
        spare: &mut [u8],
    ) {
        let (head, row) = self.row(block, page);
        let (tag, stamps) = row.split_at(OWN_PACKED + self.further_bytes);
        if let Some((known, rest)) = spare.split_at_mut_checked(self.spare) {
            head.unpack(tag, known);
            stamp::fill_rest(rest);
        } else if !spare.is_empty() {
            head.unpack_some(tag, spare);
        }
        for stamp in &stamps.as_chunks().0[at >> self.sector_shift..] {
            let Some((sector, rest)) = data.split_at_mut_checked(self.sector) else { return };
            stamp::write_word(u32::from_le_bytes(*stamp), sector);
            data = rest;
        }
    }

    /// Writes a page to a record of a plain block.
    pub(super) fn unpack(&self, block: &[u8], page: u16, record: &mut [u8]) {
        let (head, row) = self.row(block, page);
        let (tag, stamps) = row.split_at(OWN_PACKED + self.further_bytes);
        record[0] = State::Kept.code();
        head.unpack(tag, &mut record[1..=self.spare]);
        record[1 + self.spare..].copy_from_slice(stamps);
    }
}

/// What the pages of a block share.
#[derive(Clone, Copy)]
struct Head {
    shared: u32,
    low: u16,
    /// The word, turned, that is at distance zero.
    from: u32,
    /// Word 0 of the first page.
    rising: u32,
}

impl Head {
    fn of(rising: u32, shared: u32, low: u16, further: &[[u8; 4]]) -> Self {
        let known = further.iter().map(|word| u32::from_le_bytes(*word));
        let some =
            known.filter(|word| *word != u32::MAX).map(|word| word.rotate_left(MARKS)).next();
        // In the middle of what distances reach.
        let from = some.unwrap_or(0).wrapping_sub(1 << 15);
        Self { shared, low, from, rising }
    }

    /// Word 1 and the lower half of word 2 with that note in them.
    #[inline]
    const fn with_note(&self, note: u32) -> (u32, u16) {
        let rest = self.shared & ((1 << NOTE_SHIFT) - 1);
        (note << NOTE_SHIFT | rest, (note >> NOTE_LOW) as u16)
    }

    #[inline]
    fn from_bytes(bytes: &[u8; HEAD]) -> Self {
        let words = bytes.as_chunks().0;
        let low = word(words, 1) as u16;
        Self { shared: word(words, 0), low, from: word(words, 2), rising: word(words, 3) }
    }

    fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        let words = [self.shared, self.low.into(), self.from, self.rising];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }

    /// Writes distances for words. `false`: one is too far.
    #[inline]
    fn put_distances<'a>(
        self,
        pairs: impl Iterator<Item = (&'a mut [u8; 2], &'a [u8; 4])>,
    ) -> bool {
        for (at, word) in pairs {
            let Some(distance) = self.distance(u32::from_le_bytes(*word)) else { return false };
            *at = distance.to_le_bytes();
        }
        true
    }

    #[inline]
    fn distance(self, word: u32) -> Option<u16> {
        let turned = word.rotate_left(MARKS).wrapping_sub(self.from);
        match u16::try_from(turned) {
            Ok(distance) if distance != NOTHING => Some(distance),
            _ if word == u32::MAX => Some(NOTHING),
            _ => None,
        }
    }

    /// Fewer spare bytes than are kept.
    #[cold]
    #[inline(never)]
    fn unpack_some(self, tag: &[u8], spare: &mut [u8]) {
        let mut known = [0; OWN + 4 * FURTHER_MAX];
        self.unpack(tag, &mut known);
        spare.copy_from_slice(&known[..spare.len()]);
    }

    #[inline]
    fn unpack(self, tag: &[u8], spare: &mut [u8]) {
        let Some((own, further)) = tag.split_first_chunk::<OWN_PACKED>() else { return };
        let Some((head, words)) = spare.split_first_chunk_mut::<OWN>() else { return };
        let [risen_0, risen_1, high @ ..] = *own;
        let flagged = u16::from_le_bytes([risen_0, risen_1]);
        let risen = u32::from(flagged & !NOTE_IS_RISEN);
        let is_risen = flagged & NOTE_IS_RISEN != 0;
        let (shared, low) = if is_risen { self.with_note(risen) } else { (self.shared, self.low) };
        let rising = self.rising.wrapping_add(risen << RISEN_SHIFT);
        let mixed = u32::from(u16::from_le_bytes(high)) << 16 | u32::from(low);
        head[..4].copy_from_slice(&rising.to_le_bytes());
        head[4..8].copy_from_slice(&shared.to_le_bytes());
        head[8..].copy_from_slice(&mixed.to_le_bytes());
        let unpack = |word: &mut [u8; 4], distance: &[u8; 2]| {
            let number = match u16::from_le_bytes(*distance) {
                NOTHING => u32::MAX,
                distance => self.from.wrapping_add(distance.into()).rotate_right(MARKS),
            };
            *word = number.to_le_bytes();
        };
        match (words.as_chunks_mut().0, further.as_chunks().0) {
            ([word_0, word_1], [distance_0, distance_1]) => {
                unpack(word_0, distance_0);
                unpack(word_1, distance_1);
            }
            (words, further) => words.iter_mut().zip(further).for_each(|(to, at)| unpack(to, at)),
        }
    }
}

#[inline]
fn word(words: &[[u8; 4]], at: usize) -> u32 {
    words.get(at).map_or(0, |word| u32::from_le_bytes(*word))
}
