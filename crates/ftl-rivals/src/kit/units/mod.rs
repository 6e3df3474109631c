//! The map from units to places, and the areas that contain the places.

use ftl_iface::{
    Block, Bytes, Cause, Mode, NandDevice, PageCount, Probe, RegionGeometry, SectorCount,
};

use super::area::{Area, AreaPlan, Stream};
use super::flash::{Fault, Flash, TAG_BYTES, page};

mod check;
mod space;

/// A unit of the host's data, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit(pub u32);

/// Where a unit is stored: a number over all areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// Means no place.
const NOWHERE: u32 = u32::MAX;

/// The map, the areas, and the flash access layer.
#[derive(Debug)]
pub struct Units<D, P> {
    flash: Flash<D, P>,
    map: Vec<u32>,
    areas: Vec<Area>,
    /// By area: the number of its first place, and the pages per unit.
    bases: Vec<(u32, u32)>,
    /// By place: the unit written there last. A controller reads it from the tag; here it allows looking up all units
    /// of a block at once, because most of the run time is spent waiting for the map.
    owners: Vec<u32>,
    unit_bytes: usize,
    sector_bytes: usize,
    capacity: SectorCount,
    /// A buffer for a unit that is moved.
    moved: Vec<u8>,
    /// The valid units of a block that is being collected.
    left: Vec<u32>,
}

/// Why a device is too small for its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(pub String);

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

/// A page of a block of an area.
#[derive(Clone, Copy)]
struct At {
    area: usize,
    block: u32,
    first: u32,
}

impl<D: NandDevice, P: Probe> Units<D, P> {
    /// An empty store of that capacity on those areas of a device.
    pub fn new(
        device: D,
        probe: P,
        plans: &[AreaPlan],
        sector: Bytes,
        capacity: SectorCount,
    ) -> Result<Self, Unfit> {
        let shapes: Vec<RegionGeometry> = plans
            .iter()
            .map(|plan| device.geometry().region(plan.region).copied())
            .collect::<Option<_>>()
            .ok_or_else(|| Unfit("the device lacks a region that the system needs".into()))?;
        let unit_bytes = shapes.iter().map(|shape| shape.page_bytes.as_usize()).max().unwrap_or(0);
        let sector_bytes = sector.as_usize();
        if sector_bytes == 0 || !unit_bytes.is_multiple_of(sector_bytes) {
            return Err(Unfit(format!("pages of {unit_bytes} bytes hold no whole {sector}")));
        }
        if shapes.iter().any(|shape| shape.spare_bytes.as_usize() < TAG_BYTES) {
            return Err(Unfit(format!("a tag takes {TAG_BYTES} spare bytes of a page")));
        }
        let (mut areas, mut bases, mut places) = (Vec::new(), Vec::new(), 0_u32);
        for (plan, shape) in plans.iter().zip(&shapes) {
            let pages = (unit_bytes / shape.page_bytes.as_usize()) as u32;
            let slc = device.slc_mode_pages(plan.region).map_or(0, PageCount::get);
            let units = [shape.pages_per_block.get() / pages, slc / pages];
            if plan.streams.contains(&Mode::Slc) && units[1] == 0 {
                let region = plan.region;
                return Err(Unfit(format!("blocks of the {region} region have no SLC mode")));
            }
            let area = Area::new(plan, units);
            bases.push((places, pages));
            places += area.places();
            areas.push(area);
        }
        let units = capacity.as_usize().div_ceil(unit_bytes / sector_bytes);
        let mut flash = Flash::new(device, probe);
        for area in &mut areas {
            for block in 0..area.blocks() {
                if flash.is_bad(area.block(block)).map_err(|error| Unfit(format!("{error:?}")))? {
                    area.retire(block);
                }
            }
        }
        let (moved, left) = (vec![0; unit_bytes], Vec::new());
        let (map, owners) = (vec![NOWHERE; units], vec![NOWHERE; places as usize]);
        Ok(Self {
            flash,
            map,
            areas,
            bases,
            owners,
            unit_bytes,
            sector_bytes,
            capacity,
            moved,
            left,
        })
    }

    /// The device.
    pub const fn device(&self) -> &D {
        self.flash.device()
    }

    /// Returns the device.
    pub fn into_device(self) -> D {
        self.flash.into_device()
    }

    /// Bytes of a sector.
    pub const fn sector_bytes(&self) -> usize {
        self.sector_bytes
    }

    /// Bytes of a unit.
    #[inline]
    pub const fn unit_bytes(&self) -> usize {
        self.unit_bytes
    }

    /// Sectors that the host may use.
    pub const fn capacity(&self) -> SectorCount {
        self.capacity
    }

    /// Units of that capacity; the last one may be partial.
    pub const fn count(&self) -> u32 {
        self.map.len() as u32
    }

    /// An area.
    #[inline]
    pub fn area(&self, area: usize) -> &Area {
        &self.areas[area]
    }

    /// An area, to choose a victim.
    pub fn area_mut(&mut self, area: usize) -> &mut Area {
        &mut self.areas[area]
    }

    /// Where a unit is stored, if it was written.
    #[inline]
    pub fn place(&self, unit: Unit) -> Option<Place> {
        let place = self.map[unit.0 as usize];
        (place != NOWHERE).then_some(Place(place))
    }

    /// Touches the table entries of a unit, to prefetch them; zero for a unit beyond the store.
    #[inline]
    pub(super) fn glance(&self, unit: Unit) -> u32 {
        let place = self.map.get(unit.0 as usize).filter(|place| **place != NOWHERE);
        place.map_or(0, |place| {
            let (area, local) = self.locate(Place(*place));
            self.areas[area].glance(local)
        })
    }

    /// The area that holds a unit.
    #[inline]
    pub fn area_of(&self, unit: Unit) -> Option<usize> {
        self.spot_of(unit).map(|(area, _)| area)
    }

    /// The area that holds a unit, and the number of its place there.
    #[inline]
    pub fn spot_of(&self, unit: Unit) -> Option<(usize, u32)> {
        self.place(unit).map(|place| self.locate(place))
    }

    /// The area and block that hold a unit.
    pub fn block_of(&self, unit: Unit) -> Option<(usize, u32)> {
        let (area, local) = self.spot_of(unit)?;
        Some((area, self.areas[area].spot(local).0))
    }

    /// The area of a place, and its number there.
    #[inline]
    fn locate(&self, Place(place): Place) -> (usize, u32) {
        let mut area = self.bases.len() - 1;
        while self.bases[area].0 > place {
            area -= 1;
        }
        (area, place - self.bases[area].0)
    }

    /// The device's block of a place, and its first page there.
    #[inline]
    fn first_page(&self, area: usize, local: u32) -> (Block, u32) {
        let (block, at) = self.areas[area].spot(local);
        (self.areas[area].block(block), at * self.bases[area].1)
    }

    /// Reads sectors of a unit; zeros if it was never written.
    #[inline]
    pub fn read(
        &mut self,
        unit: Unit,
        at: usize,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let Some(place) = self.place(unit) else {
            data.fill(0);
            return Ok(());
        };
        let (area, local) = self.locate(place);
        let (block, first) = self.first_page(area, local);
        let size = self.flash.page_bytes(block.region());
        if self.bases[area].1 == 1 {
            return self.flash.read(page(block, first), at, data, cause);
        }
        let (mut at, mut rest) = (at, data);
        while !rest.is_empty() {
            let (index, offset) = (at / size, at % size);
            let (part, others) = rest.split_at_mut(rest.len().min(size - offset));
            self.flash.read(page(block, first + index as u32), offset, part, cause)?;
            at += part.len();
            rest = others;
        }
        Ok(())
    }

    /// Writes a whole unit to a stream, and invalidates its old place.
    #[inline]
    pub fn put(
        &mut self,
        to: Stream,
        unit: Unit,
        data: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        // Loaded before the program and used after it, to hide the latency of memory.
        let before = self.place(unit);
        let place = loop {
            let (block, at) = self.slot(to)?;
            let (base, pages) = self.bases[to.area];
            let programmed =
                self.program(At { area: to.area, block, first: at * pages }, unit, data, cause);
            let area = &mut self.areas[to.area];
            match programmed {
                Ok(()) => {
                    let local = area.place(block, at);
                    area.validate(local);
                    area.note_programmed(to.number, block);
                    break base + local;
                }
                Err(Fault::Failed) => area.fail(to.number, block),
                Err(fault) => return Err(fault),
            }
        };
        if let Some(before) = before {
            let (area, local) = self.locate(before);
            self.areas[area].invalidate(local);
        }
        self.map[unit.0 as usize] = place;
        self.owners[place as usize] = unit.0;
        Ok(())
    }

    /// Programs the pages of a unit, the first of them there.
    #[inline]
    fn program(
        &mut self,
        at: At,
        unit: Unit,
        data: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let At { area, block, first } = at;
        let block = self.areas[area].block(block);
        if self.bases[area].1 == 1 {
            return self.flash.program(page(block, first), data, unit.0, cause);
        }
        let mut pages = data.chunks_exact(self.flash.page_bytes(block.region())).zip(first..);
        pages.try_for_each(|(part, index)| {
            self.flash.program(page(block, index), part, unit.0, cause)
        })
    }

    /// The stream's next place in an erased block.
    #[inline]
    fn slot(&mut self, to: Stream) -> Result<(u32, u32), Fault<D::Error>> {
        loop {
            if let Some(slot) = self.areas[to.area].next(to.number) {
                return Ok(slot);
            }
            self.open(to)?;
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&mut self, to: Stream) -> Result<(), Fault<D::Error>> {
        let area = &mut self.areas[to.area];
        let (block, mode, erase) = area.take(to.number).ok_or(Fault::Full)?;
        if !erase {
            return Ok(());
        }
        match self.flash.erase(area.block(block), mode, Cause::Gc) {
            Err(Fault::Failed) => {
                area.retire(block);
                self.flash.retire(area.block(block));
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Trims a unit: it reads as zeros.
    #[inline]
    pub fn forget(&mut self, unit: Unit) {
        if let Some(place) = self.place(unit) {
            let (area, local) = self.locate(place);
            self.areas[area].invalidate(local);
            self.map[unit.0 as usize] = NOWHERE;
        }
    }

    /// Moves a unit to a stream.
    pub fn move_to(&mut self, to: Stream, unit: Unit, cause: Cause) -> Result<(), Fault<D::Error>> {
        let mut data = std::mem::take(&mut self.moved);
        let read = self.read(unit, 0, &mut data, cause);
        let put = read.and_then(|()| self.put(to, unit, &data, cause));
        self.moved = data;
        put
    }

    /// Frees a block: each of its valid units goes to the stream and with the cause that `whither` returns.
    #[inline]
    pub fn collect(
        &mut self,
        area: usize,
        block: u32,
        cause: Cause,
        mut whither: impl FnMut(Unit) -> (Stream, Cause),
    ) -> Result<(), Fault<D::Error>> {
        self.collect_places(area, block, cause, |unit, _| whither(unit))
    }

    /// Like [`collect`](Self::collect), but `whither` also gets each unit's place in the area.
    #[inline]
    pub fn collect_places(
        &mut self,
        area: usize,
        block: u32,
        cause: Cause,
        mut whither: impl FnMut(Unit, u32) -> (Stream, Cause),
    ) -> Result<(), Fault<D::Error>> {
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.extend(self.areas[area].valid_units(block));
        let mut data = std::mem::take(&mut self.moved);
        let owned = self.check_owners(area, &left);
        let moved = owned.and_then(|()| {
            left.iter().try_for_each(|local| {
                let unit = self.load(area, *local, &mut data, cause)?;
                let (to, cause) = whither(unit, *local);
                self.put(to, unit, &data, cause)
            })
        });
        (self.left, self.moved) = (left, data);
        moved?;
        self.release(area, block);
        Ok(())
    }

    /// Whether the map confirms the units at those places: all at once, so that the processor waits for memory once.
    #[inline]
    fn check_owners(&self, area: usize, locals: &[u32]) -> Result<(), Fault<D::Error>> {
        let (base, _) = self.bases[area];
        let strays = locals.iter().filter(|local| {
            let place = base + **local;
            let owner = self.owners[place as usize] as usize;
            self.map.get(owner) != Some(&place)
        });
        if strays.count() == 0 { Ok(()) } else { Err(Fault::Lost) }
    }

    /// Reads a whole unit and returns the unit named in its tag; if it is not the expected one, the data is lost.
    #[inline]
    fn load(
        &mut self,
        area: usize,
        local: u32,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Unit, Fault<D::Error>> {
        let (base, pages) = self.bases[area];
        let (block, first) = self.first_page(area, local);
        let mut unit = NOWHERE;
        if pages == 1 {
            unit = self.flash.read_tagged(page(block, first), data, cause)?;
        } else {
            let size = self.flash.page_bytes(block.region());
            for (part, index) in data.chunks_exact_mut(size).zip(first..) {
                unit = self.flash.read_tagged(page(block, index), part, cause)?;
            }
        }
        if unit == self.owners[(base + local) as usize] { Ok(Unit(unit)) } else { Err(Fault::Lost) }
    }

    /// Frees a block: each of its valid units is read, passed to the caller and removed here.
    pub fn expel(
        &mut self,
        area: usize,
        block: u32,
        cause: Cause,
        mut taken: impl FnMut(Unit, &[u8]),
    ) -> Result<(), Fault<D::Error>> {
        let left: Vec<u32> = self.areas[area].valid_units(block).collect();
        let mut data = std::mem::take(&mut self.moved);
        let read = left.iter().try_for_each(|local| {
            let unit = self.load(area, *local, &mut data, cause)?;
            taken(unit, &data);
            self.forget(unit);
            Ok(())
        });
        self.moved = data;
        read?;
        self.release(area, block);
        Ok(())
    }

    /// Frees a block without valid units.
    pub fn release(&mut self, area: usize, block: u32) {
        let area = &mut self.areas[area];
        if !area.release(block) {
            self.flash.retire(area.block(block));
        }
    }

    /// RAM of map, tables and the two unit buffers.
    pub fn ram_bytes(&self) -> u64 {
        let areas: u64 = self.areas.iter().map(Area::ram_bytes).sum();
        (self.map.len() * 4 + 2 * self.unit_bytes) as u64 + areas
    }
}
