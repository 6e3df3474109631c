//! A. Batni and F. Safaei, "A New Multi-Tiered Solid State Disk Using SLC/MLC Combined Flash Memory" (adaptive hot data
//! migration).
//!
//! Two LRU lists hold written pages: W, the warm ones, each with the number of its references, and H, the hot ones. A
//! written page that is on no list joins W; one on W whose references have reached the threshold joins H, and the least
//! recently used page leaves H if H is full. Pages on H are stored in the SLC, all others in the MLC. Reads change
//! nothing.
//!
//! *What the paper leaves out.* The length of the lists: H is as long as the SLC has room, less a tenth for garbage
//! collection; W is `warm` times as long. How the threshold adapts (its Fig. 5 shows that it does): ours compares,
//! every [`PERIOD`] written pages, the shares of their endurance that SLC and MLC have used since the beginning, and
//! moves the threshold by one, up if the SLC has used more, else down, so that both wear out together. A page that
//! leaves H is moved to the MLC at once. Victims are the blocks with the fewest valid pages.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    AreaPlan, Fault, Figure, Lanes, Lists, Mapped, Policy, Request, Stream, Unfit, Unit, Units,
    Victims,
};

const SLC: usize = 0;
const HOT: Stream = Stream::new(SLC, 0);
const HOT_COPIES: Stream = Stream::new(SLC, 1);
const COLD: Stream = Stream::new(1, 0);
const COLD_COPIES: Stream = Stream::new(1, 1);

/// The lists.
const W: u8 = 0;
const H: u8 = 1;

/// Pages written between two checks of the wear.
pub const PERIOD: u32 = 1_000;

/// The largest threshold: no page is written more often while it is on W.
const THRESHOLD_MAX: u8 = 64;

/// How the threshold is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// It is fixed.
    Fixed(u8),
    /// It follows the wear, starting at this value.
    Adaptive(u8),
}

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct AhdmConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: Lanes,
    /// References that make a page hot.
    pub threshold: Threshold,
    /// The length of W as a multiple of H's.
    pub warm: u32,
    /// The rated erase cycles of SLC and of MLC.
    pub endurance: [u32; 2],
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Ahdm {
    lists: Lists,
    references: Vec<u8>,
    threshold: u8,
    adapts: bool,
    /// The longest that W and H may be.
    longest: [u32; 2],
    endurance: [u32; 2],
    until_look: u32,
    /// Mean cleanings per block at the beginning, of SLC and of MLC.
    began: [f64; 2],
    requests: u64,
    migrated: u64,
}

/// The paper's FTL over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &AhdmConfig,
) -> Result<Mapped<D, P, Ahdm>, Unfit> {
    let area = |region| AreaPlan::whole(device.geometry(), region, 2, config.lanes.of(region));
    let plans = [area(Region::Slc), area(Region::Mlc)];
    let units = Units::new(device, probe, &plans, config.sector, config.capacity)?;
    units.fits(COLD.area, 0)?;
    let slc = units.area(SLC);
    // Besides the free blocks, one block may be open in each lane of each stream.
    let usable = slc.blocks().saturating_sub(2 * slc.least_free());
    let hot = (u64::from(usable) * u64::from(slc.units_in_full()) * 9 / 10) as u32;
    if hot == 0 {
        return Err(Unfit(format!(
            "{} SLC blocks are too few: ask for a larger SLC",
            slc.blocks()
        )));
    }
    let (threshold, adapts) = match config.threshold {
        Threshold::Fixed(threshold) => (threshold, false),
        Threshold::Adaptive(threshold) => (threshold, true),
    };
    let policy = Ahdm {
        lists: Lists::new(2, units.count()),
        references: vec![0; units.count() as usize],
        threshold: threshold.clamp(1, THRESHOLD_MAX),
        adapts,
        longest: [hot.saturating_mul(config.warm.max(1)), hot],
        endurance: config.endurance,
        until_look: PERIOD,
        began: [0.0; 2],
        requests: 0,
        migrated: 0,
    };
    Ok(Mapped::new(units, policy))
}

impl Ahdm {
    /// Counts a write of the unit, and returns whether it is hot now.
    fn note_write(&mut self, unit: Unit) -> bool {
        let Unit(unit) = unit;
        let references = &mut self.references[unit as usize];
        match self.lists.list_of(unit) {
            Some(H) => self.lists.touch(H, unit),
            Some(_) if *references >= self.threshold => self.lists.touch(H, unit),
            Some(_) => {
                *references += 1;
                self.lists.touch(W, unit);
            }
            None => {
                *references = 1;
                self.lists.touch(W, unit);
            }
        }
        if self.lists.len(W) > self.longest[usize::from(W)]
            && let Some(coldest) = self.lists.oldest(W)
        {
            self.lists.remove(coldest);
        }
        self.lists.list_of(unit) == Some(H)
    }

    /// Removes the least recently used unit from H, and its data from the SLC, while H is too long.
    fn shorten<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
    ) -> Result<(), Fault<D::Error>> {
        while self.lists.len(H) > self.longest[usize::from(H)]
            && let Some(last) = self.lists.oldest(H)
        {
            if units.area_of(Unit(last)) == Some(SLC) {
                units.make_room(Victims::Greedy, COLD_COPIES)?;
                units.move_to(COLD, Unit(last), Cause::WriteBack)?;
            }
            self.lists.remove(last);
        }
        Ok(())
    }

    /// Writes a unit to that stream. Garbage collection of its area moves units to the other stream.
    fn put<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        (stream, copies): (Stream, Stream),
    ) -> Result<(), Fault<D::Error>> {
        self.shorten(units)?;
        self.adapt(units);
        self.migrated += u64::from(stream == HOT);
        units.make_room(Victims::Greedy, copies)?;
        units.put(stream, unit, data, Cause::Host)
    }

    /// Adapts the threshold once per period.
    fn adapt<D: NandDevice, P: Probe>(&mut self, units: &Units<D, P>) {
        self.until_look -= 1;
        if self.until_look > 0 {
            return;
        }
        self.until_look = PERIOD;
        if !self.adapts {
            return;
        }
        let [slc, mlc] = [0, 1].map(|area| {
            let cleanings = units.area(area).mean_cleanings() - self.began[area];
            cleanings / f64::from(self.endurance[area].max(1))
        });
        if slc > mlc {
            self.threshold = (self.threshold + 1).min(THRESHOLD_MAX);
        } else if slc < mlc {
            self.threshold = (self.threshold - 1).max(1);
        }
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for Ahdm {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        self.requests += 1;
        let is_hot = self.note_write(unit);
        let streams = if is_hot { (HOT, HOT_COPIES) } else { (COLD, COLD_COPIES) };
        let written = self.put(units, unit, data, streams);
        if written.is_err() && is_hot && units.area_of(unit) != Some(SLC) {
            self.lists.remove(unit.0);
        }
        written
    }

    fn read(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        at: usize,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        self.requests += 1;
        units.read(unit, at, data, Cause::Host)
    }

    #[inline]
    fn glance(&self, unit: Unit) -> u32 {
        let count = self.references.get(unit.0 as usize).copied().unwrap_or_default();
        self.lists.glance(unit.0) ^ u32::from(count)
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.lists.remove(unit.0);
        units.forget(unit);
        Ok(())
    }

    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        self.lists.clear(W);
        self.began = [0, 1].map(|area| units.area(area).mean_cleanings());
        (self.requests, self.migrated, self.until_look) = (0, 0, PERIOD);
        Ok(())
    }

    /// A list entry holds a page's number, two neighbours and its references.
    fn ram_bytes(&self) -> u64 {
        let places: u64 = self.longest.iter().map(|longest| u64::from(*longest)).sum();
        places.min(self.references.len() as u64) * (4 + 4 + 4 + 1)
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        let share = self.migrated as f64 / self.requests.max(1) as f64;
        vec![
            ("migrated_share", share),
            ("threshold", self.threshold.into()),
            ("hot_pages", self.lists.len(H).into()),
            ("hot_pages_most", self.longest[usize::from(H)].into()),
        ]
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        self.lists.check()?;
        for list in [W, H] {
            if self.lists.len(list) > self.longest[usize::from(list)] {
                return Err(format!("list {list} holds {} pages", self.lists.len(list)));
            }
        }
        for unit in 0..units.count() {
            let in_slc = units.area_of(Unit(unit)) == Some(SLC);
            if in_slc != (self.lists.list_of(unit) == Some(H)) {
                return Err(format!(
                    "unit {unit} is hot and not in the SLC, or the other way round"
                ));
            }
        }
        Ok(())
    }
}
