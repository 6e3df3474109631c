//! What the sectors of a device must hold, and requests that change it.

use ftl_iface::{BlockStore, PageCount, Sector, SectorCount};

use crate::world::Dice;

/// A request that a power cut interrupted: each of its sectors may have the version before it, or its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interrupted {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) version: u32,
}

/// Which version of each sector a device holds. Version 0 is zeros.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    pub(crate) sector_bytes: usize,
    pub(crate) versions: Vec<u32>,
    pub(crate) interrupted: Interrupted,
}

/// What power did during requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    Stayed,
    Failed,
}

impl Truth {
    pub(crate) fn blank(sector_bytes: usize, capacity: u32) -> Self {
        let versions = vec![0; capacity as usize];
        Self { sector_bytes, versions, interrupted: Interrupted::default() }
    }

    /// The content of a sector in one of its versions. It repeats, so that an image takes little space.
    pub(crate) fn content(&self, sector: u32, version: u32) -> Vec<u8> {
        let words = [sector, version, sector.wrapping_mul(0x9E37_79B1) ^ version, !sector];
        let pattern: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        match version {
            0 => vec![0; self.sector_bytes],
            _ => pattern.iter().copied().cycle().take(self.sector_bytes).collect(),
        }
    }

    /// The version that a sector was found in.
    pub(crate) fn version(&self, sector: u32, found: &[u8]) -> u32 {
        let Interrupted { first, count, version } = self.interrupted;
        let new = (first..first + count).contains(&sector).then_some(version);
        let versions = [Some(self.versions[sector as usize]), new];
        let version =
            versions.into_iter().flatten().find(|one| self.content(sector, *one) == found);
        version.unwrap_or_else(|| panic!("sector {sector} should hold one of {versions:?}"))
    }

    /// Reads every sector. What the interrupted request has left is settled then.
    pub(crate) fn verify<S: BlockStore>(&mut self, store: &mut S) {
        let mut data = vec![0; self.sector_bytes];
        for sector in 0..self.versions.len() as u32 {
            store.read(Sector::new(sector), &mut data).expect("read");
            self.versions[sector as usize] = self.version(sector, &data);
        }
        self.interrupted = Interrupted::default();
    }

    fn write<S: BlockStore>(&mut self, store: &mut S, request: Interrupted) -> Power {
        let Interrupted { first, count, version } = request;
        let done = if version == 0 {
            store.trim(Sector::new(first), SectorCount::new(count)).is_ok()
        } else {
            let data: Vec<u8> =
                (first..first + count).flat_map(|sector| self.content(sector, version)).collect();
            store.write(Sector::new(first), &data).is_ok()
        };
        if done {
            self.versions[first as usize..(first + count) as usize].fill(version);
            Power::Stayed
        } else {
            self.interrupted = request;
            Power::Failed
        }
    }

    /// Trims the first sector that holds something.
    pub(crate) fn trim<S: BlockStore>(&mut self, store: &mut S) -> Power {
        let held = self.versions.iter().position(|version| *version > 0);
        let first = held.expect("a sector that holds something") as u32;
        self.write(store, Interrupted { first, count: 1, version: 0 })
    }

    /// Writes every sector once, in order.
    pub(crate) fn fill<S: BlockStore>(&mut self, store: &mut S, version: u32) {
        let capacity = self.versions.len() as u32;
        for first in (0..capacity).step_by(7) {
            let count = 7.min(capacity - first);
            assert_eq!(self.write(store, Interrupted { first, count, version }), Power::Stayed);
        }
    }

    /// Does random requests: half of them to an eighth of the device. It ends with the one in which power fails.
    pub(crate) fn churn<S: BlockStore>(
        &mut self,
        store: &mut S,
        dice: &mut Dice,
        requests: u32,
    ) -> Power {
        let capacity = self.versions.len() as u32;
        for _ in 0..requests {
            let span = if dice.percent(50) { capacity } else { capacity.div_ceil(8) };
            let first = dice.below(span);
            let longest = if dice.percent(12) { 40 } else { 3 };
            let count = dice.within(1..longest + 1).min(capacity - first);
            let version = 1 + dice.below(1 << 20);
            let power = match dice.below(20) {
                0 if store.maintain(PageCount::new(count)).is_err() => Power::Failed,
                0 => Power::Stayed,
                1 | 2 => self.write(store, Interrupted { first, count, version: 0 }),
                _ => self.write(store, Interrupted { first, count, version }),
            };
            if power == Power::Failed {
                return power;
            }
        }
        Power::Stayed
    }
}
