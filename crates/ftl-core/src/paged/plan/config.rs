//! The user's configuration of the page store.

use ftl_iface::{Bytes, Corrected, SectorCount};

use super::feature::Feature;
use crate::config::{Endurance, FilterChoice, PairedPages, RunEnds, WearLeveling};

/// The user's configuration; the device determines the rest.
///
/// A device is mounted with the sector size, the capacity, the anchor blocks and the protection of paired pages of its
/// format, and with as many dirty entries or fewer. All else may change from mount to mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedConfig {
    /// The mapping unit: a power of two, from 512 bytes to the smaller page size.
    pub sector_bytes: Bytes,
    /// The exported capacity. `None` exports nineteen blocks in twenty of the main area. A capacity that takes every
    /// block leaves no reserve ([`Health::reserve`](crate::Health::reserve) is 0): the first block that fails makes the
    /// device read-only.
    pub capacity: Option<SectorCount>,
    /// Dirty entries: sectors whose newest address is in RAM and in tags, but not in a map page yet. More of them
    /// cause fewer map writes, and take eight to nine bytes each.
    pub dirty_entries: u32,
    /// Map pages cached in RAM: at least two.
    pub cached_leaves: u16,
    /// Blocks for anchors, which make a mount quick. Without any, each mount reads every block.
    pub anchor_blocks: u16,
    /// Which kinds of data get open blocks of their own.
    pub streams: Streams,
    /// The choice of victims for garbage collection.
    pub victims: Victims,
    /// Which writes enter the fast area.
    pub filter: FilterChoice,
    /// Where small writes go that continue a run of large ones.
    pub run_ends: RunEnds,
    /// Whether the age of the replaced data decides where a large write goes.
    pub history: History,
    /// How paired pages are protected, which share cells with the page to program.
    pub paired_pages: PairedPages,
    /// When blocks are refreshed because their error counts rise.
    pub refresh: RefreshLimits,
    /// The difference of erase counts within an area above which the least worn block in use is emptied.
    pub wear_leveling: WearLeveling,
    /// The endurance of blocks of both areas. The fast area then takes only as many host writes as let both wear out
    /// together. `None`: it takes all hot writes.
    pub throttle: Option<Endurance>,
    /// Where large writes go while the fast area has free blocks.
    pub bursts: Bursts,
}

/// A block is refreshed if this many bits of a codeword, or more, had to be corrected.
/// Three quarters of what the part corrects leaves enough time. [`Corrected::NONE`]: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshLimits {
    /// In the fast area, and in headers before it.
    pub fast: Corrected,
    /// In the main area, and in headers if there is no fast area.
    pub main: Corrected,
}

impl RefreshLimits {
    /// Nothing is refreshed.
    pub const NEVER: Self = Self { fast: Corrected::NONE, main: Corrected::NONE };

    /// Whether nothing is refreshed.
    pub(crate) const fn is_never(self) -> bool {
        self.fast.get() == Corrected::NONE.get() && self.main.get() == Corrected::NONE.get()
    }
}

/// Open blocks of the main area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// One, for the host's writes and for copies.
    One,
    /// One for host data, which is likely to be replaced soon, and one for copies, which are older. Host data that
    /// the host expects to live long goes to the latter.
    Two,
    /// Five: host data with a short or a long expected lifetime; data that left the fast area; copies from young blocks
    /// and from old ones. The four lifetimes that a host may give each go to one of them.
    ByLifetime,
}

impl Streams {
    /// The most blocks of the main area that are open at a time.
    pub const fn count(self) -> u16 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::ByLifetime => 5,
        }
    }
}

/// Whether the age of the replaced data decides where a large write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// No: large writes go to the main area.
    Ignored,
    /// Yes: pages that replace recently written data enter the fast area, as long as most data that
    /// enters it is replaced there.
    Heeded,
}

/// Where large writes go while more than a quarter of the fast area is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    /// To the main area.
    ToMain,
    /// To the fast area, for hosts that pause: it is faster, and idle work moves the data on until half of it is free
    /// again. With the given endurance of both areas, they enter only while the
    /// fast area does not wear out before the main one.
    ToFast(Endurance),
}

/// The choice of victims for garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victims {
    /// Greedy: the block with the fewest valid sectors.
    Greedy,
    /// Cost-benefit: the most space freed for the work. A block's value rises with the time until its valid data is
    /// expected to be replaced, or since then: data that is replaced soon needs no copy.
    CostBenefit,
}

impl PagedConfig {
    /// Defaults for a device of Chang's kind: 2-KiB sectors, a table of 9,590 entries. Its SLC corrects one bit of 512
    /// bytes, its MLC four. Like [`SMALL`](Self::SMALL), without the [features](Feature) that this build leaves out.
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
    }
    .as_built();

    /// Defaults for a chip beside a microcontroller, which corrects one bit of a codeword: 776 entries and two map
    /// pages, so that 1 Gbit with pages of 2 KiB takes 24 KiB of RAM. If yours corrects more, set
    /// [`refresh`](Self::refresh), or blocks are refreshed too often.
    pub const SMALL: Self = Self {
        dirty_entries: 776,
        cached_leaves: 2,
        anchor_blocks: 5,
        streams: Streams::Two,
        refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(1) },
        ..Self::LARGE
    }
    .as_built();

    /// Returns the configuration without the [features](Feature) that this build leaves out.
    #[must_use]
    pub const fn as_built(mut self) -> Self {
        if !Feature::Anchors.is_built() {
            self.anchor_blocks = 0;
        }
        if !Feature::History.is_built() {
            self.history = History::Ignored;
        }
        if !Feature::Bursts.is_built() {
            self.bursts = Bursts::ToMain;
        }
        if !Feature::Throttle.is_built() {
            self.throttle = None;
        }
        if !Feature::Lifetimes.is_built() {
            self.victims = Victims::Greedy;
            if matches!(self.streams, Streams::ByLifetime) {
                self.streams = Streams::Two;
            }
        }
        if !Feature::Refresh.is_built() {
            self.refresh = RefreshLimits::NEVER;
        }
        self.wear_leveling.enabled &= Feature::WearLeveling.is_built();
        self
    }

    /// Returns a feature that is needed on such a device, and that this build lacks.
    pub(super) const fn not_built(&self, needs: Needs) -> Option<Feature> {
        let lifetimes = matches!(self.streams, Streams::ByLifetime)
            || matches!(self.victims, Victims::CostBenefit);
        let asked = [
            (Feature::Anchors, self.anchor_blocks > 0),
            (Feature::FastArea, needs.fast_area),
            (Feature::History, matches!(self.history, History::Heeded)),
            (Feature::Bursts, matches!(self.bursts, Bursts::ToFast(_))),
            (Feature::Throttle, self.throttle.is_some()),
            (Feature::Lifetimes, lifetimes),
            (Feature::PairedPages, needs.protection),
            (Feature::Refresh, !self.refresh.is_never()),
            (Feature::WearLeveling, self.wear_leveling.enabled),
        ];
        let mut at = 0;
        while at < asked.len() {
            let (feature, is_asked) = asked[at];
            if is_asked && !feature.is_built() {
                return Some(feature);
            }
            at += 1;
        }
        None
    }
}

/// What a device asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// It has both regions.
    pub(super) fast_area: bool,
    /// Its cells hold several pages, and these are to be protected.
    pub(super) protection: bool,
}
