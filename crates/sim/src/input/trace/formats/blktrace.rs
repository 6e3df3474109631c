//! What blktrace records: records of 48 bytes, each followed by a payload of its own length, in the byte order of the
//! machine that recorded them, which the magic number shows (`struct blk_io_trace` of Linux's `blktrace_api.h`):
//!
//! ```text
//!   magic and version  sequence  time  block  bytes  action  process  device  cpu  error  payload
//!   u32                u32       u64   u64    u32    u32     u32      u32     u32  u16    u16
//! ```
//!
//! Requests are taken at one action, chosen by [`Stage`]; other events are skipped, and so are notes. The kinds are
//! explained in `blkparse`.
//!
//! blktrace writes one file per processor; `merge` joins them to one trace.

use nand_model::part::Nanos;

use super::format::{Format, ParseError, Parser, shown_record};
use super::stage::Stage;
use super::units::{BLOCK, Names, apart};
use crate::input::trace::input::Input;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "blktrace",
    title: "what blktrace records, or what `blkparse -d` merges",
    recognise: |head| Order::of(head).is_some(),
    parser: |head| {
        let order = Order::of(head).unwrap_or(Order::Little);
        let stage = Stage::of(stages(head, order));
        Box::new(Blktrace { order, stage, devices: Names::default(), lost: false })
    },
};

/// Bytes of a record without its payload.
pub(in crate::input::trace) const RECORD: usize = 48;

/// The time in a record, and the length of its payload; `None` if it is not a record.
pub(in crate::input::trace) fn recorded(record: &[u8]) -> Option<(u64, usize)> {
    let event = BlktraceEvent::read(record, Order::of(record)?)?;
    Some((event.time.get(), event.payload))
}

/// The magic number, with the version that all kernels since 2006 write.
const MAGIC: u32 = 0x6561_7400 | 7;

/// The upper half of an action: the request's kind.
mod kind {
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const FLUSH: u32 = 1 << 2;
    pub(super) const COMMAND: u32 = 1 << 9;
    pub(super) const NOTE: u32 = 1 << 10;
    pub(super) const DISCARD: u32 = 1 << 13;
}

/// Set in an action whose payload begins with a control group.
const WITH_GROUP: u32 = 1 << 8;

#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(head: &[u8]) -> Option<Self> {
        let magic = head.first_chunk()?;
        match (u32::from_le_bytes(*magic), u32::from_be_bytes(*magic)) {
            (MAGIC, _) => Some(Self::Little),
            (_, MAGIC) => Some(Self::Big),
            _ => None,
        }
    }

    /// The number of `N` bytes at that position of a complete record.
    fn number<const N: usize>(self, record: &[u8; RECORD], at: usize) -> u64 {
        let bytes = record[at..at + N].iter();
        let next = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self {
            Self::Little => bytes.rev().fold(0, next),
            Self::Big => bytes.fold(0, next),
        }
    }
}

struct BlktraceEvent {
    time: Nanos,
    block: u64,
    bytes: u64,
    action: u32,
    device: [u8; 4],
    payload: usize,
}

impl BlktraceEvent {
    /// The content of a record; `None` if it is truncated, or not a record.
    #[inline]
    fn read(record: &[u8], order: Order) -> Option<Self> {
        let record: &[u8; RECORD] = record.try_into().ok()?;
        (order.number::<4>(record, 0) == u64::from(MAGIC)).then(|| Self {
            time: Nanos::new(order.number::<8>(record, 8)),
            block: order.number::<8>(record, 16),
            bytes: order.number::<4>(record, 24),
            action: order.number::<4>(record, 28) as u32,
            device: [record[36], record[37], record[38], record[39]],
            payload: order.number::<2>(record, 46) as usize,
        })
    }

    fn kind(&self) -> u32 {
        self.action >> 16
    }

    fn stage(&self) -> Option<Stage> {
        match self.action & 0xFFFF & !WITH_GROUP {
            _ if self.kind() & (kind::NOTE | kind::COMMAND) != 0 => None,
            1 => Some(Stage::Queued),
            7 => Some(Stage::Issued),
            8 => Some(Stage::Completed),
            _ => None,
        }
    }

    /// The operation on the medium; `None` if there is none.
    fn op(&self) -> Option<Op> {
        match self.kind() {
            kind if self.bytes == 0 => (kind & kind::FLUSH != 0).then_some(Op::Flush),
            kind if kind & kind::DISCARD != 0 => Some(Op::Trim),
            kind if kind & kind::WRITE != 0 => Some(Op::Write),
            _ => Some(Op::Read),
        }
    }
}

/// The stages of the events at the beginning of a trace.
fn stages(mut head: &[u8], order: Order) -> impl Iterator<Item = Stage> {
    let events = std::iter::from_fn(move || {
        let event = BlktraceEvent::read(head.get(..RECORD)?, order)?;
        head = head.get(RECORD + event.payload..).unwrap_or_default();
        Some(event)
    });
    events.filter_map(|event| event.stage())
}

struct Blktrace {
    order: Order,
    stage: Stage,
    devices: Names,
    /// After bytes that are not a record, the position of the next one is unknown.
    lost: bool,
}

impl Blktrace {
    fn place(&mut self, event: &BlktraceEvent, op: Op) -> Option<Request> {
        let (time, length) = (event.time, event.bytes);
        if op == Op::Flush {
            return Some(Request::new(time, op, 0, 0));
        }
        let device = self.devices.number(&event.device)?;
        let offset = apart(device, event.block.checked_mul(BLOCK)?, length)?;
        Some(Request::new(time, op, offset, length))
    }
}

impl Parser for Blktrace {
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        while !self.lost {
            let record = input.record(RECORD).map_err(ParseError::Unreadable)?;
            if record.is_empty() {
                return Ok(None);
            }
            let Some(event) = BlktraceEvent::read(record, self.order) else {
                self.lost = true;
                let expected =
                    "a record of 48 bytes that begins with blktrace's magic number, version 7";
                return Err(ParseError::Bad { expected, found: shown_record(record) });
            };
            let payload = input.pass(event.payload).map_err(ParseError::Unreadable)?;
            if payload < event.payload {
                let expected = "as many bytes behind the record as it announces";
                let found = format!("{payload} of {} bytes", event.payload);
                return Err(ParseError::Bad { expected, found });
            }
            if event.stage() != Some(self.stage) {
                continue;
            }
            let Some(op) = event.op() else { continue };
            let Some(request) = self.place(&event, op) else {
                let expected = "a request within 64 TiB, of one of at most 4096 devices";
                let found = format!("{} bytes from block {}", event.bytes, event.block);
                return Err(ParseError::Bad { expected, found });
            };
            return Ok(Some(request));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fault, parse};
    use super::super::units::SPAN;
    use super::*;

    const QUEUE: u32 = 1;
    const ISSUE: u32 = 7;
    const READ: u32 = 1;

    /// A note with its payload, a write that was queued, and the request that was made for it.
    const RECORDED: &str = "\
        0774616500000000737b5587ec14090000000000000000000000000000000004\
        883d00001000800001000000000010006b776f726b65722f313a310000000000\
        0774616501000000787c5587ec140900c8f6b12d000000000070000001001200\
        883d0000100080000100000000000000\
        077461650200000091905587ec140900c8f6b12d000000000070000004001200\
        883d0000100080000100000000000000";

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap();
        (0..hexadecimal.len()).step_by(2).map(digit).collect()
    }

    /// What was done, and to what kind of request.
    const fn of(action: u32, kind: u32) -> u32 {
        kind << 16 | action
    }

    fn record(action: u32, (block, bytes): (u64, u32), device: u32, payload: u16) -> Vec<u8> {
        let mut record = [MAGIC, 1].map(u32::to_le_bytes).concat();
        record.extend([1_000, block].map(u64::to_le_bytes).concat());
        record.extend([bytes, action, 9, device, 0].map(u32::to_le_bytes).concat());
        record.extend([0, payload].map(u16::to_le_bytes).concat());
        record.resize(RECORD + usize::from(payload), 0xAA);
        record
    }

    #[test]
    fn what_was_queued_is_taken_where_nothing_was_issued_and_notes_are_passed_over() {
        let mut recorded = bytes(RECORDED);
        let write =
            Request::new(Nanos::new(0x0009_14EC_8755_7C78), Op::Write, 766_637_768 * 512, 28_672);
        assert_eq!(parse(&FORMAT, &recorded), [write]);
        recorded.extend(record(of(ISSUE, kind::WRITE), (8, 4096), 0x0080_0010, 0));
        let issued = Request::new(Nanos::new(1_000), Op::Write, 4096, 4096);
        assert_eq!(parse(&FORMAT, &recorded), [issued]);
    }

    #[test]
    fn kinds_are_told_apart_and_devices_are_set_side_by_side() {
        let trace = [
            record(of(ISSUE, READ), (8, 4096), 5, 0),
            record(of(ISSUE | WITH_GROUP, kind::DISCARD | kind::WRITE), (16, 1 << 20), 6, 8),
            record(of(ISSUE, kind::FLUSH | kind::WRITE), (0, 0), 5, 0),
            record(of(ISSUE, kind::COMMAND | READ), (0, 36), 5, 16),
            record(of(ISSUE, READ), (0, 0), 5, 0),
            record(of(2, kind::NOTE), (0, 0), 5, 100),
            record(of(QUEUE, READ), (8, 4096), 5, 0),
        ];
        let found: Vec<(Op, u64, u64)> =
            parse(&FORMAT, trace.concat()).iter().map(|r| (r.op, r.offset, r.length)).collect();
        let expected =
            [(Op::Read, 4096, 4096), (Op::Trim, SPAN + 8192, 1 << 20), (Op::Flush, 0, 0)];
        assert_eq!(found, expected);
    }

    #[test]
    fn machines_that_write_the_high_byte_first_are_understood() {
        let little = record(of(ISSUE, READ), (0x0102_0304, 8192), 5, 0);
        let mut big = little.clone();
        for field in
            [0..4, 4..8, 8..16, 16..24, 24..28, 28..32, 32..36, 36..40, 40..44, 44..46, 46..48]
        {
            big[field].reverse();
        }
        assert_eq!(parse(&FORMAT, big), parse(&FORMAT, little));
    }

    #[test]
    fn what_is_cut_or_is_no_record_is_bad_and_ends_the_file() {
        let good = record(of(ISSUE, READ), (8, 4096), 5, 4);
        let cut = |length: usize| fault(&FORMAT, [&good, &good[..length]].concat());
        assert!(cut(20).0.contains("48 bytes") && cut(20).1.starts_with("20 bytes: 07 74 61 65"));
        assert_eq!(cut(50).1, "2 of 4 bytes");
        let beyond = record(of(ISSUE, READ), (u64::MAX, 4096), 5, 0);
        assert!(fault(&FORMAT, beyond).1.contains("block 18446744073709551615"));
        let mut input = Input::new(std::io::Cursor::new([vec![0; 100], good].concat())).unwrap();
        let mut parser = (FORMAT.parser)(input.head());
        assert!(parser.next(&mut input).is_err());
        assert!(matches!(parser.next(&mut input), Ok(None)));
    }
}
