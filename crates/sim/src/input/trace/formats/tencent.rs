//! Tencent's block traces of 2018: lines of `Timestamp,Offset,Size,IOType,VolumeID`, as the README of the traces'
//! distribution describes them. The time is whole seconds, so that many requests share one; their order in the file
//! is kept. Offset and size are blocks of 512 bytes; type 0 is a read, 1 a write.

use super::format::{Format, Line, Lines, first_line_parses, headed};
use super::units::{BLOCK, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "tencent",
    title: "Tencent 2018: Timestamp,Offset,Size,IOType,VolumeID; blocks of 512 bytes, seconds",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed("`Timestamp,Offset,Size,IOType,VolumeID`, IOType 0 or 1", parse),
};

const HEADING: &[u8] = b"Timestamp,Offset,Size,IOType,VolumeID";

const SECOND: u64 = 1_000_000_000;

fn parse(line: &[u8]) -> Option<Line> {
    headed(line, HEADING, request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    let time = cursor.time(SECOND)?;
    cursor.pass(b',')?;
    let offset = cursor.number()?.checked_mul(BLOCK)?;
    cursor.pass(b',')?;
    let length = cursor.number()?.checked_mul(BLOCK)?;
    cursor.pass(b',')?;
    let op = match cursor.number()? {
        0 => Op::Read,
        1 => Op::Write,
        _ => return None,
    };
    cursor.pass(b',')?;
    let offset = apart(cursor.number()?, offset, length)?;
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    #[test]
    fn lines_of_the_distribution_are_requests_each_volume_apart() {
        let text = "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n";
        let time = Nanos::new(1_538_323_200_000_000_000);
        let expected = [
            (Op::Read, 1063 * SPAN + 12_910_952 * 512, 128 * 512),
            (Op::Write, 1627 * SPAN + 6_338_688 * 512, 8 * 512),
        ];
        let expected = expected.map(|(op, offset, length)| Request::new(time, op, offset, length));
        assert_eq!(parse_all(&FORMAT, text), expected);
        assert_eq!(
            parse_all(&FORMAT, format!("Timestamp,Offset,Size,IOType,VolumeID\n{text}")),
            expected
        );
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "1538323200,12910952,128,0",
            "1538323200,12910952,128,2,1063",
            "1538323200,12910952,128,0,1063,7",
            "1538323200,18446744073709551615,128,0,1063",
            "1538323200,12910952,18446744073709551615,0,1063",
            "18446744073709551615,12910952,128,0,1063",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
