//! MSR Cambridge: lines of `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, as the README of the traces'
//! distribution describes them. The time is a Windows file time in ticks of 100 ns; offset and size are bytes.

use super::format::{Format, Line, Lines, first_line_parses};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "msr",
    title: "MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| {
        let expected =
            "`Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, Type Read or Write";
        Lines::boxed(expected, parse)
    },
};

/// Some copies of the traces have this line above the first.
const HEADING: &[u8] = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

/// A tick of a Windows file time, in nanoseconds.
const TICK: u64 = 100;

fn parse(line: &[u8]) -> Option<Line> {
    match request(line) {
        Some(request) => Some(Line::Request(request)),
        None => line.eq_ignore_ascii_case(HEADING).then_some(Line::Nothing),
    }
}

fn request(line: &[u8]) -> Option<Request> {
    // Copies that went through a spreadsheet have tabs, or blanks after the commas.
    let separator = if line.contains(&b',') { b',' } else { b'\t' };
    let mut cursor = Cursor::new(line);
    let pass = |cursor: &mut Cursor<'_>| {
        if separator == b',' {
            cursor.blanks();
        }
        cursor.pass(separator)?;
        cursor.blanks();
        Some(())
    };
    let time = cursor.time(TICK)?;
    pass(&mut cursor)?;
    let _host = cursor.until(separator);
    cursor.blanks();
    cursor.number()?;
    pass(&mut cursor)?;
    let op = match cursor.until(separator).trim_ascii() {
        kind if kind.eq_ignore_ascii_case(b"read") => Op::Read,
        kind if kind.eq_ignore_ascii_case(b"write") => Op::Write,
        _ => return None,
    };
    cursor.blanks();
    let offset = cursor.number()?;
    pass(&mut cursor)?;
    let length = cursor.number()?;
    pass(&mut cursor)?;
    // The response time of the traced disk. Some copies have decimals there.
    cursor.time(TICK)?;
    cursor.blanks();
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn lines_of_the_distribution_are_requests() {
        let text = "128166385295514663,hm,0,Write,9056014336,2048,2833\n\
                    128166385295514878,hm,0,Read,11855351808,512,2617\n";
        let requests = parse_all(&FORMAT, text);
        let time = Nanos::new(12_816_638_529_551_466_300);
        let first = Request::new(time, Op::Write, 9_056_014_336, 2048);
        assert_eq!(requests[0], first);
        assert_eq!(requests[1].time.since(requests[0].time), Nanos::new(21_500));
        assert_eq!(requests[1].op, Op::Read);
    }

    #[test]
    fn a_copy_with_tabs_or_blanks_is_the_same() {
        let plain = "128166385295514663,hm,0,Write,9056014336,2048,2833\n";
        let expected = parse_all(&FORMAT, plain);
        for other in [plain.replace(',', ", "), plain.replace(',', "\t")] {
            assert_eq!(parse_all(&FORMAT, &other), expected, "{other}");
        }
    }

    #[test]
    fn a_line_that_lacks_a_field_or_names_no_operation_is_bad() {
        let none = "128166385295514663,hm,0,Erase,9056014336,2048,2833";
        assert_eq!(bad(&FORMAT, none), none);
        let short = "128166385295514663,hm,0,Write,9056014336,2048";
        assert_eq!(bad(&FORMAT, short), short);
    }
}
