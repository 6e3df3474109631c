//! `oracleGeneral` of libCacheSim (`oracleGeneral.h`), in which block traces are published for studies of caches:
//! records of 24 bytes, low byte first, without any distance between their fields:
//!
//! ```text
//!   seconds  object  bytes  number of the next request for the object, or none
//!   u32      u64     u32    i64
//! ```
//!
//! Objects of a block trace are its blocks of 512 bytes, and a request names its first one. Reads and writes are not
//! told apart: all requests count as reads, which a note says.

use nand_model::part::Nanos;

use super::format::{Format, ParseError, Parser, shown_record};
use super::units::{BLOCK, apart};
use crate::input::trace::input::Input;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "oracle-general",
    title: "oracleGeneral of libCacheSim; binary; objects as blocks of 512 bytes, all requests as reads",
    recognise: is_oracle,
    parser: |_| Box::new(Oracle),
};

/// What is said whenever a file is taken for one.
pub(super) const NOTE: &str = "it is in oracleGeneral of libCacheSim, which tells neither writes from reads nor what \
    an object is: all requests are taken as reads, and objects as blocks of 512 bytes";

const RECORD: usize = 24;

const SECOND: u64 = 1_000_000_000;

/// The largest request that a block trace has.
const LONGEST: u32 = 32 << 20;

struct OracleRecord {
    seconds: u32,
    object: u64,
    bytes: u32,
    next: i64,
}

impl OracleRecord {
    fn of(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word));
        let long = |at: usize| bytes.get(at..)?.first_chunk().map(|long| u64::from_le_bytes(*long));
        let next = long(16)?.cast_signed();
        Some(Self { seconds: word(0)?, object: long(4)?, bytes: word(12)?, next })
    }
}

/// Whether all records at the beginning are such: times do not fall, sizes are those of requests, and the next request
/// for the same object comes later, or never.
fn is_oracle(head: &[u8]) -> bool {
    const LEAST: usize = 8;
    const LOOKED_AT: usize = 256;
    const NEVER: [i64; 2] = [-1, i64::MAX];
    let records: Vec<OracleRecord> =
        head.chunks_exact(RECORD).take(LOOKED_AT).filter_map(OracleRecord::of).collect();
    let is_good = |(at, record): (i64, &OracleRecord)| {
        let is_later = NEVER.contains(&record.next) || record.next > at;
        is_later && (1..=LONGEST).contains(&record.bytes)
    };
    let comes_again = |record: &OracleRecord| !NEVER.contains(&record.next);
    records.len() >= LEAST
        && records.is_sorted_by_key(|record| record.seconds)
        && (0..).zip(&records).all(is_good)
        && records.iter().any(comes_again)
}

struct Oracle;

impl Parser for Oracle {
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        let bytes = input.record(RECORD).map_err(ParseError::Unreadable)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let request = |record: OracleRecord| {
            let length = record.bytes.into();
            let offset = apart(0, record.object.checked_mul(BLOCK)?, length)?;
            let time = Nanos::new(u64::from(record.seconds) * SECOND);
            Some(Request::new(time, Op::Read, offset, length))
        };
        let found = || shown_record(bytes);
        OracleRecord::of(bytes).and_then(request).map(Some).ok_or_else(|| ParseError::Bad {
            expected: "a record of 24 bytes of oracleGeneral, below 64 TiB",
            found: found(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fault, parse as parse_all};
    use super::super::{Recognised, recognise};
    use super::*;

    fn record(seconds: u32, object: u64, bytes: u32, next: i64) -> Vec<u8> {
        let (time, size) = (seconds.to_le_bytes(), bytes.to_le_bytes());
        [&time[..], &object.to_le_bytes(), &size, &next.to_le_bytes()].concat()
    }

    /// Blocks in a circle of four.
    fn trace() -> Vec<Vec<u8>> {
        (0..12_u32)
            .map(|at| record(at / 2, u64::from(at % 4) * 8, 4096, i64::from(at) + 4))
            .collect()
    }

    #[test]
    fn records_are_reads_of_blocks() {
        let said = recognise(&trace().concat());
        assert!(matches!(said, Recognised::As(_, Some(note)) if note.contains("as reads")));
        let requests = parse_all(&FORMAT, trace().concat());
        assert_eq!(requests.len(), 12);
        let expected = Request::new(Nanos::new(2 * SECOND), Op::Read, 8 * BLOCK, 4096);
        assert_eq!(requests[5], expected);
    }

    #[test]
    fn what_has_a_next_request_in_the_past_or_times_that_fall_is_something_else() {
        let mut past = trace();
        past[7] = record(3, 24, 4096, 5);
        let mut falling = trace();
        falling[7] = record(1, 24, 4096, 11);
        for other in [past, falling, trace()[..4].to_vec()] {
            assert!(!is_oracle(&other.concat()));
        }
    }

    #[test]
    fn a_record_that_is_cut_or_beyond_the_largest_disk_is_bad() {
        let cut = [trace().concat(), vec![1, 2, 3]].concat();
        assert!(fault(&FORMAT, cut).1.starts_with("3 bytes"));
        assert!(fault(&FORMAT, record(0, 1 << 60, 4096, -1)).1.starts_with("24 bytes"));
    }
}
