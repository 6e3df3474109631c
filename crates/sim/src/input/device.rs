//! The device that a replay runs on: how it is chosen, and how its figures change with another size.

use ftl_iface::{BlockCount, Geometry, Region, RegionGeometry};
use nand_model::Time;
use nand_model::datasheet;
use nand_model::part::{Part, SlcSizeError};

use crate::base::{Failure, show};

/// The device on which systems are built.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device, with the requested capacity and SLC size.
    pub part: Part,
    /// How many of the blocks are spare, by the device's file.
    pub spare: SpareShare,
    /// The requested size of the log, on a device of one region.
    pub log_bytes: Option<u64>,
    /// Whether the device's channels, dies and planes work at the same time.
    pub time: Time,
    /// What its memories store of the host's data.
    pub kept: Stored,
    /// What is written to it before the replay.
    pub fill: Fill,
}

impl Setup {
    /// The device as it is: its channels work one after the other, and it was written once, in order.
    pub fn of(part: Part) -> Self {
        let (kept, fill) = (Stored::Stamps, Fill::InOrder);
        let spare = SpareShare::of(&part);
        Self { part, spare, log_bytes: None, time: Time::Serial, kept, fill }
    }

    /// The device with another capacity.
    pub(crate) fn with_capacity(self, bytes: u64) -> Result<Self, Failure> {
        Ok(Self { part: scaled(self.part, self.spare, bytes)?, ..self })
    }

    /// The device with an SLC of that size; on a device of one region, with such a log.
    pub(crate) fn with_slc(self, bytes: u64) -> Result<Self, Failure> {
        let Some(slc) = self.part.geometry.slc().filter(|_| self.part.geometry.mlc().is_some())
        else {
            return Ok(Self { log_bytes: Some(bytes), ..self });
        };
        let bound = numbered(slc);
        let part = self.part.with_slc_bytes(bytes).map_err(|error| match error {
            SlcSizeError::TooLarge(_) | SlcSizeError::Geometry(_) => Failure::Arguments(format!(
                "{} of SLC are too many: in pages of this size there are less than {}",
                show::short(bytes),
                show::short(bound)
            )),
            error => error.into(),
        })?;
        // Without any SLC there is no log either, on any device.
        Ok(Self { part, log_bytes: (bytes == 0).then_some(0), ..self })
    }
}

/// The blocks of the region that holds the host's data, beside what they export: a device of another capacity keeps
/// this share, also if its capacity is changed more than once.
#[derive(Clone, Copy, Debug)]
pub struct SpareShare {
    blocks: u32,
    exported_bytes: u64,
}

impl SpareShare {
    fn of(part: &Part) -> Self {
        let shape = part.geometry.mlc().or(part.geometry.slc());
        let blocks = shape.map_or(0, |shape| shape.blocks.get());
        Self { blocks, exported_bytes: part.exported_bytes }
    }
}

/// The bytes of as many pages as have numbers, and one more.
fn numbered(shape: &RegionGeometry) -> u64 {
    u64::from(shape.page_bytes.get()) << 32
}

/// What a device holds before the replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Nothing was ever written.
    Nothing,
    /// The whole capacity was written once, in order.
    #[default]
    InOrder,
    /// And then twice the capacity at random, in pages of 4 KiB.
    Random,
}

impl Fill {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Nothing, Self::InOrder, Self::Random];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fill| fill.name() == name)
    }

    /// The one of that name, or why there is none.
    pub fn parse(name: &str) -> Result<Self, String> {
        let unknown = || {
            format!("`{name}` is nothing that a device may hold: write nothing, in-order or random")
        };
        Self::named(name).ok_or_else(unknown)
    }

    /// What it is, for a list of all.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Nothing => "Nothing was ever written",
            Self::InOrder => "The whole capacity was written once, in order",
            Self::Random => "And then twice the capacity at random, in pages of 4 KiB",
        }
    }

    /// Its name in results and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::InOrder => "in-order",
            Self::Random => "random",
        }
    }

    /// In a sentence about what was done before the replay.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "Before the replay, nothing was written to the device.",
            Self::InOrder => "Before the replay, the whole capacity was written once, in order.",
            Self::Random => {
                "Before the replay, the whole capacity was written once in order, and then twice at random."
            }
        }
    }
}

/// What a simulated memory stores of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// A stamp, by which a replay verifies its reads.
    #[default]
    Stamps,
    /// Every byte, for hosts that read it back.
    Bytes,
}

/// Which device, and how large.
#[derive(Clone, Debug)]
pub struct DeviceChoice {
    /// The device: a built-in name, or the path of a device file.
    pub device: String,
    /// Bytes exported to the host; its share of spare blocks is kept. `None`: as the device has it.
    pub capacity: Option<u64>,
    /// Bytes of SLC; on a device with one region, the part that the log takes. `Some(0)`: no log.
    pub slc: Option<u64>,
    /// Whether channels, dies and planes work at the same time.
    pub parallel: bool,
}

impl DeviceChoice {
    /// The device of that name, as it is.
    pub fn named(device: &str) -> Self {
        Self { device: device.into(), capacity: None, slc: None, parallel: false }
    }

    /// The device that is chosen.
    pub fn setup(&self) -> Result<Setup, Failure> {
        self.setup_of(datasheet::open(&self.device)?)
    }

    /// That device, at the size that is chosen.
    pub fn setup_of(&self, part: Part) -> Result<Setup, Failure> {
        let time = if self.parallel { Time::Overlapped } else { Time::Serial };
        let mut setup = Setup { time, ..Setup::of(part) };
        if let Some(bytes) = self.capacity {
            setup = setup.with_capacity(bytes)?;
        }
        match self.slc {
            Some(bytes) => setup.with_slc(bytes),
            None => Ok(setup),
        }
    }
}

/// The device with another capacity. The region that holds the host's data keeps its share of spare blocks.
fn scaled(mut part: Part, spare: SpareShare, capacity: u64) -> Result<Part, Failure> {
    let sector = u64::from(part.sector_bytes.get());
    if capacity < sector {
        let reason = format!(
            "a capacity of {capacity} bytes is less than a sector, which has {sector}: ask for more"
        );
        return Err(Failure::Arguments(reason));
    }
    // A disk of 1GB is rounded down to whole sectors.
    let capacity = capacity - capacity % sector;
    let region = if part.geometry.mlc().is_some() { Region::Mlc } else { Region::Slc };
    let resize = |shape: &RegionGeometry| {
        let blocks = u128::from(spare.blocks) * u128::from(capacity);
        let blocks = u32::try_from(blocks.div_ceil(u128::from(spare.exported_bytes.max(1))));
        blocks.map(|blocks| RegionGeometry { blocks: BlockCount::new(blocks), ..*shape })
    };
    let too_large = || {
        let bound = part.geometry.region(region).map_or(0, |shape| {
            let bytes = u128::from(shape.block_bytes()) * u128::from(spare.blocks);
            let share =
                u128::from(spare.exported_bytes) * u128::from(numbered(shape)) / bytes.max(1);
            u64::try_from(share).unwrap_or(u64::MAX)
        });
        Failure::Arguments(format!(
            "a capacity of {} is too large: in pages of this size it is less than {}",
            show::short(capacity),
            show::short(bound)
        ))
    };
    let resized = part.geometry.region(region).map(resize).transpose();
    let resized = resized.map_err(|_| too_large())?;
    let geometry = match region {
        Region::Mlc => Geometry::new(part.geometry.slc().copied(), resized),
        Region::Slc => Geometry::new(resized, None),
    };
    part.geometry = geometry.map_err(|_| too_large())?;
    part.exported_bytes = capacity;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(device: &str, capacity: Option<u64>, slc: Option<u64>) -> Result<Setup, Failure> {
        DeviceChoice { device: device.into(), capacity, slc, parallel: false }.setup()
    }

    #[test]
    fn another_capacity_keeps_the_share_of_spare_blocks() {
        let part = setup("c3", Some(5 << 30), None).unwrap().part;
        assert_eq!(part.exported_bytes, 5 << 30);
        assert_eq!(part.geometry.mlc().unwrap().blocks.get(), 43_008 / 4);
        assert_eq!(part.geometry.slc().unwrap().blocks.get(), 2_048);
    }

    #[test]
    fn a_capacity_is_one_of_whole_sectors() {
        let part = setup("c3", Some(1_000_000_000), None).unwrap().part;
        assert_eq!(part.exported_bytes, 1_000_000_000 / 2048 * 2048);
    }

    #[test]
    fn the_slc_is_resized_where_there_is_one_and_parted_off_where_there_is_not() {
        let hybrid = setup("c3", None, Some(64 << 20)).unwrap();
        assert_eq!(hybrid.part.geometry.slc().unwrap().blocks.get(), 512);
        assert_eq!(hybrid.log_bytes, None);
        let plain = setup("spi-nand-1g", None, Some(4 << 20)).unwrap();
        assert_eq!(plain.part.geometry.slc().unwrap().blocks.get(), 1_024);
        assert_eq!(plain.log_bytes, Some(4 << 20));
    }

    #[test]
    fn a_capacity_that_cannot_be_is_refused() {
        assert!(setup("c3", Some(0), None).is_err());
        let small = setup("c3", Some(1000), None).unwrap_err().to_string();
        assert!(small.contains("less than a sector, which has 2048"), "{small}");
        for capacity in [100 << 40, 1 << 60] {
            let large = setup("c3", Some(capacity), None).unwrap_err().to_string();
            assert!(large.ends_with("in pages of this size it is less than 15.24 TiB"), "{large}");
        }
    }

    #[test]
    fn an_slc_that_cannot_be_is_refused() {
        for slc in [100 << 40, 9_999 << 40] {
            let large = setup("c3", None, Some(slc)).unwrap_err().to_string();
            assert!(large.ends_with("in pages of this size there are less than 8TiB"), "{large}");
        }
    }
}
