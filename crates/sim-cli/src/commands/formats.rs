//! `tandem formats`: the formats of traces that can be read.

use std::io::Write;

use sim::Failure;
use sim::input::trace::formats::FORMATS;

use crate::output::table::{Edge, Table};

/// Lists the formats.
pub fn run(out: &mut dyn Write) -> Result<(), Failure> {
    Ok(list().write_rows(out)?)
}

/// The name of each and what it is.
pub(super) fn list() -> Table {
    let mut table = Table::new([("", Edge::Left); 2]);
    for format in FORMATS {
        table.row([format.name.to_owned(), format.title.to_owned()]);
    }
    table
}
