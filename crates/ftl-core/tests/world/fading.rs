//! Devices whose error counts rise with time, and the data written to them and lost.

use ftl_iface::{BlockStore, NandDevice, Region, Sector, StoreReadError};
use nand_model::Chip;
use nand_model::faults::{Ageing, FaultInjector};
use nand_model::part::{Ecc, Nanos};

use super::{Dice, content};

/// A chip whose data fades.
pub type Fading = FaultInjector<Chip>;

/// Returns this many days.
pub const fn days(count: u64) -> Nanos {
    Nanos::new(count * 86_400_000_000_000)
}

/// Wrong bits in proportion to the days since the block was written: one per codeword in four days.
const BY_THE_DAY: Ageing = Ageing {
    floor: 0.0,
    wear: (0.0, 0.0),
    retention: (0.25 / 4096.0, 0.0, 1.0),
    disturb: (0.0, 0.0, 0.0),
};

/// Returns a chip whose data fades from now on.
pub fn fading(chip: Chip, seed: u64) -> Fading {
    let geometry = *chip.geometry();
    let mut device = FaultInjector::new(chip, seed);
    for region in Region::ALL.into_iter().filter(|region| geometry.region(*region).is_some()) {
        let ecc = Ecc { correctable_bits: 8, codeword_bytes: 512 };
        device.age_region(region, BY_THE_DAY, ecc).expect("the region is there");
    }
    device
}

/// Writes every sector in runs of many sizes, and some again. Returns the version of each.
pub fn fill(store: &mut impl BlockStore, dice: &mut Dice) -> Vec<u32> {
    let capacity = store.capacity().get();
    let bytes = store.sector_bytes().as_usize();
    let mut truth = vec![0; capacity as usize];
    let mut write = |first: u32, count: u32, version: u32| {
        let data: Vec<u8> =
            (first..first + count).flat_map(|at| content(at, version, bytes)).collect();
        store.write(Sector::new(first), &data).expect("written");
        truth[first as usize..(first + count) as usize].fill(version);
    };
    for first in (0..capacity).step_by(16) {
        write(first, 16.min(capacity - first), 1);
    }
    for version in 2..60 {
        let count = 1 + dice.below(4);
        write(dice.below(capacity - count), count, version);
    }
    truth
}

/// Returns how many sectors cannot be read, or read as something else than what was written: where nearly every page
/// has become unreadable, nothing may tell that an older copy is one.
pub fn harmed(store: &mut impl BlockStore, truth: &[u32]) -> usize {
    let mut data = vec![0; store.sector_bytes().as_usize()];
    let is_harmed = |(sector, version): &(u32, &u32)| {
        let read = store.read(Sector::new(*sector), &mut data);
        read.is_err() || data != content(*sector, **version, data.len())
    };
    (0..).zip(truth).filter(is_harmed).count()
}

/// Returns the sectors that cannot be read, and asserts that all others are as written.
pub fn lost(store: &mut impl BlockStore, truth: &[u32]) -> Vec<u32> {
    let mut data = vec![0; store.sector_bytes().as_usize()];
    let mut lost = Vec::new();
    for (sector, version) in (0..).zip(truth) {
        match store.read(Sector::new(sector), &mut data) {
            Ok(()) => {
                let right = content(sector, *version, data.len());
                assert!(data == right, "sector {sector} is another");
            }
            Err(StoreReadError::Lost(named)) => {
                assert_eq!(named, Sector::new(sector));
                lost.push(sector);
            }
            Err(error) => panic!("sector {sector}: {error}"),
        }
    }
    lost
}
