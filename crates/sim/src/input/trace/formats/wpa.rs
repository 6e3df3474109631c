//! Disk tables that the Windows Performance Analyzer exports: a heading, then lines, with `;` between fields, or `,`
//! where numbers have a decimal point. Columns are found by their names, of which these must be there: `IO Type`,
//! `Init Time (s)`, `Size (B)` and `Min Offset` (hexadecimal bytes); `Disk` sets disks apart. Numbers are written as
//! the machine's language has them: thousands may be set apart, and the decimal mark may be a comma.

use super::format::{Format, Line, Lines, lines};
use super::units::apart;
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "wpa",
    title: "Windows Performance Analyzer: IO Type, Init Time (s), Size (B), Min Offset … under a heading",
    recognise: |head| WpaColumns::of(head).is_some(),
    parser: |head| {
        let layout = WpaColumns::of(head);
        Lines::boxed("a line of a disk table of the Windows Performance Analyzer", move |line| {
            let layout = layout.as_ref()?;
            if layout.is_heading(line) {
                return Some(Line::Nothing);
            }
            layout.request(line)
        })
    },
};

const SECOND: u64 = 1_000_000_000;

/// The byte-order mark of a UTF-8 text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The positions of the columns.
struct WpaColumns {
    separator: u8,
    kind: usize,
    time: usize,
    size: usize,
    offset: usize,
    disk: Option<usize>,
}

impl WpaColumns {
    fn of(head: &[u8]) -> Option<Self> {
        let first = lines(head).next()?;
        let first = first.strip_prefix(MARK).unwrap_or(first);
        let separator = if first.contains(&b';') { b';' } else { b',' };
        let names: Vec<&[u8]> =
            first.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect();
        let at = |name: &[u8]| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        Some(Self {
            separator,
            kind: at(b"IO Type")?,
            time: at(b"Init Time (s)")?,
            size: at(b"Size (B)")?,
            offset: at(b"Min Offset")?,
            disk: at(b"Disk"),
        })
    }

    fn is_heading(&self, line: &[u8]) -> bool {
        line.split(|byte| *byte == self.separator)
            .nth(self.time)
            .is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"Init Time (s)"))
    }

    fn request(&self, line: &[u8]) -> Option<Line> {
        let fields: Vec<&[u8]> =
            line.split(|byte| *byte == self.separator).map(<[u8]>::trim_ascii).collect();
        let field = |at: usize| fields.get(at).copied();
        let op = match field(self.kind)? {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            b"Flush" => Op::Flush,
            _ => return None,
        };
        let time = plain(field(self.time)?, Marks::LastIsDecimal);
        let mut cursor = Cursor::new(&time);
        let time = cursor.time(SECOND).filter(|_| cursor.at_end())?;
        if op == Op::Flush {
            return Some(Line::Request(Request::new(time, op, 0, 0)));
        }
        let number = |text: &[u8]| {
            let mut cursor = Cursor::new(text);
            cursor.number().filter(|_| cursor.at_end())
        };
        let length = number(&plain(field(self.size)?, Marks::BetweenThousands))?;
        let offset = field(self.offset)?;
        let digits = std::str::from_utf8(offset.strip_prefix(b"0x")?).ok()?;
        let offset = u64::from_str_radix(digits, 16).ok()?;
        let disk = match self.disk {
            Some(at) => number(field(at)?)?,
            None => 0,
        };
        let offset = apart(disk, offset, length)?;
        Some(Line::Request(Request::new(time, op, offset, length)))
    }
}

/// The meaning of the marks in a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    BetweenThousands,
    LastIsDecimal,
}

/// A number without thousands separators; in a decimal number, the last mark is the decimal one.
fn plain(text: &[u8], marks: Marks) -> Vec<u8> {
    let is_mark = |byte: &u8| matches!(byte, b'.' | b',');
    let last = text.iter().rposition(is_mark).filter(|_| marks == Marks::LastIsDecimal);
    let digits = text.iter().enumerate().filter(|(at, byte)| !is_mark(byte) || Some(*at) == last);
    digits.map(|(_, byte)| if is_mark(byte) { b'.' } else { *byte }).collect()
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{fault, parse as parse_all};
    use super::*;

    const HEADING: &str = "IO Type;Priority;Process (Name);Init Time (s);Complete Time (s);IO Time (µs);\
        Disk Service Time (µs);Size (B);Min Offset;Max Offset;QD/I - Queue Depth at Init Time;\
        QD/C - Queue Depth at Complete Time;Disk;Count\n";

    #[test]
    fn recorded_lines_are_requests_with_a_decimal_comma() {
        let text = format!(
            "{HEADING}\
             Read;Normal;System;1,079943800;1,080031000;87,200;87,200;512;0x0000000000000200;0x3FF;0;0;0;1\n\
             Write;Normal;a, b;1.001,5;1.001,6;159,2;159,2;16.384;0x0000000000000400;0x43FF;0;0;0;1\n"
        );
        let request =
            |nanos, op, offset, length| Request::new(Nanos::new(nanos), op, offset, length);
        let expected = [
            request(1_079_943_800, Op::Read, 512, 512),
            request(1_001_500_000_000, Op::Write, 1024, 16_384),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_decimal_point_and_commas_between_fields_are_read_too() {
        let text =
            "IO Type,Init Time (s),Size (B),Min Offset\nFlush,0.5,0,0x0\nWrite,1.5,4096,0x1000\n";
        let requests = parse_all(&FORMAT, text);
        assert_eq!(requests[0].op, Op::Flush);
        assert_eq!((requests[1].time, requests[1].offset), (Nanos::new(1_500_000_000), 4096));
    }

    #[test]
    fn a_line_with_a_wrong_field_is_bad() {
        for line in [
            "Move;N;p;1,0;1,0;1;1;512;0x0;0x0;0;0;0;1",
            "Read;N;p;1,0;1,0;1;1;512;12;0;0;0;0;1",
            "Read;N",
        ] {
            assert_eq!(fault(&FORMAT, format!("{HEADING}{line}\n")).1, line);
        }
    }
}
