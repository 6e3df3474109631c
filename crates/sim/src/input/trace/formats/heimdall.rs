//! The format of the Heimdall replayer: lines of `time device offset length op`, separated by blanks. The time is
//! milliseconds, offset and length are bytes; op 1 is a read, 0 a write.
//!
//! `five` distinguishes it from other formats with the same columns.

use super::five::{self, ColumnMeaning};
use super::format::{Format, Line, Lines};
use super::units::apart;
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "heimdall",
    title: "Heimdall replayer: time device offset length op; milliseconds, bytes, op 1 reads",
    recognise: |head| five::is(ColumnMeaning::Heimdall, head),
    parser: |_| Lines::boxed("`milliseconds device offset length op`, bytes, op 0 or 1", parse),
};

const MILLISECOND: u64 = 1_000_000;

fn parse(line: &[u8]) -> Option<Line> {
    request(line, 1, 1).map(Line::Request)
}

/// A request whose address and length have a unit of that many bytes.
pub(super) fn request(line: &[u8], address: u64, length: u64) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let time = cursor.time(MILLISECOND)?;
    cursor.gap()?;
    let device = cursor.number()?;
    cursor.gap()?;
    let offset = cursor.number()?.checked_mul(address)?;
    cursor.gap()?;
    let length = cursor.number()?.checked_mul(length)?;
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
    use super::*;

    #[test]
    fn lines_are_requests_in_bytes() {
        let text = "0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 1\n";
        let expected =
            [(0, Op::Write, 200_626_176, 4096), (223_412_000, Op::Read, 3_159_347_200, 36_864)];
        let expected = expected
            .map(|(nanos, op, offset, length)| Request::new(Nanos::new(nanos), op, offset, length));
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in
            ["0.5 0 4096 4096", "0.5 0 4096 4096 2", "0.5 0 4096 4096 0 0", "0.5 x 0 4096 0"]
        {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
