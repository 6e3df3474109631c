//! The header of a device: what must be known before anything else can be read, and all that decides what a page means.

use ftl_iface::{Bytes, PageCount, PageIndex, Pairing, SectorCount};

use super::format::{FORMAT, HEADER_BYTES, OtherFormat, features, optional_features, put_features};
use super::payload::{check, mix};
use super::{FormatKey, copy_low_bytes, word};
use crate::table::{BlockNumber, Width, word as wide};

/// The header of a device. Numbers have 32 bits where nothing else is said.
///
/// ```text
///  0       8         10            12    16             20         24         28         32
///  ├───────┼─────────┼─────────────┼─────┼──────────────┼──────────┼──────────┼──────────┼─ …
///  │ magic │ version │ meta blocks │ key │ sector bytes │ capacity │ features │ optional │
///  └───────┴─────────┴─────────────┴─────┴──────────────┴──────────┴──────────┴──────────┴─ …
///          16        16
///
///     32           36             40      52       64        68       72        76        92      96
///  … ─┼────────────┼──────────────┼───────┼────────┼─────────┼────────┼─────────┼─────────┼───────┤
///     │ log blocks │ chain blocks │ first │ chains │ entries │ probes │ probing │ reserved│ check │
///  … ─┴────────────┴──────────────┴───────┴────────┴─────────┴────────┴─────────┴─────────┴───────┘
///                                   page bytes, pages a block, pairing
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
    /// The pages of the region of the meta area and the log.
    pub first: PagesOf,
    /// The pages of the chains' region.
    pub chains: PagesOf,
    /// The hash table of the log; zeros without a log.
    pub table: TableOf,
    /// Optional features, which a version that does not have them keeps.
    pub optional: u16,
}

/// How the pages of a region are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagesOf {
    /// Bytes of a page.
    pub page_bytes: Bytes,
    /// Pages of a block.
    pub pages: PageCount,
    /// Which of them share cells, as [`pairing_check`].
    pub pairing: u32,
}

/// How the hash table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableOf {
    /// Its cells.
    pub entries: u32,
    /// Cells that a lookup visits at most.
    pub probes: u32,
    /// The order of these cells: 0 for neighbours, 1 for squares.
    pub probing: u32,
}

/// Header blocks, at the start of a region. There are two, so that one may go bad.
pub const HEADER_BLOCKS: u16 = 2;

/// Why a header cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// This is no header of ours.
    Foreign,
    /// A header of the page store.
    OfPageStore,
    /// A header of ours, of a format that this version does not read.
    Version(OtherFormat),
    /// A header of ours, with damaged bytes.
    Damaged,
}

/// A checksum of a pairing: the word line of each page of a block.
pub fn pairing_check(pairing: Pairing, pages: PageCount) -> u32 {
    (0..pages.get())
        .fold(0, |hash, page| mix(hash, pairing.word_line(PageIndex::new(page as u16), pages)))
}

/// The settings: all numbers but the key.
const SETTINGS: usize = 14;

impl Header {
    /// Bytes that a header takes.
    pub const BYTES: usize = HEADER_BYTES;
    /// The first bytes of the page store's header.
    pub(crate) const PAGE_STORE: [u8; 8] = *b"TANDEMPG";
    pub(crate) const MAGIC: [u8; 8] = *b"TANDEMFT";
    /// Format 1 as the header has it.
    pub const VERSION: u16 = FORMAT;
    /// The feature of devices with wide block numbers.
    pub const WIDE_NUMBERS: u32 = 1;
    const FEATURES: u32 = if cfg!(feature = "wide") { Self::WIDE_NUMBERS } else { 0 };

    fn check(bytes: &[u8]) -> u32 {
        let words = bytes.get(..Self::BYTES - 4).unwrap_or(&[]).chunks_exact(4).map(word);
        check(words, FormatKey::HEADER)
    }

    fn features(&self) -> u32 {
        if Width::of(self.chain_blocks).is_wide() { Self::WIDE_NUMBERS } else { 0 }
    }

    /// Everything that a mount must have as the format had it, in the order of the header.
    pub fn settings(&self) -> [u32; SETTINGS] {
        let Self { first, chains, table, .. } = self;
        [
            self.meta_blocks.into(),
            self.sector_bytes.get(),
            self.capacity.get(),
            self.log_blocks.into(),
            wide(self.chain_blocks),
            first.page_bytes.get(),
            first.pages.get(),
            first.pairing,
            chains.page_bytes.get(),
            chains.pages.get(),
            chains.pairing,
            table.entries,
            table.probes,
            table.probing,
        ]
    }

    /// Writes the header at the start of a page.
    pub fn put(&self, page: &mut [u8]) {
        let [meta_blocks, sector_bytes, capacity, settings @ ..] = self.settings();
        copy_low_bytes(page.get_mut(0..8), u64::from_le_bytes(Self::MAGIC));
        copy_low_bytes(page.get_mut(8..10), Self::VERSION.into());
        copy_low_bytes(page.get_mut(10..12), meta_blocks.into());
        let settings = (32..).step_by(4).zip(settings);
        let head = [(12, self.key.get()), (16, sector_bytes), (20, capacity)];
        for (at, setting) in head.into_iter().chain(settings) {
            copy_low_bytes(page.get_mut(at..at + 4), setting.into());
        }
        page.get_mut(76..92).unwrap_or(&mut []).fill(0);
        put_features(page, self.features(), self.optional);
        let sum = Self::check(page);
        copy_low_bytes(page.get_mut(Self::BYTES - 4..Self::BYTES), sum.into());
    }

    /// Reads the header at the start of a page.
    pub fn parse(page: &[u8]) -> Result<Self, HeaderError> {
        match page.first_chunk() {
            Some(&Self::MAGIC) => {}
            Some(&Self::PAGE_STORE) => return Err(HeaderError::OfPageStore),
            _ => return Err(HeaderError::Foreign),
        }
        let field = |at: usize| page.get(at..).map_or(0, word);
        if let Some(other) = OtherFormat::by_version(field(8) as u16) {
            return Err(HeaderError::Version(other));
        }
        if field(Self::BYTES - 4) != Self::check(page) {
            return Err(HeaderError::Damaged);
        }
        if let Some(other) = OtherFormat::by_features(page, Self::FEATURES) {
            return Err(HeaderError::Version(other));
        }
        let pages = |at| PagesOf {
            page_bytes: Bytes::new(field(at)),
            pages: PageCount::new(field(at + 4)),
            pairing: field(at + 8),
        };
        let header = Self {
            meta_blocks: (field(8) >> 16) as u16,
            key: FormatKey::new(field(12)),
            sector_bytes: Bytes::new(field(16)),
            capacity: SectorCount::new(field(20)),
            log_blocks: field(32) as u16,
            chain_blocks: field(36) as BlockNumber,
            first: pages(40),
            chains: pages(52),
            table: TableOf { entries: field(64), probes: field(68), probing: field(72) },
            optional: optional_features(page),
        };
        // Block numbers are wide if, and only if, there are so many blocks.
        if features(page) == header.features() { Ok(header) } else { Err(HeaderError::Damaged) }
    }
}
