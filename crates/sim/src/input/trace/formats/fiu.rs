//! The traces of Florida International University (`SRCMap`, `IODedup`), as SNIA distributes them: lines of `time
//! process name block blocks op major minor md5`, separated by blanks. The time is nanoseconds, blocks have 512 bytes.

use super::format::{Format, Line, Lines, lines};
use super::units::{BLOCK, Names, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "fiu",
    title: "FIU (SRCMap, IODedup): time pid process block blocks op major minor md5; nanoseconds",
    recognise: |head| {
        lines(head).next().is_some_and(|line| request(line, &mut Names::default()).is_some())
    },
    parser: |_| {
        let mut devices = Names::default();
        Lines::boxed("`nanoseconds pid process block blocks op major minor md5`", move |line| {
            request(line, &mut devices).map(Line::Request)
        })
    },
};

fn request(line: &[u8], devices: &mut Names) -> Option<Request> {
    let words: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    // A process's name may have blanks, so the fields after it are counted from the end.
    let [time, _process, .., block, blocks, op, major, minor, content] = words[..] else {
        return None;
    };
    let number = |word: &[u8]| {
        let mut cursor = Cursor::new(word);
        cursor.number().filter(|_| cursor.at_end())
    };
    let mut cursor = Cursor::new(time);
    let time = cursor.time(1).filter(|_| cursor.at_end())?;
    let op = match op {
        b"R" => Op::Read,
        b"W" => Op::Write,
        _ => return None,
    };
    (words.len() >= 9 && content.iter().all(u8::is_ascii_hexdigit)).then_some(())?;
    number(major)?;
    number(minor)?;
    let device = devices.number(&[major, b",", minor].concat())?;
    let length = number(blocks)?.checked_mul(BLOCK)?;
    let offset = apart(device, number(block)?.checked_mul(BLOCK)?, length)?;
    Some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    #[test]
    fn recorded_lines_are_requests() {
        let text = "89966527950584 4253 nfsd 508516672 8 W 6 0 88b93b628d84082186026d9da044f173\n\
                    89966527996712 4253 a shell 508516680 8 R 8 0 b5e9f4e5ab62a4fff5313a606b0ad4e3\n";
        let write =
            Request::new(Nanos::new(89_966_527_950_584), Op::Write, 508_516_672 * 512, 4096);
        let requests = parse_all(&FORMAT, text);
        assert_eq!(requests[0], write);
        assert_eq!((requests[1].op, requests[1].offset), (Op::Read, SPAN + 508_516_680 * 512));
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "1 2 p 8 8 W 6 0",
            "1 2 p 8 8 X 6 0 ab",
            "1 2 p 8 x W 6 0 ab",
            "1 2 p 8 8 W 6 0 content",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
