//! The ASCII format of `MQSim` and `SSDsim`: lines of `time device block blocks type`, separated by blanks, as the
//! README of `MQSim` describes them. The time is whole nanoseconds (`MQSim` can be told of another unit, which its
//! traces do not say), blocks have 512 bytes; type 0 is a write, 1 a read.
//!
//! `five` distinguishes it from other formats with the same columns.

use super::five::{self, ColumnMeaning};
use super::format::{Format, Line, Lines};
use super::units::{BLOCK, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "mqsim",
    title: "MQSim and SSDsim ASCII: time device block blocks type; nanoseconds, blocks of 512 bytes",
    recognise: |head| five::is(ColumnMeaning::Mqsim, head),
    parser: |_| Lines::boxed("`nanoseconds device block blocks type`, type 0 or 1", parse),
};

fn parse(line: &[u8]) -> Option<Line> {
    request(line).map(Line::Request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let time = cursor.time(1)?;
    cursor.gap()?;
    let device = cursor.number()?;
    cursor.gap()?;
    let offset = cursor.number()?.checked_mul(BLOCK)?;
    cursor.gap()?;
    let length = cursor.number()?.checked_mul(BLOCK)?;
    cursor.gap()?;
    let op = match cursor.number()? {
        0 => Op::Write,
        1 => Op::Read,
        _ => return None,
    };
    cursor.blanks();
    let offset = apart(device, offset, length)?;
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    #[test]
    fn lines_are_requests_and_type_0_is_a_write() {
        let text = "938513000 0 264719034 16 0\r\n938828000 3 197570570 16 1\r\n938944000 13 93230992 32 0";
        let expected = [
            (938_513_000, Op::Write, 264_719_034 * 512, 8192),
            (938_828_000, Op::Read, 3 * SPAN + 197_570_570 * 512, 8192),
            (938_944_000, Op::Write, 13 * SPAN + 93_230_992 * 512, 16_384),
        ];
        let expected = expected
            .map(|(nanos, op, offset, length)| Request::new(Nanos::new(nanos), op, offset, length));
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "938513000 4 264719034 16",
            "938513000 4 264719034 16 2",
            "938513000 4 264719034 16 0 0",
            "938513000 4 264719034 16 R",
            "99999999999999999999 4 264719034 16 0",
            "938513000 4 264719034 18446744073709551615 0",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
