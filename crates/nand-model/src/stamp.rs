//! Stamps, and the 4 bytes that represent a sector inside the chip: a stamp, or one of two fill patterns.

use ftl_iface::Bytes;

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

/// What a record has of its page.
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

/// Makes what follows bytes that are known 0xFF. Mostly nothing follows, and nothing is called.
#[inline]
pub(crate) fn fill_rest(rest: &mut [u8]) {
    if !rest.is_empty() {
        rest.fill(ERASED);
    }
}

/// Writes the sector that 4 bytes encode.
#[inline]
pub(crate) fn write_word(word: u32, sector: &mut [u8]) {
    match word {
        ZEROS => sector.fill(0),
        ONES => sector.fill(ERASED),
        number => Stamp::new(number).write_to(sector),
    }
}

/// The 4 bytes that encode a sector, if 4 bytes can.
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
pub(crate) fn is_erased(bytes: &[u8]) -> bool {
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
