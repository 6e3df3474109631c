//! The datasheet figures of a device: shape, time, power, endurance, error correction, price.
//!
//! Only figures: [`datasheet`](crate::datasheet) reads them from a file, the other modules use them.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::sync::{Mutex, PoisonError};

use ftl_iface::{BlockCount, Geometry, GeometryError, PageCount, Region, RegionGeometry};

/// A span of simulated time, or a moment since the chip was made, in nanoseconds.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// This many nanoseconds.
    pub const fn new(nanos: u64) -> Self {
        Self(nanos)
    }

    /// This many microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// The plain number of nanoseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole and broken microseconds, for tables.
    #[allow(clippy::cast_precision_loss)]
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// The time from `earlier` until now, or zero where it lies ahead.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Nanos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} us", self.as_micros_f64())
    }
}

/// How long each operation of a region takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Timing {
    /// Cells to page register.
    pub read: Nanos,
    /// Page register to cells.
    pub program: Nanos,
    /// A whole block.
    pub erase: Nanos,
    /// One byte over the bus, in picoseconds. Zero leaves transfers out, as Chang's figures do.
    pub bus_picos_per_byte: u64,
}

/// What the device's error correction can mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ecc {
    /// Bits that it corrects in a codeword.
    pub correctable_bits: u16,
    /// Data bytes of a codeword.
    pub codeword_bytes: u32,
}

/// One region, as its datasheet has it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RegionPart {
    /// Operation times.
    pub timing: Timing,
    /// Program/erase cycles that a block is specified for.
    pub endurance: u32,
    /// Error correction.
    pub ecc: Ecc,
    /// Blocks that may be bad when the part is delivered.
    pub factory_bad_blocks_max: BlockCount,
    /// US dollars a GiB.
    pub dollars_per_gib: f64,
    /// What a block is when it is erased into SLC mode; none where blocks have no such mode.
    pub slc_mode: Option<SlcMode>,
    /// Dies of the region's own, on channels of their own; none where it lies on those of the device.
    pub layout: Option<Layout>,
}

/// A region's blocks with one bit a cell. Pages are as large as in full mode, and fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SlcMode {
    /// Pages of a block.
    pub pages_per_block: PageCount,
    /// Operation times; the bus is that of full mode.
    pub timing: Timing,
    /// Program/erase cycles that a block endures in this mode.
    pub endurance: u32,
}

/// How the blocks of a device are spread over hardware that works at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    /// Buses that transfer at the same time.
    pub channels: u32,
    /// Dies on a channel, each busy by itself.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Over which of them the pages of one block go.
    pub stripe: Stripe,
}

/// Over what the pages of a block are spread. The block of a striped device is what its controller joins of blocks of
/// many planes (a *superblock*); whoever uses it sees one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stripe {
    /// A block lies on one plane. Its number picks the plane first, then the die, then the channel.
    #[default]
    None,
    /// Over the planes of a die. The block's number picks the die first, then the channel.
    Die,
    /// Over all planes of the device. A page's number picks the channel first, then the die, then the plane.
    Device,
}

impl Layout {
    /// One die on one bus.
    pub const SINGLE: Self =
        Self { channels: 1, dies_per_channel: 1, planes_per_die: 1, stripe: Stripe::None };

    /// Dies of the whole device.
    pub const fn dies(self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Planes over which a block is spread.
    pub const fn stripe_width(self) -> u32 {
        match self.stripe {
            Stripe::None => 1,
            Stripe::Die => self.planes_per_die,
            Stripe::Device => self.dies() * self.planes_per_die,
        }
    }
}

/// Supply voltage and currents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Power {
    /// Supply, in millivolts.
    pub supply_millivolts: u32,
    /// Current while reading, programming or erasing, in microamperes.
    pub active_microamps: u32,
    /// Current while idle, in microamperes.
    pub standby_microamps: u32,
}

/// A device, as its datasheets have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name by which commands know it.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Shape.
    pub geometry: Geometry,
    /// The SLC region's figures, where the geometry has one.
    pub slc: Option<RegionPart>,
    /// The MLC region's figures, where the geometry has one.
    pub mlc: Option<RegionPart>,
    /// Parallel hardware, of all regions that have none of their own.
    pub layout: Layout,
    /// Supply.
    pub power: Power,
    /// Bytes that the device is meant to export to the host.
    pub exported_bytes: u64,
    /// The sector size meant for it.
    pub sector_bytes: ftl_iface::Bytes,
    /// Whose its prices are, and of which year, where that is known. Only prices of one source can be compared.
    pub price_source: Option<String>,
}

impl Part {
    /// That region's figures, where there is one.
    pub fn region(&self, region: Region) -> Option<&RegionPart> {
        match region {
            Region::Slc => self.slc.as_ref(),
            Region::Mlc => self.mlc.as_ref(),
        }
    }

    /// The hardware that the region's blocks lie on.
    pub fn layout_of(&self, region: Region) -> Layout {
        self.own_layout(region).unwrap_or(self.layout)
    }

    /// The hardware that a region shares with no other.
    pub(crate) fn own_layout(&self, region: Region) -> Option<Layout> {
        self.region(region)?.layout
    }

    /// The hardware on which regions lie that have none of their own.
    pub(crate) fn shared_layout(&self) -> Option<Layout> {
        let mut parts = Region::ALL.into_iter().filter_map(|region| self.region(region));
        parts.any(|part| part.layout.is_none()).then_some(self.layout)
    }

    /// The hardware of the device: what regions share, if one lies there, and what they have of their own.
    pub(crate) fn layouts(&self) -> impl Iterator<Item = Layout> {
        let own = Region::ALL.into_iter().filter_map(|region| self.own_layout(region));
        self.shared_layout().into_iter().chain(own)
    }

    /// Dies of the whole device.
    pub fn dies(&self) -> u32 {
        self.layouts().map(Layout::dies).sum()
    }

    /// The same device with an SLC region of `bytes` (rounded down to whole blocks), or with none at zero. A device
    /// that has no SLC region cannot be given one: its figures are unknown.
    pub fn with_slc_bytes(mut self, bytes: u64) -> Result<Self, SlcSizeError> {
        let Some(slc) = self.geometry.slc().copied() else {
            return if bytes == 0 { Ok(self) } else { Err(SlcSizeError::NoSlcRegion) };
        };
        if bytes == 0 {
            self.geometry = Geometry::new(None, self.geometry.mlc().copied())?;
            self.slc = None;
            return Ok(self);
        }
        let blocks = bytes / slc.block_bytes();
        let blocks = u32::try_from(blocks).map_err(|_| SlcSizeError::TooLarge(bytes))?;
        if blocks == 0 {
            return Err(SlcSizeError::LessThanABlock { bytes, block_bytes: slc.block_bytes() });
        }
        let resized = RegionGeometry { blocks: BlockCount::new(blocks), ..slc };
        self.geometry = Geometry::new(Some(resized), self.geometry.mlc().copied())?;
        Ok(self)
    }

    /// The price of the device's flash, in US dollars.
    #[allow(clippy::cast_precision_loss)]
    pub fn cost_dollars(&self) -> f64 {
        Region::ALL
            .iter()
            .filter_map(|region| Some((self.geometry.region(*region)?, self.region(*region)?)))
            .map(|(shape, part)| {
                shape.capacity_bytes() as f64 / f64::from(1 << 30) * part.dollars_per_gib
            })
            .sum()
    }
}

/// The pairing table, kept for the rest of the program. A [`Pairing`](ftl_iface::Pairing) is copied into every address
/// computation and so borrows its table for good; each table is leaked once, however often a file names it.
pub(crate) fn kept_table(lines: &[u16]) -> &'static [u16] {
    static TABLES: Mutex<Vec<&'static [u16]>> = Mutex::new(Vec::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = tables.iter().find(|known| **known == lines) {
        return known;
    }
    let table: &'static [u16] = lines.to_vec().leak();
    tables.push(table);
    table
}

/// Why an SLC region cannot have that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlcSizeError {
    /// The device file describes none.
    #[error("the device has no SLC region whose size could be set: describe one in its file")]
    NoSlcRegion,
    /// Less than one block.
    #[error(
        "{bytes} bytes of SLC are less than one block of {block_bytes} bytes: give more, or 0 for none"
    )]
    LessThanABlock {
        /// What was asked for.
        bytes: u64,
        /// What a block holds.
        block_bytes: u64,
    },
    /// More blocks than can be numbered.
    #[error("{0} bytes of SLC are more blocks than 32 bits can number: give less")]
    TooLarge(u64),
    /// The resulting shape is impossible.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}
