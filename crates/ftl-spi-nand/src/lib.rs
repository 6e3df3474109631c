//! A driver for SPI NAND chips: [`NandDevice`](ftl_iface::NandDevice) over an `embedded-hal` 1.0
//! [`SpiDevice`](embedded_hal::spi::SpiDevice).
//!
//! ```text
//!     FTL ──NandDevice──▶ SpiNand ──SpiDevice──▶ your bus ──▶ chip
//!                            │                     or
//!                          Part: what differs    SpiNandModel ──NandDevice──▶ any simulated chip
//! ```
//!
//! SPI NAND chips of all vendors share the commands. What differs from part to part is a table of figures, [`Part`]:
//! which spare bytes are free and corrected, how the status register reports corrected bits, which bits switch the
//! correction on. [`parts`] has the tables of six chips; yours takes twenty lines.
//!
//! ```
//! # use ftl_iface::{Block, BlockCount, Bytes, NandDevice, PageIndex, Region};
//! # use ftl_spi_nand::model::{SpiNandModel, Times};
//! # use nand_model::{Chip, Content, datasheet};
//! # let cells = Chip::new(&datasheet::builtin("spi-nand-1g")?, Content::Bytes)?;
//! # let mut cache = [0; 2112];
//! # let spi = SpiNandModel::new(&ftl_spi_nand::parts::W25N01GV, cells, Times::W25N01GV, 104_000_000, &mut cache)?;
//! use ftl_spi_nand::{SpiNand, parts};
//!
//! // Resets the chip, reads its number, switches its correction on and lifts its write protection.
//! let mut nand = SpiNand::new(spi, &parts::ALL)?;
//! assert_eq!(nand.part().name, "W25N01GV");
//! let page = Block::new(Region::Slc, 8).page(PageIndex::new(0));
//! nand.program(page, &[7; 2048], &[0xA5; 16])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does for the FTL
//!
//! - *Correction* is the chip's own. Reads report the most bits that were corrected in a codeword, as exactly as the
//!   part does; a page beyond correction is an error. Some chips call an erased page with a flipped bit uncorrectable:
//!   such a page is read again without correction, and reads as erased.
//! - *Spare bytes*: only those that are free and corrected, as one run. A W25N01GV has 16 such bytes.
//! - *Bad blocks*: the factory's mark, the first spare byte of a block's first page, is read and set without
//!   correction. A mark counts if two or more of its bits are zero, so one flipped bit does not mark a good block.
//! - *Failures* of programs and erases are distinguished from those of the bus.
//! - *A chip that never gets ready* is an error after a number of polls.
//!
//! # What it costs
//!
//! Microseconds on a W25N01GV over one data line, as the model counts them, at the chip's fastest clock and at one that
//! most microcontrollers reach. The chip itself takes 60 for a read, 250 for a program and 2,000 for an erase. The
//! processor is busy all the time: it moves bytes or polls the chip.
//!
//! | operation | 104 MHz | 24 MHz |
//! |---|---:|---:|
//! | a page with its spare bytes | 222 | 765 |
//! | 512 bytes of a page | 100 | 234 |
//! | spare bytes alone | 65 | 82 |
//! | a bad-block mark | 61 | 66 |
//! | program of a page | 412 | 955 |
//! | erase of a block | 2000 | 2002 |
//!
//! # Features
//!
//! - `model`: `model::SpiNandModel`, for tests on hosts and under emulators.
//! - `defmt`: logging of errors and parts.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod change;
pub mod driver;
pub mod error;
pub mod onfi;
pub mod part;
pub mod parts;
pub mod wire;

#[cfg(feature = "model")]
pub mod model;

pub use driver::SpiNand;
pub use error::{Error, SetupError};
pub use onfi::{OnfiError, ParameterPage};
pub use part::{Detail, EccReport, EccStatus, Part, Run};
