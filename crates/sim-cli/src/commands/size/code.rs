//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 12] = [
    ("page store, opt-level = \"z\"", 57_064 + 1_344, 71_196 + 1_700),
    ("page store, opt-level = \"s\"", 65_534 + 1_312, 80_638 + 1_668),
    ("page store, opt-level = 3", 106_288 + 1_212, 108_402 + 2_620),
    ("log and chains, opt-level = \"z\"", 76_700 + 736, 95_024 + 1_120),
    ("log and chains, opt-level = \"s\"", 92_734 + 736, 112_548 + 1_216),
    ("log and chains, opt-level = 3", 153_220 + 760, 149_298 + 4_416),
    ("chains alone, opt-level = \"z\"", 50_622 + 728, 63_164 + 1_112),
    ("chains alone, opt-level = \"s\"", 59_140 + 736, 72_760 + 1_200),
    ("chains alone, opt-level = 3", 101_402 + 752, 95_834 + 4_392),
    ("chains, the least, opt-level = \"z\"", 41_232 + 728, 51_580 + 1_112),
    ("chains, the least, opt-level = \"s\"", 47_832 + 736, 58_994 + 1_192),
    ("chains, the least, opt-level = 3", 80_298 + 752, 76_610 + 4_320),
];

/// The rows of an FTL.
pub(super) fn write(ftl: &str, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out)?;
    let mut table = Table::new([
        ("code and constants, bytes", Edge::Left),
        ("Cortex-M4F", Edge::Right),
        ("RISC-V", Edge::Right),
    ]);
    for (build, arm, riscv) in CODE.iter().filter(|(build, ..)| build.starts_with(ftl)) {
        table.row([(*build).to_owned(), show::count(*arm), show::count(*riscv)]);
    }
    Ok(table.write(out)?)
}
