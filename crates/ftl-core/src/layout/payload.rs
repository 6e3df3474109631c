//! What the pages of the FTL's own hold: summary, trim. Numbers are little-endian.

use ftl_iface::{Bytes, Sector, SectorCount};

use super::{FormatKey, copy_low_bytes, low_bytes, word};

/// Bytes before a summary's sectors: count and check.
const SUMMARY_HEAD: usize = 8;

/// Sectors that one summary page of that size can list.
pub const fn summary_sectors(page_bytes: Bytes) -> u32 {
    (page_bytes.get() - SUMMARY_HEAD as u32) / 4
}

/// Pages at a log block's end that its summary takes: as few as can list the sectors of all pages before them.
pub const fn summary_pages(pages: u16, slots: u16, page_bytes: Bytes) -> u16 {
    let mut summary = 1;
    while summary < pages
        && (pages - summary) as u32 * slots as u32 > summary as u32 * summary_sectors(page_bytes)
    {
        summary += 1;
    }
    summary
}

/// Thirty-two bits over words, for payloads that must not be believed by accident.
pub(super) fn check(words: impl Iterator<Item = u32>, key: FormatKey) -> u32 {
    words.fold(key.get(), mix)
}

/// A check with one word more.
#[inline]
pub(super) fn mix(hash: u32, word: u32) -> u32 {
    let mixed = (hash ^ word).wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 13
}

/// Writes the part of a log block's summary that one page holds: which sectors its slots hold, in order.
///
/// ```text
///  0       4       8
///  ├───────┼───────┼───────────────────────────┐
///  │ count │ check │ slot codes (32 bits each) │
///  └───────┴───────┴───────────────────────────┘
/// ```
pub fn put_summary(page: &mut [u8], codes: &[u32], key: FormatKey) {
    page.fill(0xFF);
    copy_low_bytes(page.get_mut(0..4), codes.len() as u64);
    copy_low_bytes(page.get_mut(4..8), u64::from(check(codes.iter().copied(), key)));
    let (fields, _) = page.get_mut(SUMMARY_HEAD..).unwrap_or(&mut []).as_chunks_mut();
    for (field, code) in fields.iter_mut().zip(codes) {
        *field = code.to_le_bytes();
    }
}

/// Reads the part of a summary that a page holds into `codes`; all of them, or `None` where the page holds another
/// number of them or fails its check.
pub fn summary(page: &[u8], codes: &mut [u32], key: FormatKey) -> Option<()> {
    let count = low_bytes(page.get(0..4)?) as usize;
    let stored = low_bytes(page.get(4..8)?) as u32;
    let bytes = page.get(SUMMARY_HEAD..)?;
    if count != codes.len() || bytes.len() < count * 4 {
        return None;
    }
    for (code, field) in codes.iter_mut().zip(bytes.chunks_exact(4)) {
        *code = word(field);
    }
    (stored == check(codes.iter().copied(), key)).then_some(())
}

/// A run of sectors forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Its first sector.
    pub first: Sector,
    /// How many.
    pub count: SectorCount,
}

impl Trim {
    /// Bytes that a trim takes: first sector, count, check.
    pub const BYTES: usize = 12;

    /// Writes the trim at the start of a page.
    pub fn put(&self, page: &mut [u8], key: FormatKey) {
        let words = [self.first.get(), self.count.get()];
        copy_low_bytes(page.get_mut(0..4), u64::from(words[0]));
        copy_low_bytes(page.get_mut(4..8), u64::from(words[1]));
        copy_low_bytes(page.get_mut(8..12), u64::from(check(words.into_iter(), key)));
    }

    /// Whether a sector is among them.
    pub fn covers(&self, sector: Sector) -> bool {
        sector.get().checked_sub(self.first.get()).is_some_and(|at| at < self.count.get())
    }

    /// Reads the trim at the start of a page, or `None` where it fails its check.
    pub fn parse(page: &[u8], key: FormatKey) -> Option<Self> {
        let words = [word(page.get(0..4)?), word(page.get(4..8)?)];
        let stored = word(page.get(8..12)?);
        (stored == check(words.into_iter(), key))
            .then_some(Self { first: Sector::new(words[0]), count: SectorCount::new(words[1]) })
    }
}
