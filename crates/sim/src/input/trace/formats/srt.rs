//! HP's SRT traces (cello, ajw): a heading in text, which ends in a form feed (in some copies in `};` on a line of its
//! own after two tabs instead), and then records of 32-bit words, the high byte first. Each begins with its own size in
//! bytes and its kind, whose upper half is the version; of the kinds, 1 is a request. Behind these two words:
//!
//! ```text
//!   word       0        1             4      5      6       7      9      13      14..15
//!   version 1  seconds  microseconds  bytes  block  device  drive  flags
//!   version 7  seconds  microseconds  bytes         device         flags  volume  first byte
//! ```
//!
//! Version 4 is as version 1. Blocks have 256 bytes here; flag 1 is a read. Version 7 is undocumented; its layout was
//! inferred from the data.

use nand_model::part::Nanos;

use super::format::{Format, ParseError, Parser, shown_record};
use super::units::{Names, apart};
use crate::input::trace::input::Input;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "srt",
    title: "HP's SRT (cello, ajw), version 1, 4 or 7; a heading in text, then binary",
    recognise: |head| beginning(head).is_some(),
    parser: |head| {
        let heading = beginning(head).unwrap_or(0);
        Box::new(Srt { heading, devices: Names::default(), lost: false })
    },
};

/// The end of the heading, and that of copies without it.
const FORM_FEED: u8 = 0x0C;
const END: &[u8] = b"\n\t\t};";

/// The longest heading.
const HEADING: usize = 64 << 10;

const BLOCK: u64 = 256;

/// Bytes of a record's size and kind.
const HEAD: usize = 8;

/// Bytes of the longest record.
const RECORD: usize = 1024;

const REQUEST: u32 = 1;

fn word(record: &[u8], at: usize) -> Option<u32> {
    let bytes = record.get(at * 4..)?.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

/// The size of a record that begins so, if it is one: head included.
fn size(head: &[u8]) -> Option<usize> {
    let (size, kind) = (word(head, 0)? as usize, word(head, 1)?);
    let is_sized = (HEAD..=RECORD).contains(&size) && size.is_multiple_of(4);
    (is_sized && matches!(kind >> 16, 1 | 4 | 7)).then_some(size)
}

/// The offset of the first record.
fn beginning(head: &[u8]) -> Option<usize> {
    let heading = &head[..head.len().min(HEADING)];
    let feeds = memchr::memchr(FORM_FEED, heading).map(|at| at + 1);
    let ends = [feeds, memchr::memmem::find(heading, END).map(|at| at + END.len())];
    ends.into_iter().flatten().find_map(|end| {
        // Line ends may follow, and no record begins with one.
        let is_blank = |byte: &&u8| matches!(**byte, b'\n' | b'\r' | FORM_FEED);
        let blanks = head[end..].iter().take_while(is_blank).count();
        // What precedes is text.
        let is_text =
            heading[..end].iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        (is_text && size(&head[end + blanks..]).is_some()).then_some(end + blanks)
    })
}

struct Srt {
    /// Bytes before the first record that were not skipped yet.
    heading: usize,
    devices: Names,
    /// After bytes that are not a record, the position of the next one is unknown.
    lost: bool,
}

impl Srt {
    /// The request in a record without its head; `None` if words are missing.
    fn request(&mut self, version: u32, record: &[u8]) -> Option<Request> {
        let word = |at| word(record, at);
        let time = u64::from(word(0)?) * 1_000_000 + u64::from(word(1)?);
        let time = Nanos::new(time.checked_mul(1_000)?);
        let length = u64::from(word(4)?);
        let op = if word(9)? & 1 != 0 { Op::Read } else { Op::Write };
        let (volume, offset) = if version < 7 {
            ([word(6)?, word(7)?], u64::from(word(5)?) * BLOCK)
        } else {
            ([word(6)?, word(13)?], u64::from(word(14)?) << 32 | u64::from(word(15)?))
        };
        let device = self.devices.number(&volume.map(u32::to_be_bytes).concat())?;
        let offset = apart(device, offset, length)?;
        Some(Request::new(time, op, offset, length))
    }

    fn bad<T>(&mut self, found: String) -> Result<T, ParseError> {
        self.lost = true;
        Err(ParseError::Bad { expected: "an SRT record of version 1, 4 or 7, whole", found })
    }
}

impl Parser for Srt {
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        input.pass(std::mem::take(&mut self.heading)).map_err(ParseError::Unreadable)?;
        while !self.lost {
            let head = input.record(HEAD).map_err(ParseError::Unreadable)?;
            if head.is_empty() {
                return Ok(None);
            }
            let (size, kind) = (size(head), word(head, 1).unwrap_or(0));
            let shown = shown_record(head);
            let Some(size) = size else { return self.bad(shown) };
            let record = input.bytes(size - HEAD).map_err(ParseError::Unreadable)?;
            if record.len() < size - HEAD {
                return self.bad(format!("{} of {size} bytes", HEAD + record.len()));
            }
            if kind & 0xFFFF != REQUEST {
                continue;
            }
            return match self.request(kind >> 16, record) {
                Some(request) => Ok(Some(request)),
                None => self.bad(shown),
            };
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fault, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    const TEXT: &[u8] = b"srt\n\theading {\n\t\tmade for a test\n\t\t};\n";

    fn record(kind: u32, words: &[(usize, u32)], count: usize) -> Vec<u8> {
        let mut record = vec![0; count];
        for (at, word) in words {
            record[*at] = *word;
        }
        let size = (HEAD + 4 * count) as u32;
        [&[size, kind], &record[..]].concat().into_iter().flat_map(u32::to_be_bytes).collect()
    }

    #[test]
    fn records_of_both_versions_are_requests_and_other_kinds_are_passed_over() {
        let first = record(1 << 16 | 1, &[(0, 7), (1, 5), (4, 8192), (5, 100), (9, 1)], 11);
        let other = record(1 << 16 | 2, &[], 3);
        let words = [(0, 7), (1, 9), (4, 512), (6, 3), (14, 1), (15, 1024)];
        let seventh = record(7 << 16 | 1, &words, 20);
        let requests = parse_all(&FORMAT, [TEXT, &first, &other, &seventh].concat());
        let time = Nanos::new(7_000_005_000);
        assert_eq!(requests[0], Request::new(time, Op::Read, 25_600, 8192));
        let time = Nanos::new(7_000_009_000);
        let offset = SPAN + (1 << 32) + 1024;
        assert_eq!(requests[1..], [Request::new(time, Op::Write, offset, 512)]);
    }

    #[test]
    fn a_heading_ends_with_a_form_feed() {
        let fourth = record(4 << 16 | 1, &[(0, 7), (1, 5), (4, 8192), (5, 100), (9, 1)], 11);
        for heading in [&b"srt\n\theading {\n\t\t};\n\x0C"[..], b"cello\nsome text\n\x0C"] {
            let requests = parse_all(&FORMAT, [heading, &fourth, &fourth].concat());
            assert_eq!((requests.len(), requests[0].offset), (2, 25_600));
            assert!((FORMAT.recognise)(&[heading, &fourth].concat()));
        }
        assert!(!(FORMAT.recognise)(&[b"\x00\x01\x0C", &fourth[..]].concat()));
    }

    #[test]
    fn what_is_cut_or_is_no_record_is_bad_and_ends_the_file() {
        let good = record(1 << 16 | 1, &[(4, 512)], 11);
        assert_eq!(fault(&FORMAT, [TEXT, &good, &good[..20]].concat()).1, "20 of 52 bytes");
        assert!(fault(&FORMAT, [TEXT, &good, &[0; 40]].concat()).1.contains("8 bytes: 00"));
        let short = record(1 << 16 | 1, &[(4, 512)], 6);
        assert!(fault(&FORMAT, [TEXT, &good, &short].concat()).1.contains("00 00 00 20"));
    }
}
