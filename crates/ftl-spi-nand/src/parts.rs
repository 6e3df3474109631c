//! The chips that are known by their numbers.
//!
//! Sources: numbers, shapes, spare areas and status fields as Linux drives the parts (`drivers/mtd/nand/spi/winbond.c`
//! and `gigadevice.c` of Linux 6.12), checked against the makers' datasheets where these say which spare bytes the
//! correction covers. Where the two leave a doubt, the bytes that both allow are taken.

use crate::part::{Detail, EccReport, EccStatus, Part, Run};
use crate::wire::ECC_ENABLE;

use EccStatus::{Clean, Corrected, SeeDetail, Uncorrectable};

/// Winbond: reads come from a buffer of a page, not page after page ("BUF" of the configuration register).
const BUFFER_READ: u8 = 1 << 3;

/// Four of every sixteen bytes: "User Data II" of the W25N01GV, which alone is the user's and corrected. The same bytes
/// are free and corrected in the GD5F1GQ4UA.
const FOUR_OF_SIXTEEN: &[Run] = &[
    Run { at: 4, length: 4 },
    Run { at: 20, length: 4 },
    Run { at: 36, length: 4 },
    Run { at: 52, length: 4 },
];

/// Twelve of every sixteen of the first 64 bytes. The correction's own bytes lie in the second 64.
const TWELVE_OF_SIXTEEN: &[Run] = &[
    Run { at: 4, length: 12 },
    Run { at: 20, length: 12 },
    Run { at: 36, length: 12 },
    Run { at: 52, length: 12 },
];

/// A field of two bits, 5 and 4 of the status register.
const fn two_bits(
    verdicts: [EccStatus; 4],
    detail: Option<Detail>,
    correctable_bits: u8,
) -> EccReport {
    let [a, b, c, d] = verdicts;
    let rest = Uncorrectable;
    let verdicts = [a, b, c, d, rest, rest, rest, rest];
    EccReport { shift: 4, mask: 3, verdicts, detail, correctable_bits }
}

/// Spare bytes of a page, and those of them that are free and corrected.
#[derive(Clone, Copy)]
struct Spare {
    bytes: u16,
    runs: &'static [Run],
}

/// A part of 64 pages a block, 2 KiB a page.
const fn part(
    name: &'static str,
    id: &'static [u8],
    blocks: u32,
    spare: Spare,
    ecc: EccReport,
) -> Part {
    let Spare { bytes: spare_bytes, runs: spare_runs } = spare;
    let Ok(geometry) = Part::shape(blocks, 64, 2048, spare_runs) else {
        panic!("the geometry is impossible")
    };
    let configuration = ECC_ENABLE;
    let part =
        Part { name, id, geometry, spare_bytes, spare_runs, configuration, ecc, plane_bit: None };
    assert!(part.is_sound());
    part
}

/// The part whose reads are to go through its buffer.
const fn buffered(part: Part) -> Part {
    let configuration = part.configuration | BUFFER_READ;
    Part { configuration, ..part }
}

/// Winbond W25N01GV, 1 Gbit. One bit of each 512 bytes is corrected.
pub const W25N01GV: Part = buffered(part(
    "W25N01GV",
    &[0xEF, 0xAA, 0x21],
    1024,
    Spare { bytes: 64, runs: FOUR_OF_SIXTEEN },
    two_bits([Clean, Corrected(1), Uncorrectable, Uncorrectable], None, 1),
));

/// Winbond W25N02KV, 2 Gbit. Eight bits of each 512 bytes are corrected; register 30h tells how many were.
pub const W25N02KV: Part = buffered(part(
    "W25N02KV",
    &[0xEF, 0xAA, 0x22],
    2048,
    Spare { bytes: 128, runs: TWELVE_OF_SIXTEEN },
    two_bits(
        [Clean, SeeDetail, Uncorrectable, Uncorrectable],
        Some(Detail { register: 0x30, shift: 4, mask: 0xF, plus: 0 }),
        8,
    ),
));

/// `GigaDevice` GD5F1GQ4UA, 1 Gbit. Eight bits of each 512 bytes are corrected; up to seven are told as seven.
pub const GD5F1GQ4UA: Part = part(
    "GD5F1GQ4UA",
    &[0xC8, 0xF1],
    1024,
    Spare { bytes: 64, runs: FOUR_OF_SIXTEEN },
    two_bits([Clean, Corrected(7), Uncorrectable, Corrected(8)], None, 8),
);

/// `GigaDevice` GD5F1GQ4UE, 1 Gbit. Register F0h tells four to seven corrected bits apart; fewer are told as four.
pub const GD5F1GQ4UE: Part = part(
    "GD5F1GQ4UE",
    &[0xC8, 0xD1],
    1024,
    Spare { bytes: 128, runs: TWELVE_OF_SIXTEEN },
    two_bits(
        [Clean, SeeDetail, Uncorrectable, Corrected(8)],
        Some(Detail { register: 0xF0, shift: 4, mask: 3, plus: 4 }),
        8,
    ),
);

/// What the GD5F…Q5 parts tell: register F0h has one to four corrected bits.
const FOUR_BITS: EccReport = two_bits(
    [Clean, SeeDetail, Uncorrectable, Uncorrectable],
    Some(Detail { register: 0xF0, shift: 4, mask: 3, plus: 1 }),
    4,
);

/// `GigaDevice` GD5F1GQ5UE, 1 Gbit. Four bits of each 512 bytes are corrected.
pub const GD5F1GQ5UE: Part = part(
    "GD5F1GQ5UE",
    &[0xC8, 0x51],
    1024,
    Spare { bytes: 128, runs: TWELVE_OF_SIXTEEN },
    FOUR_BITS,
);

/// `GigaDevice` GD5F2GQ5UE, 2 Gbit. Four bits of each 512 bytes are corrected.
pub const GD5F2GQ5UE: Part = part(
    "GD5F2GQ5UE",
    &[0xC8, 0x52],
    2048,
    Spare { bytes: 128, runs: TWELVE_OF_SIXTEEN },
    FOUR_BITS,
);

/// All of them.
pub const ALL: [Part; 6] = [W25N01GV, W25N02KV, GD5F1GQ4UA, GD5F1GQ4UE, GD5F1GQ5UE, GD5F2GQ5UE];
