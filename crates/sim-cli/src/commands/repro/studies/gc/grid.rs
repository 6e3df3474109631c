//! The loads, the disks and the schemes.

use ftl_iface::{BlockCount, Bytes, Geometry, PageCount, RegionGeometry};
use nand_model::datasheet;
use sim::Failure;
use sim::engine::systems::Reach;
use sim::input::device::Setup;

use super::super::{Load, Published};

/// What is compared.
pub(super) struct Grid {
    pub(super) loads: &'static [Load],
    pub(super) shapes: &'static [DiskShape],
    /// Requests of a synthetic load.
    pub(super) requests: u64,
}

pub(super) const ALL: Grid = Grid { loads: &LOADS, shapes: &SHAPES, requests: 2_100_000 };

/// The chip whose blocks the disks are made of, or would be if they had as many pages.
pub(super) const CHIP: &str = "k9gag08u0m";

/// A page, the mapping unit of all schemes.
const PAGE: Bytes = Bytes::new(4096);

/// The passes over a trace.
pub(super) const PASSES: u32 = 3;

/// A gigabyte in whole pages.
const GIGABYTE: u64 = 1_000_000_000 / PAGE.get() as u64 * PAGE.get() as u64;

const LOADS: [Load; 9] = [
    synthetic("uniform", "synth:uniform?reads=0&size=4KiB"),
    synthetic("zipf", "synth:zipf?reads=0&size=4KiB"),
    own("ext4_server", 820_498_432),
    own("ext4_long", 2_534_834_176),
    own("ext4_tcg", 1_069_883_392),
    own("ext4_uml", 448_929_792),
    own("ntfs_long", 3_651_739_648),
    own("ntfs_tcg", 1_147_154_432),
    own("ntfs_uml", 700_878_848),
];

const fn synthetic(name: &'static str, stand_in: &'static str) -> Load {
    let (published, assumed) = (Published::NOTHING, "");
    Load { name, stand_in: Some(stand_in), capacity: GIGABYTE, published, assumed }
}

/// A trace of `traces/own`, and the bytes that it touches in whole pages: the disk.
const fn own(name: &'static str, capacity: u64) -> Load {
    Load { name, stand_in: None, capacity, published: Published::NOTHING, assumed: "" }
}

/// A disk of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DiskShape {
    /// Blocks beyond those of the data, as a share of these.
    pub(super) spare: f64,
    /// Pages of a block.
    pub(super) pages: u32,
}

/// The first is the usual one: a GiB of flash for a GB of data.
const SHAPES: [DiskShape; 5] = [
    DiskShape { spare: 0.074, pages: 128 },
    DiskShape { spare: 0.15, pages: 128 },
    DiskShape { spare: 0.28, pages: 128 },
    DiskShape { spare: 0.074, pages: 256 },
    DiskShape { spare: 0.074, pages: 512 },
];

impl DiskShape {
    pub(super) fn words(self) -> String {
        format!("{:.1} %, {} pages", 100.0 * self.spare, self.pages)
    }

    /// A disk of that shape for that load: one region, filled once in order.
    pub(super) fn setup(self, load: &Load) -> Result<Setup, Failure> {
        let mut part = datasheet::builtin(CHIP)?;
        let pages_per_block = PageCount::new(self.pages);
        let shape = part.geometry.mlc().map(|shape| {
            let shape = RegionGeometry { pages_per_block, page_bytes: PAGE, ..*shape };
            RegionGeometry { blocks: self.blocks(load.capacity, shape.block_bytes()), ..shape }
        });
        part.geometry =
            Geometry::new(None, shape).map_err(|error| Failure::Unfit(error.to_string()))?;
        (part.exported_bytes, part.sector_bytes) = (load.capacity, PAGE);
        Ok(Setup::of(part))
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)] // Some thousands.
    fn blocks(self, capacity: u64, block_bytes: u64) -> BlockCount {
        BlockCount::new((capacity as f64 * (1.0 + self.spare) / block_bytes as f64) as u32)
    }
}

/// A scheme.
pub(super) struct Scheme {
    pub(super) name: &'static str,
    pub(super) system: Built,
    pub(super) title: &'static str,
}

/// How its system is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Built {
    /// By its name.
    Named(&'static str),
    /// With the future of the load.
    Foreseeing(Reach),
}

pub(super) const SCHEMES: [Scheme; 9] = [
    named("NoSep", "page-mlc?copies=mixed", "host writes and copies in the same blocks, greedy"),
    named("greedy", "page-mlc", "host writes and copies apart, greedy"),
    named("d-choices", "d-choices", "the same; the least valid of ten blocks drawn at random"),
    named("SepGC", "sepgc", "the same; cost-benefit, as all that follow"),
    named("SepBIT", "sepbit", "FAST '22: two classes of host writes, four of copies, by age"),
    named("MiDAS", "midas", "FAST '24: a chain of groups by age, sized by a model"),
    named("paged", "paged", "the page store of this repository; its map is on flash"),
    Scheme {
        name: "FK",
        system: Built::Foreseeing(Reach::Equal),
        title: "knows when data dies: six classes of lives, each a block long",
    },
    Scheme {
        name: "FK, far",
        system: Built::Foreseeing(Reach::Widening),
        title: "the same, but each class reaches four times as far as the one before (ours)",
    },
];

const fn named(name: &'static str, system: &'static str, title: &'static str) -> Scheme {
    Scheme { name, system: Built::Named(system), title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_its_spare_and_the_capacity_of_its_load() {
        let blocks = |shape: DiskShape| {
            let setup = shape.setup(&LOADS[0]).unwrap();
            assert_eq!(setup.part.exported_bytes, 999_997_440);
            setup.part.geometry.mlc().unwrap().blocks.get()
        };
        // A GiB of flash.
        assert_eq!(SHAPES.map(blocks), [2048, 2193, 2441, 1024, 512]);
    }
}
