//! Columns of text.

use std::io::{self, Write};

/// Which edge of a column its cells touch.
#[derive(Clone, Copy)]
pub(crate) enum Edge {
    Left,
    Right,
}

/// Rows of text whose columns line up.
pub(crate) struct Table {
    edges: Vec<Edge>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns: each one's heading and edge.
    pub(crate) fn new(columns: impl IntoIterator<Item = (impl Into<String>, Edge)>) -> Self {
        let (heading, edges) = columns.into_iter().map(|(name, edge)| (name.into(), edge)).unzip();
        Self { edges, rows: vec![heading] }
    }

    /// Adds a row: a cell for every column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.edges.len(), "a cell for every column");
        self.rows.push(cells);
    }

    /// Writes the table, two spaces from the left.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_from(0, out)
    }

    /// Writes the rows alone, for tables whose first column says it all.
    pub(crate) fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_from(1, out)
    }

    /// The rows alone, as one text.
    pub(crate) fn rows_as_text(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory cannot fail, and the rows are text.
        let _ = self.write_rows(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    fn write_from(&self, first: usize, out: &mut dyn Write) -> io::Result<()> {
        let mut widths = vec![0; self.edges.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in &self.rows[first..] {
            let mut line = String::new();
            for ((cell, edge), width) in row.iter().zip(&self.edges).zip(&widths) {
                let padding = " ".repeat(width - cell.chars().count());
                line += "  ";
                match edge {
                    Edge::Left => line.extend([cell, padding.as_str()]),
                    Edge::Right => line.extend([padding.as_str(), cell]),
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_at_their_edges() {
        let mut table = Table::new([("name", Edge::Left), ("count", Edge::Right)]);
        table.row(["c3".into(), "12345".into()]);
        table.row(["spi-nand".into(), "1".into()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let expected = "  name      count\n  c3        12345\n  spi-nand      1\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
