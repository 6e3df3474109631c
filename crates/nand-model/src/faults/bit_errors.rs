//! Bit errors that grow with wear, retention and reads.
//!
//! The rate of wrong bits before correction (RBER) is the sum of a floor and three power laws:
//!
//! ```text
//! RBER = floor + a * cycles^k + b * cycles^m * days^n + c * cycles^p * reads^q
//!                wear           retention              read disturb
//! ```
//!
//! This form, and the coefficients of [`Ageing::MLC`] and [`Ageing::TLC`], are those that Kim, Choi and Min fitted to
//! published measurements ("Design Tradeoffs for SSD Reliability", FAST 2019, 2y-nm MLC and 72-layer TLC). That wear
//! drives all of them and retention dominates is the finding of Cai et al., "Error Patterns in MLC NAND Flash Memory",
//! DATE 2012; that uncorrectable reads come from the tail of the count of errors in a codeword, of Mielke et al., "Bit
//! Error Rate in NAND Flash Memories", IRPS 2008. `cycles` are the block's erases, `days` the time since the first
//! program after the last of them, `reads` the block's reads since then, divided by its pages.
//!
//! How many bits of a codeword are wrong follows Poisson's law with the mean RBER times bits. Where in its law a
//! codeword lies is thrown once each time its page is programmed: strong cells stay strong, and errors only grow until
//! the next erase.

use std::ops::Range;

use ftl_iface::{Block, Bytes, Cell, Corrected, Geometry, Page, Region, RegionGeometry};

use super::dice::{Subject, dice};
use crate::part::{Ecc, Nanos};

/// The coefficients of the rate of wrong bits (the formula is on the [module's page](self)).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ageing {
    /// The rate of a fresh page.
    pub floor: f64,
    /// Factor and exponent of the cycles.
    pub wear: (f64, f64),
    /// Factor, exponent of the cycles, exponent of the days.
    pub retention: (f64, f64, f64),
    /// Factor, exponent of the cycles, exponent of the reads.
    pub disturb: (f64, f64, f64),
}

impl Ageing {
    /// Planar MLC of 20 to 24 nm.
    pub const MLC: Self = Self {
        floor: 8.34e-5,
        wear: (3.30e-11, 1.71),
        retention: (5.56e-19, 2.49, 3.33),
        disturb: (6.26e-13, 1.76, 0.47),
    };

    /// TLC of 72 layers.
    pub const TLC: Self = Self {
        floor: 1.48e-3,
        wear: (3.90e-10, 2.05),
        retention: (6.28e-5, 0.14, 0.54),
        disturb: (3.73e-9, 0.33, 1.71),
    };

    /// One bit a cell. The fits cover none: this is [`Self::MLC`] at a hundredth of the rate, an assumption that
    /// follows the distance of two orders of magnitude between SLC and MLC parts in Grupp et al., "The Bleak Future
    /// of NAND Flash Memory", FAST 2012.
    pub const SLC: Self = Self {
        floor: 8.34e-7,
        wear: (3.30e-13, 1.71),
        retention: (5.56e-21, 2.49, 3.33),
        disturb: (6.26e-15, 1.76, 0.47),
    };

    /// The usual coefficients of a cell.
    pub const fn of(cell: Cell) -> Self {
        match cell {
            Cell::Slc => Self::SLC,
            Cell::Mlc => Self::MLC,
            Cell::Tlc => Self::TLC,
        }
    }

    /// The rate of wrong bits, at most one half: beyond that a page has no information.
    pub fn rate(&self, cycles: u32, days: f64, reads: f64) -> f64 {
        // The same result on every machine, unlike the mathematics of the standard library.
        let power = |base: f64, exponent: f64| libm::pow(base, exponent);
        let cycles = f64::from(cycles);
        let wear = self.wear.0 * power(cycles, self.wear.1);
        let (factor, of_cycles, of_days) = self.retention;
        let retention = factor * power(cycles, of_cycles) * power(days, of_days);
        let (factor, of_cycles, of_reads) = self.disturb;
        let disturb = factor * power(cycles, of_cycles) * power(reads, of_reads);
        (self.floor + wear + retention + disturb).clamp(0.0, 0.5)
    }
}

/// Why bit errors cannot be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BitErrorsError {
    /// The device has no such region.
    #[error("the device has no {0} region: name one that it has")]
    NoRegion(Region),
    /// The error correction has codewords of no bytes.
    #[error("the {0} region's error correction has codewords of 0 bytes: give their size")]
    NoCodeword(Region),
}

/// What ages in a block.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct BlockAge {
    /// Since the last erase.
    reads: u32,
    /// The retention clock at the first program after it.
    programmed: Option<Nanos>,
}

/// One region's ageing.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct RegionAge {
    ageing: Ageing,
    correctable_bits: u16,
    codeword_bytes: u32,
    page_bytes: u32,
    pages: u32,
    blocks: Vec<BlockAge>,
}

/// The ageing of a device.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct BitErrors {
    /// Time that passed on the shelf.
    shelf: Nanos,
    regions: [Option<RegionAge>; 2],
}

const NANOS_PER_DAY: f64 = 86_400e9;

impl BitErrors {
    /// Lets the blocks of a region of that shape age from now on.
    pub(super) fn age_region(
        &mut self,
        region: Region,
        shape: &RegionGeometry,
        ageing: Ageing,
        ecc: Ecc,
    ) {
        let now = BlockAge { reads: 0, programmed: Some(self.shelf) };
        self.regions[region as usize] = Some(RegionAge {
            ageing,
            correctable_bits: ecc.correctable_bits,
            codeword_bytes: ecc.codeword_bytes,
            page_bytes: shape.page_bytes.get(),
            pages: shape.pages_per_block.get(),
            blocks: vec![now; shape.blocks.as_usize()],
        });
    }

    /// Lets time pass on the shelf.
    pub(super) const fn pass_time(&mut self, time: Nanos) {
        self.shelf = Nanos::new(self.shelf.get().saturating_add(time.get()));
    }

    fn block(&mut self, block: Block) -> Option<&mut BlockAge> {
        self.regions[block.region() as usize].as_mut()?.blocks.get_mut(block.index() as usize)
    }

    pub(super) fn programmed(&mut self, block: Block) {
        let clock = self.shelf;
        if let Some(age) = self.block(block) {
            age.programmed.get_or_insert(clock);
        }
    }

    pub(super) fn erased(&mut self, block: Block) {
        if let Some(age) = self.block(block) {
            *age = BlockAge::default();
        }
    }

    /// Reads a part of a page: the bits that were corrected in its worst codeword, or `None` beyond the limit.
    pub(super) fn read(
        &mut self,
        seed: u64,
        page: Page,
        cycles: u32,
        at: Bytes,
        length: usize,
    ) -> Option<Corrected> {
        let clock = self.shelf;
        let Some(region) = &mut self.regions[page.region() as usize] else {
            return Some(Corrected::NONE);
        };
        let Some(age) = region.blocks.get_mut(page.block().index() as usize) else {
            return Some(Corrected::NONE);
        };
        age.reads = age.reads.saturating_add(1);
        let since = clock.since(age.programmed.unwrap_or(clock));
        #[allow(clippy::cast_precision_loss)] // Days need no more than 52 bits.
        let days = since.get() as f64 / NANOS_PER_DAY;
        let reads = f64::from(age.reads) / f64::from(region.pages);
        let rate = region.ageing.rate(cycles, days, reads);
        region.worst(seed, page, cycles, region.codewords(at, length), rate)
    }

    /// Whether it fits the device: an image is not to be trusted.
    pub(crate) fn fits(&self, geometry: &Geometry) -> bool {
        /// Far beyond any shelf; sums that start below it do not overflow.
        const SHELF_MAX: Nanos = Nanos::new(1 << 62);
        self.shelf < SHELF_MAX
            && Region::ALL.iter().all(|region| {
                let Some(age) = &self.regions[*region as usize] else {
                    return true;
                };
                geometry.region(*region).is_some_and(|shape| {
                    age.blocks.len() == shape.blocks.as_usize()
                        && age.pages == shape.pages_per_block.get()
                        && age.page_bytes == shape.page_bytes.get()
                        && age.codeword_bytes > 0
                })
            })
    }
}

impl RegionAge {
    /// The codewords that a read takes.
    fn codewords(&self, at: Bytes, length: usize) -> Range<u32> {
        // A read of the spare area alone takes the codeword that holds it, the last.
        let (from, to) = match length {
            0 => (self.page_bytes - 1, self.page_bytes),
            _ => (at.get(), at.get() + length as u32),
        };
        from / self.codeword_bytes..to.div_ceil(self.codeword_bytes)
    }

    fn worst(
        &self,
        seed: u64,
        page: Page,
        cycles: u32,
        codewords: Range<u32>,
        rate: f64,
    ) -> Option<Corrected> {
        let mean = rate * f64::from(self.codeword_bytes) * 8.0;
        let mut worst = 0;
        for codeword in codewords {
            let detail = u64::from(page.index().get()) << 32 | u64::from(codeword);
            let luck = dice(seed, Subject::BitErrors, page.block(), cycles, detail).f64();
            worst = worst.max(wrong_bits(mean, luck));
        }
        let limit = u32::from(self.correctable_bits);
        (worst <= limit).then(|| Corrected::bits(worst as u16))
    }
}

/// How many events Poisson's law with that mean has for someone whose luck lies between 0 and 1: the smallest count
/// whose probability to be reached or undercut exceeds the luck.
fn wrong_bits(mean: f64, luck: f64) -> u32 {
    /// Beyond it the first probability is no longer a normal number, and the spread (its square root) no longer
    /// matters beside any error correction: the mean stands for the count.
    const LARGE: f64 = 600.0;
    if mean > LARGE {
        #[allow(clippy::cast_sign_loss)] // It is larger than LARGE.
        return mean as u32;
    }
    let mut count = 0;
    let mut share = libm::exp(-mean);
    let mut sum = share;
    while sum <= luck && share > 0.0 {
        count += 1;
        share *= mean / f64::from(count);
        sum += share;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_grows_with_wear_retention_and_reads_and_never_exceeds_one_half() {
        for ageing in [Ageing::SLC, Ageing::MLC, Ageing::TLC] {
            let fresh = ageing.rate(0, 0.0, 0.0);
            assert!((fresh - ageing.floor).abs() < 1e-15);
            let worn = ageing.rate(3_000, 0.0, 0.0);
            assert!(worn > fresh);
            assert!(ageing.rate(3_000, 90.0, 0.0) > worn);
            assert!(ageing.rate(3_000, 0.0, 1_000.0) > worn);
            assert!(ageing.rate(u32::MAX, 1e6, 1e9) <= 0.5);
        }
    }

    #[test]
    fn the_rate_is_the_formula_by_hand() {
        // 8.34e-5 + 3.3e-11 * 1000^1.71 = 8.34e-5 + 3.3e-11 * 134896 = 8.785e-5.
        assert!((Ageing::MLC.rate(1_000, 0.0, 0.0) - 8.785e-5).abs() < 1e-8);
    }

    #[test]
    fn wrong_bits_follow_poissons_law() {
        // A mean of 2: P(0) = 0.1353, P(<=1) = 0.4060, P(<=2) = 0.6767, P(<=3) = 0.8571.
        let counts = [0.0, 0.135, 0.136, 0.405, 0.407, 0.676, 0.677, 0.857, 0.858];
        assert_eq!(counts.map(|luck| wrong_bits(2.0, luck)), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(wrong_bits(0.0, 0.999_999), 0);
        assert_eq!(wrong_bits(2_000.0, 0.5), 2_000);
    }

    #[test]
    fn more_decay_never_means_fewer_wrong_bits() {
        let mut last = 0;
        for tenth in 0..8_000 {
            let count = wrong_bits(f64::from(tenth) / 10.0, 0.7);
            assert!(count + 25 >= last, "{count} after {last}: only the step to the mean may fall");
            last = count;
        }
    }
}
