//! Traces of Android phones as the trace tools of acsl-technion publish them: lines of
//! `proces,device,rw_flag,sector,size,timestamp` under a heading of these names. Sectors have 512 bytes, and the size
//! counts them; the time is seconds. A process's name may hold any byte, commas too: lines are read from their end.

use super::format::{Format, Line, Lines, lines};
use super::units::{BLOCK, Names, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "android",
    title: "Android CSV: proces,device,rw_flag,sector,size,timestamp; sectors of 512 bytes, seconds",
    recognise: |head| {
        let first = lines(head).next();
        first.is_some_and(|line| line == HEADING || request(line, &mut Names::default()).is_some())
    },
    parser: |_| {
        let mut devices = Names::default();
        Lines::boxed("`proces,device,rw_flag,sector,size,timestamp`, flag R or W", move |line| {
            match request(line, &mut devices) {
                Some(request) => Some(Line::Request(request)),
                None => (line == HEADING).then_some(Line::Nothing),
            }
        })
    },
};

const HEADING: &[u8] = b"proces,device,rw_flag,sector,size,timestamp";

const SECOND: u64 = 1_000_000_000;

fn request(line: &[u8], devices: &mut Names) -> Option<Request> {
    let mut fields = line.rsplitn(6, |byte| *byte == b',');
    let [time, size, sector, flag, device] =
        [fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?];
    let _process = fields.next()?;
    let number = |field: &[u8]| {
        let mut cursor = Cursor::new(field);
        cursor.number().filter(|_| cursor.at_end())
    };
    let mut cursor = Cursor::new(time);
    let time = cursor.time(SECOND).filter(|_| cursor.at_end())?;
    // The letters are those of blktrace: R, RA, W, WS, DS, FF…
    let op = match flag.first()? {
        _ if !flag.iter().all(u8::is_ascii_uppercase) => return None,
        b'R' => Op::Read,
        b'F' if number(size)? == 0 => Op::Flush,
        b'W' | b'F' => Op::Write,
        b'D' => Op::Trim,
        _ => return None,
    };
    number(device)?;
    if op == Op::Flush {
        return Some(Request::new(time, op, 0, 0));
    }
    let length = number(size)?.checked_mul(BLOCK)?;
    let offset = apart(devices.number(device)?, number(sector)?.checked_mul(BLOCK)?, length)?;
    Some(Request::new(time, op, offset, length))
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn recorded_lines_are_requests_whatever_the_process_is_called() {
        let text = "proces,device,rw_flag,sector,size,timestamp\n\
                    loop40-2757,8388608,R,206567552,8,653406.907265\n\
                    <a,b>-21515,8388608,W,206567560,16,653406.908974\n";
        let read = Request::new(Nanos::new(653_406_907_265_000), Op::Read, 206_567_552 * 512, 4096);
        let requests = parse_all(&FORMAT, text);
        assert_eq!(requests[0], read);
        assert_eq!((requests[1].op, requests[1].length), (Op::Write, 8192));
    }

    #[test]
    fn a_line_that_lacks_a_field_or_has_a_wrong_one_is_bad() {
        for line in
            ["8388608,R,0,8,1.5", "p,8388608,Q,0,8,1.5", "p,sda,R,0,8,1.5", "p,1,R,0,8,soon"]
        {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
