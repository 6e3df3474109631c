//! S. Hong and D. Shin, "NAND flash-based disk cache using SLC/MLC combined flash memory" (2010).
//!
//! A chip whose blocks can be SLC or MLC is a cache between a DRAM buffer and a hard disk. Its SLC part and its MLC
//! part are circular logs. Writes go to the DRAM and from there to the SLC; a read that misses the DRAM is copied to
//! it, and to the SLC if it was found in the MLC or on the disk. A full ring collects its oldest block. How much of its
//! cold region is invalid decides where the block's valid pages go:
//!
//! ```text
//!   SLC   70 % or more: they stay    40 % or more: those stay that were read    less: all go to the MLC
//!   MLC   60 % or more (40 % while the disk stands still): they stay    less: all go to the disk
//! ```
//!
//! Policy 1 writes long requests directly to the MLC. Policy 2 manages the regions separately. Policy 3 keeps nothing.
//!
//! *What the paper leaves out.* The size of the cold region: ours is a percentage of the full blocks, the oldest ones.
//! Which requests are long: ours are those of more than `long` sectors. What it means to manage the regions separately:
//! in ours the SLC is then a write buffer and the MLC a cache of disk reads, and both evict only to the disk. What
//! happens to the mark of a page that stayed: ours is cleared, so that no page stays forever. Which pages are written
//! to the disk: ours are those newer than the disk's copy, in their order on the disk; others are dropped.

use ftl_iface::{Bytes, Cause, Mode, NandDevice, Probe, Region, SectorCount};

use self::gathered::Gathered;
use crate::kit::dram::Dram;
use crate::kit::{
    AreaPlan, Backing, Fault, Figure, Mapped, Policy, Request, Stream, Unfit, Unit, Units,
};

mod gathered;

const SLC: usize = 0;
const MLC: usize = 1;

/// The mode of the blocks of each.
const MODES: [Mode; 2] = [Mode::Slc, Mode::Full];

/// The paper's four policies, and none: the disk with only its DRAM buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// No flash.
    DiskAlone,
    /// Policy 0.
    Proposed,
    /// Policy 1: long writes bypass the SLC.
    LongBypass,
    /// Policy 2: the regions are managed separately.
    Apart,
    /// Policy 3: nothing stays in its region.
    NothingStays,
}

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct DiskCacheConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use: those of the disk.
    pub capacity: SectorCount,
    /// Blocks of the cache in SLC mode, and in full mode.
    pub blocks: [u32; 2],
    /// The buffer.
    pub dram: Bytes,
    /// The cold region's share of the full blocks, in percent.
    pub cold_percent: u32,
    /// The policy.
    pub rule: Rule,
    /// The longest request that is not long for policy 1.
    pub long: SectorCount,
}

/// The rules, with the DRAM and the disk.
#[derive(Clone, Debug)]
pub struct DiskCache<B> {
    disk: B,
    dram: Dram,
    dram_bytes: u64,
    blocks: [u32; 2],
    units_of_block: u32,
    cold_percent: u32,
    rule: Rule,
    long: SectorCount,
    /// By unit: whether it was read since it was written to the SLC; whether the flash's copy is newer than the disk's.
    is_marked: Vec<bool>,
    is_newer: Vec<bool>,
    /// Units read from DRAM, SLC, MLC and disk.
    found: [u64; 4],
    /// Of the block being freed: the units that stay in its region, and those that go to the disk.
    staying: Gathered,
    leaving: Gathered,
    /// A buffer for a whole unit.
    whole: Vec<u8>,
}

/// Fewer blocks of a kind leave no room for garbage collection.
const BLOCKS_LEAST: u32 = 4;

/// The paper's cache on that chip, in front of that disk.
pub fn new<D: NandDevice, P: Probe, B: Backing>(
    device: D,
    probe: P,
    disk: B,
    config: &DiskCacheConfig,
) -> Result<Mapped<D, P, DiskCache<B>>, Unfit> {
    let [slc, mlc] = config.blocks;
    if [slc, mlc].iter().any(|blocks| (1..BLOCKS_LEAST).contains(blocks)) || slc + mlc == 0 {
        return Err(Unfit(format!(
            "{slc} blocks of SLC and {mlc} of MLC: a kind needs none, or {BLOCKS_LEAST} or more"
        )));
    }
    let area = |blocks, area: usize| AreaPlan {
        region: Region::Mlc,
        blocks,
        streams: vec![MODES[area]],
        lanes: 1,
    };
    let plans = [area(0..slc, SLC), area(slc..slc + mlc, MLC)];
    let units = Units::new(device, probe, &plans, config.sector, config.capacity)?;
    let count = units.count() as usize;
    let policy = DiskCache {
        disk,
        dram: Dram::new((config.dram.as_usize() / units.unit_bytes()).max(1)),
        dram_bytes: config.dram.get().into(),
        units_of_block: units.area(MLC).units_in_full(),
        blocks: config.blocks,
        cold_percent: config.cold_percent.clamp(1, 100),
        rule: config.rule,
        long: config.long,
        is_marked: vec![false; count],
        is_newer: vec![false; count],
        found: [0; 4],
        staying: Gathered::default(),
        leaving: Gathered::default(),
        whole: vec![0; units.unit_bytes()],
    };
    Ok(Mapped::new(units, policy))
}

/// Which units of a freed block stay in the flash.
#[derive(Clone, Copy)]
enum Staying {
    Nothing,
    /// Those that were read since they were written.
    Read,
    Everything,
}

impl Staying {
    const fn has(self, was_read: bool) -> bool {
        matches!((self, was_read), (Self::Everything, _) | (Self::Read, true))
    }
}

impl<B: Backing> DiskCache<B> {
    /// The region that takes writes.
    const fn front(&self) -> usize {
        if self.blocks[SLC] > 0 { SLC } else { MLC }
    }

    /// Whether the MLC exists and takes what the SLC does not keep.
    fn has_mlc_below(&self) -> bool {
        self.blocks[MLC] > 0 && self.rule != Rule::Apart
    }

    /// Writes a unit to a region.
    fn put<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        area: usize,
        (unit, data): (Unit, &[u8]),
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.make_room(units, area)?;
        self.is_marked[unit.0 as usize] = false;
        units.put(Stream::new(area, 0), unit, data, cause)
    }

    fn make_room<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        area: usize,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(area).is_short() {
            let block = units.area(area).oldest().ok_or(Fault::Full)?;
            let invalid = invalid_in_cold(units, area, self.cold_percent);
            if area == SLC {
                self.collect_slc(units, block, invalid)?;
            } else {
                self.collect_mlc(units, block, invalid)?;
            }
        }
        Ok(())
    }

    fn collect_slc<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        block: u32,
        invalid: f32,
    ) -> Result<(), Fault<D::Error>> {
        let staying = match self.rule {
            Rule::NothingStays => Staying::Nothing,
            _ if invalid >= 0.7 => Staying::Everything,
            _ if invalid >= 0.4 => Staying::Read,
            _ => Staying::Nothing,
        };
        if !self.has_mlc_below() {
            return self.evict(units, (SLC, block), staying);
        }
        match self.make_room(units, MLC) {
            // Too many of its blocks have failed, so the SLC evicts to the disk.
            Err(Fault::Full) => return self.evict(units, (SLC, block), staying),
            room => room?,
        }
        let is_marked = &mut self.is_marked;
        units.collect(SLC, block, Cause::Gc, |unit| {
            let was_read = std::mem::take(&mut is_marked[unit.0 as usize]);
            if staying.has(was_read) {
                (Stream::new(SLC, 0), Cause::Gc)
            } else {
                (Stream::new(MLC, 0), Cause::WriteBack)
            }
        })
    }

    fn collect_mlc<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        block: u32,
        invalid: f32,
    ) -> Result<(), Fault<D::Error>> {
        let enough = if self.disk.is_ready() { 0.6 } else { 0.4 };
        if invalid >= enough && self.rule != Rule::NothingStays {
            let stayed = units.collect(MLC, block, Cause::Gc, |_| (Stream::new(MLC, 0), Cause::Gc));
            if !matches!(stayed, Err(Fault::Full)) {
                return stayed;
            }
        }
        self.evict(units, (MLC, block), Staying::Nothing)
    }

    /// Frees a block. Its pages go to the disk, except those that stay.
    fn evict<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        (area, block): (usize, u32),
        stays: Staying,
    ) -> Result<(), Fault<D::Error>> {
        let Self { staying, leaving, is_marked, is_newer, disk, .. } = self;
        staying.clear();
        leaving.clear();
        units.expel(area, block, Cause::Gc, |unit, data| {
            let was_read = std::mem::take(&mut is_marked[unit.0 as usize]);
            if stays.has(was_read) {
                staying.push(unit, data);
            } else if std::mem::take(&mut is_newer[unit.0 as usize]) {
                leaving.push(unit, data);
            }
        })?;
        let bytes = units.unit_bytes();
        leaving.sort();
        for (unit, data) in leaving.each(bytes) {
            disk.write(unit, data, Cause::WriteBack);
        }
        for (unit, data) in staying.each(bytes) {
            match units.put(Stream::new(area, 0), unit, data, Cause::Gc) {
                Err(Fault::Full) if std::mem::take(&mut is_newer[unit.0 as usize]) => {
                    disk.write(unit, data, Cause::WriteBack);
                }
                // The disk has this version.
                Err(Fault::Full) => {}
                put => put?,
            }
        }
        Ok(())
    }

    /// Writes a unit newer than the disk's to a region, or to the disk if all blocks have failed.
    fn put_newer<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        area: usize,
        (unit, data): (Unit, &[u8]),
    ) -> Result<(), Fault<D::Error>> {
        let put = self.put(units, area, (unit, data), Cause::Host);
        self.is_newer[unit.0 as usize] = put.is_ok();
        if matches!(put, Err(Fault::Full)) {
            units.forget(unit);
            self.disk.write(unit, data, Cause::Host);
            return Ok(());
        }
        put
    }

    /// Fetches a unit that is not in the DRAM. Returns the flash region that held it, or `None` for the disk.
    fn fetch<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &mut [u8],
    ) -> Result<Option<usize>, Fault<D::Error>> {
        let area = units.area_of(unit);
        match area {
            Some(_) => units.read(unit, 0, data, Cause::Host)?,
            None => self.disk.read(unit, data, Cause::Host),
        }
        Ok(area)
    }

    /// Puts a unit into the DRAM, and writes down the one that it displaces.
    fn buffer<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        is_new: bool,
    ) -> Result<(), Fault<D::Error>> {
        if let Some(buffered) = self.dram.touch(unit) {
            buffered.data.copy_from_slice(data);
            buffered.is_new |= is_new;
            return Ok(());
        }
        if let Some(displaced) = self.dram.displaced() {
            if displaced.is_new {
                self.write_down(units, displaced.unit, &displaced.data)?;
            }
            self.dram.reuse(displaced.data);
        }
        self.dram.insert(unit, data, is_new);
        Ok(())
    }

    /// Writes a dirty unit from the DRAM to the flash, or to the disk if there is no flash.
    fn write_down<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        if self.rule == Rule::DiskAlone {
            self.disk.write(unit, data, Cause::Host);
            return Ok(());
        }
        self.put_newer(units, self.front(), (unit, data))
    }

    /// Caches a unit that was read: in the DRAM, and in the flash if it is copied there.
    fn keep<D: NandDevice, P: Probe>(
        &mut self,
        units: &mut Units<D, P>,
        (unit, data): (Unit, &[u8]),
        found: Option<usize>,
    ) -> Result<(), Fault<D::Error>> {
        self.found[found.map_or(3, |area| area + 1)] += 1;
        if let Some(area) = self.copied_to(found) {
            match self.put(units, area, (unit, data), Cause::Host) {
                // The read itself is done.
                Err(Fault::Full) => {}
                put => put?,
            }
        } else if found == Some(SLC) {
            self.is_marked[unit.0 as usize] = true;
        }
        self.buffer(units, unit, data, false)
    }

    /// Where a unit that was read is copied to, if anywhere.
    fn copied_to(&self, found: Option<usize>) -> Option<usize> {
        match (self.rule, found) {
            (Rule::DiskAlone, _) | (Rule::Apart, Some(_)) | (_, Some(SLC)) => None,
            (Rule::Apart, None) if self.blocks[MLC] > 0 => Some(MLC),
            // Without SLC, a unit in the MLC stays there.
            (_, Some(_)) => (self.front() == SLC).then_some(SLC),
            (_, None) => Some(self.front()),
        }
    }
}

/// The invalid share of the cold region, the oldest blocks of a ring.
#[allow(clippy::cast_precision_loss)] // Shares need not be finer.
fn invalid_in_cold<D: NandDevice, P: Probe>(units: &Units<D, P>, area: usize, percent: u32) -> f32 {
    let (area, mode) = (units.area(area), MODES[area]);
    let cold = (area.full_in(mode) * percent).div_ceil(100);
    if cold == 0 {
        return 0.0;
    }
    let (mut valid, mut all) = (0, 0);
    for block in area.filled_in(mode).take(cold as usize) {
        valid += area.valid(block);
        all += area.units_of(block);
    }
    1.0 - valid as f32 / all as f32
}

impl<D: NandDevice, P: Probe, B: Backing> Policy<D, P> for DiskCache<B> {
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        request: Request,
    ) -> Result<(), Fault<D::Error>> {
        let is_long = request.sectors > self.long && self.blocks[MLC] > 0;
        if self.rule == Rule::LongBypass && is_long {
            self.dram.remove(unit);
            return self.put_newer(units, MLC, (unit, data));
        }
        self.buffer(units, unit, data, true)
    }

    fn read(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        at: usize,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        if let Some(buffered) = self.dram.touch(unit) {
            data.copy_from_slice(&buffered.data[at..at + data.len()]);
            self.found[0] += 1;
            return Ok(());
        }
        let mut whole = std::mem::take(&mut self.whole);
        let kept = self.fetch(units, unit, &mut whole).and_then(|found| {
            data.copy_from_slice(&whole[at..at + data.len()]);
            self.keep(units, (unit, &whole), found)
        });
        self.whole = whole;
        kept
    }

    fn load(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        if let Some(buffered) = self.dram.touch(unit) {
            data.copy_from_slice(&buffered.data);
            return Ok(());
        }
        self.fetch(units, unit, data).map(|_| ())
    }

    fn holds(&self, _: &Units<D, P>, _: Unit) -> bool {
        true
    }

    fn flush(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        for unit in self.dram.new_units() {
            let Some(data) = self.dram.touch(unit).map(|buffered| buffered.data.clone()) else {
                continue;
            };
            self.write_down(units, unit, &data)?;
            if let Some(buffered) = self.dram.touch(unit) {
                buffered.is_new = false;
            }
        }
        Ok(())
    }

    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        self.dram.remove(unit);
        units.forget(unit);
        self.is_newer[unit.0 as usize] = false;
        self.disk.forget(unit);
        Ok(())
    }

    fn settle(&mut self, _: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        self.is_marked.fill(false);
        self.found = [0; 4];
        Ok(())
    }

    /// The buffer; and two bits for each unit that the flash can hold: it was read, and it is newer than the disk's.
    /// Our map covers the whole disk; a controller would map only the units in the flash.
    fn ram_bytes(&self) -> u64 {
        let blocks: u32 = self.blocks.iter().sum();
        self.dram_bytes + u64::from(blocks) * u64::from(self.units_of_block) / 4
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self, _: &Units<D, P>) -> Vec<Figure> {
        let names = ["read_from_dram", "read_from_slc", "read_from_mlc", "read_from_disk"];
        names.into_iter().zip(self.found.map(|count| count as f64)).collect()
    }

    fn check(&self, units: &Units<D, P>) -> Result<(), String> {
        self.dram.check()?;
        let stray = (0..units.count())
            .find(|unit| self.is_newer[*unit as usize] && units.place(Unit(*unit)).is_none());
        stray
            .map_or(Ok(()), |unit| Err(format!("unit {unit} is newest in a place that it has not")))
    }
}
