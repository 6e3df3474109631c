//! `tandem systems`: the systems that can be compared, whether they survive power cuts, and their parameters.

use std::io::Write;

use sim::Failure;
use sim::engine::systems;

use crate::output::table::{Edge, Table};

/// Lists the systems.
pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([("", Edge::Left); 3]);
    for row in systems::list() {
        table.row(row);
    }
    Ok(table.write_rows(out)?)
}
