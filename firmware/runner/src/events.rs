//! What the program `events` has logged, decoded by the table in the program itself.

use std::fs;
use std::path::Path;

use defmt_decoder::Table;

use crate::outcome::{Outcome, said};

/// How lines must begin that are among those told, in this order: the level, and what was told at it.
const WANTED: [&str; 24] = [
    // The page store: of the mount of a chip on which nothing was written.
    "trace: Slc: read for mount",
    "debug: the rest to the fast area: SectorCount(1)",
    "trace: Slc: program for host",
    "info: a short write: done",
    "debug: to the main area: SectorCount(2)",
    "trace: Slc: program for map",
    "trace: Mlc: program for host",
    "info: a long write: done",
    "error: a write beyond the end: OutOfRange { first: Sector(320), count: SectorCount(1), capacity: ",
    "info: a trim: done",
    "trace: Mlc: program for garbage collection",
    "error: a write without power: Device(Some(NoPower))",
    // The hybrid.
    "trace: Slc: read for mount",
    "debug: to the fast area: SectorCount(1)",
    "trace: Slc: program for host",
    "info: a short write: done",
    "debug: a chain's map, cached: true",
    "trace: Mlc: program for host",
    "debug: to the main area: SectorCount(8)",
    "info: a long write: done",
    "info: a trim: done",
    "debug: a chain scanned, pages: ",
    "debug: the log's tail reclaimed, valid: ",
    "error: a write without power: Device(Some(NoPower))",
];

/// Decodes every frame that the program printed, and finds what must be there. Gives the number of lines.
pub(crate) fn judge(program: &Path, printed: &str) -> Outcome<usize> {
    let data = fs::read(program).map_err(|error| said(program, &error))?;
    let table = Table::parse(&data).map_err(|error| said(program, &error))?;
    let table = table.ok_or_else(|| format!("{} has no table of `defmt`", program.display()))?;
    let mut lines = Vec::new();
    for digits in printed.lines().filter_map(|line| line.strip_prefix("frame ")) {
        let bytes = bytes_of(digits).ok_or_else(|| format!("`{digits}` is no frame"))?;
        let (frame, length) = table
            .decode(&bytes)
            .map_err(|error| format!("the frame {digits} is not of the table ({error:?})"))?;
        if length != bytes.len() {
            return Err(format!("the frame {digits} ends after {length} bytes"));
        }
        let level = frame.level().map_or("none", |level| level.as_str());
        lines.push(format!("{level}: {}", frame.display_message()));
    }
    find_in_order(&lines, &WANTED)?;
    Ok(lines.len())
}

/// Whether each line that is wanted stands after the one wanted before it.
fn find_in_order(lines: &[String], wanted: &[&str]) -> Outcome<()> {
    let mut rest = lines.iter();
    for wanted in wanted {
        if !rest.any(|line| line.starts_with(wanted)) {
            return Err(format!(
                "`{wanted}` was not logged where it was to be, in:\n{}",
                lines.join("\n")
            ));
        }
    }
    Ok(())
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_logged_in_another_order_is_not_what_was_wanted() {
        let lines = ["one", "two", "one"].map(str::to_owned);
        let find = |wanted: &[&str]| find_in_order(&lines, wanted);
        assert!(find(&["one", "two", "one"]).is_ok() && find(&["two", "one"]).is_ok());
        assert!(find(&["two", "two"]).unwrap_err().contains("`two`"));
        assert!(find(&["three"]).unwrap_err().contains("one\ntwo"));
    }

    #[test]
    fn digits_are_bytes_and_anything_else_is_not() {
        assert_eq!(bytes_of("00ff1a"), Some(vec![0, 255, 26]));
        assert_eq!(bytes_of("0g"), None);
    }
}
