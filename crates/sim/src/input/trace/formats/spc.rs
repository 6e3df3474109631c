//! SPC, the format of the `UMass` repository's traces: lines of `ASU,LBA,Size,Opcode,Timestamp`, and further fields
//! that are ignored (Storage Performance Council, "SPC Trace File Format Specification"). The address is in blocks of
//! 512 bytes, the size in bytes, the time in seconds.
//!
//! Each application storage unit has its own addresses; they are set side by side (see `units`).

use super::format::{Format, Line, Lines, first_line_parses};
use super::units::{BLOCK, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "spc",
    title: "SPC: ASU,LBA,Size,Opcode,Timestamp; blocks of 512 bytes, seconds",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed("`ASU,LBA,Size,Opcode,Timestamp`, Opcode r or w", parse),
};

const SECOND: u64 = 1_000_000_000;

fn parse(line: &[u8]) -> Option<Line> {
    request(line).map(Line::Request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    let next_number = |cursor: &mut Cursor<'_>| {
        cursor.blanks();
        let number = cursor.number()?;
        cursor.blanks();
        cursor.pass(b',')?;
        Some(number)
    };
    let unit = next_number(&mut cursor)?;
    let block = next_number(&mut cursor)?;
    let length = next_number(&mut cursor)?;
    let op = match cursor.until(b',').trim_ascii() {
        b"r" | b"R" => Op::Read,
        b"w" | b"W" => Op::Write,
        _ => return None,
    };
    cursor.blanks();
    let time = cursor.time(SECOND)?;
    cursor.blanks();
    if !cursor.at_end() {
        cursor.pass(b',')?;
    }
    let offset = apart(unit, block.checked_mul(BLOCK)?, length)?;
    Some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn lines_are_requests_and_fields_beyond_the_fifth_are_passed_over() {
        let text = "0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214\n0, 8, 0, r, 1.5, more\n";
        let request =
            |nanos, op, offset, length| Request::new(Nanos::new(nanos), op, offset, length);
        let expected = [
            request(0, Op::Write, 303_567 * 512, 3584),
            request(26_214_000, Op::Read, (1 << 46) + 55_590 * 512, 3072),
            request(1_500_000_000, Op::Read, 8 * 512, 0),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_line_that_lacks_a_field_or_names_no_operation_is_bad() {
        for line in ["0,303567,3584,x,0.0", "0,303567,3584,w", "0,999999999999,3584,w,0.0"] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
