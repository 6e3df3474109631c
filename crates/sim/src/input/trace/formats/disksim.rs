//! `DiskSim`'s ASCII format: lines of `time device block blocks flags`, separated by blanks, as the reader of that
//! simulator takes them (`iotrace_ascii_get_ioreq_event`). The time is milliseconds, blocks have 512 bytes, the flags
//! are hexadecimal, and their lowest bit says that the request is a read.
//!
//! `five` distinguishes it from other formats with the same columns.

use super::five::{self, ColumnMeaning};
use super::format::{Format, Line, Lines};
use super::units::{BLOCK, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "disksim",
    title: "DiskSim ASCII: time device block blocks flags; milliseconds, blocks of 512 bytes",
    recognise: |head| five::is(ColumnMeaning::Disksim, head),
    parser: |_| Lines::boxed("`milliseconds device block blocks flags`, flags hexadecimal", parse),
};

const MILLISECOND: u64 = 1_000_000;

/// The flag of a read.
const READ: u64 = 1;

fn parse(line: &[u8]) -> Option<Line> {
    request(line).map(Line::Request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let time = cursor.time(MILLISECOND)?;
    cursor.gap()?;
    let device = cursor.number()?;
    cursor.gap()?;
    let offset = cursor.number()?.checked_mul(BLOCK)?;
    cursor.gap()?;
    let length = cursor.number()?.checked_mul(BLOCK)?;
    cursor.gap()?;
    let op = if hexadecimal(cursor.word())? & READ != 0 { Op::Read } else { Op::Write };
    cursor.blanks();
    let offset = apart(device, offset, length)?;
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

/// A number in hexadecimal digits, as C's `%x` takes it.
fn hexadecimal(word: &[u8]) -> Option<u64> {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| {
        Some(number << 4 | u64::from(char::from(*digit).to_digit(16)?))
    })
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    #[test]
    fn lines_are_requests_and_the_lowest_flag_is_a_read() {
        let text = "5265.313 0 6357144 8 0\n5265.703\t1\t6307768 64 0x1b\n5297 0 0 512 2 \n";
        let expected = [
            (5_265_313_000, Op::Write, 6_357_144 * 512, 4096),
            (5_265_703_000, Op::Read, SPAN + 6_307_768 * 512, 32_768),
            (5_297_000_000, Op::Write, 0, 262_144),
        ];
        let expected = expected
            .map(|(nanos, op, offset, length)| Request::new(Nanos::new(nanos), op, offset, length));
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn whole_milliseconds_are_recognised_by_their_flags() {
        assert_eq!(parse_all(&FORMAT, "5265 0 8 8 0\n5266 0 8 8 1a\n").len(), 2);
        assert_eq!(parse_all(&FORMAT, "5265 0 8 8 0\n5266.5 0 8 8 1\n").len(), 2);
        assert!(!(FORMAT.recognise)(b"5265 0 8 8 0\n5266 0 8 8 1\n"));
        // The last line of a file's first bytes may be truncated.
        assert!(!(FORMAT.recognise)(b"5265 0 8 8 0\n5266 0 8"));
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "5265.313 0 6357144 8",
            "5265.313 0 6357144 8a",
            "5265.313 0 6357144 8 x",
            "5265.313 0 6357144 8 0 7",
            "5265.313 0 6357144 8 fffffffffffffffff",
            "5265.313 0 99999999999999999999 8 0",
            "5265.313 0 36028797018963968 8 0",
            "-1.5 0 6357144 8 0",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
