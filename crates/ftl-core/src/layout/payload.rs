//! What the pages of the FTL's own hold: header, summary, trim. Numbers are little-endian.

use ftl_iface::{Bytes, Sector, SectorCount};

use super::{FormatKey, copy_low_bytes, low_bytes, word};
use crate::table::{BlockNumber, Width};

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

/// The header of a device: what must be known before anything else can be read.
///
/// ```text
///  0       8         10            12    16             20         24           26             28      32
///  ├───────┼─────────┼─────────────┼─────┼──────────────┼──────────┼────────────┼──────────────┼───────┤
///  │ magic │ version │ meta blocks │ key │ sector bytes │ capacity │ log blocks │ chain blocks │ check │
///  └───────┴─────────┴─────────────┴─────┴──────────────┴──────────┴────────────┴──────────────┴───────┘
/// ```
///
/// That of a device with more chain blocks than 16 bits number has another version, and four bytes more:
///
/// ```text
///  0       8         10            12    16             20         24           26     28             32      36
///  ├───────┼─────────┼─────────────┼─────┼──────────────┼──────────┼────────────┼──────┼──────────────┼───────┤
///  │ magic │ version │ meta blocks │ key │ sector bytes │ capacity │ log blocks │ zero │ chain blocks │ check │
///  └───────┴─────────┴─────────────┴─────┴──────────────┴──────────┴────────────┴──────┴──────────────┴───────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Blocks of the meta area: headers and places of checkpoints.
    pub meta_blocks: u16,
    /// The key of every tag on this device.
    pub key: FormatKey,
    /// The unit of mapping.
    pub sector_bytes: Bytes,
    /// What the host may use.
    pub capacity: SectorCount,
    /// Blocks of the log.
    pub log_blocks: u16,
    /// Blocks of the chains.
    pub chain_blocks: BlockNumber,
}

/// Why a header cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// This is no header of ours.
    Foreign,
    /// A header of ours, of a format that this version does not read.
    Version(u16),
    /// A header of ours, with damaged bytes.
    Damaged,
}

impl Header {
    /// Bytes that a header takes.
    pub const BYTES: usize = 32;
    /// Bytes that the header of a device with wide block numbers takes.
    pub const WIDE_BYTES: usize = 36;
    pub(crate) const MAGIC: [u8; 8] = *b"TANDEMFT";
    /// The version of the format: it changes when an older reader would go wrong.
    pub const VERSION: u16 = 3;
    /// That of devices with wide block numbers, which FTLs without them do not read.
    pub const WIDE_VERSION: u16 = 4;

    fn check(bytes: &[u8], header: usize) -> u32 {
        let words = bytes.get(..header - 4).unwrap_or(&[]).chunks_exact(4).map(word);
        check(words, FormatKey::HEADER)
    }

    /// Writes the header at the start of a page.
    pub fn put(&self, page: &mut [u8]) {
        let wide = Width::of(self.chain_blocks).is_wide();
        let version = if wide { Self::WIDE_VERSION } else { Self::VERSION };
        let (chain_blocks, check) = if wide { (28..32, 32..36) } else { (26..28, 28..32) };
        if wide {
            copy_low_bytes(page.get_mut(26..28), 0);
        }
        let header = check.end;
        let fields: [(core::ops::Range<usize>, u64); 8] = [
            (0..8, u64::from_le_bytes(Self::MAGIC)),
            (8..10, u64::from(version)),
            (10..12, u64::from(self.meta_blocks)),
            (12..16, u64::from(self.key.get())),
            (16..20, u64::from(self.sector_bytes.get())),
            (20..24, u64::from(self.capacity.get())),
            (24..26, u64::from(self.log_blocks)),
            (chain_blocks, u64::from(self.chain_blocks)),
        ];
        for (range, number) in fields {
            copy_low_bytes(page.get_mut(range), number);
        }
        let sum = Self::check(page, header);
        copy_low_bytes(page.get_mut(check), u64::from(sum));
    }

    /// Reads the header at the start of a page.
    pub fn parse(page: &[u8]) -> Result<Self, HeaderError> {
        let field = |range| page.get(range).map_or(0, low_bytes);
        if page.get(..8) != Some(&Self::MAGIC[..]) {
            return Err(HeaderError::Foreign);
        }
        let version = field(8..10) as u16;
        let wide = cfg!(feature = "wide") && version == Self::WIDE_VERSION;
        if version != Self::VERSION && !wide {
            return Err(HeaderError::Version(version));
        }
        let (chain_blocks, check) = if wide { (28..32, 32..36) } else { (26..28, 28..32) };
        let header = check.end;
        if field(check) != u64::from(Self::check(page, header)) {
            return Err(HeaderError::Damaged);
        }
        Ok(Self {
            meta_blocks: field(10..12) as u16,
            key: FormatKey::new(field(12..16) as u32),
            sector_bytes: Bytes::new(field(16..20) as u32),
            capacity: SectorCount::new(field(20..24) as u32),
            log_blocks: field(24..26) as u16,
            chain_blocks: field(chain_blocks) as BlockNumber,
        })
    }
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
