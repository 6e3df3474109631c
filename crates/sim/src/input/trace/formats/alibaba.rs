//! Alibaba's block traces of 2020: lines of `device_id,opcode,offset,length,timestamp`, as the README of the traces'
//! repository (alibaba/block-traces) describes them. Offset and length are bytes, the time is microseconds.

use super::format::{Format, Line, Lines, first_line_parses, headed};
use super::units::apart;
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "alibaba",
    title: "Alibaba 2020: device_id,opcode,offset,length,timestamp; bytes, microseconds",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed("`device_id,opcode,offset,length,timestamp`, opcode R or W", parse),
};

const HEADING: &[u8] = b"device_id,opcode,offset,length,timestamp";

const MICROSECOND: u64 = 1_000;

fn parse(line: &[u8]) -> Option<Line> {
    headed(line, HEADING, request)
}

fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    let device = cursor.number()?;
    cursor.pass(b',')?;
    let op = match cursor.byte()? {
        b'R' => Op::Read,
        b'W' => Op::Write,
        _ => return None,
    };
    cursor.pass(b',')?;
    let offset = cursor.number()?;
    cursor.pass(b',')?;
    let length = cursor.number()?;
    cursor.pass(b',')?;
    let time = cursor.time(MICROSECOND)?;
    let offset = apart(device, offset, length)?;
    cursor.at_end().then_some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    #[test]
    fn lines_of_the_distribution_are_requests_each_device_apart() {
        let text = "0,R,126703661056,4096,1577808000000046\n\
                    1,W,19496058880,77824,1577808000000426\n\
                    2,W,9811763200,12288,1577808000000494\n";
        let requests = parse_all(&FORMAT, text);
        let time = Nanos::new(1_577_808_000_000_046_000);
        let first = Request::new(time, Op::Read, 126_703_661_056, 4096);
        assert_eq!(requests[0], first);
        assert_eq!((requests[1].op, requests[1].length), (Op::Write, 77_824));
        assert_eq!(requests[2].offset, 2 * SPAN + 9_811_763_200);
        assert_eq!(requests[2].time.since(time), Nanos::new(448_000));
        let headed = format!("device_id,opcode,offset,length,timestamp\n{text}");
        assert_eq!(parse_all(&FORMAT, headed), requests);
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in [
            "0,R,126703661056,4096",
            "0,T,126703661056,4096,1577808000000046",
            "0,R,126703661056,4096,1577808000000046,1",
            "0,R,99999999999999999999,4096,1577808000000046",
            "0,R,70368744177664,4096,1577808000000046",
            "999999999,R,0,4096,1577808000000046",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
