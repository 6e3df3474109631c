//! A SPI NAND chip as it looks from the bus: bytes in, bytes out, and a clock.
//!
//! ```text
//!   SpiDevice: transactions of bytes
//!        │
//!   protocol (here)   commands, registers, cache; busy times; refuses misuse
//!        │
//!   array             pages and blocks ◀──▶ any NandDevice: nand-model's chip with its faults, or RAM
//!        │
//!   tally             how long each command took, on the bus and in the chip
//! ```
//!
//! It is on any [`NandDevice`] with the geometry of its [`Part`]: faults and power cuts that are put into that one
//! come up as status bits and as a bus that no longer answers. It allocates nothing: the page cache is lent.
//!
//! What a real chip would silently ignore or garble, the model refuses with [`Misuse`]: a driver must not rely on it.

mod array;
mod protocol;
mod tally;

use core::fmt;
use core::time::Duration;

use embedded_hal::spi::{ErrorKind, ErrorType};
use ftl_iface::NandDevice;

use crate::onfi::ParameterPage;
use crate::part::Part;
use crate::wire::{self, Command};

pub use tally::{CommandTime, Tally};

/// How long the chip itself is busy with each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// From the cells to the cache, correction included.
    pub read: Duration,
    /// From the cache to the cells.
    pub program: Duration,
    /// A block.
    pub erase: Duration,
}

impl Times {
    /// A W25N01GV: tRD with correction (60 us at most), tPP and tBE (250 us and 2 ms, typical), of its datasheet's "AC
    /// Electrical Characteristics".
    pub const W25N01GV: Self = Self {
        read: Duration::from_micros(60),
        program: Duration::from_micros(250),
        erase: Duration::from_millis(2),
    };

    /// A GD5F1GQ4UAYIG: 120 us at most with correction, 400 us and 3 ms typical, of its datasheet's "Feature" page.
    pub const GD5F1GQ4UA: Self = Self {
        read: Duration::from_micros(120),
        program: Duration::from_micros(400),
        erase: Duration::from_millis(3),
    };
}

/// What the model refuses: a chip would ignore it, or do something else than was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// No chip knows this command.
    UnknownCommand(u8),
    /// A command other than a look at a register came while the chip was busy.
    Busy(Command),
    /// The transaction ended within the command's head, or continued beyond what the command takes.
    Length(Command),
    /// A program or an erase without Write Enable before it.
    NotEnabled(Command),
    /// A page that the chip does not have.
    NoSuchRow(u32),
    /// A column of the other plane, or beyond the page.
    Column(u16),
    /// Bytes were loaded beyond the page.
    LoadedBeyondThePage,
    /// Spare bytes were programmed that are not the user's.
    ForeignSpareBytes,
    /// Something else than a bad-block mark was programmed without correction.
    ProgramWithoutCorrection,
    /// The cache was read in continuous mode, which gives no spare bytes.
    ContinuousRead,
    /// A program or an erase beside the array.
    OtpIsReadOnly,
}

/// Why the bus does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusError {
    /// The driver misused the chip.
    Misuse(Misuse),
    /// The device below failed: its power is off. Take it back with [`SpiNandModel::into_cells`].
    PoweredOff,
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(misuse) => write!(f, "the chip was misused ({misuse:?}): fix the driver"),
            Self::PoweredOff => f.write_str("power is off: take the cells back and start again"),
        }
    }
}

impl core::error::Error for BusError {}

impl embedded_hal::spi::Error for BusError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

/// Why a model cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// The cells have another geometry than the part.
    OtherGeometry,
    /// The cache does not hold a page with its spare area.
    CacheBytes {
        /// What it must hold.
        needed: usize,
    },
    /// The part's description contradicts itself, or the clock stands still.
    Unsound,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherGeometry => f.write_str(
                "the cells have another geometry than the part: create them with the part's",
            ),
            Self::CacheBytes { needed } => {
                write!(f, "the cache is smaller than a page: lend {needed} bytes")
            }
            Self::Unsound => f.write_str(
                "the part is inconsistent, or the clock rate is zero: correct the figures",
            ),
        }
    }
}

impl core::error::Error for ModelError {}

/// A SPI NAND chip behind its pins.
#[derive(Debug)]
pub struct SpiNandModel<'m, N> {
    part: &'m Part,
    cells: N,
    times: Times,
    cache: &'m mut [u8],
    /// One byte on the bus, in picoseconds: whole nanoseconds would be off by a third.
    byte_picos: u64,
    /// The clock, in picoseconds.
    now: u64,
    busy_until: u64,
    protection: u8,
    configuration: u8,
    /// Without the busy bit.
    status: u8,
    /// What the register of details holds.
    detail: u8,
    damaged_copies: u16,
    /// Whether correction, where it is on, is tried on the parameter page too, and fails.
    judges_parameters: bool,
    /// A page that reads as erased but for that many bits.
    flipped: Option<(u32, u16)>,
    /// In a chip of two planes, the plane whose cache holds the page that was read last.
    plane: Option<u16>,
    /// The plane that a column named last.
    loaded_plane: Option<u16>,
    powered: bool,
    tally: Tally,
}

impl<'m, N: NandDevice> SpiNandModel<'m, N> {
    /// A chip of that part over those cells, on a bus of one line with that clock. It has just been switched on: its
    /// blocks are protected.
    pub fn new(
        part: &'m Part,
        cells: N,
        times: Times,
        hertz: u32,
        cache: &'m mut [u8],
    ) -> Result<Self, ModelError> {
        /// Eight bits in picoseconds, for one hertz.
        const BYTE: u64 = 8_000_000_000_000;
        /// All bits of block protection that Winbond and `GigaDevice` set at power-up.
        const ALL_PROTECTED: u8 = 0x38;
        if *cells.geometry() != part.geometry {
            return Err(ModelError::OtherGeometry);
        }
        let (Some(slc), true, true) = (part.geometry.slc(), part.is_sound(), hertz > 0) else {
            return Err(ModelError::Unsound);
        };
        let needed = slc.page_bytes.as_usize() + usize::from(part.spare_bytes);
        let Some(cache) = cache.get_mut(..needed) else {
            return Err(ModelError::CacheBytes { needed });
        };
        cache.fill(0xFF);
        Ok(Self {
            part,
            cells,
            times,
            cache,
            byte_picos: BYTE / u64::from(hertz),
            now: 0,
            busy_until: 0,
            protection: ALL_PROTECTED,
            configuration: part.configuration,
            status: 0,
            detail: 0,
            damaged_copies: 0,
            judges_parameters: false,
            flipped: None,
            plane: None,
            loaded_plane: None,
            powered: true,
            tally: Tally::default(),
        })
    }

    /// The time since the chip was switched on.
    pub const fn now(&self) -> Duration {
        Duration::from_nanos(self.now / 1_000)
    }

    /// How long each command took until now.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The cells, to put faults into.
    pub const fn cells_mut(&mut self) -> &mut N {
        &mut self.cells
    }

    /// Switches power off: takes the cells back. A new model over them is the chip switched on again.
    pub fn into_cells(self) -> N {
        self.cells
    }

    /// The same, and gives the cache back to whoever lent it.
    pub fn into_cells_and_cache(self) -> (N, &'m mut [u8]) {
        (self.cells, self.cache)
    }

    /// Lets the status call the parameter page uncorrectable as long as correction is on, although its bytes are right:
    /// it has no correction's bytes (a Micron MT29F8G01 in Zephyr's issue 104760).
    pub const fn judge_parameters(&mut self) {
        self.judges_parameters = true;
    }

    /// Damages that many of the first copies of the parameter page.
    pub const fn damage_parameter_copies(&mut self, copies: u16) {
        self.damaged_copies = copies;
    }

    /// Lets the erased page with that number have that many bits of zero, which this chip calls uncorrectable.
    pub const fn flip_erased(&mut self, row: u32, bits: u16) {
        self.flipped = Some((row, bits));
    }

    /// What the chip says of itself.
    fn parameter_page(&self) -> ParameterPage {
        use ftl_iface::{BlockCount, Bytes};
        let mut model = [b' '; 20];
        for (place, letter) in model.iter_mut().zip(self.part.name.bytes()) {
            *place = letter;
        }
        let (page_bytes, pages_per_block, blocks) = match self.part.geometry.slc() {
            Some(slc) => (slc.page_bytes, slc.pages_per_block, slc.blocks),
            None => Default::default(),
        };
        ParameterPage {
            maker: *b"MODEL       ",
            model,
            page_bytes,
            spare_bytes: Bytes::new(self.part.spare_bytes.into()),
            pages_per_block,
            blocks,
            // Twenty of each 1,024, as all these parts have it.
            bad_blocks_max: BlockCount::new(blocks.get() / 1024 * 20),
            ecc_bits: self.part.ecc.correctable_bits,
        }
    }

    fn is_gigadevice(&self) -> bool {
        self.part.id.first() == Some(&0xC8)
    }

    fn register(&self, address: u8) -> u8 {
        let busy = if self.now < self.busy_until { wire::BUSY } else { 0 };
        match (address, self.part.ecc.detail) {
            (wire::PROTECTION, _) => self.protection,
            (wire::CONFIGURATION, _) => self.configuration,
            (wire::STATUS, _) => self.status | busy,
            (address, Some(detail)) if detail.register == address => self.detail,
            _ => 0,
        }
    }

    fn set_register(&mut self, address: u8, value: u8) {
        match address {
            wire::PROTECTION => self.protection = value,
            wire::CONFIGURATION => self.configuration = value,
            // The status is read-only, and other registers do not matter here.
            _ => {}
        }
    }

    /// The chip is busy for so long with that command.
    fn occupy(&mut self, command: Command, time: Duration) {
        self.busy_until = self.now + time.as_nanos() as u64 * 1_000;
        self.tally.busy(command, time);
    }
}

impl<N> ErrorType for SpiNandModel<'_, N> {
    type Error = BusError;
}
