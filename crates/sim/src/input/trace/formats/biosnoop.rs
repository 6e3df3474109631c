//! What biosnoop of bcc prints: columns under a heading that begins with `TIME(s)`, of which `T` (the kind), `SECTOR`
//! (of 512 bytes) and `BYTES` are always there, `DISK` before them, and times of waiting behind them. A process's name
//! may have blanks, so that columns are counted from the end of the line. Times are those of completion, in seconds.
//!
//! The script of bpftrace that has the same name prints neither address nor size, and cannot be replayed; what another
//! script prints is read by its columns, as `docs/TRACES.md` shows.

use super::format::{Format, Line, Lines, lines};
use super::units::{BLOCK, Names, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "biosnoop",
    title: "text of biosnoop (bcc): TIME(s) COMM PID DISK T SECTOR BYTES …; seconds, sectors of 512 bytes",
    recognise: |head| heading(head).is_some(),
    parser: |head| {
        let (behind, mut disks) = (heading(head).unwrap_or(USUAL), Names::default());
        Lines::boxed(
            "`TIME(s) COMM PID DISK T SECTOR BYTES …` as biosnoop prints them",
            move |line| {
                if line.trim_ascii_start().starts_with(FIRST) {
                    return Some(Line::Nothing);
                }
                request(line, behind, &mut disks).map(Line::Request)
            },
        )
    },
};

const FIRST: &[u8] = b"TIME(s)";

const SECOND: u64 = 1_000_000_000;

/// Columns after `BYTES` if there is no heading: only the latency.
const USUAL: usize = 1;

fn words(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// How many columns are behind `BYTES`, if the first line is biosnoop's heading.
fn heading(head: &[u8]) -> Option<usize> {
    let names: Vec<&[u8]> = lines(head).next().map(|line| words(line).collect())?;
    let at = names.iter().position(|name| *name == b"BYTES")?;
    let before: &[&[u8]] = &[b"DISK", b"T", b"SECTOR"];
    let is_whole = names.first() == Some(&FIRST) && names.get(at.checked_sub(3)?..at)? == before;
    is_whole.then(|| names.len() - at - 1)
}

fn request(line: &[u8], behind: usize, disks: &mut Names) -> Option<Request> {
    let mut cursor = Cursor::new(words(line).next()?);
    let time = cursor.time(SECOND).filter(|_| cursor.at_end())?;
    let mut from_end = words(line).rev().skip(behind);
    let [bytes, sector, kind, disk] =
        [from_end.next()?, from_end.next()?, from_end.next()?, from_end.next()?];
    let number = |word: &[u8]| {
        let mut cursor = Cursor::new(word);
        cursor.number().filter(|_| cursor.at_end())
    };
    let length = number(bytes)?;
    let op = match kind.first()? {
        b'F' if length == 0 => Op::Flush,
        b'R' => Op::Read,
        b'W' | b'F' => Op::Write,
        b'D' => Op::Trim,
        _ => return None,
    };
    if op == Op::Flush {
        return Some(Request::new(time, op, 0, 0));
    }
    // An unknown disk is left blank, so that the process's number stands there.
    let disk = if number(disk).is_some() { b"" } else { disk };
    let offset = apart(disks.number(disk)?, number(sector)?.checked_mul(BLOCK)?, length)?;
    Some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn columns_are_those_of_the_heading_whatever_stands_behind() {
        for (heading, behind) in [("LAT(ms)", "0.74"), ("QUE(ms) LAT(ms)", "0.01    0.74")] {
            let text = format!(
                "TIME(s)     COMM           PID     DISK    T SECTOR     BYTES  {heading}\n\
                 0.000004    supervise      1950    xvda1   W 13092560   4096   {behind}\n\
                 1.000004    tar xf         1951    xvda1   R 8          8192   {behind}\n"
            );
            let found: Vec<(Op, u64, u64)> =
                parse_all(&FORMAT, text).iter().map(|r| (r.op, r.offset, r.length)).collect();
            assert_eq!(found, [(Op::Write, 13_092_560 * 512, 4096), (Op::Read, 4096, 8192)]);
        }
    }

    #[test]
    fn a_line_without_a_disk_is_of_a_disk_without_name() {
        let text = "TIME(s)     COMM           PID     DISK    T SECTOR     BYTES  LAT(ms)\n\
                    0.000004    supervise      1950            W 8          4096   0.74\n";
        let found = parse_all(&FORMAT, text);
        assert_eq!((found[0].op, found[0].offset, found[0].length), (Op::Write, 4096, 4096));
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "0.1 p 1 sda W x 4096 0.7",
            "0.1 p 1 sda Q 8 4096 0.7",
            "0.1 W 8 4096",
            "soon p 1 sda W 8 4096 1",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
