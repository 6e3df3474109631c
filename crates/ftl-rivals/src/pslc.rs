//! The pseudo-SLC cache of today's consumer SSDs, which none of the papers has.
//!
//! All writes go to blocks in SLC mode. The number of blocks in that mode is limited to a static share of all blocks,
//! which the cache always has, plus a dynamic share of those without data, which shrinks as the disk fills. The cache
//! is emptied into blocks in full mode while the host is idle. When it is full, a write waits until the oldest cache
//! blocks are emptied: every write then costs two programs, one of them slow, and write performance drops sharply.
//! Blocks that were filled in parallel are emptied together, so that neighbours are spread over the planes again. Below
//! is a page map whose victims have the fewest valid pages. Where both shares are zero there is no cache.
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
    /// Its oldest blocks.
    Oldest,
    /// Nothing: it has no block.
    None,
}

/// Whether there is a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cache {
    /// All writes enter it.
    Present,
    /// Writes go straight to blocks in full mode.
    Absent,
}

/// A full cache block that is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Emptying {
    block: u32,
    /// When it was filled: a block of that number that was filled later holds other data.
    filled_at: u64,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Pslc {
    cache: Cache,
    lanes: usize,
    static_blocks: u32,
    dynamic_permille: u32,
    /// The oldest cache blocks, as many as are filled in parallel: emptied together, also in several steps.
    emptying: Vec<Emptying>,
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
    let cache = match (config.static_permille, config.dynamic_permille) {
        (0, 0) => Cache::Absent,
        _ => Cache::Present,
    };
    let policy = Pslc {
        cache,
        lanes: config.lanes.max(1) as usize,
        emptying: Vec::new(),
        static_blocks: match cache {
            // One block that is filled in each lane, and one that is emptied.
            Cache::Present => asked.max(config.lanes + 1),
            Cache::Absent => 0,
        },
        dynamic_permille: config.dynamic_permille.min(1_000),
        held: 0,
        cached: 0,
        waited: 0,
        emptied_idle: 0,
    };
    // Open cache blocks are already counted among all open blocks.
    let beside = policy.static_blocks.saturating_sub(config.lanes);
    if cache == Cache::Absent {
        // Nothing is opened for a cache: what is written, and the copies.
        units.area_mut(0).keep_free_for(2);
    }
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
                && self.empty_oldest(units)? == Emptied::Oldest
            {
                waited = true;
            }
            self.waited += u64::from(waited);
        }
        Self::make_room(units)?;
        units.put(CACHE, unit, data, Cause::Host)
    }

    /// Empties the oldest cache blocks.
    fn empty_oldest<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<Emptied, Fault<D::Error>> {
        if units.area(0).oldest_in(Mode::Slc).is_none() {
            return Ok(Emptied::None);
        }
        self.empty(units, u32::MAX)?;
        Ok(Emptied::Oldest)
    }

    /// Moves up to that many units of the oldest cache blocks, and returns how many it moved.
    fn empty<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        most: u32,
    ) -> Result<u32, Fault<D::Error>> {
        // This may collect blocks of the cache, so they are chosen after it.
        Self::make_room(units)?;
        let area = units.area(0);
        let is_there = |old: &Emptying| {
            area.is_full(old.block)
                && area.mode(old.block) == Mode::Slc
                && area.filled_at(old.block) == old.filled_at
        };
        self.emptying.retain(is_there);
        if self.emptying.is_empty() {
            let oldest = area.filled_in(Mode::Slc).take(self.lanes);
            let oldest = oldest.map(|block| Emptying { block, filled_at: area.filled_at(block) });
            self.emptying.extend(oldest);
        }
        let blocks: Vec<u32> = self.emptying.iter().map(|old| old.block).collect();
        units.drain(0, &blocks, HOME, most)
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
        let written = match self.cache {
            Cache::Present => self.cache(units, unit, data),
            Cache::Absent => {
                Self::make_room(units).and_then(|()| units.put(HOME, unit, data, Cause::Host))
            }
        };
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
        if units.area(0).oldest_in(Mode::Slc).is_none() {
            return Ok(Work::Done);
        }
        let emptied = self.empty(units, pages.max(1));
        match emptied {
            Ok(pages) => self.emptied_idle += u64::from(pages),
            Err(Fault::Full) => return Ok(Work::Done),
            Err(fault) => return Err(fault),
        }
        Ok(Work::Left)
    }

    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        while self.empty_oldest(units)? == Emptied::Oldest {}
        (self.cached, self.waited, self.emptied_idle) = (0, 0, 0);
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        (self.lanes * size_of::<Emptying>()) as u64
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
