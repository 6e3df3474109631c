//! The enterprise traces of Systor '17: lines of `Timestamp,Response,IOType,LUN,Offset,Size`, as the README of the
//! traces' distribution describes them. The time is seconds, offset and size are bytes. Where the recorder lost a
//! packet, a row has no type and often no response; such rows are not requests, and are skipped.

use super::format::{Format, Line, Lines, first_line_parses};
use super::units::apart;
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "systor",
    title: "Systor '17: Timestamp,Response,IOType,LUN,Offset,Size; bytes, seconds",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| {
        let expected = "`Timestamp,Response,IOType,LUN,Offset,Size`, IOType R, W or none";
        Lines::boxed(expected, parse)
    },
};

const HEADING: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

const SECOND: u64 = 1_000_000_000;

fn parse(line: &[u8]) -> Option<Line> {
    row(line).or_else(|| (line == HEADING).then_some(Line::Nothing))
}

fn row(line: &[u8]) -> Option<Line> {
    let mut cursor = Cursor::new(line);
    let time = cursor.time(SECOND)?;
    cursor.pass(b',')?;
    if cursor.peek() != Some(b',') {
        cursor.time(SECOND)?;
    }
    cursor.pass(b',')?;
    let op = match cursor.until(b',') {
        b"R" => Some(Op::Read),
        b"W" => Some(Op::Write),
        b"" => None,
        _ => return None,
    };
    let volume = cursor.number()?;
    cursor.pass(b',')?;
    let offset = cursor.number()?;
    cursor.pass(b',')?;
    let length = cursor.number()?;
    let offset = apart(volume, offset, length)?;
    let line = op.map_or(Line::Nothing, |op| Line::Request(Request::new(time, op, offset, length)));
    cursor.at_end().then_some(line)
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    const HEADED: &str = "Timestamp,Response,IOType,LUN,Offset,Size\n";

    #[test]
    fn rows_are_requests_and_those_without_a_type_are_passed_over() {
        let text = "1456135200.113118000,,,0,8192,4096\n\
                    1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
                    1456135200.013118000,0.001,W,3,4096,4096\n";
        let first =
            Request::new(Nanos::new(1_456_095_145_133_076_000), Op::Read, 899_056_122_368, 131_072);
        let requests = parse_all(&FORMAT, text);
        assert_eq!((requests.len(), requests[0]), (2, first));
        assert_eq!((requests[1].op, requests[1].offset), (Op::Write, 3 * SPAN + 4096));
        assert_eq!(parse_all(&FORMAT, format!("{HEADED}{text}")), requests);
    }

    #[test]
    fn a_row_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "1456095145.133076000,0.000806000,R,0,899056122368",
            "1456095145.133076000,0.000806000,X,0,899056122368,131072",
            "1456095145.133076000,,,0,899056122368",
            "1456095145.133076000,0.000806000,R,0,899056122368,131072,1",
            "1456095145.133076000,0.000806000,R,0,18446744073709551615,1",
            "99999999999.133076000,0.000806000,R,0,0,1",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
