//! T. Kgil, D. Roberts and T. Mudge, "Improving NAND Flash Based Disk Caches" (2008): density control, as L.-P. Chang
//! compares with it (2010, sections 5.1 and 5.3.1, Fig. 8b).
//!
//! All flash is MLC. A page that is accessed often is moved to a block in SLC mode, where it is faster and takes twice
//! the room; one that is no longer accessed returns. The device has as much additional MLC as the pages in SLC mode
//! need.
//!
//! *What the comparison leaves out.* What often means: ours is `threshold` accesses, reads and writes, and all counts
//! are halved after [`PERIOD`] accesses for each unit of the device. Which page returns: the least recently used one,
//! when the extra room is taken. The FTL below it: ours is the page map of [`page_map`](crate::page_map), greedy.

use ftl_iface::{Bytes, Cause, Mode, NandDevice, PageCount, Probe, Region, SectorCount};

use crate::kit::{
    AreaPlan, Fault, Figure, Lists, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const COLD: Stream = Stream::new(0, 0);
const COLD_COPIES: Stream = Stream::new(0, 1);
const HOT: Stream = Stream::new(0, 2);
const HOT_COPIES: Stream = Stream::new(0, 3);

/// The list of pages in SLC mode.
const IN_SLC_MODE: u8 = 0;

/// Accesses for each unit of the device between two halvings of the counts.
pub const PERIOD: u32 = 4;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct DensityConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// Accesses that make a page hot.
    pub threshold: u8,
    /// Additional blocks of the device, for pages in SLC mode.
    pub extra_blocks: u32,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Density {
    lists: Lists,
    accesses: Vec<u8>,
    threshold: u8,
    most: u32,
    until_halved: u32,
    to_slc: u64,
    to_mlc: u64,
}

/// Density control over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &DensityConfig,
) -> Result<Mapped<D, P, Density>, Unfit> {
    let blocks = device.geometry().region(Region::Mlc).map_or(0, |shape| shape.blocks.get());
    let plan = AreaPlan {
        region: Region::Mlc,
        blocks: 0..blocks,
        streams: vec![Mode::Full, Mode::Full, Mode::Slc, Mode::Slc],
        lanes: config.lanes,
    };
    let slc = device.slc_mode_pages(Region::Mlc).map_or(0, PageCount::get);
    let units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    let full = units.area(0).units_in_full();
    // A unit in SLC mode takes the room of `full / slc` others. What it takes beyond its own comes from the extra room.
    let room = config.extra_blocks.saturating_sub(units.area(0).least_free()) * full;
    let taken = (full - slc).max(1);
    let most = (u64::from(room) * u64::from(slc) / u64::from(taken)) as u32 / 10 * 9;
    let most = most.min(units.count());
    let extra = u64::from(most) * u64::from(taken) / u64::from(slc.max(1)) / u64::from(full);
    units.fits(0, extra as u32)?;
    let policy = Density {
        lists: Lists::new(1, units.count()),
        accesses: vec![0; units.count() as usize],
        threshold: config.threshold.max(1),
        most,
        until_halved: units.count().saturating_mul(PERIOD),
        to_slc: 0,
        to_mlc: 0,
    };
    Ok(Mapped::new(units, policy))
}

impl Density {
    /// Counts an access, and returns whether the unit should be in SLC mode.
    fn note(&mut self, unit: Unit) -> bool {
        self.until_halved -= 1;
        if self.until_halved == 0 {
            self.accesses.iter_mut().for_each(|accesses| *accesses /= 2);
            self.until_halved = (self.accesses.len() as u32).saturating_mul(PERIOD);
        }
        let accesses = &mut self.accesses[unit.0 as usize];
        *accesses = accesses.saturating_add(1);
        // If a unit that should have returned found no room, no other enters.
        let may_enter = self.most > 0 && self.lists.len(IN_SLC_MODE) <= self.most;
        let is_listed = self.lists.list_of(unit.0).is_some();
        let is_hot = is_listed || may_enter && *accesses >= self.threshold;
        if is_hot {
            self.lists.touch(IN_SLC_MODE, unit.0);
        }
        is_hot
    }

    /// Corrects the list after a unit found no room: it is listed only if it is in SLC mode.
    fn note_refused<D: NandDevice, P: Probe>(&mut self, units: &Units<D, P>, unit: Unit) {
        if Self::is_in_slc_mode(units, unit) {
            self.lists.touch(IN_SLC_MODE, unit.0);
        } else {
            self.lists.remove(unit.0);
        }
    }

    /// Returns the least recently used units while too many are in SLC mode.
    fn shorten<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while self.lists.len(IN_SLC_MODE) > self.most
            && let Some(coldest) = self.lists.oldest(IN_SLC_MODE)
        {
            self.lists.remove(coldest);
            let moved = self.make_room(units);
            let moved = moved.and_then(|()| units.move_to(COLD, Unit(coldest), Cause::WriteBack));
            if let Err(fault) = moved {
                self.note_refused(units, Unit(coldest));
                // The write itself is done, and a later call may find room.
                return if matches!(fault, Fault::Full) { Ok(()) } else { Err(fault) };
            }
            self.accesses[coldest as usize] = 0;
            self.to_mlc += 1;
        }
        Ok(())
    }

    /// Moves a unit that was read to SLC mode.
    fn promote<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
    ) -> Result<(), Fault<D::Error>> {
        self.make_room(units)?;
        units.move_to(HOT, unit, Cause::WriteBack)?;
        self.to_slc += 1;
        self.shorten(units)
    }

    /// Collects until a write finds room. Units keep their mode.
    fn make_room<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(0).is_short() {
            let victim = Victims::Greedy.choose(units.area_mut(0)).ok_or(Fault::Full)?;
            units.collect(0, victim, Cause::Gc, |unit| match self.lists.list_of(unit.0) {
                Some(_) => (HOT_COPIES, Cause::Gc),
                None => (COLD_COPIES, Cause::Gc),
            })?;
        }
        Ok(())
    }

    /// Whether the unit is in a block in SLC mode.
    fn is_in_slc_mode<D: NandDevice, P: Probe>(units: &Units<D, P>, unit: Unit) -> bool {
        let block = units.block_of(unit);
        block.is_some_and(|(area, block)| units.area(area).mode(block) == Mode::Slc)
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Density {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        let is_hot = self.note(unit);
        let enters = is_hot && !Self::is_in_slc_mode(units, unit);
        let to = if is_hot { HOT } else { COLD };
        let room = self.make_room(units);
        let written = room.and_then(|()| units.put(to, unit, data, Cause::Host));
        if let Err(fault) = written {
            self.note_refused(units, unit);
            return Err(fault);
        }
        self.to_slc += u64::from(enters);
        self.shorten(units)
    }

    fn read(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        at: usize,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        units.read(unit, at, data, Cause::Host)?;
        if units.place(unit).is_some() && self.note(unit) && !Self::is_in_slc_mode(units, unit) {
            match self.promote(units, unit) {
                // The read itself is done, and the unit is not moved.
                Err(Fault::Full) => self.note_refused(units, unit),
                outcome => return outcome,
            }
        }
        Ok(())
    }

    #[inline]
    fn glance(&self, unit: Unit) -> u32 {
        let count = self.accesses.get(unit.0 as usize).copied().unwrap_or_default();
        self.lists.glance(unit.0) ^ u32::from(count)
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.lists.remove(unit.0);
        self.accesses[unit.0 as usize] = 0;
        units.forget(unit);
        Ok(())
    }

    fn settle(&mut self, _: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        self.accesses.fill(0);
        (self.to_slc, self.to_mlc) = (0, 0);
        Ok(())
    }

    /// A one-byte count for each unit, and neighbours for each unit in SLC mode.
    fn ram_bytes(&self) -> u64 {
        self.accesses.len() as u64 + u64::from(self.most) * (4 + 4 + 4)
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        vec![
            ("pages_in_slc_mode", self.lists.len(IN_SLC_MODE).into()),
            ("pages_in_slc_mode_most", self.most.into()),
            ("moved_to_slc_mode", self.to_slc as f64),
            ("returned", self.to_mlc as f64),
        ]
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        self.lists.check()?;
        // One unit that should have returned may have found no room.
        if self.lists.len(IN_SLC_MODE) > self.most + 1 {
            return Err(format!("{} pages are in SLC mode", self.lists.len(IN_SLC_MODE)));
        }
        for unit in 0..units.count() {
            if Self::is_in_slc_mode(units, Unit(unit))
                != (self.lists.list_of(unit) == Some(IN_SLC_MODE))
            {
                return Err(format!(
                    "unit {unit} is hot and not in SLC mode, or the other way round"
                ));
            }
        }
        Ok(())
    }
}
