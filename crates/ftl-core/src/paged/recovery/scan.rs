//! The scan of a mount: it finds the last programmed page, the map pages, and the blocks with tags younger than the
//! horizon.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::layout::{Stamp, Tag};
use crate::paged::flash::{Extent, PagedKind, Seen, first_attempt};
use crate::paged::plan::address::{BlockNumber, Leaf, Spot};
use crate::paged::rules;
use crate::paged::tables::map;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{MapPages, Stream, Suspect, What};
use crate::probe::{Cause, Probe};

/// Whether the tags of a block must be read.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagAge {
    /// None of sectors is younger than the horizon.
    Old,
    /// Some may be.
    Young,
}

/// Whether what a pass over the tags found can be relied on.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// It can.
    Whole,
    /// A page that had been the newest one died meanwhile: the next older one may have been passed over for it.
    Stale,
}

/// The last programmed page below a ceiling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Youngest {
    pub(crate) stamp: Stamp,
    pub(crate) spot: Spot,
}

/// What was programmed last in the blocks of the map.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MapLast {
    /// A map page or a proof.
    any: Option<Youngest>,
    /// A map page.
    page: Option<Youngest>,
}

impl MapLast {
    fn or_later(self, other: Self) -> Self {
        Self { any: younger(self.any, other.any), page: younger(self.page, other.page) }
    }
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Finds the last programmed page that can be read as a whole, and keeps its content. Returns the stamp of the
    /// first attempt, and its own.
    pub(crate) fn find_suspect(&mut self) -> Result<(Stamp, Stamp), Fault<D::Error>> {
        let mut ceiling = Stamp::new(u64::MAX);
        // A page that cannot be read as a whole is given up for the one before it.
        for _ in 0..=self.shape.blocks() {
            let horizon = self.epoch.horizon;
            let Some(youngest) = self.youngest_below(ceiling)? else {
                return Ok((Stamp::ZERO, Stamp::ZERO));
            };
            if let Some(first) = self.keep_suspect(youngest)? {
                return Ok((self.keep_whole(youngest, first)?, youngest.stamp));
            }
            ceiling = youngest.stamp;
            self.epoch.horizon = rules::horizon_without(horizon, self.epoch.horizon);
        }
        Err(Fault::Corrupt)
    }

    /// Returns the last programmed page below the ceiling.
    fn youngest_below(&mut self, ceiling: Stamp) -> Result<Option<Youngest>, Fault<D::Error>> {
        let map = self.read_maps(ceiling)?;
        let with_horizon = if rules::has_proof_a_horizon() { map.any } else { map.page };
        if let Some(youngest) = with_horizon {
            self.note_horizon(youngest.spot)?;
        }
        Ok(younger(map.any, self.youngest_tag(ceiling, |_| true)?))
    }

    /// Reads the page into the page buffer, and returns the stamp of the first attempt. `None`: it cannot be read. A
    /// proof shows that everything before it was acknowledged.
    pub(crate) fn keep_suspect(
        &mut self,
        youngest: Youngest,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        let spot = youngest.spot;
        let area = *self.shape.area_at(spot.block);
        let page = self.buffer.get_mut(..area.page_bytes.as_usize()).unwrap_or(&mut []);
        let key = self.flash.key();
        let seen = self.flash.read(spot, 0, page, Cause::Mount)?;
        self.suspect = None;
        let Seen::Page(read) = seen else { return Ok(None) };
        let tag = read.tag();
        if tag.stamp != youngest.stamp {
            return Ok(None);
        }
        if tag.kind.is_proof() {
            return Ok(Some(youngest.stamp));
        }
        let what = if tag.kind.is_map() {
            let whole = map::is_whole(page, key);
            let leaf = map::leaf_named(read.slot(0));
            leaf.filter(|leaf| whole && leaf.get() < self.shape.leaves).map(What::Map)
        } else {
            tag.kind.is_sectors().then_some(What::Sectors)
        };
        let Some(what) = what else { return Ok(None) };
        self.kept.keep(&read);
        self.flash.hold_kept(&self.kept);
        let (first, extent) = first_attempt(tag);
        self.suspect = Some(Suspect { spot, what, first, extent, origin: None });
        Ok(Some(first))
    }

    /// If the page kept is a part, keeps the page that it is a part of instead. Returns the stamp from which on pages
    /// are ignored.
    ///
    /// If that one has become unreadable, it was never acknowledged, nor read by the host. Then each part counts for
    /// itself, and only this one may be torn.
    fn keep_whole(&mut self, part: Youngest, first: Stamp) -> Result<Stamp, Fault<D::Error>> {
        if !rules::must_look_for_whole(self.suspect_is_part()) {
            return Ok(first);
        }
        let is_whole =
            |tag: Tag<PagedKind>| !tag.kind.is_proof() && first_attempt(tag).1 == Extent::Whole;
        let mut ceiling = part.stamp;
        while let Some(page) = self.youngest_tag(ceiling, is_whole)?
            && page.stamp >= first
        {
            if let Some(first) = self.keep_suspect(page)? {
                return Ok(first);
            }
            ceiling = page.stamp;
        }
        self.keep_suspect(part)?;
        if let Some(suspect) = &mut self.suspect {
            suspect.first = part.stamp;
        }
        Ok(part.stamp)
    }

    /// Whether the page kept is a part of one that did not fit.
    pub(crate) fn suspect_is_part(&self) -> bool {
        self.suspect.is_some_and(|suspect| suspect.extent == Extent::Part)
    }

    /// Takes the horizon from a map page. It is valid as soon as it is written: it describes what was acknowledged
    /// before.
    fn note_horizon(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let page = self.map.vacate(None);
        let bytes = self.map.bytes_mut(page);
        if let Seen::Page(_) = self.flash.read(spot, 0, bytes, Cause::Mount)?
            && let Some(horizon) = map::horizon(bytes, self.flash.key())
        {
            self.epoch.horizon = self.epoch.horizon.max(horizon);
        }
        Ok(())
    }

    /// Finds the newest page of every leaf below the ceiling. Returns what was programmed last.
    pub(crate) fn read_maps(&mut self, ceiling: Stamp) -> Result<MapLast, Fault<D::Error>> {
        let mut last = MapLast::default();
        for _ in 0..=self.shape.blocks() {
            let mut pass = Pass::Whole;
            last = self.read_maps_once(ceiling, &mut pass)?;
            if rules::pass_counts(pass == Pass::Whole) {
                break;
            }
        }
        Ok(last)
    }

    fn read_maps_once(
        &mut self,
        ceiling: Stamp,
        pass: &mut Pass,
    ) -> Result<MapLast, Fault<D::Error>> {
        self.map.clear();
        self.stamp_read = None;
        let mut last = MapLast::default();
        for block in self.blocks.all() {
            let may_have_map = match self.flash.look(Spot { block, page: 0 }, Cause::Mount)? {
                Seen::Page(first) => {
                    let tag = first.tag();
                    if !tag.kind.is_repeated() {
                        self.blocks.set_wear(block, tag.note as u16);
                    }
                    let birth = self.blocks.times.tick_of(tag.stamp);
                    self.blocks.times.bear(block, birth);
                    if tag.kind.is_map() {
                        self.blocks.times.note_stream(block, Stream::Map);
                    }
                    rules::may_hold_map(tag.kind)
                }
                Seen::Erased => false,
                Seen::Unreadable => true,
            };
            if may_have_map && self.shape.map_area().holds(block) {
                last = last.or_later(self.read_map_block(block, ceiling, pass)?);
            }
        }
        Ok(last)
    }

    fn read_map_block(
        &mut self,
        block: BlockNumber,
        ceiling: Stamp,
        pass: &mut Pass,
    ) -> Result<MapLast, Fault<D::Error>> {
        let (mut last, mut dead) = (MapLast::default(), None);
        let pages = self.shape.area_at(block).pages;
        for page in 0..pages {
            let spot = Spot { block, page };
            let (tag, leaf) = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(read) => (read.tag(), map::leaf_named(read.slot(0))),
                Seen::Unreadable => {
                    self.unreadable = Some(spot);
                    dead = Some(page);
                    continue;
                }
                Seen::Erased => continue,
            };
            if dead.is_some() {
                self.map_pages = MapPages::Gap;
            }
            let this = Some(Youngest { stamp: tag.stamp, spot });
            if tag.kind.is_proof() && tag.stamp < ceiling {
                last = last.or_later(MapLast { any: this, page: None });
            }
            self.pin_again(spot, tag.stamp);
            let Some(leaf) = leaf else { continue };
            let fits = tag.kind.is_map() && leaf.get() < self.shape.leaves;
            if !fits || tag.stamp >= ceiling {
                continue;
            }
            last = last.or_later(MapLast { any: this, page: this });
            match self.leaf_stamp(leaf)? {
                Some(newest) if !rules::leaf_page_counts(tag.stamp, newest) => {}
                Some(_) => self.map.set_spot(leaf, spot),
                None => {
                    self.map.set_spot(leaf, spot);
                    *pass = Pass::Stale;
                }
            }
        }
        if dead.is_some_and(|page| self.is_full_behind(Spot { block, page })) {
            self.map_pages = MapPages::Gap;
        }
        Ok(last)
    }

    /// Pins the blocks of the first attempt and of all repetitions of the page to be repeated.
    pub(crate) fn pin_again(&mut self, spot: Spot, stamp: Stamp) {
        let Some(suspect) = &mut self.suspect else { return };
        if stamp == suspect.first {
            suspect.origin = Some(spot);
        }
        if rules::must_keep_attempt(stamp, suspect.first) {
            self.blocks.pin(spot.block);
        }
    }

    /// Returns the stamp of a leaf's page: zero if it has none, and nothing if that can no longer be read.
    pub(crate) fn leaf_stamp(&mut self, leaf: Leaf) -> Result<Option<Stamp>, Fault<D::Error>> {
        let Some(spot) = self.map.spot(leaf) else { return Ok(Some(Stamp::ZERO)) };
        match self.stamp_read {
            Some((read, stamp)) if read == spot => Ok(Some(stamp)),
            _ => {
                let stamp = self.stamp_at(spot)?;
                self.stamp_read = stamp.map(|stamp| (spot, stamp));
                Ok(stamp)
            }
        }
    }

    /// Returns the stamp of a page, if it can still be read.
    pub(crate) fn stamp_at(&mut self, spot: Spot) -> Result<Option<Stamp>, Fault<D::Error>> {
        Ok(self.flash.look(spot, Cause::Mount)?.tag().map(|tag| tag.stamp))
    }

    /// Returns whether a block may hold tags of sectors that are younger than the horizon.
    pub(crate) fn age_of_tags(&mut self, block: BlockNumber) -> Result<TagAge, Fault<D::Error>> {
        let horizon = self.epoch.horizon;
        match self.flash.look(Spot { block, page: 0 }, Cause::Mount)? {
            Seen::Erased => return Ok(TagAge::Old),
            Seen::Unreadable => return Ok(TagAge::Young),
            // A block of the map takes sectors on a single area alone.
            Seen::Page(first) if !first.kind.is_sectors() && self.shape.has_fast() => {
                return Ok(TagAge::Old);
            }
            Seen::Page(first) if first.tag().stamp > horizon => return Ok(TagAge::Young),
            Seen::Page(_) => {}
        }
        let last = Spot { block, page: self.shape.area_at(block).pages - 1 };
        let last = self.stamp_at(last)?;
        Ok(if rules::may_have_young_tags(last, horizon) { TagAge::Young } else { TagAge::Old })
    }

    /// Visits every page of the blocks whose tags must be read.
    pub(crate) fn visit_young(
        &mut self,
        mut visit: impl FnMut(&mut Self, Spot) -> Result<(), Fault<D::Error>>,
    ) -> Result<(), Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.age_of_tags(block)? == TagAge::Young {
                for page in 0..self.shape.area_at(block).pages {
                    visit(self, Spot { block, page })?;
                }
            }
        }
        Ok(())
    }

    /// Returns the youngest page of sectors below the ceiling, of those that count.
    fn youngest_tag(
        &mut self,
        ceiling: Stamp,
        counts: impl Fn(Tag<PagedKind>) -> bool,
    ) -> Result<Option<Youngest>, Fault<D::Error>> {
        let mut youngest = None;
        self.visit_young(|ftl, spot| {
            if let Some(tag) = ftl.flash.look(spot, Cause::Mount)?.tag()
                && tag.kind.is_sectors()
                && tag.stamp < ceiling
                && counts(tag)
            {
                youngest = younger(youngest, Some(Youngest { stamp: tag.stamp, spot }));
            }
            Ok(())
        })?;
        Ok(youngest)
    }
}

/// Returns the younger of two pages.
fn younger(one: Option<Youngest>, other: Option<Youngest>) -> Option<Youngest> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if one.stamp >= other.stamp { one } else { other }),
        (one, other) => one.or(other),
    }
}
