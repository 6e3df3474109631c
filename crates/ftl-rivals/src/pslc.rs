//! The pseudo-SLC cache of today's consumer SSDs, which none of the papers has.
//!
//! All writes go to blocks in SLC mode. The number of blocks in that mode is limited to a static share of all blocks,
//! which the cache always has, plus a dynamic share of those without data, which shrinks as the disk fills. The cache
//! is emptied into blocks in full mode while the host is idle. When it is full, a write waits until the oldest cache
//! block is emptied: every write then costs two programs, one of them slow, and write performance drops sharply. Below
//! is a page map whose victims have the fewest valid pages.
//!
//! Vendors publish only sizes (such as "Intelligent TurboWrite": a fixed part and a part of the free space), so the
//! shares are parameters.

use ftl_iface::{Bytes, Cause, Mode, NandDevice, Probe, Region, SectorCount, Work};

use crate::kit::{
    AreaPlan, Fault, Figure, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const CACHE: Stream = Stream::new(0, 0);
const HOME: Stream = Stream::new(0, 1);
const COPIES: Stream = Stream::new(0, 2);

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct PslcConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// The static share of all blocks, in thousandths.
    pub static_permille: u32,
    /// The dynamic share of the blocks without data, in thousandths.
    pub dynamic_permille: u32,
}

/// What was emptied of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Emptied {
    /// Its oldest block.
    One,
    /// Nothing: it has no block.
    None,
}

/// The rules.
#[derive(Clone, Copy, Debug)]
pub struct Pslc {
    static_blocks: u32,
    dynamic_permille: u32,
    /// Units with data.
    held: u32,
    cached: u64,
    waited: u64,
    emptied_idle: u64,
}

/// Such a disk on that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &PslcConfig,
) -> Result<Mapped<D, P, Pslc>, Unfit> {
    let blocks = device.geometry().region(Region::Mlc).map_or(0, |shape| shape.blocks.get());
    let plan = AreaPlan {
        region: Region::Mlc,
        blocks: 0..blocks,
        streams: vec![Mode::Slc, Mode::Full, Mode::Full],
        lanes: config.lanes,
    };
    let mut units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    let asked = (u64::from(blocks) * u64::from(config.static_permille) / 1_000) as u32;
    let policy = Pslc {
        // One block that is filled in each lane, and one that is emptied.
        static_blocks: asked.max(config.lanes + 1),
        dynamic_permille: config.dynamic_permille.min(1_000),
        held: 0,
        cached: 0,
        waited: 0,
        emptied_idle: 0,
    };
    // Open cache blocks are already counted among all open blocks.
    let beside = policy.static_blocks - config.lanes;
    if units.fits(0, beside).is_err() {
        // A small device has no blocks to spare.
        units.area_mut(0).keep_two_free();
    }
    units.fits(0, beside)?;
    Ok(Mapped::new(units, policy))
}

impl Pslc {
    /// Blocks that may be in SLC mode now.
    fn limit<D: NandDevice, P: Probe>(&self, units: &Units<D, P>) -> u32 {
        let area = units.area(0);
        let taken =
            self.held.div_ceil(area.units_in_full()) + self.static_blocks + 2 * area.least_free();
        let without_data = area.blocks().saturating_sub(taken);
        let dynamic = u64::from(without_data) * u64::from(self.dynamic_permille) / 1_000;
        self.static_blocks + dynamic as u32
    }

    /// Collects until a write finds room. Collected units go to blocks in full mode, whichever block they were in.
    fn make_room<D: NandDevice, P: Probe>(units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        while units.area(0).is_short() {
            let victim = Victims::Greedy.choose(units.area_mut(0));
            // Even an entirely valid block in SLC mode takes less room in full mode.
            let victim =
                victim.or_else(|| units.area(0).oldest_in(Mode::Slc)).ok_or(Fault::Full)?;
            units.collect(0, victim, Cause::Gc, |_| (COPIES, Cause::Gc))?;
        }
        Ok(())
    }

    /// Writes a unit to the cache, and first empties blocks if it is full.
    fn cache<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        self.cached += 1;
        if units.area(0).is_opening(CACHE.number) {
            let limit = self.limit(units);
            let mut waited = false;
            while units.area(0).blocks_in(Mode::Slc) >= limit
                && Self::empty_one(units)? == Emptied::One
            {
                waited = true;
            }
            self.waited += u64::from(waited);
        }
        Self::make_room(units)?;
        units.put(CACHE, unit, data, Cause::Host)
    }

    /// Empties the oldest cache block.
    fn empty_one<D: NandDevice, P: Probe>(
        units: &mut Units<D, P>,
    ) -> Result<Emptied, Fault<D::Error>> {
        let Some(block) = units.area(0).oldest_in(Mode::Slc) else {
            return Ok(Emptied::None);
        };
        Self::make_room(units)?;
        // The call above may have collected that very block.
        if units.area(0).is_full(block) && units.area(0).mode(block) == Mode::Slc {
            units.collect(0, block, Cause::WriteBack, |_| (HOME, Cause::WriteBack))?;
        }
        Ok(Emptied::One)
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Pslc {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        let is_new = u32::from(units.place(unit).is_none());
        self.held += is_new;
        let written = self.cache(units, unit, data);
        if written.is_err() {
            self.held -= is_new;
        }
        written
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.held -= u32::from(units.place(unit).is_some());
        units.forget(unit);
        Ok(())
    }

    fn maintain(&mut self, units: &mut Units<D, P>, pages: u32) -> Result<Work, Fault<D::Error>> {
        let Some(block) = units.area(0).oldest_in(Mode::Slc) else {
            return Ok(Work::Done);
        };
        let emptied = Self::make_room(units).and_then(|()| {
            let is_there = units.area(0).is_full(block) && units.area(0).mode(block) == Mode::Slc;
            if is_there { units.drain(0, block, HOME, pages.max(1)) } else { Ok(0) }
        });
        match emptied {
            Ok(pages) => self.emptied_idle += u64::from(pages),
            Err(Fault::Full) => return Ok(Work::Done),
            Err(fault) => return Err(fault),
        }
        Ok(Work::Left)
    }

    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        while Self::empty_one(units)? == Emptied::One {}
        (self.cached, self.waited, self.emptied_idle) = (0, 0, 0);
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, units: &Units<D, P>) -> Vec<Figure> {
        vec![
            ("cache_blocks_most", self.limit(units).into()),
            ("cache_blocks", units.area(0).blocks_in(Mode::Slc).into()),
            ("pages_cached", self.cached as f64),
            ("waits_for_the_cache", self.waited as f64),
            ("pages_emptied_idle", self.emptied_idle as f64),
        ]
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        let held = (0..units.count()).filter(|unit| units.place(Unit(*unit)).is_some()).count();
        if held != self.held as usize {
            return Err(format!("{held} units hold data, and {} are counted", self.held));
        }
        Ok(())
    }
}
