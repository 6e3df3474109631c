//! Columns of text, and sentences in lines.

use std::io::{self, Write};

use sim::show;

/// The alignment of a column's cells.
#[derive(Clone, Copy)]
pub(crate) enum Edge {
    Left,
    Right,
}

/// Spaces before each column.
const GAP: usize = 2;

/// The minimum width of a column of words.
const NARROWEST: usize = 16;

/// Writes a sentence in lines as wide as the terminal allows, two spaces from the left, and all but the first four.
pub(crate) fn write_sentence(sentence: &str, out: &mut dyn Write) -> io::Result<()> {
    const WIDTH: usize = 96;
    let width = terminal_columns().saturating_sub(4).clamp(16, WIDTH);
    writeln!(out, "  {}", show::folded(sentence, width).join("\n    "))
}

/// Writes a line in as many as the terminal makes of it, all but the first indented.
pub(crate) fn write_line(line: &str, out: &mut dyn Write) -> io::Result<()> {
    let width = terminal_columns().saturating_sub(2).max(16);
    writeln!(out, "{}", show::folded(line, width).join("\n  "))
}

/// Rows of text with aligned columns.
pub(crate) struct Table {
    edges: Vec<Edge>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns: each one's heading and alignment.
    pub(crate) fn new(columns: impl IntoIterator<Item = (impl Into<String>, Edge)>) -> Self {
        let (heading, edges) = columns.into_iter().map(|(name, edge)| (name.into(), edge)).unzip();
        Self { edges, rows: vec![heading] }
    }

    /// Adds a row: one cell per column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.edges.len(), "a cell for every column");
        self.rows.push(cells);
    }

    /// Writes the table, two spaces from the left.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_within(terminal_columns(), out)
    }

    /// Writes the rows without headings, for tables whose first column suffices.
    pub(crate) fn write_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows_within(terminal_columns(), out)
    }

    /// The rows without headings, as one text.
    pub(crate) fn rows_as_text(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory cannot fail, and the rows are text.
        let _ = self.write_rows_within(usize::MAX, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    fn write_rows_within(&self, columns: usize, out: &mut dyn Write) -> io::Result<()> {
        let all: Vec<usize> = (0..self.edges.len()).collect();
        self.write_some(&self.rows[1..], &all, columns, out)
    }

    /// Writes the table in parts no wider than that, if possible; each begins with the first column.
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
            let piece: Vec<usize> = (0..1).chain(from..to).collect();
            self.write_some(&self.rows, &piece, columns, out)?;
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

    /// Writes those columns. A last column of words is wrapped if it does not fit.
    fn write_some(
        &self,
        rows: &[Vec<String>],
        shown: &[usize],
        columns: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let widths = self.widths();
        let Some((&last, others)) = shown.split_last() else { return Ok(()) };
        let before: usize = others.iter().map(|column| widths[*column] + GAP).sum();
        // A column with room for only one word per line would not be readable.
        let room = columns.saturating_sub(before + GAP).max(NARROWEST);
        let folds = matches!(self.edges[last], Edge::Left) && widths[last] > room;
        for row in rows {
            let cell = &row[last];
            let fits = !folds || cell.chars().count() <= room;
            let pieces = if fits { vec![cell.clone()] } else { show::folded(cell, room) };
            let width = if folds { 0 } else { widths[last] };
            for (at, piece) in pieces.iter().enumerate() {
                let cells = others.iter().map(|column| {
                    let cell = if at == 0 { row[*column].as_str() } else { "" };
                    self.padded(*column, cell, widths[*column])
                });
                let line: String = cells.chain([self.padded(last, piece, width)]).collect();
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }

    /// A cell with the gap before it.
    fn padded(&self, column: usize, cell: &str, width: usize) -> String {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        match self.edges[column] {
            Edge::Left => format!("  {cell}{padding}"),
            Edge::Right => format!("  {padding}{cell}"),
        }
    }
}

/// The width of the terminal; if the output goes elsewhere, the width in `COLUMNS`, or no limit.
pub(crate) fn terminal_columns() -> usize {
    let asked = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = console::Term::stdout().size_checked().map(|(_, columns)| columns.into());
    terminal.or_else(asked).unwrap_or(usize::MAX)
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
    fn words_go_on_below_where_they_do_not_fit() {
        let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
        table.row(["RS".into(), "times as fast, over all requests".into()]);
        let mut out = Vec::new();
        table.write_rows_within(24, &mut out).unwrap();
        let expected = "  RS  times as fast,\n      over all requests\n";
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
