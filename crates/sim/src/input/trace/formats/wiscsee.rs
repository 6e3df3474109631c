//! Events of `WiscSee`: lines of `pid action op offset length time since sync`, separated by blanks. Offset and length
//! are bytes, the time is seconds. Of the actions, D (issued to the device) is taken, and C (completed) is skipped.

use super::format::{Format, Line, Lines, first_line_parses};
use super::units::apart;
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "wiscsee",
    title: "WiscSee events: pid action op offset length time since sync; bytes, seconds; action D",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed("`pid action op offset length seconds since sync`", parse),
};

const SECOND: u64 = 1_000_000_000;

fn parse(line: &[u8]) -> Option<Line> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut word = || words.next();
    let number = |word: &[u8]| {
        let mut cursor = Cursor::new(word);
        cursor.number().filter(|_| cursor.at_end())
    };
    number(word()?)?;
    let is_issued = match word()? {
        b"D" => true,
        b"C" => false,
        _ => return None,
    };
    let op = match word()? {
        b"read" => Op::Read,
        b"write" => Op::Write,
        b"discard" => Op::Trim,
        _ => return None,
    };
    let (offset, length) = (number(word()?)?, number(word()?)?);
    let time = Cursor::new(word()?).time(SECOND)?;
    let _since = word()?;
    matches!(word()?, b"True" | b"False").then_some(())?;
    if word().is_some() {
        return None;
    }
    if !is_issued {
        return Some(Line::Nothing);
    }
    let offset = apart(0, offset, length)?;
    Some(Line::Request(Request::new(time, op, offset, length)))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn what_was_issued_is_a_request() {
        let text = "39949 D read 299008 4096 0.000000000 0 False\n\
                    0 C read 299008 4096 0.000122793 0.000122793 False\n\
                    39949 D write 331776 8192 0.000196695 7.3902e-05 True\n";
        let request =
            |nanos, op, offset, length| Request::new(Nanos::new(nanos), op, offset, length);
        let expected =
            [request(0, Op::Read, 299_008, 4096), request(196_695, Op::Write, 331_776, 8192)];
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in
            ["1 D read 0 4096 0.5 0", "1 Q read 0 4096 0.5 0 False", "1 D move 0 4096 0.5 0 False"]
        {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
