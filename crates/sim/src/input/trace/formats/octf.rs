//! Traces of Open-CAS's telemetry framework (iotrace): files of messages in protobuf's encoding, each behind its length
//! as a varint (`trace.proto` of the framework):
//!
//! ```text
//!   event   1 header   2 time in nanoseconds
//!           2 request  1 first block  2 blocks  4 device  5 operation  6 is a flush
//!           3 .. 5     what a device is called, a file system's notes, completions: passed over
//! ```
//!
//! Blocks have 512 bytes. The operation is 0, a read, which protobuf leaves out; 1, a write; or 2, a discard. Some
//! writers count from 1 on: 1 reads, 2 writes, 3 discards; it is so where all requests of a trace have an operation.
//!
//! Each processor's queue has a separate file; a tar holds them all. So everything is read first, and sorted by time.

use std::vec::IntoIter;

use nand_model::part::Nanos;

use super::format::{Format, ParseError, Parser, shown_record};
use super::units::{BLOCK, Names, apart};
use crate::input::trace::input::Input;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "octf",
    title: "Open-CAS iotrace (octf.trace.*): protobuf messages; also as a tar",
    recognise: |head| {
        let mut rest = head;
        // A single message may match by chance.
        (0..LOOKED_AT).all(|at| rest.is_empty() && at > 0 || message(&mut rest).is_some())
    },
    parser: |_| Box::new(Octf { events: None }),
};

/// Messages by which a file is recognised.
const LOOKED_AT: usize = 8;

/// Bytes of the longest message.
const MESSAGE: u64 = 4096;

/// One request as it is recorded.
struct OctfEvent {
    time: u64,
    block: u64,
    blocks: u64,
    device: u64,
    operation: Option<u64>,
    is_flush: bool,
}

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for at in 0..10 {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7F).checked_shl(7 * at)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn bytes<'a>(rest: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (bytes, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = behind;
    Some(bytes)
}

/// The next field of a message: its number and what it holds.
fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let tag = varint(rest)?;
    let field = match tag & 7 {
        0 => Field::Number(varint(rest)?),
        1 => Field::Bytes(bytes(rest, 8)?),
        2 => {
            let length = varint(rest)?;
            Field::Bytes(bytes(rest, length)?)
        }
        5 => Field::Bytes(bytes(rest, 4)?),
        _ => return None,
    };
    Some((tag >> 3, field))
}

/// The content of a message.
enum Message {
    Request(OctfEvent),
    Other,
}

/// The next message of a file; `None` if it is not a message.
fn message(rest: &mut &[u8]) -> Option<Message> {
    let length = varint(rest).filter(|length| (1..=MESSAGE).contains(length))?;
    event(bytes(rest, length)?)
}

fn event(mut message: &[u8]) -> Option<Message> {
    let (mut time, mut request) = (None, None);
    while !message.is_empty() {
        match field(&mut message)? {
            (1, Field::Bytes(header)) => time = Some(numbers(header)?[2].unwrap_or(0)),
            (2, Field::Bytes(content)) => request = Some(numbers(content)?),
            (3..=15, Field::Bytes(_)) => {}
            _ => return None,
        }
    }
    let time = time?;
    let Some(numbers) = request else { return Some(Message::Other) };
    Some(Message::Request(OctfEvent {
        time,
        block: numbers[1].unwrap_or(0),
        blocks: numbers[2].unwrap_or(0),
        device: numbers[4].unwrap_or(0),
        operation: numbers[5],
        is_flush: numbers[6].is_some_and(|flag| flag != 0),
    }))
}

/// The numbers in a message, by their fields.
fn numbers(mut message: &[u8]) -> Option<[Option<u64>; 8]> {
    let mut numbers = [None; 8];
    while !message.is_empty() {
        let (number, field) = field(&mut message)?;
        let place = usize::try_from(number).ok().and_then(|at| numbers.get_mut(at));
        if let (Some(place), Field::Number(value)) = (place, field) {
            *place = Some(value);
        }
    }
    Some(numbers)
}

struct Octf {
    /// All requests, sorted by time, once they are read.
    events: Option<IntoIter<Request>>,
}

impl Parser for Octf {
    fn next(&mut self, input: &mut Input) -> Result<Option<Request>, ParseError> {
        if self.events.is_none() {
            // If bad messages are skipped, the messages before them are kept.
            let (events, bad) = read(input).map_err(ParseError::Unreadable)?;
            self.events = Some(requests(events).into_iter());
            if let Some(found) = bad {
                let expected = "a message of octf behind its length";
                return Err(ParseError::Bad { expected, found });
            }
        }
        Ok(self.events.as_mut().and_then(Iterator::next))
    }
}

/// All events of a file, up to its end or the first bytes that are not a message.
fn read(input: &mut Input) -> std::io::Result<(Vec<OctfEvent>, Option<String>)> {
    let mut events = Vec::new();
    loop {
        let mut prefix = Vec::new();
        let length = loop {
            let Some(byte) = input.bytes(1)?.first().copied() else {
                let cut = (!prefix.is_empty()).then(|| shown_record(&prefix));
                return Ok((events, cut));
            };
            prefix.push(byte);
            if byte & 0x80 == 0 || prefix.len() == 10 {
                break varint(&mut prefix.as_slice()).unwrap_or(0);
            }
        };
        if !(1..=MESSAGE).contains(&length) {
            return Ok((events, Some(shown_record(&prefix))));
        }
        let message = input.record(length as usize)?;
        match event(message).filter(|_| message.len() as u64 == length) {
            Some(Message::Request(event)) => events.push(event),
            Some(Message::Other) => {}
            None => return Ok((events, Some(shown_record(message)))),
        }
    }
}

/// The events as requests, sorted by time. Addresses beyond all disks are dropped.
fn requests(mut events: Vec<OctfEvent>) -> Vec<Request> {
    events.sort_by_key(|event| event.time);
    let from_one = events.iter().all(|event| event.operation.unwrap_or(0) > 0);
    let mut devices = Names::default();
    let requests = events.iter().filter_map(|event| {
        let time = Nanos::new(event.time);
        if event.blocks == 0 {
            return event.is_flush.then_some(Request::new(time, Op::Flush, 0, 0));
        }
        let op = match event.operation.unwrap_or(0) - u64::from(from_one) {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            _ => return None,
        };
        let length = event.blocks.checked_mul(BLOCK)?;
        let device = devices.number(&event.device.to_le_bytes())?;
        let offset = apart(device, event.block.checked_mul(BLOCK)?, length)?;
        Some(Request::new(time, op, offset, length))
    });
    requests.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fault, parse as parse_all};
    use super::*;

    fn number(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        [bytes, vec![value as u8]].concat()
    }

    fn inner(fields: &[(u8, u64)]) -> Vec<u8> {
        fields.iter().flat_map(|(at, value)| [vec![at << 3], number(*value)].concat()).collect()
    }

    fn message(time: u64, kind: u8, content: &[u8]) -> Vec<u8> {
        let header = inner(&[(1, 9), (2, time)]);
        let parts = [(1, &header[..]), (kind, content)];
        let event: Vec<u8> = parts
            .iter()
            .flat_map(|(at, part)| {
                [vec![at << 3 | 2], number(part.len() as u64), part.to_vec()].concat()
            })
            .collect();
        [number(event.len() as u64), event].concat()
    }

    fn found(bytes: Vec<u8>) -> Vec<(u64, Op, u64, u64)> {
        let requests = parse_all(&FORMAT, bytes);
        requests.iter().map(|r| (r.time.get(), r.op, r.offset, r.length)).collect()
    }

    #[test]
    fn requests_are_sorted_by_time_and_other_messages_are_passed_over() {
        let trace = [
            message(1, 3, &[inner(&[(1, 7)]), vec![2 << 3 | 2, 3, b's', b'd', b'a']].concat()),
            message(900, 2, &inner(&[(1, 800), (2, 16), (4, 7), (5, 1)])),
            message(500, 2, &inner(&[(1, 8), (2, 8), (4, 7)])),
            message(700, 2, &inner(&[(4, 7), (5, 1), (6, 1)])),
            message(950, 5, &inner(&[(1, 800), (2, 16)])),
        ];
        let expected =
            [(500, Op::Read, 4096, 4096), (700, Op::Flush, 0, 0), (900, Op::Write, 409_600, 8192)];
        assert_eq!(found(trace.concat()), expected);
    }

    #[test]
    fn operations_that_begin_with_one_are_told() {
        let trace =
            [message(5, 2, &inner(&[(2, 8), (5, 1)])), message(6, 2, &inner(&[(2, 8), (5, 2)]))];
        assert_eq!(found(trace.concat()), [(5, Op::Read, 0, 4096), (6, Op::Write, 0, 4096)]);
    }

    #[test]
    fn what_is_no_message_is_bad() {
        let good = message(5, 2, &inner(&[(2, 8), (5, 1)]));
        assert!(fault(&FORMAT, [&good[..], &good[..9]].concat()).1.starts_with("8 bytes: "));
        assert_eq!(fault(&FORMAT, [&good[..], &[0]].concat()).1, "1 bytes: 00");
    }
}
