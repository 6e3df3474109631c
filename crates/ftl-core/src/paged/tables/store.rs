//! The page store: its fields, and what all of its modules use.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::blocks::Blocks;
use super::candidates::Candidates;
use super::dirty::{Dirty, DirtyTable};
use super::effort::Effort;
use super::map::Map;
use super::records::Anchors;
use super::under_way::{
    Counting, Epoch, Leveling, MapPages, Open, Scrubbed, Stream, Suspect, TablePart, Victim,
};
use crate::error::Fault;
use crate::filter::{Runs, SizeFilter};
use crate::layout::Stamp;
use crate::paged::flash::{KeptSlots, PagedFlash};
use crate::paged::plan::address::{Mapped, Place, Spot};
use crate::paged::plan::config::{Bursts, History, PagedConfig, Streams};
use crate::paged::plan::feature::Feature;
use crate::paged::plan::shape::{Area, AreaShape, PagedShape};
use crate::probe::{Cause, Probe};
use crate::throttle::Throttle;

/// The page store.
#[derive(Debug)]
pub struct PageFtl<'ram, D, P = crate::probe::NoProbe> {
    pub(crate) flash: PagedFlash<'ram, D, P>,
    pub(crate) shape: PagedShape,
    pub(crate) config: PagedConfig,
    pub(crate) table: DirtyTable<'ram>,
    pub(crate) map: Map<'ram>,
    pub(crate) blocks: Blocks<'ram>,
    pub(crate) opens: [Option<Open>; Stream::ALL.len()],
    pub(crate) victims: [Option<Victim>; 2],
    /// Candidates for victims, of each area.
    pub(crate) candidates: [Candidates; 2],
    pub(crate) leveling: [Leveling; 2],
    /// The wear balance of both areas.
    pub(crate) throttle: Throttle,
    /// Pages freed in the fast area minus pages programmed there, since it got short of blocks.
    pub(crate) fast_balance: i16,
    /// Pages of the main area that were skipped since the last host page. Their space is owed, too.
    pub(crate) skipped: u16,
    /// Steps of garbage collection in the main area that host pages still have to pay for, in parts.
    pub(crate) main_debt: u32,
    pub(crate) effort: Effort,
    /// The age that a third of the recent victims have not reached, in sixteenths of a tick of the clock.
    pub(crate) victims_age: u16,
    /// The recent mean share of slots in use in the fast area's victims, in 256ths, times sixteen.
    pub(crate) stayed: u16,
    pub(crate) filter: SizeFilter,
    pub(crate) runs: Runs,
    /// The page buffer: the largest page, behind the data gathered from earlier pages.
    pub(crate) buffer: &'ram mut [u8],
    /// The slots of a page whose sectors are being copied or mapped.
    pub(crate) kept: KeptSlots<'ram>,
    /// The dirty entries with which the device was formatted: this mount may have fewer.
    pub(crate) formatted_entries: u32,
    /// What is left to be counted of the references, if anything is. Until then no garbage is collected.
    pub(crate) counting: Option<Counting>,
    pub(crate) epoch: Epoch,
    pub(crate) anchors: Anchors<'ram>,
    /// The page that a power cut may have damaged, found by the mount.
    pub(crate) suspect: Option<Suspect>,
    /// The stream whose program failed and has not been repeated in another block yet.
    pub(crate) failing: Option<Stream>,
    /// The stream of the page programmed last, if that was programmed again after a failure and is not proved yet.
    pub(crate) rewritten: Option<Stream>,
    pub(crate) settled: bool,
    pub(crate) read_only: bool,
    /// The next page of the running scrub.
    pub(crate) scrub: Option<Scrubbed>,
    /// How often the host has read a lost sector since the mount.
    pub(crate) lost: u32,
    /// How often a request has waited since the mount, for blocks or for anchors of the first walk.
    pub(crate) waited: u32,
    /// Whether a page went to the block of another stream since all pages were last marked as relied upon.
    pub(crate) shares: bool,
    /// A page among map pages that a mount could not read. It stands for the page of a leaf that is lost.
    pub(crate) unreadable: Option<Spot>,
    /// What the mount found in the blocks of map pages.
    pub(crate) map_pages: MapPages,
    /// The sectors of which the table has the dirty entries.
    pub(crate) part: TablePart,
    /// The map page whose stamp a mount read last, and that stamp.
    pub(crate) stamp_read: Option<(Spot, Stamp)>,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the device and the probe.
    pub fn into_parts(self) -> (D, P) {
        self.flash.door.into_parts()
    }

    /// Returns shared access to the device.
    pub const fn device(&self) -> &D {
        self.flash.door.device()
    }

    /// Returns exclusive access to the device, for operations beside the FTL. They must not change its content.
    pub const fn device_mut(&mut self) -> &mut D {
        self.flash.door.device_mut()
    }

    /// Returns the probe.
    pub const fn probe(&self) -> &P {
        self.flash.door.probe()
    }

    /// Returns the division of the device.
    #[cfg(feature = "internals")]
    pub const fn shape(&self) -> &PagedShape {
        &self.shape
    }

    /// Returns the size of the largest write that enters the fast area.
    pub const fn threshold(&self) -> SectorCount {
        self.filter.threshold()
    }

    /// Returns the area of a stream.
    pub(crate) const fn area_of(&self, stream: Stream) -> Area {
        match stream {
            Stream::Map | Stream::Hot => self.shape.area_of_map(),
            _ => Area::Main,
        }
    }

    pub(crate) const fn shape_of(&self, stream: Stream) -> &AreaShape {
        self.shape.area(self.area_of(stream))
    }

    /// Returns the stream of copies to the main area.
    pub(crate) const fn copies(&self) -> Stream {
        match self.streams() {
            Streams::One => Stream::Host,
            Streams::Two | Streams::ByLifetime => Stream::Copies,
        }
    }

    /// Returns the place of a slot.
    pub(crate) const fn place(&self, spot: Spot, slot: u16) -> Place {
        self.shape.place(spot, slot)
    }

    /// Returns a sector's dirty entry.
    #[inline]
    pub(crate) fn dirty(&mut self, sector: Sector) -> Option<Dirty> {
        let (leaf, _) = self.shape.leaf_of(sector);
        // Most leaves of a large device have none, and need no search.
        if self.map.dirty(leaf) == 0 { None } else { self.table.find(sector) }
    }

    /// Returns the address of a sector's newest copy.
    #[inline]
    pub(crate) fn lookup(&mut self, sector: Sector) -> Result<Mapped, Fault<D::Error>> {
        match self.dirty(sector) {
            Some(dirty) => Ok(Mapped::At(dirty.entry.place)),
            None => self.mapped(sector, Cause::Map),
        }
    }

    /// Returns the address in a sector's map page. It is lost while a newer one may be in the rest of a mount.
    #[inline]
    pub(crate) fn mapped(
        &mut self,
        sector: Sector,
        cause: Cause,
    ) -> Result<Mapped, Fault<D::Error>> {
        if !self.part.holds(sector) {
            return Ok(Mapped::Lost);
        }
        let (leaf, at) = self.shape.leaf_of(sector);
        let page = self.map.find(&mut self.flash, leaf, cause)?;
        Ok(page.map_or(Mapped::Nowhere, |page| self.map.get(page, at)))
    }

    /// Makes the device read-only if blocks are lacking.
    pub(crate) fn noted<T>(
        &mut self,
        result: Result<T, Fault<D::Error>>,
    ) -> Result<T, Fault<D::Error>> {
        if let Err(Fault::ReadOnly) = &result {
            self.read_only = true;
        }
        result
    }

    /// Whether paired pages are protected.
    pub(crate) const fn guards(&self) -> bool {
        self.shape.guards()
    }

    /// Marks everything acknowledged or copied so far as relied upon.
    pub(crate) fn rely(&mut self) {
        for open in self.opens.iter_mut().flatten() {
            open.relied = open.next;
        }
    }

    /// Marks what a stream has programmed so far as relied upon.
    pub(crate) const fn rely_on(&mut self, stream: Stream) {
        if let Some(open) = &mut self.opens[stream as usize] {
            open.relied = open.next;
        }
    }

    /// Returns the streams of the main area that there are.
    #[inline]
    pub(crate) const fn streams(&self) -> Streams {
        match self.config.streams {
            Streams::ByLifetime if !Feature::Lifetimes.is_built() => Streams::Two,
            streams => streams,
        }
    }

    const fn has_throttle(&self) -> bool {
        Feature::Throttle.is_built() && self.config.throttle.is_some()
    }

    /// Whether the age of replaced data decides where a large write goes.
    pub(crate) fn has_history(&self) -> bool {
        Feature::History.is_built() && self.config.history == History::Heeded
    }

    /// Whether wear is leveled within each area.
    pub(crate) const fn levels_wear(&self) -> bool {
        Feature::WearLeveling.is_built() && self.config.wear_leveling.enabled
    }

    /// Whether the fast area takes large writes while it has space.
    pub(crate) const fn has_bursts(&self) -> bool {
        Feature::Bursts.is_built() && matches!(self.config.bursts, Bursts::ToFast(_))
    }

    /// Whether host writes are kept out of the fast area, except those to sectors already there.
    pub(crate) const fn is_throttled(&self) -> bool {
        self.has_throttle() && self.throttle.is_active()
    }

    /// Whether all host writes are kept out of the fast area.
    pub(crate) const fn is_closed(&self) -> bool {
        self.has_throttle() && self.throttle.is_closed()
    }

    /// Whether large writes enter the fast area at present.
    pub(crate) const fn takes_bursts(&self) -> bool {
        let Some(fast) = self.shape.fast_area() else { return false };
        let takes = self.has_bursts() && !self.throttle.is_active();
        takes && self.blocks.free(Area::Fast) > fast.blocks / 4 + self.shape.reserve(Area::Fast)
    }

    /// Notes that a block for host data or map pages was erased.
    pub(crate) fn note_erase(&mut self, area: Area) {
        match area {
            Area::Fast => self.throttle.note_fast_erase(),
            Area::Main => {
                self.throttle.note_main_erase();
                // If little data enters the fast area, it has no victims to learn from: after a while large writes are
                // tried again.
                self.stayed = self.stayed.saturating_sub(1);
            }
        }
    }

    /// Returns the references for which a map page counts, so that a block full of map pages counts as full.
    pub(crate) fn leaf_weight(&self) -> u16 {
        let map = self.shape.map_area();
        let pages = if self.guards() { map.word_lines } else { map.pages };
        (map.block_slots() / u32::from(pages.max(1))) as u16
    }
}
