//! Format and mount.
//!
//! A mount writes nothing. It finds the last programmed page that can be read, and ignores it and everything newer
//! (`settle` programs it again). Among the older pages the largest stamp wins: among the pages of a leaf, and among the
//! tags of a sector, if they are newer than its leaf's page.

use core::fmt;

use ftl_iface::{BlockCount, NandDevice};

use super::quick::ByAnchor;
use super::replaced::Replaced;
use crate::config::Endurance;
use crate::error::Fault;
use crate::filter::{FilterConfig, Runs, SizeFilter};
use crate::flash::{Erasure, Holder};
use crate::layout::{self, FormatKey, OtherFormat, Stamp};
use crate::paged::flash::{KeptSlots, PagedFlash, TagMemory};
use crate::paged::plan::config::{Bursts, PagedConfig};
use crate::paged::plan::ram::{PagedRam, TableName};
use crate::paged::plan::shape::{Area, HEADERS, PagedShape};
use crate::paged::rules;
use crate::paged::tables::bins::BinMemory;
use crate::paged::tables::blocks::{BlockMemory, Blocks};
use crate::paged::tables::candidates::Candidates;
use crate::paged::tables::dirty::DirtyTable;
use crate::paged::tables::effort::Effort;
use crate::paged::tables::map::{Map, MapMemory};
use crate::paged::tables::rates::RateMemory;
use crate::paged::tables::records::{Anchors, Trace};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Epoch, Leveling, MapPages, Stream, TablePart};
use crate::paged::upkeep::header::HeaderChange;
use crate::paged::upkeep::identity::{self, Header, HeaderBlock, OtherSetting};
use crate::probe::{Cause, Probe};
use crate::throttle::{Throttle, ThrottleConfig};

/// The reason why a device was not formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PagedMountError<E> {
    /// The memory was planned for another device or configuration.
    WrongPlan,
    /// The device has no header of the page store.
    NotFormatted,
    /// The device was formatted by the hybrid FTL.
    OfHybrid,
    /// The device was formatted by a version of the page store that has another format.
    OtherVersion(OtherFormat),
    /// Both headers are damaged, or cannot be read: there may be data behind them.
    DamagedHeader,
    /// The device was formatted with another geometry or configuration.
    OtherConfig(OtherSetting),
    /// Neither header could be written.
    BlockFailed,
    /// The data on flash is inconsistent.
    Corrupt,
    /// The device failed.
    Device(Option<E>),
}

impl<E> From<Fault<E>> for PagedMountError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Device(error) => Self::Device(error),
            Fault::BlockFailed | Fault::ReadOnly => Self::BlockFailed,
            Fault::Uncorrectable | Fault::Corrupt => Self::Corrupt,
        }
    }
}

impl<E: fmt::Debug> fmt::Display for PagedMountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongPlan => {
                f.write_str("the memory was planned for another device: plan it for this one")
            }
            Self::NotFormatted => f.write_str("the device has no page store: format it"),
            Self::OfHybrid => f.write_str("the device holds the hybrid FTL: mount that, or format"),
            Self::OtherVersion(other) => other.fmt(f),
            Self::DamagedHeader => f.write_str(
                "both headers are damaged or cannot be read: if the driver has the ECC right, only a format helps",
            ),
            Self::OtherConfig(other) => write!(f, "{other}: mount it as it was formatted"),
            Self::BlockFailed => f.write_str("no header could be written: the device is worn out"),
            Self::Corrupt => f.write_str("the data on flash is inconsistent: format the device"),
            Self::Device(_) => f.write_str("the device failed: mount it again"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for PagedMountError<E> {}

impl<'ram, D: NandDevice, P: Probe> PageFtl<'ram, D, P> {
    fn assemble(
        device: D,
        config: &PagedConfig,
        mut ram: PagedRam<'ram>,
        probe: P,
    ) -> Result<Self, PagedMountError<D::Error>> {
        if !ram.plan().is_for(device.geometry(), config) {
            return Err(PagedMountError::WrongPlan);
        }
        let shape = ram.plan().shape;
        let (firsts, order) = (ram.words(TableName::DirtyFirsts), ram.words(TableName::DirtyOrder));
        let words = ram.words(TableName::DirtyPlaces);
        let (owners, used) = (ram.words(TableName::CacheOwners), ram.words(TableName::CacheUsed));
        let lows = ram.halves(TableName::DirtyLows);
        let blocks = Blocks::new(block_memory(&mut ram), &shape);
        let (buffer, pages) = (ram.bytes(TableName::Buffer), ram.bytes(TableName::CachePages));
        let tags = tag_memory(&mut ram);
        let (kept, directory) = (ram.bytes(TableName::KeptTag), ram.bytes(TableName::Directory));
        let (dirty, anchor) = (ram.bytes(TableName::DirtyLeaves), ram.bytes(TableName::Anchor));
        Ok(Self {
            flash: PagedFlash::new(device, probe, &shape, config.refresh, tags),
            shape,
            config: *config,
            table: DirtyTable::new(BinMemory { firsts, order, words, lows }, shape.table_most),
            map: Map::new(&shape, MapMemory { directory, dirty, owners, used, pages }),
            blocks,
            opens: [None; Stream::ALL.len()],
            victims: [None; 2],
            candidates: [Candidates::NONE; 2],
            leveling: [Leveling::NONE; 2],
            throttle: throttle(&shape, config),
            fast_balance: 0,
            skipped: 0,
            main_debt: 0,
            effort: Effort::NONE,
            victims_age: 0,
            stayed: 0,
            filter: filter(config),
            runs: Runs::NONE,
            buffer,
            kept: KeptSlots::new(kept),
            formatted_entries: shape.table_entries,
            counting: None,
            epoch: Epoch::FIRST,
            anchors: Anchors::new(anchor, &shape),
            suspect: None,
            failing: None,
            rewritten: None,
            settled: true,
            read_only: false,
            scrub: None,
            lost: 0,
            waited: 0,
            unreadable: None,
            map_pages: MapPages::Whole,
            part: TablePart::all(shape.end()),
            stamp_read: None,
            shares: false,
        })
    }

    /// Formats a device and mounts it. Everything on it is lost. After a power cut in a format, a mount may also say
    /// [`DamagedHeader`](PagedMountError::DamagedHeader): then format again.
    ///
    /// `key` separates this format from pages of earlier ones: use a new one at each format.
    pub fn format(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
        key: u32,
        probe: P,
    ) -> Result<Self, PagedMountError<D::Error>> {
        let mut ftl = Self::assemble(device, config, ram, probe)?;
        ftl.note_bad_blocks()?;
        let key = FormatKey::new(key);
        ftl.flash.set_key(key);
        ftl.flash.hold_nothing();
        // Both headers go before anything else: a format that is cut leaves the old device whole, or none.
        let mut erased = [HeaderChange::Bad; HEADERS as usize];
        for number in 0..HEADERS {
            // If the erase fails, the new header must be the younger one.
            let old = ftl.header_and_stamp(number)?.1;
            ftl.flash.raise_stamp(old.next());
            erased[usize::from(number)] = ftl.erase_header(number)?;
        }
        ftl.erase_all()?;
        let header = ftl.own_header();
        let mut written = HeaderChange::Bad;
        for (number, erased) in (0..HEADERS).zip(erased) {
            if erased == HeaderChange::Done
                && ftl.put_header(number, &header)? == HeaderChange::Done
            {
                written = HeaderChange::Done;
            }
        }
        // There is no map page yet.
        ftl.map.prove(ftl.shape.leaves);
        match written {
            HeaderChange::Done => Ok(ftl),
            HeaderChange::Bad => Err(PagedMountError::BlockFailed),
        }
    }

    /// Erases the ring of anchors and every block.
    fn erase_all(&mut self) -> Result<(), Fault<D::Error>> {
        if !rules::must_erase_all_in_format() {
            return Ok(());
        }
        for block in 0..self.shape.anchor_blocks() {
            if !self.ring_block_is_bad(block)? {
                // One that fails is marked bad.
                let _ = self.erase_ring_block(block)?;
            }
        }
        for block in self.blocks.all() {
            if self.blocks.is_bad(block) {
                continue;
            }
            if self.flash.erase(block, Cause::Meta)? == Erasure::Failed {
                self.blocks.failed += 1;
                self.retire(block)?;
            }
        }
        self.blocks.note_all_erased();
        Ok(())
    }

    /// Mounts a device.
    pub fn mount(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
        probe: P,
    ) -> Result<Self, PagedMountError<D::Error>> {
        let mut ftl = Self::assemble(device, config, ram, probe)?;
        ftl.find_header()?;
        if ftl.mount_by_anchor()? == ByAnchor::Untrusted {
            ftl.mount_by_scan()?;
        }
        ftl.resume_epoch();
        ftl.restore_throttle();
        ftl.settled = false;
        Ok(ftl)
    }

    /// Reads every block.
    fn mount_by_scan(&mut self) -> Result<(), PagedMountError<D::Error>> {
        self.table.clear();
        self.map.clear();
        self.blocks.forget();
        self.suspect = None;
        self.anchors.forget_records();
        self.anchors.base = None;
        self.note_bad_blocks()?;
        let (mut ceiling, youngest) = self.find_suspect()?;
        if !rules::must_repeat_youngest() {
            (ceiling, self.suspect) = (youngest.next(), None);
        }
        self.read_maps(ceiling)?;
        self.blocks.times.set_now(self.blocks.times.tick_of(youngest));
        self.part.ceiling = ceiling;
        self.enter_part()?;
        if self.replaced()? == Replaced::Gone {
            if !rules::must_repeat_counted() {
                self.suspect = None;
                self.blocks.unpin_all();
            }
            self.part.ceiling = youngest.next();
            self.read_maps(youngest.next())?;
            self.enter_part()?;
        }
        // What is given up was given up now: the page's block may be used again.
        self.unreadable = None;
        self.part.resumed = self.flash.stamp();
        if self.anchors.block.is_none() {
            self.anchors.renumber(rules::numbers_go_on_from(self.flash.stamp()));
        }
        // What made this mount distrust the last anchor will make the next one.
        self.anchors.trace = Trace::Left;
        Ok(())
    }

    /// Restores the throttle from the wear of both areas.
    fn restore_throttle(&mut self) {
        let sum = |area| -> u64 {
            let good = self.blocks.of(area).filter(|block| !self.blocks.is_bad(*block));
            good.map(|block| u64::from(self.blocks.wear(block))).sum()
        };
        self.throttle.restore(sum(Area::Fast), sum(Area::Main), BlockCount::ZERO);
    }

    /// Finds the newer of the two headers: next to the current one there may be one of an earlier format that could not
    /// be erased.
    fn find_header(&mut self) -> Result<(), PagedMountError<D::Error>> {
        let mut worst = PagedMountError::NotFormatted;
        let mut youngest: Option<(Header, Stamp)> = None;
        for number in 0..HEADERS {
            if self.header_is_bad(number)? {
                continue;
            }
            match self.header_and_stamp(number)? {
                (HeaderBlock::Header(found), stamp) => {
                    youngest =
                        youngest.filter(|(_, other)| *other >= stamp).or(Some((found, stamp)));
                }
                // What another release or FTL has written says more than a page that cannot be read.
                (HeaderBlock::Damaged, _) if matches!(worst, PagedMountError::NotFormatted) => {
                    worst = PagedMountError::DamagedHeader;
                }
                (HeaderBlock::OtherVersion(other), _) => {
                    worst = PagedMountError::OtherVersion(other);
                }
                (HeaderBlock::OfHybrid, _) => worst = PagedMountError::OfHybrid,
                (HeaderBlock::Damaged | HeaderBlock::Foreign | HeaderBlock::Erased, _) => {}
            }
        }
        let Some((found, _)) = youngest else {
            let is_nobodys =
                matches!(worst, PagedMountError::NotFormatted | PagedMountError::DamagedHeader);
            if is_nobodys && self.flash.look_for(layout::Header::MAGIC)? == Holder::ThatFtl {
                return Err(PagedMountError::OfHybrid);
            }
            return Err(worst);
        };
        if let Some(other) = identity::other_setting(&found, &self.shape) {
            return Err(PagedMountError::OtherConfig(other));
        }
        self.flash.set_key(identity::key_of(&found));
        self.formatted_entries = identity::dirty_entries(&found);
        self.flash.optional = layout::optional_features(&found);
        Ok(())
    }

    fn note_bad_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.flash.is_bad(block)? {
                self.blocks.retire(block);
                self.blocks.failed += 1;
            }
        }
        Ok(())
    }
}

fn tag_memory<'ram>(ram: &mut PagedRam<'ram>) -> TagMemory<'ram> {
    let write = ram.bytes(TableName::WriteSpare);
    TagMemory { write, read: ram.bytes(TableName::ReadTag) }
}

fn block_memory<'ram>(ram: &mut PagedRam<'ram>) -> BlockMemory<'ram> {
    BlockMemory {
        states: ram.halves(TableName::States),
        wear: ram.halves(TableName::Wear),
        times: ram.halves(TableName::Times),
        rates: RateMemory {
            there: ram.halves(TableName::RatesThere),
            lost: ram.halves(TableName::RatesLost),
            stays: ram.halves(TableName::RatesStays),
        },
    }
}

/// Creates the throttle that keeps host writes, or only bursts, out of the fast area. It has no window to narrow.
fn throttle(shape: &PagedShape, config: &PagedConfig) -> Throttle {
    let fast = shape.fast.map_or(0, |fast| fast.blocks);
    let bursts = match config.bursts {
        Bursts::ToMain => None,
        Bursts::ToFast(endurance) => Some(endurance),
    };
    let endurance = config.throttle.or(bursts);
    let enabled = endurance.is_some() && fast > 0;
    let endurance = endurance.unwrap_or(Endurance { fast: 0, main: 0 });
    Throttle::new(ThrottleConfig {
        enabled,
        fast_blocks: BlockCount::new(fast),
        main_blocks: BlockCount::new(shape.main.blocks),
        fast_endurance: endurance.fast,
        main_endurance: endurance.main,
        window_floor: BlockCount::ZERO,
        window_max: BlockCount::ZERO,
        period: ThrottleConfig::PERIOD,
    })
}

fn filter(config: &PagedConfig) -> SizeFilter {
    let all = [ftl_iface::Bytes::new(u32::MAX); 2];
    let [initial, largest] = config.filter.limits(config.sector_bytes).unwrap_or(all);
    let (sector, period) = (config.sector_bytes, FilterConfig::PERIOD);
    SizeFilter::new(FilterConfig { initial, largest, sector, period })
}
