//! What a device was formatted as: all that decides what a page means, and what must fit the hash table. A mount
//! compares it with what it is given before it reads anything else.

use core::fmt;

use ftl_iface::{Bytes, NandDevice, PageCount, Region};

use crate::config::Probing;
use crate::hybrid::state::Ftl;
use crate::layout::{Header, PagesOf, TableOf, pairing_check};
use crate::probe::Probe;

/// What must be the same in each mount of a device as in its format. Everything else of a configuration may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatSetting {
    /// Blocks of headers, copies and checkpoints.
    MetaBlocks,
    /// The sector size.
    SectorBytes,
    /// The capacity in sectors.
    Capacity,
    /// Blocks of the log; none without a log.
    LogBlocks,
    /// Blocks of the chains.
    ChainBlocks,
    /// Bytes of the pages of the region that begins with the headers.
    FirstPageBytes,
    /// Pages of its blocks.
    FirstPages,
    /// Which of them share cells, as a checksum.
    FirstPairing,
    /// Bytes of the pages of the chains' region.
    ChainPageBytes,
    /// Pages of its blocks.
    ChainPages,
    /// Which of them share cells, as a checksum.
    ChainPairing,
    /// Cells of the log's hash table. With another table there may be no room for an entry that the log needs.
    TableEntries,
    /// Cells that a lookup in it visits at most.
    TableProbes,
    /// Their order: 0 for neighbours, 1 for squares.
    TableProbing,
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

/// In the order of [`Header::settings`], except that blocks come last that follow from others.
const SETTINGS: [(usize, FormatSetting); 14] = [
    (1, FormatSetting::SectorBytes),
    (2, FormatSetting::Capacity),
    (5, FormatSetting::FirstPageBytes),
    (6, FormatSetting::FirstPages),
    (7, FormatSetting::FirstPairing),
    (8, FormatSetting::ChainPageBytes),
    (9, FormatSetting::ChainPages),
    (10, FormatSetting::ChainPairing),
    (3, FormatSetting::LogBlocks),
    (4, FormatSetting::ChainBlocks),
    (0, FormatSetting::MetaBlocks),
    (11, FormatSetting::TableEntries),
    (12, FormatSetting::TableProbes),
    (13, FormatSetting::TableProbing),
];

impl OtherSetting {
    /// The first setting in which two headers differ.
    pub(crate) fn of(formatted: &Header, mounted: &Header) -> Option<Self> {
        let (formatted, mounted) = (formatted.settings(), mounted.settings());
        SETTINGS.into_iter().find_map(|(at, setting)| {
            let (formatted, mounted) = (*formatted.get(at)?, *mounted.get(at)?);
            (formatted != mounted).then_some(Self { setting, formatted, mounted })
        })
    }
}

impl fmt::Display for OtherSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, formatted, mounted } = self;
        let what = match setting {
            FormatSetting::MetaBlocks => "blocks of headers and checkpoints",
            FormatSetting::SectorBytes => "bytes a sector",
            FormatSetting::Capacity => "sectors of capacity",
            FormatSetting::LogBlocks => "blocks of log",
            FormatSetting::ChainBlocks => "blocks for chains",
            FormatSetting::FirstPageBytes => "bytes a page in the region of the headers",
            FormatSetting::FirstPages => "pages a block in the region of the headers",
            FormatSetting::FirstPairing => "as the pairing of pages in the region of the headers",
            FormatSetting::ChainPageBytes => "bytes a page in the region of the chains",
            FormatSetting::ChainPages => "pages a block in the region of the chains",
            FormatSetting::ChainPairing => "as the pairing of pages in the region of the chains",
            FormatSetting::TableEntries => "entries in the hash table",
            FormatSetting::TableProbes => "probes in the hash table",
            FormatSetting::TableProbing => "as the order of probes in the hash table",
        };
        write!(f, "the device was formatted with {formatted} {what}, and is mounted with {mounted}")
    }
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Returns the device's header.
    pub(crate) fn header(&self) -> Header {
        let index = self.log.as_ref().map(|log| log.index.shape());
        let table = index.map_or(TableOf::default(), |index| TableOf {
            entries: index.entries(),
            probes: index.probes().into(),
            probing: u32::from(index.probing() == Probing::Quadratic),
        });
        Header {
            meta_blocks: self.shape.meta.short_blocks(),
            key: self.flash.key(),
            sector_bytes: self.shape.sector_bytes,
            capacity: self.shape.capacity,
            log_blocks: self.shape.log.map_or(0, |log| log.short_blocks()),
            chain_blocks: self.shape.chain.blocks,
            first: self.pages_of(self.shape.meta.region),
            chains: self.pages_of(self.shape.chain.region),
            table,
            optional: self.flash.optional,
        }
    }

    fn pages_of(&self, region: Region) -> PagesOf {
        let none = PagesOf { page_bytes: Bytes::ZERO, pages: PageCount::ZERO, pairing: 0 };
        self.flash.geometry().region(region).map_or(none, |shape| PagesOf {
            page_bytes: shape.page_bytes,
            pages: shape.pages_per_block,
            pairing: pairing_check(shape.pairing, shape.pages_per_block),
        })
    }
}
