//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 12] = [
    ("page store, opt-level = \"z\"", 50_232 + 884, 62_800 + 1_236),
    ("page store, opt-level = \"s\"", 57_620 + 740, 70_336 + 1_092),
    ("page store, opt-level = 3", 95_002 + 640, 98_150 + 1_932),
    ("log and chains, opt-level = \"z\"", 75_672 + 736, 93_838 + 1_120),
    ("log and chains, opt-level = \"s\"", 91_110 + 736, 110_904 + 1_216),
    ("log and chains, opt-level = 3", 151_682 + 760, 146_352 + 4_416),
    ("chains alone, opt-level = \"z\"", 49_876 + 728, 62_480 + 1_112),
    ("chains alone, opt-level = \"s\"", 58_374 + 736, 71_644 + 1_200),
    ("chains alone, opt-level = 3", 100_564 + 752, 94_220 + 4_392),
    ("chains, the least, opt-level = \"z\"", 40_572 + 728, 50_976 + 1_112),
    ("chains, the least, opt-level = \"s\"", 47_150 + 736, 58_020 + 1_192),
    ("chains, the least, opt-level = 3", 79_778 + 752, 75_192 + 4_320),
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
