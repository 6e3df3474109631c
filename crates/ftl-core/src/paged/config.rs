//! What the user chooses for the page store.

use ftl_iface::{Bytes, Corrected, SectorCount};

use crate::config::{Endurance, FilterChoice, PairedPages, RunEnds, WearLeveling};

/// What the user chooses; the device decides the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedConfig {
    /// The unit in which the FTL maps: a power of two, from 512 bytes to the smaller page size.
    pub sector_bytes: Bytes,
    /// What the host may use. `None` exports nineteen blocks in twenty of the main area.
    pub capacity: Option<SectorCount>,
    /// Sectors whose newest place may be known to RAM and tags alone, before it is written to a map page. More of them
    /// make fewer map pages, and take ten to eleven bytes each.
    pub dirty_entries: u32,
    /// Map pages that RAM holds: two at least.
    pub cached_leaves: u16,
    /// Blocks for anchors, which make a mount quick. Without any, each mount reads every block.
    pub anchor_blocks: u16,
    /// What is kept apart in blocks of its own.
    pub streams: Streams,
    /// Which block is emptied next.
    pub victims: Victims,
    /// Which writes enter the fast area.
    pub filter: FilterChoice,
    /// Where small writes go that continue a run of large ones.
    pub run_ends: RunEnds,
    /// Whether how long what a large write replaces has lived says where it goes.
    pub history: History,
    /// What is done for pages that share their cells with the one to be programmed.
    pub paired_pages: PairedPages,
    /// When blocks are emptied because bits in them begin to go.
    pub refresh: RefreshLimits,
    /// By how much erase counts within an area may differ before the least worn block in use is emptied to be worn.
    pub wear_leveling: WearLeveling,
    /// How often blocks of the fast area (`log`) and the main one (`chain`) may be erased, so that the fast area takes
    /// no more of the host's writes than lets both wear out together. `None`: it takes what is hot.
    pub throttle: Option<Endurance>,
    /// Where large writes go while the fast area has room.
    pub bursts: Bursts,
}

/// How many bits of a codeword may have to be corrected before its block is emptied: as many or more, and it is.
/// Three quarters of what the part corrects leave time enough. [`Corrected::NONE`]: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshLimits {
    /// In the fast area, and in headers that stand before it.
    pub fast: Corrected,
    /// In the main area, and in headers where there is no other.
    pub main: Corrected,
}

/// Open blocks of the main area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// One, for the host's writes and for copies.
    One,
    /// One for the host's writes, which are likely to die soon, and one for copies, which have lived already.
    Two,
    /// Five: what the host writes, likely to die soon or to live; what left the fast area; copies, of young blocks and
    /// of old ones.
    ByLifetime,
}

impl Streams {
    /// How many blocks of the main area are open at most.
    pub const fn count(self) -> u16 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::ByLifetime => 5,
        }
    }
}

/// Whether how long what a large write replaces has lived says where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// It does not: their size sends them to the main area.
    Ignored,
    /// What replaces something that was written lately, page by page, enters the fast area, as long as most of what
    /// enters is replaced there.
    Heeded,
}

/// Where large writes go while more than a quarter of the fast area is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// To the main area, as always.
    ToMain,
    /// To the fast area, for hosts that pause: it takes them more quickly, and idle work moves them on until half of it
    /// is free again. With such endurance of the fast area (`log`) and the main one (`chain`) they enter only as long
    /// as the fast area does not wear faster than lets both wear out together.
    ToFast(Endurance),
}

/// Which block is emptied next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// The one with fewest sectors in use.
    Greedy,
    /// The one of whose room most is won for the work, counted higher the further away it is that the rest of it is
    /// expected to be replaced, or was: what is replaced soon needs no copy.
    CostBenefit,
}

impl PagedConfig {
    /// Defaults for a device of Chang's kind: 2-KiB sectors, a table of 9,590 entries. Its SLC corrects one bit of 512
    /// bytes, its MLC four.
    pub const LARGE: Self = Self {
        sector_bytes: Bytes::new(2048),
        capacity: None,
        dirty_entries: 9_590,
        cached_leaves: 16,
        anchor_blocks: 24,
        streams: Streams::ByLifetime,
        victims: Victims::CostBenefit,
        filter: FilterChoice::BY_SIZE,
        run_ends: RunEnds::Follow,
        history: History::Ignored,
        paired_pages: PairedPages::Guard,
        refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(3) },
        wear_leveling: WearLeveling { enabled: true, threshold: 16 },
        throttle: None,
        bursts: Bursts::ToMain,
    };

    /// Defaults for a chip beside a microcontroller, which corrects one bit of a codeword: 1,024 entries, four map
    /// pages. Where yours corrects more, say so in [`refresh`](Self::refresh), or it is refreshed too often.
    pub const SMALL: Self = Self {
        dirty_entries: 1_024,
        cached_leaves: 4,
        anchor_blocks: 5,
        streams: Streams::Two,
        refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(1) },
        ..Self::LARGE
    };
}
