//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 12] = [
    ("page store, opt-level = \"z\"", 52_818 + 916, 65_950 + 1_268),
    ("page store, opt-level = \"s\"", 61_716 + 772, 75_432 + 1_124),
    ("page store, opt-level = 3", 101_340 + 680, 102_082 + 1_964),
    ("log and chains, opt-level = \"z\"", 75_676 + 736, 93_804 + 1_120),
    ("log and chains, opt-level = \"s\"", 91_106 + 736, 110_904 + 1_216),
    ("log and chains, opt-level = 3", 151_662 + 760, 146_352 + 4_416),
    ("chains alone, opt-level = \"z\"", 49_868 + 728, 62_480 + 1_112),
    ("chains alone, opt-level = \"s\"", 58_364 + 736, 71_644 + 1_200),
    ("chains alone, opt-level = 3", 100_564 + 752, 94_222 + 4_392),
    ("chains, the least, opt-level = \"z\"", 40_568 + 728, 50_972 + 1_112),
    ("chains, the least, opt-level = \"s\"", 47_142 + 736, 58_020 + 1_192),
    ("chains, the least, opt-level = 3", 79_776 + 752, 75_190 + 4_320),
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
