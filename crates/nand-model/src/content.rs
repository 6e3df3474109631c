//! What a chip keeps of a page: every byte, or a stamp for each sector.
//!
//! A long trace programs terabytes whose bytes nobody looks at; what matters is *which* write a sector came from. In
//! stamp mode a payload sector starts with a [`Stamp`] (4 bytes) and a mark that says so (8 bytes), and the chip keeps
//! the 4 bytes alone. Reading such a sector writes those 12 bytes back and **leaves the rest of the buffer as it was**.
//! All other content is exact in both modes: a sector of zeros or of 0xFF costs no more than a stamp, and a page with
//! any other sector (an FTL's own records) is kept whole beside the others.

use ftl_iface::{Bytes, Page, Region, RegionGeometry};

use crate::cells::Packing;
use crate::preset::Preset;

/// What a chip keeps of each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Content {
    /// Every data and spare byte.
    Bytes,
    /// A stamp for each sector and the first bytes of the spare area. Programs whose remaining spare bytes are not
    /// 0xFF are breaches. So are reads that are no whole sectors, unless the page is erased or kept whole.
    Stamps {
        /// The size of a sector: a power of two that fits the pages of every region.
        sector: Bytes,
        /// How many spare bytes are kept.
        spare_kept: Bytes,
    },
}

/// The number by which a sector's content is recognised in stamp mode: say, the number of the write it came from.
///
/// ```
/// use nand_model::content::Stamp;
/// let mut sector = [0; 2048];
/// Stamp::new(7).write_to(&mut sector);
/// assert_eq!(Stamp::read_from(&sector), Some(Stamp::new(7)));
/// assert_eq!(Stamp::read_from(&[0; 2048]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(u32);

impl Stamp {
    /// What a stamped sector starts with: the stamp and its mark.
    pub const BYTES: Bytes = Bytes::new(12);

    /// The largest number that is kept in 4 bytes. The two above it stand for sectors of zeros and of 0xFF inside
    /// the chip; pages stamped with them are kept whole: correct, and slower.
    pub const MAX: Self = Self(u32::MAX - 2);

    /// Tells a stamped sector from any other. Chosen at random: 64 bits that no program writes by accident.
    const MARK: u64 = 0x9D3A_51C7_E86F_204B;

    /// The stamp with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Stamps a sector: writes its first 12 bytes. The sector must have that many.
    #[inline]
    pub fn write_to(self, sector: &mut [u8]) {
        sector[..4].copy_from_slice(&self.0.to_le_bytes());
        sector[4..12].copy_from_slice(&Self::MARK.to_le_bytes());
    }

    /// The sector's stamp, if it carries one.
    #[inline]
    pub fn read_from(sector: &[u8]) -> Option<Self> {
        let head: &[u8; 12] = sector.first_chunk()?;
        let [a, b, c, d, mark @ ..] = *head;
        (u64::from_le_bytes(mark) == Self::MARK).then(|| Self(u32::from_le_bytes([a, b, c, d])))
    }
}

/// Stands for a sector of zeros.
const ZEROS: u32 = u32::MAX - 1;
/// Stands for a sector of 0xFF.
const ONES: u32 = u32::MAX;
/// What each cell of an erased page reads as.
pub(crate) const ERASED: u8 = 0xFF;

/// What a record says of its page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Left out when a later page of the block was programmed: reads as erased.
    Skipped,
    /// The record holds the page.
    Kept,
    /// The record holds the spare area; the data are kept whole elsewhere.
    Whole,
}

impl State {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Skipped => 0,
            Self::Kept => 1,
            Self::Whole => 2,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Skipped),
            1 => Some(Self::Kept),
            2 => Some(Self::Whole),
            _ => None,
        }
    }
}

/// How a page of one region lies in its record:
///
/// ```text
/// | state | spare bytes kept | a stamp a sector, or the data |
///    1      spare_kept         4 x sectors, or page_bytes
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    page_bytes: usize,
    spare_bytes: usize,
    spare_kept: usize,
    /// Zero where every byte is kept.
    sector: usize,
    sector_shift: u32,
    record: usize,
}

/// Why a chip cannot keep the pages of a region that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The sector does not fit the page, or could not hold a stamp.
    #[error(
        "sectors of {sector} do not divide the {region} region's pages of {page}: \
         give a power of two from 16 up to the smallest page"
    )]
    Sector {
        /// Whose pages.
        region: Region,
        /// What was asked for.
        sector: Bytes,
        /// What a page holds.
        page: Bytes,
    },
    /// More spare bytes are to be kept than there are.
    #[error(
        "{kept} of spare are to be kept, but a page of the {region} region has {spare}: keep fewer"
    )]
    Spare {
        /// Whose pages.
        region: Region,
        /// What was asked for.
        kept: Bytes,
        /// What a page has.
        spare: Bytes,
    },
}

impl Format {
    pub(crate) fn new(
        region: Region,
        shape: &RegionGeometry,
        content: Content,
    ) -> Result<Self, ContentError> {
        let page_bytes = shape.page_bytes.as_usize();
        let spare_bytes = shape.spare_bytes.as_usize();
        let Content::Stamps { sector, spare_kept } = content else {
            let record = 1 + spare_bytes + page_bytes;
            let spare_kept = spare_bytes;
            return Ok(Self {
                page_bytes,
                spare_bytes,
                spare_kept,
                sector: 0,
                sector_shift: 0,
                record,
            });
        };
        if !sector.get().is_power_of_two() || sector.get() < 16 || sector > shape.page_bytes {
            return Err(ContentError::Sector { region, sector, page: shape.page_bytes });
        }
        if spare_kept > shape.spare_bytes {
            let spare = shape.spare_bytes;
            return Err(ContentError::Spare { region, kept: spare_kept, spare });
        }
        let spare_kept = spare_kept.as_usize();
        let record = 1 + spare_kept + 4 * (page_bytes / sector.as_usize());
        let sector_shift = sector.get().trailing_zeros();
        let sector = sector.as_usize();
        Ok(Self { page_bytes, spare_bytes, spare_kept, sector, sector_shift, record })
    }

    #[inline]
    pub(crate) const fn record(&self) -> usize {
        self.record
    }

    /// The part of a record that a page kept whole has: state and spare bytes.
    pub(crate) const fn head(&self) -> usize {
        1 + self.spare_kept
    }

    #[inline]
    pub(crate) const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    #[inline]
    pub(crate) const fn spare_bytes(&self) -> usize {
        self.spare_bytes
    }

    /// Zero where every byte is kept.
    pub(crate) const fn sector_bytes(&self) -> usize {
        self.sector
    }

    /// How pages are packed, if they can be.
    pub(crate) fn packing(&self) -> Option<Packing> {
        Packing::new(self.spare_kept, self.sector, self.page_bytes.checked_div(self.sector)?)
    }

    /// Whether a read of `length` bytes from `at` on asks for whole sectors, where only those are known.
    #[inline]
    pub(crate) const fn is_readable(&self, at: usize, length: usize) -> bool {
        self.sector == 0 || (at | length) & (self.sector - 1) == 0
    }

    /// Whether the spare bytes that are not kept are all 0xFF.
    #[inline]
    pub(crate) fn spare_fits(&self, spare: &[u8]) -> bool {
        is_erased(&spare[self.spare_kept..])
    }

    /// Writes the page to its record, and says whether the record holds all of it.
    #[inline]
    pub(crate) fn store(&self, record: &mut [u8], data: &[u8], spare: &[u8]) -> State {
        let (head, payload) = record.split_at_mut(1 + self.spare_kept);
        copy_short(&mut head[1..], &spare[..self.spare_kept]);
        let state = if self.sector == 0 {
            payload.copy_from_slice(data);
            State::Kept
        } else {
            self.store_stamps(payload, data)
        };
        head[0] = state.code();
        state
    }

    #[inline]
    fn store_stamps(&self, payload: &mut [u8], mut data: &[u8]) -> State {
        for slot in payload.chunks_exact_mut(4) {
            let (sector, rest) = data.split_at(self.sector);
            let Some(word) = word_of(sector) else {
                return State::Whole;
            };
            slot.copy_from_slice(&word.to_le_bytes());
            data = rest;
        }
        State::Kept
    }

    /// Reads the spare area from a record.
    #[inline]
    pub(crate) fn load_spare(&self, record: &[u8], spare: &mut [u8]) {
        let known = spare.len().min(self.spare_kept);
        let (known, rest) = spare.split_at_mut(known);
        copy_short(known, &record[1..=known.len()]);
        fill_rest(rest);
    }

    /// Reads data from a record that holds them.
    #[inline]
    pub(crate) fn load_data(&self, record: &[u8], at: usize, mut data: &mut [u8]) {
        let payload = &record[1 + self.spare_kept..];
        if self.sector == 0 {
            data.copy_from_slice(&payload[at..at + data.len()]);
            return;
        }
        for slot in payload[(at >> self.sector_shift) * 4..].chunks_exact(4) {
            let Some((sector, rest)) = data.split_at_mut_checked(self.sector) else {
                return;
            };
            write_word(u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]), sector);
            data = rest;
        }
    }

    /// Writes to a record what the formula tells of a page.
    pub(crate) fn store_preset(&self, record: &mut [u8], preset: &dyn Preset, page: Page) {
        let (head, payload) = record.split_at_mut(1 + self.spare_kept);
        head[0] = State::Kept.code();
        preset.spare(page, &mut head[1..]);
        for (slot, sector) in payload.as_chunks_mut().0.iter_mut().zip(0..) {
            *slot = preset.stamp(page, sector).get().to_le_bytes();
        }
    }

    /// Reads what the formula tells of a page.
    #[inline]
    pub(crate) fn load_preset(
        &self,
        preset: &dyn Preset,
        page: Page,
        at: usize,
        data: &mut [u8],
        spare: &mut [u8],
    ) {
        let first = (at >> self.sector_shift) as u32;
        if let Some((known, rest)) = spare.split_at_mut_checked(self.spare_kept) {
            preset.page(page, known, first, self.sector, data);
            fill_rest(rest);
        } else {
            let mut known = vec![ERASED; self.spare_kept];
            preset.page(page, &mut known, first, self.sector, data);
            spare.copy_from_slice(&known[..spare.len()]);
        }
    }
}

/// Makes what follows bytes that are known 0xFF. Mostly nothing follows, and nothing is called.
#[inline]
pub(crate) fn fill_rest(rest: &mut [u8]) {
    if !rest.is_empty() {
        rest.fill(ERASED);
    }
}

/// Copies bytes, those of most tags without a call. Behind random programs, whose pages come from memory, a call's
/// instructions would keep the next operation from starting meanwhile.
#[inline]
fn copy_short(to: &mut [u8], from: &[u8]) {
    const HALF: usize = 16;
    if to.len() != from.len() || to.len() > 2 * HALF {
        return to.copy_from_slice(from);
    }
    // The halves overlap where the tag is shorter than both.
    if let (Some(first), Some(last)) = (from.first_chunk::<HALF>(), from.last_chunk::<HALF>()) {
        if let Some(to) = to.first_chunk_mut::<HALF>() {
            *to = *first;
        }
        if let Some(to) = to.last_chunk_mut::<HALF>() {
            *to = *last;
        }
    } else {
        to.copy_from_slice(from);
    }
}

/// Writes the sector that 4 bytes stand for.
#[inline]
pub(crate) fn write_word(word: u32, sector: &mut [u8]) {
    match word {
        ZEROS => sector.fill(0),
        ONES => sector.fill(ERASED),
        number => Stamp::new(number).write_to(sector),
    }
}

/// The 4 bytes that stand for a sector, if 4 bytes can.
#[inline]
pub(crate) fn word_of(sector: &[u8]) -> Option<u32> {
    match Stamp::read_from(sector) {
        Some(stamp) if stamp <= Stamp::MAX => Some(stamp.get()),
        Some(_) => None,
        None => filler_word(sector),
    }
}

/// The word of a sector of one repeated byte. The whole sector is looked at: a record of an FTL's may start with zeros.
#[inline(never)]
fn filler_word(sector: &[u8]) -> Option<u32> {
    match sector.first()? {
        0 if is_zero(sector) => Some(ZEROS),
        &ERASED if is_erased(sector) => Some(ONES),
        _ => None,
    }
}

/// Whether every byte is zero, eight at a time.
#[inline]
fn is_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let either = |sum, word: &[u8; 8]| sum | u64::from_ne_bytes(*word);
    words.iter().fold(0, either) == 0 && rest.iter().all(|byte| *byte == 0)
}

/// Whether every byte is 0xFF, without leaving early, so that the compiler can take many bytes at a time.
#[inline]
fn is_erased(bytes: &[u8]) -> bool {
    const LINE: usize = 64;
    let and = |all, bytes: &[u8]| {
        bytes.as_chunks().0.iter().fold(all, |all, word| all & u64::from_ne_bytes(*word))
    };
    if let Some(last) = bytes.last_chunk::<LINE>() {
        // The last bytes are looked at twice where they are no whole line.
        let lines = bytes.as_chunks::<LINE>().0.iter().fold(u64::MAX, |all, line| and(all, line));
        return and(lines, last) == u64::MAX;
    }
    let rest = bytes.as_chunks::<8>().1;
    and(u64::MAX, bytes) == u64::MAX && rest.iter().all(|byte| *byte == ERASED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_stand_for_a_stamp_for_zeros_and_for_ones() {
        let mut sector = [0x55; 64];
        assert_eq!(word_of(&sector), None);
        Stamp::new(9).write_to(&mut sector);
        assert_eq!(word_of(&sector), Some(9));
        assert_eq!(word_of(&[0; 64]), Some(ZEROS));
        assert_eq!(word_of(&[ERASED; 64]), Some(ONES));
    }

    #[test]
    fn a_record_that_starts_like_filler_is_not_taken_for_it() {
        let mut sector = [0; 64];
        sector[63] = 1;
        assert_eq!(word_of(&sector), None);
    }

    #[test]
    fn a_stamp_beyond_the_largest_is_kept_whole() {
        let mut sector = [0; 64];
        Stamp::new(u32::MAX).write_to(&mut sector);
        assert_eq!(word_of(&sector), None);
        assert_eq!(Stamp::read_from(&sector), Some(Stamp::new(u32::MAX)));
    }
}
