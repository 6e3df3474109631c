//! The text that blkparse prints of a recording by blktrace. Each event is a line: device, processor, sequence number,
//! seconds, process, action and kind, and for requests the block they begin at and how many they are:
//!
//! ```text
//!   8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]
//! ```
//!
//! Requests are taken at one action, chosen by [`Stage`]; other events are skipped, and so is the summary at the end.
//! Events of several devices are set side by side in the order in which the devices appear. Times are used as recorded,
//! even if one of them jumps.

use nand_model::part::Nanos;

use super::format::{Format, Line, Lines, lines};
use super::rwbs;
use super::stage::Stage;
use super::units::Names;
use crate::input::trace::fields::Cursor;

pub(super) const FORMAT: Format = Format {
    name: "blkparse",
    title: "text of blkparse: device cpu sequence seconds pid action kind block + blocks [process]",
    recognise: |head| {
        let first = lines(head).find(|line| !is_summary(line));
        first.is_some_and(|line| event(line).is_some())
    },
    parser: |head| {
        let expected = "`device cpu sequence seconds pid action kind block + blocks [process]`";
        let stages = lines(head).filter_map(|line| stage(event(line)?.action));
        let (stage, mut devices) = (Stage::of(stages), Names::default());
        Lines::boxed(expected, move |line| parse(line, stage, &mut devices))
    },
};

const SECOND: u64 = 1_000_000_000;

/// How blkparse's lines that are not events begin.
const SUMMARY: [&[u8]; 10] = [
    b"CPU",
    b"Total",
    b"Read",
    b"Write",
    b"IO",
    b"Timer",
    b"PC",
    b"Throughput",
    b"Events",
    b"Skips",
];

fn is_summary(line: &[u8]) -> bool {
    SUMMARY.iter().any(|word| line.trim_ascii_start().starts_with(word))
}

struct BlkparseEvent<'a> {
    device: &'a [u8],
    time: Nanos,
    action: &'a [u8],
    /// The fields after the action.
    rest: Cursor<'a>,
}

#[inline]
fn event(line: &[u8]) -> Option<BlkparseEvent<'_>> {
    let mut cursor = Cursor::new(line);
    cursor.blanks();
    let device = cursor.word();
    let mut numbers = Cursor::new(device);
    numbers.number()?;
    numbers.pass(b',')?;
    numbers.number()?;
    cursor.gap()?;
    let _cpu = cursor.number()?;
    cursor.gap()?;
    let _sequence = cursor.word();
    cursor.gap()?;
    let time = cursor.time(SECOND)?;
    cursor.gap()?;
    let _process = cursor.number()?;
    cursor.gap()?;
    let action = cursor.word();
    (numbers.at_end() && !action.is_empty()).then_some(BlkparseEvent {
        device,
        time,
        action,
        rest: cursor,
    })
}

fn stage(action: &[u8]) -> Option<Stage> {
    match action {
        b"D" => Some(Stage::Issued),
        b"Q" => Some(Stage::Queued),
        b"C" => Some(Stage::Completed),
        _ => None,
    }
}

#[inline]
fn parse(line: &[u8], wanted: Stage, devices: &mut Names) -> Option<Line> {
    match event(line) {
        Some(event) if stage(event.action) == Some(wanted) => request(event, devices),
        Some(_) => Some(Line::Nothing),
        None => is_summary(line).then_some(Line::Nothing),
    }
}

fn request(event: BlkparseEvent<'_>, devices: &mut Names) -> Option<Line> {
    let BlkparseEvent { device, time, rest: mut cursor, .. } = event;
    cursor.gap()?;
    let kind = cursor.word();
    cursor.gap()?;
    let blocks = extent(&mut cursor)?;
    rwbs::request(time, kind, blocks, || devices.number(device))
}

/// First block and number of blocks; both are zero for a command without blocks.
fn extent(cursor: &mut Cursor<'_>) -> Option<(u64, u64)> {
    const COMMAND: [u8; 2] = *b"([";
    if cursor.peek().is_some_and(|byte| COMMAND.contains(&byte)) {
        return Some((0, 0));
    }
    let block = cursor.number()?;
    cursor.gap()?;
    match cursor.byte()? {
        b'+' => {
            cursor.gap()?;
            let blocks = cursor.number()?;
            (cursor.at_end() || cursor.gap().is_some()).then_some((block, blocks))
        }
        byte => COMMAND.contains(&byte).then_some((0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;
    use crate::input::trace::{Op, Request};

    const ISSUED: &str = "\
  8,16   3        4     0.000011950  3645  I   R 4938888 + 256 [java]
  8,16   3        5     0.000026421  3645  D   R 4938888 + 256 [java]
  8,16   3        7     0.001795683  3557  C   R 4938888 + 256 [0]
  8,16   3        8     0.002000000  3557  m   N cfq3557 sl_used=1
  8,16   1        9     0.002100000     0  P   N [java]
  8,16   1       10     0.002200000     0  U   N [java] 3
  8,0    1       11     0.003000000  3557  D WSM 8 + 16 [jbd2/sda1-8]
  8,0    1       12     1.000000001  3557  D  DS 1024 + 8192 [fstrim]
  8,0    1       13     0.500000000     0  D  FN [kworker/1:1H]
  8,0    1       14     0.600000000     0  D   R 36 (12 00 00 00 24 00 ..) [udevd]
  8,0    1       15     0.600000000     0  D   N 0 + 0 [kworker/1:1H]
CPU1 (8,16):
 Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB

Total (8,16):
Throughput (R/W): 0KiB/s / 0KiB/s
Events (8,16): 29662 entries
Skips: 0 forward (0 -   0.0%)
";

    fn request(nanos: u64, op: Op, offset: u64, length: u64) -> Request {
        Request::new(Nanos::new(nanos), op, offset, length)
    }

    #[test]
    fn of_all_events_those_are_requests_that_the_device_was_issued() {
        let expected = [
            request(26_421, Op::Read, 4_938_888 * 512, 131_072),
            request(3_000_000, Op::Write, SPAN + 4096, 8192),
            request(1_000_000_001, Op::Trim, SPAN + 524_288, 4_194_304),
            request(500_000_000, Op::Flush, 0, 0),
        ];
        assert_eq!(parse_all(&FORMAT, ISSUED), expected);
    }

    #[test]
    fn where_nothing_was_issued_what_was_queued_is_taken() {
        let text = "\
  8,16   5        1     0.000000000 18615  A   R 1444645666 + 256 <- (8,17) 1444645632
  8,16   5        2     0.000001850 18615  Q   R 1444645666 + 256 [java]
  8,16   5        3     0.000006438 18615  G   R 1444645666 + 256 [java]
  8,16   5        4     0.000007000 18615  Q FWFS 8 + 8 [java]
";
        let expected = [
            request(1_850, Op::Read, 1_444_645_666 * 512, 131_072),
            request(7_000, Op::Write, 4096, 4096),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
        let completed = "259,0 0 1 0.5 9 C W 8 + 8 (  123) [0]\n259,0 0 2 0.6 9 C FN 0 [0]\n";
        let expected =
            [request(500_000_000, Op::Write, 4096, 4096), request(600_000_000, Op::Flush, 0, 0)];
        assert_eq!(parse_all(&FORMAT, completed), expected);
    }

    #[test]
    fn a_line_that_is_cut_or_has_a_wrong_field_is_bad() {
        for line in [
            "8,16 3 5 0.000026421 3645 D R 4938888 +",
            "8,16 3 5 0.000026421 3645 D R 4938888",
            "8,16 3 5 0.000026421 3645 D R",
            "8,16 3 5 0.000026421 3645",
            "8,16 3 5 x.000026421 3645 D R 4938888 + 256 [java]",
            "8;16 3 5 0.000026421 3645 D R 4938888 + 256 [java]",
            "8,16 3 5 0.000026421 3645 D R 4938888 + 25x [java]",
            "8,16 3 5 0.000026421 3645 D R 99999999999999999999 + 256 [java]",
            "8,16 3 5 0.000026421 3645 D R 4938888 + 36028797018963968 [java]",
            "rubbish",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
