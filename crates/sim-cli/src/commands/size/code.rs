//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 7] = [
    ("page store without features, opt-level = \"z\"", 41_938 + 812, 52_678 + 1_164),
    ("page store, opt-level = \"z\"", 64_034 + 1_348, 80_250 + 1_700),
    ("page store, opt-level = \"s\"", 72_882 + 1_316, 90_642 + 1_668),
    ("page store, opt-level = 3", 129_078 + 1_212, 126_570 + 2_624),
    ("hybrid, opt-level = \"z\"", 78_458 + 736, 97_080 + 1_120),
    ("hybrid, opt-level = \"s\"", 94_852 + 736, 115_254 + 1_216),
    ("hybrid, opt-level = 3", 155_984 + 760, 151_066 + 4_416),
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
