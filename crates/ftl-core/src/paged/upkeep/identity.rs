//! What a device was formatted as: the content of a header. All that decides what a page means is in it, so that a
//! mount notices another geometry or another configuration before it reads anything else.

use core::fmt;

use ftl_iface::PageIndex;

use crate::config::PairedPages;
use crate::layout::{self, FormatKey, OtherFormat};
use crate::paged::plan::numbers;
use crate::paged::plan::shape::{AreaShape, PagedShape};

/// The length of a header.
pub(crate) const BYTES: usize = layout::HEADER_BYTES;

/// The bytes of a header.
pub(crate) type Header = [u8; BYTES];

/// The content of a header's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderBlock {
    /// An intact header of this version.
    Header(Header),
    /// A header of a format that this version does not read.
    OtherVersion(OtherFormat),
    /// A header with damaged bytes, or a page that cannot be read.
    Damaged,
    /// A header of the hybrid FTL.
    OfHybrid,
    /// Nothing: it reads as erased.
    Erased,
    /// Something else.
    Foreign,
}

/// What must be the same in each mount of a device as in its format. Everything else of a configuration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatSetting {
    /// The blocks of the ring of anchors.
    AnchorBlocks,
    /// The sector size.
    SectorBytes,
    /// The capacity in sectors.
    Capacity,
    /// Dirty entries: a mount may have fewer, if they are enough for what is dirty, and no more.
    DirtyEntries,
    /// Whether paired pages are guarded: 1 if they are.
    PairedPages,
    /// Blocks of the main area.
    MainBlocks,
    /// Bytes of its pages.
    MainPageBytes,
    /// Pages of its blocks.
    MainPages,
    /// Which of them share cells, as a checksum.
    MainPairing,
    /// Blocks of the fast area; none if the device has one area.
    FastBlocks,
    /// Bytes of its pages.
    FastPageBytes,
    /// Pages of its blocks.
    FastPages,
    /// Which of them share cells, as a checksum.
    FastPairing,
}

/// A setting in which a mount differs from the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSetting {
    /// Which one.
    pub setting: FormatSetting,
    /// Its value in the header.
    pub formatted: u32,
    /// Its value in this mount.
    pub mounted: u32,
}

impl fmt::Display for OtherSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, formatted, mounted } = self;
        let what = match setting {
            FormatSetting::AnchorBlocks => "anchor blocks",
            FormatSetting::SectorBytes => "bytes a sector",
            FormatSetting::Capacity => "sectors of capacity",
            FormatSetting::DirtyEntries => "dirty entries at most",
            FormatSetting::PairedPages => "as whether paired pages are guarded",
            FormatSetting::MainBlocks => "blocks in the main area",
            FormatSetting::MainPageBytes => "bytes a page in the main area",
            FormatSetting::MainPages => "pages a block in the main area",
            FormatSetting::MainPairing => "as the pairing of pages in the main area",
            FormatSetting::FastBlocks => "blocks in the fast area",
            FormatSetting::FastPageBytes => "bytes a page in the fast area",
            FormatSetting::FastPages => "pages a block in the fast area",
            FormatSetting::FastPairing => "as the pairing of pages in the fast area",
        };
        write!(f, "the device was formatted with {formatted} {what}, and is mounted with {mounted}")
    }
}

const DIRTY_ENTRIES_AT: usize = 32;

/// The settings in a header, in their order, each with the position of its 32 bits.
const SETTINGS: [(usize, FormatSetting); 12] = [
    (16, FormatSetting::SectorBytes),
    (20, FormatSetting::Capacity),
    (DIRTY_ENTRIES_AT, FormatSetting::DirtyEntries),
    (36, FormatSetting::PairedPages),
    (40, FormatSetting::MainBlocks),
    (44, FormatSetting::MainPageBytes),
    (48, FormatSetting::MainPages),
    (52, FormatSetting::MainPairing),
    (56, FormatSetting::FastBlocks),
    (60, FormatSetting::FastPageBytes),
    (64, FormatSetting::FastPages),
    (68, FormatSetting::FastPairing),
];

/// Returns the header of a device of this shape.
pub(crate) fn header(shape: &PagedShape, key: FormatKey, entries: u32, optional: u16) -> Header {
    let mut bytes = [0; BYTES];
    put(&mut bytes, 0, &layout::Header::PAGE_STORE);
    put(&mut bytes, 8, &layout::FORMAT.to_le_bytes());
    put(&mut bytes, 10, &shape.anchors.to_le_bytes());
    put(&mut bytes, 12, &key.get().to_le_bytes());
    for (at, setting) in SETTINGS {
        put(&mut bytes, at, &value(shape, setting).to_le_bytes());
    }
    put(&mut bytes, DIRTY_ENTRIES_AT, &entries.to_le_bytes());
    layout::put_features(&mut bytes, 0, optional);
    let check = check(bytes.get(..BYTES - 4).unwrap_or(&[]));
    put(&mut bytes, BYTES - 4, &check.to_le_bytes());
    bytes
}

fn put(bytes: &mut Header, at: usize, field: &[u8]) {
    if let Some(target) = bytes.get_mut(at..at + field.len()) {
        numbers::copy(target, field);
    }
}

fn value(shape: &PagedShape, setting: FormatSetting) -> u32 {
    let (main, fast) = (&shape.main, shape.fast.as_ref());
    let pages = |area: &AreaShape| u32::from(area.pages);
    match setting {
        FormatSetting::AnchorBlocks => shape.anchors.into(),
        FormatSetting::SectorBytes => shape.sector_bytes.get(),
        FormatSetting::Capacity => shape.capacity.get(),
        FormatSetting::DirtyEntries => shape.table_entries,
        FormatSetting::PairedPages => u32::from(shape.paired_pages == PairedPages::Guard),
        FormatSetting::MainBlocks => main.blocks,
        FormatSetting::MainPageBytes => main.page_bytes.get(),
        FormatSetting::MainPages => pages(main),
        FormatSetting::MainPairing => pairing(main),
        FormatSetting::FastBlocks => fast.map_or(0, |fast| fast.blocks),
        FormatSetting::FastPageBytes => fast.map_or(0, |fast| fast.page_bytes.get()),
        FormatSetting::FastPages => fast.map_or(0, pages),
        FormatSetting::FastPairing => fast.map_or(0, pairing),
    }
}

/// Returns a checksum of the pairing: the word line of each page.
fn pairing(area: &AreaShape) -> u32 {
    (0..area.pages).fold(0, |hash, page| {
        mix(hash, area.pairing.word_line(PageIndex::new(page), area.page_count()))
    })
}

/// Returns the first setting of a header that this mount must not have.
pub(crate) fn other_setting(found: &Header, shape: &PagedShape) -> Option<OtherSetting> {
    let anchors = half(found, 10).map(u32::from);
    let settings = SETTINGS.into_iter().map(|(at, setting)| (setting, word(found, at)));
    core::iter::once((FormatSetting::AnchorBlocks, anchors)).chain(settings).find_map(
        |(setting, formatted)| {
            let (formatted, mounted) = (formatted?, value(shape, setting));
            let fits = match setting {
                FormatSetting::DirtyEntries => mounted <= formatted,
                _ => mounted == formatted,
            };
            (!fits).then_some(OtherSetting { setting, formatted, mounted })
        },
    )
}

/// Returns the dirty entries with which a device was formatted.
pub(crate) fn dirty_entries(header: &Header) -> u32 {
    word(header, DIRTY_ENTRIES_AT).unwrap_or(0)
}

/// Returns the key in a header.
pub(crate) fn key_of(header: &Header) -> FormatKey {
    FormatKey::new(word(header, 12).unwrap_or(0))
}

/// Returns what the data of a header's page is.
pub(crate) fn parse(bytes: &Header) -> HeaderBlock {
    match bytes.first_chunk() {
        Some(&layout::Header::PAGE_STORE) => {}
        Some(&layout::Header::MAGIC) => return HeaderBlock::OfHybrid,
        _ => return HeaderBlock::Foreign,
    }
    if let Some(other) = half(bytes, 8).and_then(OtherFormat::by_version) {
        return HeaderBlock::OtherVersion(other);
    }
    if word(bytes, BYTES - 4) != Some(check(bytes.get(..BYTES - 4).unwrap_or(&[]))) {
        return HeaderBlock::Damaged;
    }
    // Format 1 has no features of the page store.
    match OtherFormat::by_features(bytes, 0) {
        Some(other) => HeaderBlock::OtherVersion(other),
        None => HeaderBlock::Header(*bytes),
    }
}

fn word(bytes: &Header, at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn half(bytes: &Header, at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn check(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0;
    words.iter().fold(FormatKey::HEADER.get(), |hash, word| mix(hash, u32::from_le_bytes(*word)))
}

fn mix(hash: u32, word: u32) -> u32 {
    let mixed = (hash ^ word).wrapping_mul(0x85EB_CA6B);
    mixed ^ mixed >> 13
}
