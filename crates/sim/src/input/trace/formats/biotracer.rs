//! The format of `BIOtracer`, by which the traces of a Nexus 5 were recorded: lines of `block blocks bytes type
//! generated processed submitted done`, separated by blanks. Blocks have 512 bytes, times are seconds; of the type,
//! bit 0 is set for a write. A request arrives when it is generated.

use super::format::{Format, Line, Lines, first_line_parses};
use super::units::{BLOCK, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "biotracer",
    title: "BIOtracer (Nexus 5): block blocks bytes type and four times in seconds; type 1 writes",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed("`block blocks bytes type generated processed submitted done`", parse),
};

const SECOND: u64 = 1_000_000_000;

/// The type's bit of a write.
const WRITE: u64 = 1;

fn parse(line: &[u8]) -> Option<Line> {
    request(line).map(Line::Request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let mut number = || {
        let number = cursor.number()?;
        cursor.gap().map(|()| number)
    };
    let [block, blocks, length, kind] = [number()?, number()?, number()?, number()?];
    (blocks.checked_mul(BLOCK) == Some(length)).then_some(())?;
    let time = cursor.time(SECOND)?;
    for _ in 0..3 {
        cursor.gap()?;
        cursor.time(SECOND)?;
    }
    cursor.blanks();
    let op = if kind & WRITE != 0 { Op::Write } else { Op::Read };
    let offset = apart(0, block.checked_mul(BLOCK)?, length)?;
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn recorded_lines_are_requests() {
        let text = "4043872\t\t96\t\t49152\t\t5\t\t1398396860.168065791\t\t1398396860.168307510\t\t\
                    1398396860.168322874\t\t1398396860.171732249\n\
                    52432368 8 4096 2 1398396860.171927979 1398396860.172 1398396860.1728 1398396860.1735\n";
        let requests = parse_all(&FORMAT, text);
        let write =
            Request::new(Nanos::new(1_398_396_860_168_065_791), Op::Write, 4_043_872 * 512, 49_152);
        assert_eq!(requests[0], write);
        assert_eq!((requests[1].op, requests[1].offset), (Op::Read, 52_432_368 * 512));
    }

    #[test]
    fn a_line_whose_lengths_disagree_or_that_lacks_a_time_is_bad() {
        for line in
            ["8 8 4095 1 1.5 1.5 1.5 1.5", "8 8 4096 1 1.5 1.5 1.5", "8 8 4096 W 1.5 1.5 1.5 1.5"]
        {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
