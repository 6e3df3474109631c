//! What tests of every system need: a device, a host that remembers what it wrote, and random requests.
#![allow(dead_code)] // Each test uses its own part of it.

use std::collections::HashMap;
use std::fmt::Debug;

use fastrand::Rng;
use ftl_iface::{
    BlockCount, BlockStore, Bytes, Cause, Geometry, PageCount, Region, RegionGeometry, Sector,
    SectorCount,
};
use ftl_rivals::kit::{Backing, Lanes, Unit};
use ftl_rivals::pslc::WhenFull;
use ftl_rivals::{ahdm, pslc};
use nand_model::part::Part;
use nand_model::{Chip, Content, datasheet};

/// A chip of that built-in device which keeps every byte.
pub(crate) fn chip(name: &str) -> Chip {
    Chip::new(&datasheet::builtin(name).unwrap(), Content::Bytes).unwrap()
}

/// A built-in device with so many blocks in its regions.
pub(crate) fn part(name: &str, slc: u32, mlc: u32) -> Part {
    let mut part = datasheet::builtin(name).unwrap();
    let resized = |region: Option<&RegionGeometry>, blocks| {
        region.map(|shape| RegionGeometry { blocks: BlockCount::new(blocks), ..*shape })
    };
    let slc = resized(part.geometry.slc(), slc);
    let mlc = resized(part.geometry.mlc(), mlc);
    part.geometry = Geometry::new(slc, mlc).unwrap();
    part
}

/// AHDM for short lives, with sectors of 1 KiB.
pub(crate) fn ahdm_config(
    threshold: ahdm::Threshold,
    capacity: SectorCount,
    lanes: u32,
) -> ahdm::AhdmConfig {
    ahdm::AhdmConfig {
        sector: Bytes::new(1024),
        capacity,
        lanes: Lanes::alike(lanes),
        threshold,
        warm: 4,
        endurance: [100_000, 5_000],
    }
}

/// What may become of a write when the cache in SLC mode is full.
pub(crate) const WHEN_FULL: [WhenFull; 3] = [WhenFull::Beside, WhenFull::Direct, WhenFull::Fold];

/// A cache in SLC mode with that static and that dynamic share, and sectors of 1 KiB.
pub(crate) fn pslc_config(
    when_full: WhenFull,
    capacity: SectorCount,
    lanes: u32,
    [static_permille, dynamic_permille]: [u32; 2],
) -> pslc::PslcConfig {
    pslc::PslcConfig {
        sector: Bytes::new(1024),
        capacity,
        lanes,
        static_permille,
        dynamic_permille,
        when_full,
        fold_percent: 0,
        at_a_time: lanes,
    }
}

/// Bytes of a region's blocks.
pub(crate) fn region_bytes(part: &Part, region: Region) -> u64 {
    part.geometry.region(region).map_or(0, RegionGeometry::capacity_bytes)
}

/// A disk that stops spinning now and then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    units: HashMap<Unit, Vec<u8>>,
    served: u32,
}

impl Backing for Disk {
    fn read(&mut self, unit: Unit, data: &mut [u8], _: Cause) {
        self.served += 1;
        match self.units.get(&unit) {
            Some(held) => data.copy_from_slice(held),
            None => data.fill(0),
        }
    }

    fn write(&mut self, unit: Unit, data: &[u8], _: Cause) {
        self.served += 1;
        self.units.insert(unit, data.to_vec());
    }

    fn forget(&mut self, unit: Unit) {
        self.units.remove(&unit);
    }

    fn is_ready(&self) -> bool {
        self.served % 50 < 25
    }
}

/// A host that remembers what every sector must hold.
pub(crate) struct Host {
    dice: Rng,
    truth: HashMap<u32, Vec<u8>>,
    longest: u32,
}

impl Host {
    pub(crate) fn new(seed: u64, longest: u32) -> Self {
        Self { dice: Rng::with_seed(seed), truth: HashMap::new(), longest }
    }

    /// One random request, most of them on a few places.
    pub(crate) fn step<S: BlockStore>(&mut self, store: &mut S)
    where
        S::Error: Debug,
    {
        let (sector, capacity) = (store.sector_bytes().as_usize(), store.capacity().get());
        let count = self.dice.u32(1..=self.longest.min(capacity));
        let range = if self.dice.u8(0..4) > 0 { capacity.div_ceil(8) } else { capacity };
        let first = self.dice.u32(0..range).min(capacity - count);
        match self.dice.u8(0..16) {
            0..=9 => {
                let data: Vec<u8> =
                    (0..count as usize * sector).map(|_| self.dice.u8(..)).collect();
                store.write(Sector::new(first), &data).unwrap();
                for (sector, data) in (first..).zip(data.chunks(sector)) {
                    self.truth.insert(sector, data.to_vec());
                }
            }
            10..=14 => self.read(store, first, count),
            _ => {
                store.trim(Sector::new(first), SectorCount::new(count)).unwrap();
                (first..first + count).for_each(|sector| drop(self.truth.remove(&sector)));
            }
        }
    }

    pub(crate) fn read<S: BlockStore>(&self, store: &mut S, first: u32, count: u32)
    where
        S::Error: Debug,
    {
        let sector = store.sector_bytes().as_usize();
        let mut data = vec![0x5A; count as usize * sector];
        store.read(Sector::new(first), &mut data).unwrap();
        for (number, data) in (first..).zip(data.chunks(sector)) {
            let must = self.truth.get(&number);
            let holds =
                must.map_or_else(|| data.iter().all(|byte| *byte == 0), |must| must == data);
            assert!(holds, "sector {number} holds something else");
        }
    }

    /// Reads everything.
    pub(crate) fn read_all<S: BlockStore>(&self, store: &mut S)
    where
        S::Error: Debug,
    {
        (0..store.capacity().get()).for_each(|sector| self.read(store, sector, 1));
    }
}

/// Serves random requests, and holds the store to its invariants between them.
pub(crate) fn live<S: BlockStore>(store: &mut S, seed: u64, steps: u32, check: impl Fn(&S))
where
    S::Error: Debug,
{
    let mut host = Host::new(seed, 12);
    check(store);
    for step in 0..steps {
        host.step(store);
        if step % 7 == 0 {
            check(store);
        }
        if step % 101 == 0 {
            store.maintain(PageCount::new(4)).unwrap();
            check(store);
        }
    }
    host.read_all(store);
}

/// Writes single units at random until the store has settled, then counts.
pub(crate) fn write_at_random<S: BlockStore>(store: &mut S, unit: u32, writes: u32, dice: &mut Rng)
where
    S::Error: Debug,
{
    let (sector, capacity) = (store.sector_bytes().as_usize(), store.capacity().get());
    let mut data = vec![0; unit as usize * sector];
    for _ in 0..writes {
        let first = dice.u32(0..capacity / unit) * unit;
        for data in data.chunks_mut(sector) {
            nand_model::Stamp::new(dice.u32(1..1 << 30)).write_to(data);
        }
        store.write(Sector::new(first), &data).unwrap();
    }
}
