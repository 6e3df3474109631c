//! vscsi traces of `VMware`, by which `CloudPhysics` recorded the disks of virtual machines: records of one length, low
//! byte first, in one of two versions (as `vscsi.h` of `libCacheSim` reads them):
//!
//! ```text
//!   version 1, 32 bytes   serial  bytes  pieces  command  version  block  time
//!                         u32     u32    u32     u16      u16      u64    u64
//!   version 2, 40 bytes   command  version  serial  bytes  pieces  block  time  response
//!                         u16      u16      u32     u32    u32     u64    u64   u64
//! ```
//!
//! The version is in the upper byte of its field; blocks have 512 bytes; the time is microseconds. The command is a
//! SCSI operation code (SBC-3): reads, writes and flushes are taken, and commands that do not access the medium are
//! skipped. So is UNMAP, whose extents are not recorded.

use nand_model::part::Nanos;

use super::format::{Format, Line, ParseError, Parser, shown_record};
use super::units::{BLOCK, apart};
use crate::input::trace::input::Input;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "vscsi",
    title: "vscsi traces of VMware (CloudPhysics), version 1 or 2; binary",
    recognise: |head| VscsiVersion::of(head).is_some(),
    parser: |head| Box::new(Vscsi { version: VscsiVersion::of(head).unwrap_or(VscsiVersion::One) }),
};

const MICROSECOND: u64 = 1_000;

#[derive(Clone, Copy)]
enum VscsiVersion {
    One,
    Two,
}

impl VscsiVersion {
    /// The version of the records at the beginning of a file. Several must have it, because one may match by chance.
    fn of(head: &[u8]) -> Option<Self> {
        const LOOKED_AT: usize = 16;
        let fits = |version: &Self| {
            let mut records = head.chunks_exact(version.record()).take(LOOKED_AT).peekable();
            records.peek().is_some() && records.all(|record| version.is_told(record))
        };
        [Self::Two, Self::One].into_iter().find(fits)
    }

    /// Bytes of a record.
    const fn record(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    /// Whether a whole record is of this version. Operation codes have one byte; the other one is zero.
    fn is_told(self, record: &[u8]) -> bool {
        let (command, number) = match self {
            Self::One => (12, 1),
            Self::Two => (0, 2),
        };
        record[command + 1] == 0 && record[command + 3] == number
    }

    /// The operation of a record on the medium; `None` if there is none or it is beyond the medium.
    #[inline]
    fn parse(self, record: &[u8]) -> Option<Line> {
        if record.len() < self.record() || !self.is_told(record) {
            return None;
        }
        let [command, bytes, block, time] = match self {
            Self::One => [12, 4, 16, 24],
            Self::Two => [0, 8, 16, 24],
        };
        let long = |at: usize| record[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let length = record[bytes..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        let Some(op) = op(record[command]) else { return Some(Line::Nothing) };
        let time = Nanos::new(long(time)?.checked_mul(MICROSECOND)?);
        if op == Op::Flush {
            return Some(Line::Request(Request::new(time, op, 0, 0)));
        }
        let length = u64::from(length);
        let offset = apart(0, long(block)?.checked_mul(BLOCK)?, length)?;
        Some(Line::Request(Request::new(time, op, offset, length)))
    }
}

/// The operation of a SCSI command on the medium.
pub(super) const fn op(code: u8) -> Option<Op> {
    match code {
        // READ (6), (10), (12), (16).
        0x08 | 0x28 | 0xA8 | 0x88 => Some(Op::Read),
        // WRITE (6), (10), (12), (16); WRITE AND VERIFY (10), (12), (16).
        0x0A | 0x2A | 0xAA | 0x8A | 0x2E | 0xAE | 0x8E => Some(Op::Write),
        // SYNCHRONIZE CACHE (10), (16).
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

struct Vscsi {
    version: VscsiVersion,
}

impl Parser for Vscsi {
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        loop {
            let record = input.record(self.version.record()).map_err(ParseError::Unreadable)?;
            if record.is_empty() {
                return Ok(None);
            }
            match self.version.parse(record) {
                Some(Line::Request(request)) => return Ok(Some(request)),
                Some(Line::Nothing) => {}
                None => {
                    let expected = match self.version {
                        VscsiVersion::One => "a vscsi record of 32 bytes, version 1, below 64 TiB",
                        VscsiVersion::Two => "a vscsi record of 40 bytes, version 2, below 64 TiB",
                    };
                    return Err(ParseError::Bad { expected, found: shown_record(record) });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fault, parse};
    use super::*;

    /// Three writes of a block, as they were recorded.
    const RECORDED: [[u64; 4]; 3] = [
        [0x0000_0200_8000_00F4, 0x0100_002A_0000_0001, 42_932_745, 5_633_898_368_802],
        [0x0000_0200_8000_0061, 0x0100_002A_0000_0001, 42_932_746, 5_633_898_611_441],
        [0x0000_0200_8000_00E8, 0x0100_002A_0000_0001, 42_932_747, 5_633_898_745_540],
    ];

    fn first(command: u8, block: u64, bytes: u32) -> Vec<u8> {
        let words = [7, bytes, 1, 0x0100_0000 | u32::from(command)].map(u32::to_le_bytes);
        [words.concat(), [block, 5].map(u64::to_le_bytes).concat()].concat()
    }

    fn second(command: u8, block: u64, bytes: u32) -> Vec<u8> {
        let words = [0x0200_0000 | u32::from(command), 7, bytes, 1].map(u32::to_le_bytes);
        [words.concat(), [block, 5, 900].map(u64::to_le_bytes).concat()].concat()
    }

    #[test]
    fn recorded_writes_are_requests() {
        let bytes = RECORDED.as_flattened().iter().flat_map(|word| word.to_le_bytes());
        let requests = parse(&FORMAT, bytes.collect::<Vec<u8>>());
        let time = Nanos::new(5_633_898_368_802_000);
        let write = Request::new(time, Op::Write, 42_932_745 * 512, 512);
        assert_eq!((requests.len(), requests[0]), (3, write));
        assert_eq!(requests[2].offset, 42_932_747 * 512);
    }

    #[test]
    fn both_versions_tell_the_same_and_other_commands_are_passed_over() {
        for record in [first, second] {
            let trace = [
                record(0x88, 8, 4096),
                record(0x12, 0, 36),
                record(0x42, 0, 24),
                record(0x91, 0, 0),
                record(0x0A, 16, 512),
            ];
            let requests = parse(&FORMAT, trace.concat());
            let request = |op, offset, length| Request::new(Nanos::new(5_000), op, offset, length);
            let expected = [
                request(Op::Read, 4096, 4096),
                request(Op::Flush, 0, 0),
                request(Op::Write, 8192, 512),
            ];
            assert_eq!(requests, expected);
        }
    }

    #[test]
    fn a_record_that_is_cut_or_of_another_version_or_beyond_all_disks_is_bad() {
        for (record, size) in [(first as fn(u8, u64, u32) -> Vec<u8>, 32), (second, 40)] {
            let good = record(0x28, 8, 4096).repeat(20);
            let (expected, found) = fault(&FORMAT, [&good, &good[..size - 3]].concat());
            assert!(expected.contains(&format!("{size} bytes")), "{expected}");
            assert!(found.starts_with(&format!("{} bytes: ", size - 3)), "{found}");
            let foreign = vec![0; size];
            assert!(fault(&FORMAT, [good.clone(), foreign].concat()).1.contains("00 00 00"));
            assert!(!fault(&FORMAT, [good, record(0x28, 1 << 60, 512)].concat()).1.is_empty());
        }
    }
}
