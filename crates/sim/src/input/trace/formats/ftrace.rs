//! What ftrace shows of the block layer (`trace-cmd report`, or the file `trace` of tracefs) with the event
//! `block_rq_issue`: a line for each request that the device was issued.
//!
//! ```text
//!   fio-1234  [002] .....  5123.000426: block_rq_issue: 8,16 WS 4096 () 4938888 + 8 [fio]
//! ```
//!
//! After the name of the event come device, kind, bytes, command, first block and blocks (of 512 bytes); newer kernels
//! tell a priority after them. Other events are skipped, and so are comments.

use super::format::{Format, Line, Lines, lines};
use super::rwbs;
use super::units::Names;
use crate::input::trace::fields::Cursor;

pub(super) const FORMAT: Format = Format {
    name: "ftrace",
    title: "text of ftrace with block_rq_issue: task-pid [cpu] flags seconds: block_rq_issue: device kind …",
    recognise: |head| lines(head).any(|line| issued(line).is_some()),
    parser: |_| {
        let mut devices = Names::default();
        Lines::boxed(
            "`task-pid [cpu] flags seconds: event: …` as ftrace writes them",
            move |line| parse(line, &mut devices),
        )
    },
};

const SECOND: u64 = 1_000_000_000;

/// The event of an issued request.
const ISSUED: &[u8] = b": block_rq_issue: ";

/// What is before the event, and what is behind it.
fn issued(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::find(line, ISSUED)?;
    Some((&line[..at], &line[at + ISSUED.len()..]))
}

fn parse(line: &[u8], devices: &mut Names) -> Option<Line> {
    let Some((before, event)) = issued(line) else {
        // A comment, the number of processors, or another event.
        let is_other = line.starts_with(b"#")
            || line.starts_with(b"cpus=")
            || memchr::memmem::find(line, b": ").is_some();
        return is_other.then_some(Line::Nothing);
    };
    let seconds = before.rsplit(u8::is_ascii_whitespace).next()?;
    let mut seconds = Cursor::new(seconds);
    let time = seconds.time(SECOND).filter(|_| seconds.at_end())?;
    let mut cursor = Cursor::new(event);
    cursor.blanks();
    let device = cursor.word();
    cursor.gap()?;
    let kind = cursor.word();
    cursor.gap()?;
    let _bytes = cursor.number()?;
    cursor.gap()?;
    cursor.pass(b'(')?;
    let _command = cursor.until(b')');
    cursor.gap()?;
    let block = cursor.number()?;
    cursor.gap()?;
    cursor.pass(b'+')?;
    cursor.gap()?;
    let blocks = cursor.number()?;
    rwbs::request(time, kind, (block, blocks), || devices.number(device))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;
    use crate::input::trace::Op;

    #[test]
    fn of_all_events_those_are_requests_that_were_issued() {
        let text = "\
# tracer: nop
#
cpus=4
     kworker/0:1H-123   [000] .....  5123.000001: block_rq_insert: 8,16 WS 4096 () 4938888 + 8 [kworker/0:1H]
     kworker/0:1H-123   [000] .....  5123.000426: block_rq_issue: 8,16 WS 4096 () 4938888 + 8 [kworker/0:1H]
             fio x-99   [002] d..1.  5123.5: block_rq_issue: 259,0 R 8192 () 16 + 16 none,0,0 [fio x]
             fio x-99   [002] d..1.  5124.0: block_rq_complete: 259,0 R () 16 + 16 none,0,0 [0]
             fio-99     [002] d..1.  5124.1: block_rq_issue: 259,0 FN 0 () 0 + 0 [fio]
             fio-99     [002] d..1.  5124.2: block_rq_issue: 259,0 DS 4096 () 8 + 8 [fio]
";
        let found: Vec<(u64, Op, u64, u64)> = parse_all(&FORMAT, text)
            .iter()
            .map(|r| (r.time.get() / 100_000, r.op, r.offset, r.length))
            .collect();
        let expected = [
            (51_230_004, Op::Write, 4_938_888 * 512, 4096),
            (51_235_000, Op::Read, SPAN + 8192, 8192),
            (51_241_000, Op::Flush, 0, 0),
            (51_242_000, Op::Trim, SPAN + 4096, 4096),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_that_is_cut_or_has_a_wrong_field_is_bad() {
        for line in [
            "x-1 [0] d 5.0: block_rq_issue: 8,16 WS 4096 () 4938888 +",
            "x-1 [0] d 5.0: block_rq_issue: 8,16 WS 4096 4938888 + 8 [x]",
            "x-1 [0] d soon: block_rq_issue: 8,16 WS 4096 () 8 + 8 [x]",
            "rubbish",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
