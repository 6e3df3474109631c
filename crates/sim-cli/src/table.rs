//! Columns of text.

use std::io::{self, Write};

/// Which edge of a column its cells touch.
#[derive(Clone, Copy)]
pub(crate) enum Edge {
    Left,
    Right,
}

/// Spaces before each column.
const GAP: usize = 2;

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
        self.write_within(terminal_columns(), out)
    }

    /// Writes the rows alone, for tables whose first column says it all.
    pub(crate) fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_some(&self.rows[1..], &(0..self.edges.len()), out)
    }

    /// The rows alone, as one text.
    pub(crate) fn rows_as_text(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory cannot fail, and the rows are text.
        let _ = self.write_rows(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Writes the table in pieces that are no wider than that, where it can be: each begins with the first column.
    fn write_within(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let mut from = 1;
        loop {
            let mut to = from;
            let mut width = GAP + widths.first().copied().unwrap_or_default();
            while to < widths.len() && (to == from || width + GAP + widths[to] <= columns) {
                width += GAP + widths[to];
                to += 1;
            }
            self.write_some(&self.rows, &(0..1).chain(from..to), out)?;
            if to >= widths.len() {
                return Ok(());
            }
            writeln!(out)?;
            from = to;
        }
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.edges.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        widths
    }

    fn write_some(
        &self,
        rows: &[Vec<String>],
        columns: &(impl Iterator<Item = usize> + Clone),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let widths = self.widths();
        for row in rows {
            let mut line = String::new();
            for column in columns.clone() {
                let cell = &row[column];
                let padding = " ".repeat(widths[column] - cell.chars().count());
                line += "  ";
                match self.edges[column] {
                    Edge::Left => line.extend([cell, padding.as_str()]),
                    Edge::Right => line.extend([padding.as_str(), cell]),
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Columns of the terminal; as many as anything takes where the output goes elsewhere.
fn terminal_columns() -> usize {
    console::Term::stdout().size_checked().map_or(usize::MAX, |(_, columns)| columns.into())
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

    #[test]
    fn what_is_wider_than_the_terminal_is_written_in_pieces() {
        let heads = ["", "conventional", "hybrid", "ko"].map(|head| (head, Edge::Right));
        let mut table = Table::new(heads);
        table.row(["energy", "1 J", "2 J", "3 J"].map(String::from));
        let mut out = Vec::new();
        table.write_within(30, &mut out).unwrap();
        let expected = "          conventional  hybrid\n  energy           1 J     2 J\n\n\
                        \x20          ko\n  energy  3 J\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut narrow = Vec::new();
        table.write_within(1, &mut narrow).unwrap();
        assert_eq!(String::from_utf8(narrow).unwrap().lines().count(), 8);
    }
}
