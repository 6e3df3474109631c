//! Format and mount.
//!
//! A mount writes nothing. It finds the last programmed page that can be read, and ignores it and everything newer
//! (`settle` programs it again). Among the older pages the largest stamp wins: among the pages of a leaf, and among the
//! tags of a sector, if they are newer than its leaf's page.

use core::fmt;

use ftl_iface::{BlockCount, NandDevice};

use super::address::Spot;
use super::blocks::Blocks;
use super::candidates::Candidates;
use super::config::{Bursts, PagedConfig};
use super::dirty::{DirtyTable, Entry, Old};
use super::door::{self, Door, Seen};
use super::header::{self, HeaderBlock};
use super::map::{Map, MapMemory};
use super::ram::{PagedRam, TableName};
use super::records::Anchors;
use super::shape::{Area, HEADERS, PagedShape};
use super::store::PageFtl;
use super::under_way::{Epoch, Leveling, Stream};
use crate::bugs::{Bug, planted};
use crate::config::Endurance;
use crate::error::Fault;
use crate::filter::{FilterConfig, Runs, SizeFilter};
use crate::layout::{FormatKey, Stamp};
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
    /// Both headers are damaged, or of another version.
    DamagedHeader,
    /// The device was formatted with another capacity, sector size or number of blocks.
    OtherConfig,
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
        f.write_str(match self {
            Self::WrongPlan => "the memory was planned for another device: plan it for this one",
            Self::NotFormatted => "the device has no page store: format it",
            Self::DamagedHeader => "both headers are damaged: format the device",
            Self::OtherConfig => {
                "the device was formatted with another capacity, sector size or division: mount it with those"
            }
            Self::BlockFailed => "no header could be written: the device is worn out",
            Self::Corrupt => "the data on flash is inconsistent: format the device",
            Self::Device(_) => "the device failed: mount it again",
        })
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
        let shape = *ram.plan().shape();
        let sectors = ram.words(TableName::DirtySectors);
        let places = ram.words(TableName::DirtyPlaces);
        let (owners, used) = (ram.words(TableName::CacheOwners), ram.words(TableName::CacheUsed));
        let (states, wear) = (ram.halves(TableName::States), ram.halves(TableName::Wear));
        let (buffer, pages) = (ram.bytes(TableName::Buffer), ram.bytes(TableName::CachePages));
        let (write, read) = (ram.bytes(TableName::WriteSpare), ram.bytes(TableName::ReadTag));
        let (kept, directory) = (ram.bytes(TableName::KeptTag), ram.bytes(TableName::Directory));
        let dirty = ram.bytes(TableName::DirtyLeaves);
        let table = DirtyTable::new(sectors, places, ram.bytes(TableName::DirtyBeyond));
        let anchor = ram.bytes(TableName::Anchor);
        let spans = [ram.bytes(TableName::Births), ram.bytes(TableName::Deaths)];
        Ok(Self {
            door: Door::new(device, probe, (&shape, config.refresh), read, write),
            shape,
            config: *config,
            table,
            map: Map::new(&shape, MapMemory { directory, dirty, owners, used, pages }),
            blocks: Blocks::new(states, wear, spans, &shape),
            opens: [None; Stream::ALL.len()],
            victims: [None; 2],
            candidates: [Candidates::NONE; 2],
            leveling: [Leveling::NONE; 2],
            throttle: throttle(&shape, config),
            fast_balance: 0,
            main_debt: 0,
            lifetime: 0,
            stayed: 0,
            filter: filter(config),
            runs: Runs::NONE,
            buffer,
            kept,
            epoch: Epoch::FIRST,
            anchors: Anchors::new(anchor, &shape),
            suspect: None,
            failing: None,
            settled: true,
            read_only: false,
            scrub: None,
            lost: 0,
            waited: 0,
            stamp_read: None,
            shares: false,
        })
    }

    /// Formats a device and mounts it. Everything on it is lost.
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
        ftl.door.set_key(key);
        let header = header::header(&ftl.shape, key);
        // Both old headers are erased before the first new one is written: an interrupted format leaves no device, or
        // the new one.
        let mut erased = [false; HEADERS as usize];
        for number in 0..HEADERS {
            // If the erase fails, the new header must be the younger one.
            let old = ftl.header_and_stamp(number)?.1;
            ftl.door.raise_stamp(old);
            erased[usize::from(number)] = ftl.erase_header(number)?;
        }
        let mut written = false;
        for number in 0..HEADERS {
            if erased[usize::from(number)] {
                ftl.door.hold_nothing();
                written |= ftl.put_header(number, &header)?;
            }
        }
        // There is no map page yet.
        ftl.map.end_proof();
        if written { Ok(ftl) } else { Err(PagedMountError::BlockFailed) }
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
        if !ftl.mount_by_anchor()? {
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
        if planted(Bug::TrustYoungest) {
            (ceiling, self.suspect) = (youngest.next(), None);
        }
        self.read_maps(ceiling)?;
        if !self.replay(ceiling)? {
            // Everything before the page fitted into the table when the page was written. If it no longer does,
            // something was erased since, which shows that the page was acknowledged: nothing needs to be repeated.
            self.suspect = None;
            self.table.clear();
            self.read_maps(youngest.next())?;
            if !self.replay(youngest.next())? {
                return Err(PagedMountError::Corrupt);
            }
        }
        self.count_references()?;
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
        let mut damaged = false;
        let mut youngest: Option<(header::Header, Stamp)> = None;
        for number in 0..HEADERS {
            if self.header_is_bad(number)? {
                continue;
            }
            match self.header_and_stamp(number)? {
                (HeaderBlock::Header(found), stamp) => {
                    youngest =
                        youngest.filter(|(_, other)| *other >= stamp).or(Some((found, stamp)));
                }
                (HeaderBlock::Damaged, _) => damaged = true,
                (HeaderBlock::Foreign, _) => {}
            }
        }
        let Some((found, _)) = youngest else {
            let damaged = damaged.then_some(PagedMountError::DamagedHeader);
            return Err(damaged.unwrap_or(PagedMountError::NotFormatted));
        };
        let key = header::key_of(&found);
        if found != header::header(&self.shape, key) {
            return Err(PagedMountError::OtherConfig);
        }
        self.door.set_key(key);
        Ok(())
    }

    fn note_bad_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.door.is_bad(block)? {
                self.blocks.retire(block);
                self.blocks.failed += 1;
            }
        }
        Ok(())
    }

    /// Finds the dirty entries: tags below the ceiling that are newer than the map page of their leaf. Returns `false`
    /// if the table is too small for them.
    fn replay(&mut self, ceiling: Stamp) -> Result<bool, Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.is_young(block)? {
                for page in 0..self.shape.area_at(block).pages {
                    if !self.replay_page(Spot { block, page }, ceiling)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn replay_page(&mut self, spot: Spot, ceiling: Stamp) -> Result<bool, Fault<D::Error>> {
        let Seen::Page(tag) = self.door.look(spot, Cause::Mount)? else { return Ok(true) };
        self.pin_again(spot, tag.stamp);
        if !door::is_sectors(tag.kind) || tag.stamp >= ceiling {
            return Ok(true);
        }
        self.keep_tag();
        let limit = self.shape.table_entries + u32::from(self.shape.slots_max());
        for slot in 0..self.shape.area_at(spot.block).slots {
            let held = crate::layout::slot(self.kept, usize::from(slot));
            let Some(sector) = held.copy_of() else { continue };
            if sector.get() >= self.shape.capacity.get() {
                continue;
            }
            let (leaf, _) = self.shape.leaf_of(sector);
            if self.leaf_stamp(leaf)? > tag.stamp && !planted(Bug::TakeOldTags) {
                continue;
            }
            let place = self.place(spot, slot);
            match self.table.get(sector) {
                Some(entry) => {
                    let (other, _) = self.shape.spot(entry.place);
                    if self.stamp_at(other)? > tag.stamp && !planted(Bug::TakeLastTag) {
                        continue;
                    }
                }
                // Entries of a page repeated after a mount may exceed the configured number.
                None if self.table.len() >= limit => return Ok(false),
                None => self.map.note_dirty(leaf),
            }
            if !self.table.put(sector, Entry { place, old: Old::Released }) {
                return Ok(false);
            }
        }
        Ok(true)
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
    let endurance = endurance.unwrap_or(Endurance { log: 0, chain: 0 });
    Throttle::new(ThrottleConfig {
        enabled,
        log_blocks: BlockCount::new(fast),
        chain_blocks: BlockCount::new(shape.main.blocks),
        log_endurance: endurance.log,
        chain_endurance: endurance.chain,
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
