//! A. Batni and F. Safaei, "A New Multi-Tiered Solid State Disk Using SLC/MLC Combined Flash Memory" (adaptive hot data
//! migration).
//!
//! Two lists in the order of last use hold pages that were written: W, the warm ones, each with the number of its
//! references, and H, the hot ones. A page that is written and on no list joins W; one on W whose references have
//! reached the threshold joins H, and the last of H leaves if H is full. Pages on H live in the SLC, all others in the
//! MLC. Reads change nothing.
//!
//! *What the paper leaves out.* How long the lists are: H is as long as the SLC has room, a tenth of it left for
//! collection; W is `warm` times as long. How the threshold adapts (its Fig. 5 shows that it does): ours compares,
//! every [`PERIOD`] written pages, the shares of their endurance that SLC and MLC have used since the beginning, and
//! moves the threshold by one, up where the SLC has used more, else down: at the end both wear out together. A page
//! that leaves H is moved to the MLC at once. Victims are the blocks with the fewest valid pages.

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

/// Pages written between two looks at the wear.
pub const PERIOD: u32 = 1_000;

/// The threshold goes no higher: no page is written so often while it is on W.
const THRESHOLD_MAX: u8 = 64;

/// How the threshold is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// It stays.
    Fixed(u8),
    /// It follows the wear, from here on.
    Adaptive(u8),
}

/// What can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The FTL's sector.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in turn.
    pub lanes: Lanes,
    /// References that make a page hot.
    pub threshold: Threshold,
    /// How many times as long as H the list W is.
    pub warm: u32,
    /// Cycles that a block endures, of SLC and of MLC.
    pub endurance: [u32; 2],
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Ahdm {
    lists: Lists,
    references: Vec<u8>,
    threshold: u8,
    adapts: bool,
    /// The most that W and H hold.
    longest: [u32; 2],
    endurance: [u32; 2],
    until_look: u32,
    /// Cleanings a block when it began, of SLC and of MLC.
    began: [f64; 2],
    requests: u64,
    migrated: u64,
}

/// The paper's FTL over that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &Config,
) -> Result<Mapped<D, P, Ahdm>, Unfit> {
    let area = |region| AreaPlan::whole(device.geometry(), region, 2, config.lanes.of(region));
    let plans = [area(Region::Slc), area(Region::Mlc)];
    let units = Units::new(device, probe, &plans, config.sector, config.capacity)?;
    units.fits(COLD.area, 0)?;
    let slc = units.area(SLC);
    // Besides what is kept free, blocks may be open in each lane of each stream.
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
    /// Whether the unit is hot now that it is written once more.
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

    /// The last of H leaves, and its data the SLC, where H is longer than it may be.
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

    /// Writes a unit to that stream, whose area is collected into the other one.
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

    /// Moves the threshold, if it is time.
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

    /// A place in a list takes a page's number, two neighbours and its references.
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
