//! What the user chooses for the page store.

use ftl_iface::{Bytes, SectorCount};

use crate::config::{FilterChoice, PairedPages};

/// What the user chooses; the device decides the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedConfig {
    /// The unit in which the FTL maps: a power of two, from 512 bytes to the smaller page size.
    pub sector_bytes: Bytes,
    /// What the host may use. `None` exports nineteen blocks in twenty of the main area.
    pub capacity: Option<SectorCount>,
    /// Sectors whose newest place may be known to RAM and tags alone, before it is written to a map page. More of them
    /// make fewer map pages, and take eight bytes each.
    pub dirty_entries: u32,
    /// Map pages that RAM holds: two at least.
    pub cached_leaves: u16,
    /// Whether copies are kept apart from what the host writes.
    pub streams: Streams,
    /// Which writes enter the fast area.
    pub filter: FilterChoice,
    /// What is done for pages that share their cells with the one to be programmed.
    pub paired_pages: PairedPages,
}

/// Open blocks of the main area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// One, for the host's writes and for copies.
    One,
    /// One for the host's writes, which are likely to die soon, and one for copies, which have lived already.
    Two,
}

impl PagedConfig {
    /// Defaults for a device of Chang's kind: 2-KiB sectors, a table of 20,000 entries.
    pub const LARGE: Self = Self {
        sector_bytes: Bytes::new(2048),
        capacity: None,
        dirty_entries: 20_000,
        cached_leaves: 16,
        streams: Streams::Two,
        filter: FilterChoice::BySize {
            initial: SectorCount::new(2),
            largest: SectorCount::new(32),
        },
        paired_pages: PairedPages::Guard,
    };

    /// Defaults for a chip beside a microcontroller: 1,024 entries, four map pages.
    pub const SMALL: Self =
        Self { dirty_entries: 1_024, cached_leaves: 4, streams: Streams::Two, ..Self::LARGE };
}
