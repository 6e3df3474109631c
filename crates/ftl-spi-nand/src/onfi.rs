//! The ONFI parameter page: what a chip says of itself (Open NAND Flash Interface Specification 1.0, section 5.4).
//!
//! ```text
//!  0      32         44      64   80          84         92           96          100  103   105   112    254
//!  ├──────┼──────────┼───────┼────┼───────────┼──────────┼────────────┼───────────┼────┼─────┼─────┼──────┼──────┐
//!  │"ONFI"│ maker 12 │ model │ …  │ page (32) │spare (16)│pages a     │blocks a   │LUNs│ bad │ …   │ ECC  │ CRC  │
//!  │      │          │ 20    │    │           │          │block (32)  │LUN (32)   │(8) │ (16)│     │ bits │ (16) │
//! ```
//!
//! Numbers are little-endian. Several copies follow each other; one whole copy is enough.

use core::fmt;

use ftl_iface::{BlockCount, Bytes, PageCount};

use crate::part::Part;

/// Bytes of a copy.
pub const BYTES: usize = 256;

/// Copies that every chip has.
pub const COPIES: u16 = 3;

/// Where the copies lie beside the array: page 01h with Winbond and most makers, page 04h with `GigaDevice`.
pub const ROWS: [u32; 2] = [0x01, 0x04];

const SIGNATURE: [u8; 4] = *b"ONFI";
const MAKER: usize = 32;
const MODEL: usize = 44;
const PAGE_BYTES: usize = 80;
const SPARE_BYTES: usize = 84;
const PAGES_PER_BLOCK: usize = 92;
const BLOCKS_PER_UNIT: usize = 96;
const UNITS: usize = 100;
const BAD_BLOCKS_MAX: usize = 103;
const ECC_BITS: usize = 112;
const CHECK: usize = 254;

/// Why a copy is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OnfiError {
    /// It does not begin with "ONFI".
    Signature,
    /// Its check sum is wrong.
    Check,
}

impl fmt::Display for OnfiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signature => "there is no parameter page here: try the next copy",
            Self::Check => "this copy of the parameter page is damaged: try the next",
        })
    }
}

impl core::error::Error for OnfiError {}

/// What a chip says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParameterPage {
    /// The maker's name, filled up with spaces.
    pub maker: [u8; 12],
    /// The model's name, filled up with spaces.
    pub model: [u8; 20],
    /// Data bytes of a page.
    pub page_bytes: Bytes,
    /// All spare bytes of a page, the chip's own among them.
    pub spare_bytes: Bytes,
    /// Pages of a block.
    pub pages_per_block: PageCount,
    /// Blocks of the chip, all of its units together.
    pub blocks: BlockCount,
    /// Blocks of a unit that may be bad.
    pub bad_blocks_max: BlockCount,
    /// Bits of 512 bytes that the host would have to correct without the chip's correction.
    pub ecc_bits: u8,
}

impl ParameterPage {
    /// Reads a copy.
    pub fn parse(bytes: &[u8; BYTES]) -> Result<Self, OnfiError> {
        if !bytes.starts_with(&SIGNATURE) {
            return Err(OnfiError::Signature);
        }
        if check(&bytes[..CHECK]) != half(bytes, CHECK) {
            return Err(OnfiError::Check);
        }
        let blocks = word(bytes, BLOCKS_PER_UNIT).saturating_mul(u32::from(bytes[UNITS]));
        let (mut maker, mut model) = ([0; 12], [0; 20]);
        maker.copy_from_slice(&bytes[MAKER..MODEL]);
        model.copy_from_slice(&bytes[MODEL..MODEL + 20]);
        Ok(Self {
            maker,
            model,
            page_bytes: Bytes::new(word(bytes, PAGE_BYTES)),
            spare_bytes: Bytes::new(half(bytes, SPARE_BYTES).into()),
            pages_per_block: PageCount::new(word(bytes, PAGES_PER_BLOCK)),
            blocks: BlockCount::new(blocks),
            bad_blocks_max: BlockCount::new(half(bytes, BAD_BLOCKS_MAX).into()),
            ecc_bits: bytes[ECC_BITS],
        })
    }

    /// Whether a description has the shape that the chip says it has: pages, their spare bytes, blocks.
    pub const fn agrees_with(&self, part: &Part) -> bool {
        let Some(slc) = part.geometry.slc() else { return false };
        self.page_bytes.get() == slc.page_bytes.get()
            && self.spare_bytes.get() == part.spare_bytes as u32
            && self.pages_per_block.get() == slc.pages_per_block.get()
            && self.blocks.get() == slc.blocks.get()
    }

    /// Writes a copy, as a chip of one unit has it.
    pub fn emit(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
        };
        put(0, &SIGNATURE);
        put(MAKER, &self.maker);
        put(MODEL, &self.model);
        put(PAGE_BYTES, &self.page_bytes.get().to_le_bytes());
        put(SPARE_BYTES, &(self.spare_bytes.get() as u16).to_le_bytes());
        put(PAGES_PER_BLOCK, &self.pages_per_block.get().to_le_bytes());
        put(BLOCKS_PER_UNIT, &self.blocks.get().to_le_bytes());
        put(UNITS, &[1]);
        put(BAD_BLOCKS_MAX, &(self.bad_blocks_max.get() as u16).to_le_bytes());
        put(ECC_BITS, &[self.ecc_bits]);
        let sum = check(&bytes[..CHECK]);
        bytes[CHECK..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

fn half(bytes: &[u8; BYTES], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8; BYTES], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// CRC-16 with the polynomial 8005h, most significant bit first, from 4F4Eh on (section 5.4.1.36, "Integrity CRC").
fn check(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0x4F4E, |mut sum, byte| {
        sum ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            sum = if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ 0x8005 };
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: ParameterPage = ParameterPage {
        maker: *b"WINBOND     ",
        model: *b"W25N01GV            ",
        page_bytes: Bytes::new(2048),
        spare_bytes: Bytes::new(64),
        pages_per_block: PageCount::new(64),
        blocks: BlockCount::new(1024),
        bad_blocks_max: BlockCount::new(20),
        ecc_bits: 1,
    };

    #[test]
    fn what_is_written_is_read() {
        let bytes = PAGE.emit();
        assert_eq!(&bytes[..4], b"ONFI");
        assert_eq!(bytes[80..86], [0x00, 0x08, 0, 0, 64, 0]);
        assert_eq!(ParameterPage::parse(&bytes), Ok(PAGE));
    }

    #[test]
    fn any_damaged_bit_is_seen() {
        let bytes = PAGE.emit();
        for bit in 0..BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(ParameterPage::parse(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_check_is_the_one_of_the_specification() {
        // Nothing leaves the start; the start itself cancels; one bit leaves the polynomial.
        assert_eq!(check(&[]), 0x4F4E);
        assert_eq!(check(&[0x4F, 0x4E]), 0);
        assert_eq!(check(&[0x4F, 0x4E, 0x01]), 0x8005);
    }
}
