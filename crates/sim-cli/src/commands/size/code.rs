//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 7] = [
    ("page store without features, opt-level = \"z\"", 38_686 + 836, 48_548 + 1_184),
    ("page store, opt-level = \"z\"", 58_180 + 1_344, 72_646 + 1_700),
    ("page store, opt-level = \"s\"", 66_282 + 1_312, 81_866 + 1_668),
    ("page store, opt-level = 3", 107_440 + 1_212, 109_298 + 2_620),
    ("hybrid, opt-level = \"z\"", 77_008 + 736, 95_484 + 1_120),
    ("hybrid, opt-level = \"s\"", 92_828 + 736, 113_032 + 1_216),
    ("hybrid, opt-level = 3", 153_476 + 760, 149_554 + 4_416),
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
