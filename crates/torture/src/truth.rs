//! The record of what was acknowledged: what each sector must read as, and what it may read as after a cut.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use ftl_iface::{BlockStore, Sector, SectorCount, StoreReadError};
use nand_model::Stamp;

use crate::dice::Dice;

/// The content of a sector: the request that wrote it, or nothing.
///
/// One number encodes both sector and request, so that any content found shows its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Version(u32);

impl Version {
    /// Never written, or trimmed: the sector reads as zeros.
    pub const NONE: Self = Self(0);
}

/// What a sector must read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Expected {
    now: Version,
    /// It was reported lost: it may stay lost until it is written, or read as before.
    lost: bool,
}

/// Whether all bytes are compared, or only the stamps that identify writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The device stores only stamps.
    Stamps,
    /// Every byte.
    Bytes,
}

/// What was acknowledged, and what was requested.
#[derive(Clone, Debug)]
pub struct Truth {
    sectors: Vec<Expected>,
    /// The versions of unacknowledged requests, by sectors that were not read since: a sector may hold any of them, or
    /// its version before.
    asked: BTreeMap<u32, Vec<Version>>,
    sector_bytes: usize,
    compare: Compare,
    /// Requests begun so far.
    requests: u32,
    /// Versions that a fault made unreadable when they were programmed, sorted.
    unreadable_pages: Vec<Version>,
    /// Those of them for which an older version may be found, because nothing else recorded what the page held.
    untold: Vec<Version>,
    /// Those of them of which another copy may still be found later.
    open: Vec<Version>,
    /// Sectors whose places in a data block a fault made unreadable, sorted.
    places: Vec<Sector>,
    /// Sectors that were marked as lost on pages which became unreadable themselves, and which nothing else recorded.
    marks: Vec<Sector>,
    /// Sectors that were on an unreadable page which still exists. Whether a copy elsewhere is newer may be unknown.
    dead: Vec<Sector>,
    /// Sectors that were on one when they were written last, or later.
    doubted: BTreeSet<u32>,
    /// Sectors found older than expected since they were written, because nothing recorded the page that a fault took.
    aged: BTreeSet<u32>,
    /// Sectors whose map page became unreadable since they were written: they may be lost, or older.
    unmapped: BTreeSet<u32>,
}

/// What faults have made unreadable.
#[derive(Clone, Debug, Default)]
pub struct Unreadables {
    /// Contents that were programmed and may be reported lost.
    pub contents: Vec<Stamp>,
    /// Those for which older ones may be found, because nothing else recorded what their page held.
    pub untold: Vec<Stamp>,
    /// Those of them of which another copy may still be found later.
    pub open: Vec<Stamp>,
    /// Those whose pages still exist.
    pub dead: Vec<Stamp>,
    /// Sectors that may be reported lost whatever they hold, because their places cannot be read.
    pub places: Vec<Sector>,
    /// Sectors that were marked as lost, of which nothing tells that any more.
    pub marks: Vec<Sector>,
}

/// What a sector read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadBack {
    /// All zeros.
    Zeros,
    /// Data of a request, for this sector or another.
    Written {
        /// The request.
        request: u32,
        /// The sector that it was written to.
        sector: u32,
    },
    /// Bytes that no request wrote.
    Garbage,
    /// The beginning of one write, and not its end.
    Mix,
    /// It was reported lost.
    Lost,
    /// The read failed otherwise.
    Error(String),
}

impl fmt::Display for ReadBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeros => f.write_str("zeros"),
            Self::Written { request, sector } => {
                write!(f, "the content that request {request} wrote to sector {sector}")
            }
            Self::Garbage => f.write_str("bytes that were never written"),
            Self::Mix => f.write_str("a mix of one write and something else"),
            Self::Lost => f.write_str("the error that its content is lost"),
            Self::Error(error) => write!(f, "the error {error}"),
        }
    }
}

/// A wrong content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The sector.
    pub sector: Sector,
    /// The expected content.
    pub expected: String,
    /// The content found.
    pub found: ReadBack,
}

/// Sectors that are read at once when a whole device is compared.
const RUN: u32 = 16;

impl Truth {
    /// A formatted device: all zeros.
    pub fn new(capacity: u32, sector_bytes: usize, compare: Compare) -> Self {
        let sectors = vec![Expected::default(); capacity as usize];
        Self {
            sectors,
            asked: BTreeMap::new(),
            sector_bytes,
            compare,
            requests: 0,
            unreadable_pages: Vec::new(),
            untold: Vec::new(),
            open: Vec::new(),
            places: Vec::new(),
            marks: Vec::new(),
            dead: Vec::new(),
            doubted: BTreeSet::new(),
            aged: BTreeSet::new(),
            unmapped: BTreeSet::new(),
        }
    }

    /// The same device, formatted anew: all zeros, and nothing of before may be read.
    #[must_use]
    pub fn formatted_anew(&self) -> Self {
        let Self { sector_bytes, compare, requests, .. } = *self;
        Self { requests, ..Self::new(self.sectors.len() as u32, sector_bytes, compare) }
    }

    /// The map page of these sectors became unreadable.
    pub fn unmap(&mut self, sectors: Range<u32>) {
        self.unmapped.extend(sectors);
    }

    /// Requests begun so far.
    pub const fn requests(&self) -> u32 {
        self.requests
    }

    const fn version(&self, sector: u32) -> Version {
        Version(self.requests * self.sectors.len() as u32 + sector)
    }

    /// Begins a write; fills `data` with what is to be written.
    pub fn begin_write(&mut self, first: u32, count: u32, data: &mut Vec<u8>) {
        self.requests += 1;
        data.clear();
        for sector in first..first + count {
            let version = self.version(sector);
            self.asked.entry(sector).or_default().push(version);
            fill(version, self.sector_bytes, self.compare, data);
        }
    }

    /// Begins a trim.
    pub fn begin_trim(&mut self, first: u32, count: u32) {
        self.requests += 1;
        for sector in first..first + count {
            self.asked.entry(sector).or_default().push(Version::NONE);
        }
    }

    /// Notes that the request was acknowledged, so its versions are now expected.
    pub fn acknowledge(&mut self, first: u32, count: u32) {
        for sector in first..first + count {
            if let Some(now) = self.asked.remove(&sector).and_then(|asked| asked.last().copied()) {
                self.sectors[sector as usize] = Expected { now, lost: false };
                self.unmapped.remove(&sector);
                self.aged.remove(&sector);
                if !self.dead.contains(&Sector::new(sector)) {
                    self.doubted.remove(&sector);
                }
            }
        }
    }

    /// Sets what faults have made unreadable so far.
    pub fn mark_unreadable(&mut self, unreadables: Unreadables) {
        let sorted = |stamps: &[Stamp]| {
            let mut versions: Vec<_> = stamps.iter().map(|stamp| Version(stamp.get())).collect();
            versions.sort_unstable();
            versions
        };
        (self.unreadable_pages, self.untold) =
            (sorted(&unreadables.contents), sorted(&unreadables.untold));
        self.open = sorted(&unreadables.open);
        (self.places, self.marks) = (unreadables.places, unreadables.marks);
        self.places.sort_unstable();
        let capacity = self.sectors.len() as u32;
        let sectors = unreadables.dead.iter().map(|stamp| Sector::new(stamp.get() % capacity));
        self.dead = sectors.collect();
        self.doubted.extend(self.dead.iter().map(|sector| sector.get()));
    }

    /// Whether some content was made unreadable so far.
    pub fn has_unreadable(&self) -> bool {
        !self.unreadable_pages.is_empty() || !self.unmapped.is_empty()
    }

    fn asked_of(&self, sector: u32) -> &[Version] {
        self.asked.get(&sector).map_or(&[], Vec::as_slice)
    }

    fn may_be_lost(&self, sector: u32, expected: Expected) -> bool {
        let unreadable_pages =
            |version: Version| self.unreadable_pages.binary_search(&version).is_ok();
        expected.lost
            || self.unmapped.contains(&sector)
            || self.doubted.contains(&sector)
            || unreadable_pages(expected.now)
            || self.asked_of(sector).iter().any(|asked| unreadable_pages(*asked))
            || self.places.binary_search(&Sector::new(sector)).is_ok()
    }

    /// Whether an older version may be found instead of the expected one.
    fn may_be_older(&self, sector: u32, expected: Expected, found: &ReadBack) -> bool {
        // Of two older copies, first the one may be found and after a mount the other.
        let untold = self.newest_untold(sector, expected);
        // A power cut may have torn the page of the copy that was found. It was repeated then, and may be gone by now.
        let untold = untold.max(self.aged.contains(&sector).then_some(expected.now));
        let is_unmapped = self.unmapped.contains(&sector);
        match found {
            ReadBack::Zeros => is_unmapped || untold.is_some(),
            // Whatever it was once; a trim that the map page recorded has no number of its own.
            ReadBack::Written { sector: named, .. } if is_unmapped => *named == sector,
            ReadBack::Written { request, sector: named } => {
                *named == sector && untold > Some(self.written_by(*request, sector))
            }
            _ => false,
        }
    }

    /// The newest of the versions that a sector may have, of those that nothing records.
    fn newest_untold(&self, sector: u32, expected: Expected) -> Option<Version> {
        // A write in flight may have replaced the version before, whose block may have been erased.
        let written = [expected.now].into_iter().chain(self.asked_of(sector).iter().copied());
        written.filter(|version| self.is_untold(*version)).max()
    }

    /// Whether nothing records that content, which a fault made unreadable, or that it is lost.
    fn is_untold(&self, version: Version) -> bool {
        let sector = Sector::new(version.0 % self.sectors.len() as u32);
        self.untold.binary_search(&version).is_ok()
            || self.unreadable_pages.binary_search(&version).is_ok() && self.marks.contains(&sector)
    }

    fn written_by(&self, request: u32, sector: u32) -> Version {
        Version(request * self.sectors.len() as u32 + sector)
    }

    /// Reads sectors and compares them. Content found of an unacknowledged request is expected from then on.
    pub fn compare<S: BlockStore + ?Sized>(
        &mut self,
        store: &mut S,
        first: u32,
        count: u32,
    ) -> Result<(), Wrong> {
        let bytes = self.sector_bytes;
        let mut data = vec![0xA5; count.min(RUN) as usize * bytes];
        let mut at = first;
        while at < first + count {
            let run = (first + count - at).min(RUN);
            let data = &mut data[..run as usize * bytes];
            match store.read(Sector::new(at), data) {
                Ok(()) => {
                    for (offset, sector) in data.chunks(bytes).enumerate() {
                        let found = self.found(sector);
                        self.settle(at + offset as u32, found)?;
                    }
                }
                Err(_) if run > 1 => {
                    // One by one, because the others of the run may be readable.
                    for sector in at..at + run {
                        self.compare(store, sector, 1)?;
                    }
                }
                Err(StoreReadError::Lost(_)) => self.settle(at, ReadBack::Lost)?,
                Err(error) => self.settle(at, ReadBack::Error(format!("{error:?}")))?,
            }
            at += run;
        }
        Ok(())
    }

    /// Compares the whole device.
    pub fn compare_all<S: BlockStore + ?Sized>(&mut self, store: &mut S) -> Result<(), Wrong> {
        self.compare(store, 0, self.sectors.len() as u32)
    }

    fn found(&self, sector: &[u8]) -> ReadBack {
        let Some(stamp) = Stamp::read_from(sector) else {
            let zeros = sector.iter().all(|byte| *byte == 0);
            return if zeros { ReadBack::Zeros } else { ReadBack::Garbage };
        };
        if self.compare == Compare::Bytes {
            let mut whole = Vec::with_capacity(self.sector_bytes);
            fill(Version(stamp.get()), self.sector_bytes, self.compare, &mut whole);
            if whole != sector {
                return ReadBack::Mix;
            }
        }
        let capacity = self.sectors.len() as u32;
        ReadBack::Written { request: stamp.get() / capacity, sector: stamp.get() % capacity }
    }

    fn settle(&mut self, sector: u32, found: ReadBack) -> Result<(), Wrong> {
        let expected = self.sectors[sector as usize];
        let fits = |version: Version| self.describes(version, &found);
        let settled = if fits(expected.now) {
            Expected { now: expected.now, lost: false }
        } else if let Some(asked) = self.asked_of(sector).iter().find(|asked| fits(**asked)) {
            Expected { now: *asked, lost: false }
        } else if found == ReadBack::Lost && self.may_be_lost(sector, expected) {
            // The expected version stays, because another copy may still be found after a mount.
            self.sectors[sector as usize].lost = true;
            return Ok(());
        } else if self.may_be_older(sector, expected, &found) {
            let now = match found {
                ReadBack::Written { request, .. } => self.written_by(request, sector),
                _ => Version::NONE,
            };
            Expected { now, lost: false }
        } else {
            let expected = self.sentence(sector, expected);
            return Err(Wrong { sector: Sector::new(sector), expected, found });
        };
        if self.newest_untold(sector, expected) > Some(settled.now) {
            // The page of an older copy may be torn, and gone at the next mount.
            self.doubted.insert(sector);
            self.aged.insert(sector);
        }
        let asked = self.asked.remove(&sector).unwrap_or_default();
        let mut open: Vec<Version> = [expected.now].into_iter().chain(asked).collect();
        open.retain(|version| self.open.binary_search(version).is_ok() && *version != settled.now);
        if !open.is_empty() {
            self.asked.insert(sector, open);
        }
        self.sectors[sector as usize] = settled;
        Ok(())
    }

    fn describes(&self, version: Version, found: &ReadBack) -> bool {
        match found {
            ReadBack::Zeros => version == Version::NONE,
            ReadBack::Written { request, sector } => version == self.written_by(*request, *sector),
            _ => false,
        }
    }

    fn sentence(&self, sector: u32, expected: Expected) -> String {
        let one = |version: &Version| match version {
            Version(0) => "zeros".into(),
            Version(number) => {
                format!("the content of request {}", number / self.sectors.len() as u32)
            }
        };
        let all = [expected.now].into_iter().chain(self.asked_of(sector).iter().copied());
        let mut all: Vec<String> = all.map(|version| one(&version)).collect();
        all.dedup();
        if expected.lost {
            all.push("lost".into());
        }
        all.join(" or ")
    }

    /// All sectors, as a count.
    pub fn capacity(&self) -> SectorCount {
        SectorCount::new(self.sectors.len() as u32)
    }
}

/// The content of a version: its stamp, followed by bytes that no other version has.
fn fill(version: Version, bytes: usize, compare: Compare, data: &mut Vec<u8>) {
    let start = data.len();
    data.resize(start + bytes, 0);
    let sector = &mut data[start..];
    if compare == Compare::Bytes {
        let mut dice = Dice::new(u64::from(version.0));
        for chunk in sector.chunks_mut(8) {
            chunk.copy_from_slice(&dice.next().to_le_bytes()[..chunk.len()]);
        }
    }
    Stamp::new(version.0).write_to(sector);
}
