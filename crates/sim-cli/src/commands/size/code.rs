//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 12] = [
    ("page store, opt-level = \"z\"", 56_822 + 1_416, 71_166 + 1_772),
    ("page store, opt-level = \"s\"", 65_126 + 1_312, 80_674 + 1_668),
    ("page store, opt-level = 3", 106_888 + 1_212, 107_224 + 3_020),
    ("log and chains, opt-level = \"z\"", 76_002 + 736, 94_392 + 1_120),
    ("log and chains, opt-level = \"s\"", 91_412 + 736, 111_136 + 1_216),
    ("log and chains, opt-level = 3", 151_384 + 760, 146_356 + 4_416),
    ("chains alone, opt-level = \"z\"", 50_192 + 728, 63_058 + 1_112),
    ("chains alone, opt-level = \"s\"", 58_670 + 736, 71_876 + 1_200),
    ("chains alone, opt-level = 3", 100_286 + 752, 94_226 + 4_392),
    ("chains, the least, opt-level = \"z\"", 40_896 + 728, 51_554 + 1_112),
    ("chains, the least, opt-level = \"s\"", 47_448 + 736, 58_252 + 1_192),
    ("chains, the least, opt-level = 3", 79_498 + 752, 75_194 + 4_320),
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
