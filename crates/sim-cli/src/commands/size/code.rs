//! The size of the code, as it was measured in `firmware/`: the same for every device.

use std::io::Write;

use sim::{Failure, show};

use crate::output::table::{Edge, Table};

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 7] = [
    ("page store without features, opt-level = \"z\"", 38_696 + 932, 48_394 + 1_288),
    ("page store, opt-level = \"z\"", 58_264 + 1_448, 72_694 + 1_796),
    ("page store, opt-level = \"s\"", 66_478 + 1_312, 82_030 + 1_668),
    ("page store, opt-level = 3", 108_032 + 1_212, 110_330 + 2_620),
    ("hybrid, opt-level = \"z\"", 77_766 + 776, 96_376 + 1_160),
    ("hybrid, opt-level = \"s\"", 93_750 + 776, 113_912 + 1_256),
    ("hybrid, opt-level = 3", 152_874 + 760, 150_314 + 4_416),
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
