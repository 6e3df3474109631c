//! The pseudo-SLC cache of today's consumer SSDs, which none of the papers has.
//!
//! Writes go to blocks in SLC mode. The number of blocks in that mode is limited to a static share of all blocks, which
//! the cache always has, plus a dynamic share of those that hold no data outside the cache, which shrinks as the disk
//! fills. The cache is *folded*, that is emptied into blocks in full mode, while the host is idle.
//!
//! What happens when it is full differs from drive to drive, and so a parameter says it:
//!
//! - `beside`: three phases. Writes go straight to blocks in full mode; when no clean one is left, the cache is folded
//!   beside them for room.
//! - `direct`: three phases, too; in the third, writes enter the cache again, which is folded at the same time.
//! - `fold`: two phases. A write waits until the oldest cache blocks are folded, and enters the cache: every write then
//!   costs two programs, one of them slow.
//!
//! Some drives begin to fold as soon as the cache is full: so many pages for each hundred that go past it.
//!
//! Blocks that were filled in parallel are folded together, so that neighbours are spread over the planes again. Below
//! is a page map whose victims have the fewest valid pages. Folding a block makes as much room as collecting one, and
//! comes first where the latter has more valid pages than a cache block holds. Where both shares are zero there is no
//! cache.
//!
//! Vendors publish only sizes (such as "Intelligent TurboWrite": a fixed part and a part of the free space), so the
//! shares are parameters.

use ftl_iface::{Bytes, Cause, Mode, NandDevice, PageCount, Probe, Region, SectorCount, Work};

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
    /// The dynamic share of the blocks that hold no data outside the cache, in thousandths.
    pub dynamic_permille: u32,
    /// What becomes of a write when the cache is full.
    pub when_full: WhenFull,
    /// Pages that are folded for each hundred that go past the cache, while clean blocks are left.
    pub fold_percent: u32,
    /// Pages that are folded at a time while the host is idle: as many as work in parallel.
    pub at_a_time: u32,
}

/// What becomes of a write when the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It goes straight to a block in full mode; when none is clean, the cache is folded for room.
    Beside,
    /// It goes straight to a block in full mode, and when none is clean, into the cache, which is folded for room.
    Direct,
    /// It waits until the oldest cache blocks are folded, and enters the cache.
    Fold,
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
    /// Writes enter it, and when it is full, this happens.
    Present(WhenFull),
    /// Writes go straight to blocks in full mode.
    Absent,
}

/// The way of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Into the cache, which has room.
    Cache,
    /// Past the cache, to a block in full mode: clean ones are left.
    Past,
    /// Past the cache, once room was made.
    PastForRoom,
    /// Into the cache, once its oldest blocks are folded.
    AfterFolding,
    /// Into the cache, one block of which is folded for each that is opened.
    InTurn,
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
    /// Units of a cache block.
    block_units: u32,
    static_blocks: u32,
    dynamic_permille: u32,
    fold_percent: u32,
    at_a_time: u32,
    /// The oldest cache blocks, as many as are filled in parallel: emptied together, also in several steps.
    emptying: Vec<Emptying>,
    /// Units with data.
    held: u32,
    /// Hundredths of units to fold, since writes went past the cache.
    owed: u32,
    /// Cache blocks that were opened in turn with folding others.
    opened: usize,
    cached: u64,
    past: u64,
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
        _ => Cache::Present(config.when_full),
    };
    let policy = Pslc {
        cache,
        lanes: config.lanes.max(1) as usize,
        emptying: Vec::new(),
        // A unit is a page of the only region.
        block_units: units.device().slc_mode_pages(Region::Mlc).map_or(0, PageCount::get),
        static_blocks: match cache {
            // One block that is filled in each lane, and one that is emptied.
            Cache::Present(_) => asked.max(config.lanes + 1),
            Cache::Absent => 0,
        },
        dynamic_permille: config.dynamic_permille.min(1_000),
        fold_percent: config.fold_percent,
        at_a_time: config.at_a_time.max(1),
        held: 0,
        owed: 0,
        opened: 0,
        cached: 0,
        past: 0,
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
        let cached = area.blocks_in(Mode::Slc) * self.block_units;
        let outside = self.held.saturating_sub(cached).div_ceil(area.units_in_full());
        let taken = outside + self.static_blocks + 2 * area.least_free();
        let without_data = area.blocks().saturating_sub(taken);
        let dynamic = u64::from(without_data) * u64::from(self.dynamic_permille) / 1_000;
        self.static_blocks + dynamic as u32
    }

    /// The way of the next write.
    fn way<D: NandDevice, P: Probe>(&self, when_full: WhenFull, units: &Units<D, P>) -> Way {
        let area = units.area(0);
        if !area.is_opening(CACHE.number) {
            return Way::Cache;
        }
        let has_room = area.blocks_in(Mode::Slc) < self.limit(units);
        // Blocks that were folded together may leave as many free as are filled in parallel.
        let has_clean = area.free_blocks() > area.least_free() + self.lanes as u32;
        let may_pass = has_clean || !area.is_opening(HOME.number);
        match when_full {
            WhenFull::Fold | WhenFull::Direct if has_room => Way::Cache,
            WhenFull::Fold => Way::AfterFolding,
            WhenFull::Direct if may_pass => Way::Past,
            WhenFull::Direct => Way::InTurn,
            WhenFull::Beside if has_room && has_clean => Way::Cache,
            WhenFull::Beside if may_pass => Way::Past,
            WhenFull::Beside => Way::PastForRoom,
        }
    }

    /// Writes a unit on its way.
    fn put<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        let way = match self.cache {
            Cache::Present(when_full) => self.way(when_full, units),
            Cache::Absent => Way::PastForRoom,
        };
        self.fold_before(units, way)?;
        self.make_room(units)?;
        match way {
            Way::Past | Way::PastForRoom => {
                units.put(HOME, unit, data, Cause::Host)?;
                self.past += u64::from(self.cache != Cache::Absent);
            }
            Way::Cache | Way::InTurn | Way::AfterFolding => {
                units.put(CACHE, unit, data, Cause::Host)?;
                self.cached += 1;
            }
        }
        if way == Way::Past { self.fold_beside(units) } else { Ok(()) }
    }

    /// Folds the cache as the way of the next write wants it.
    fn fold_before<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        way: Way,
    ) -> Result<(), Fault<D::Error>> {
        let mut emptied = Emptied::None;
        match way {
            Way::AfterFolding => {
                let limit = self.limit(units);
                while units.area(0).blocks_in(Mode::Slc) >= limit
                    && self.empty_oldest(units)? == Emptied::Oldest
                {
                    emptied = Emptied::Oldest;
                }
            }
            Way::InTurn => {
                if self.opened.is_multiple_of(self.lanes) {
                    emptied = self.empty_oldest(units)?;
                }
                self.opened += 1;
            }
            Way::Cache | Way::Past | Way::PastForRoom => {}
        }
        self.waited += u64::from(emptied == Emptied::Oldest);
        Ok(())
    }

    /// Folds what is owed for writes past the cache, as many units at a time as work in parallel.
    fn fold_beside<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        self.owed += self.fold_percent;
        let due = self.at_a_time.saturating_mul(100);
        if self.owed < due {
            return Ok(());
        }
        self.owed -= due;
        self.empty(units, self.at_a_time).map(|_| ())
    }

    /// Makes room until a write finds it. What is moved goes to blocks in full mode, whichever block it was in.
    fn make_room<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        let mut folded = false;
        while units.area(0).is_short() {
            let victim = Victims::Greedy.choose(units.area_mut(0));
            if self.folds_before(units, victim) {
                folded |= self.fold(units, u32::MAX)? > 0;
                continue;
            }
            // Even an entirely valid block in SLC mode takes less room in full mode.
            let victim =
                victim.or_else(|| units.area(0).oldest_in(Mode::Slc)).ok_or(Fault::Full)?;
            units.collect(0, victim, Cause::Gc, |_| (COPIES, Cause::Gc))?;
        }
        self.waited += u64::from(folded);
        Ok(())
    }

    /// Whether folding the cache makes room with fewer copies than collecting that block. The cache keeps its static
    /// share.
    fn folds_before<D: NandDevice, P: Probe>(
        &self,
        units: &Units<D, P>,
        victim: Option<u32>,
    ) -> bool {
        let area = units.area(0);
        let keeps = area.blocks_in(Mode::Slc) <= self.static_blocks;
        if keeps || matches!(self.cache, Cache::Absent | Cache::Present(WhenFull::Fold)) {
            return false;
        }
        let is_cheap = |block: u32| area.valid(block) <= self.block_units;
        area.oldest_in(Mode::Slc).is_some() && !victim.is_some_and(is_cheap)
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

    /// Makes room, moves up to that many units of the oldest cache blocks, and returns how many it moved.
    fn empty<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        most: u32,
    ) -> Result<u32, Fault<D::Error>> {
        // This may empty blocks of the cache, so they are chosen after it.
        self.make_room(units)?;
        self.fold(units, most)
    }

    /// Moves up to that many units of the oldest cache blocks, and returns how many it moved. They take a block in each
    /// lane at most before they free one.
    fn fold<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        most: u32,
    ) -> Result<u32, Fault<D::Error>> {
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
        // Where the host writes to blocks in full mode, too, what it writes now is not mixed with what is older.
        let to = match self.cache {
            Cache::Present(WhenFull::Direct | WhenFull::Beside) => COPIES,
            Cache::Present(WhenFull::Fold) | Cache::Absent => HOME,
        };
        units.drain(0, &blocks, to, most)
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
        let written = self.put(units, unit, data);
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
        (self.owed, self.cached, self.past, self.waited, self.emptied_idle) = (0, 0, 0, 0, 0);
        Ok(())
    }

    fn at_a_time(&self) -> u32 {
        self.at_a_time
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
            ("pages_past_the_cache", self.past as f64),
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
