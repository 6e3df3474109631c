//! fio's iologs, versions 2 and 3, as fio's HOWTO describes them and its iolog.c reads them. The first line says
//! `fio version 2 iolog` or 3; each other line names a file and what is done with it:
//!
//! ```text
//!   version 2     /dev/sda add    /dev/sda wait 125 0      /dev/sda write 4096 8192     /dev/sda datasync 0 0
//!   version 3     0 /dev/sda add                           125 /dev/sda write 4096 8192
//! ```
//!
//! Offset and length are bytes. In version 2 time passes by waits in microseconds, which add up here; fio itself omits
//! those below 100, which it cannot keep. In version 3 each line begins with its own time, in microseconds. A sync is a
//! flush. Several files in a log are set side by side in the order in which they appear.

use nand_model::part::Nanos;

use super::format::{Format, Line, Lines, lines};
use super::units::{Names, apart};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request};

pub(super) const FORMAT: Format = Format {
    name: "fio",
    title: "fio's iolog, version 2 or 3: file action offset length; bytes, microseconds",
    recognise: |head| lines(head).next().is_some_and(|line| FioVersion::of(line).is_some()),
    parser: |_| {
        let expected = "a first line `fio version 2 iolog` or 3, then `file action offset length`, in version 3 \
                        with the time before it; action add, open, close, read, write, trim, sync, datasync or, \
                        in version 2, wait";
        let mut log = FioLog::default();
        Lines::boxed(expected, move |line| log.parse(line))
    },
};

const MICROSECOND: u64 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum FioVersion {
    /// Waits are between requests.
    Two,
    /// Each line has its time.
    Three,
}

impl FioVersion {
    /// The version in a file's first line.
    fn of(line: &[u8]) -> Option<Self> {
        match line.trim_ascii() {
            b"fio version 2 iolog" => Some(Self::Two),
            b"fio version 3 iolog" => Some(Self::Three),
            _ => None,
        }
    }
}

#[derive(Default)]
struct FioLog {
    version: Option<FioVersion>,
    files: Names,
    now: Nanos,
}

impl FioLog {
    fn parse(&mut self, line: &[u8]) -> Option<Line> {
        if let Some(version) = FioVersion::of(line) {
            self.version = Some(version);
            return Some(Line::Nothing);
        }
        let mut cursor = Cursor::new(line);
        cursor.blanks();
        if self.version? == FioVersion::Three {
            self.now = cursor.time(MICROSECOND)?;
            cursor.gap()?;
        }
        let file = self.files.number(cursor.word())?;
        cursor.gap()?;
        let action = cursor.word();
        cursor.blanks();
        let mut numbers = [0; 2];
        for number in &mut numbers {
            if !cursor.at_end() {
                *number = cursor.number()?;
                cursor.blanks();
            } else if matches!(action, b"read" | b"write" | b"trim" | b"wait") {
                return None;
            }
        }
        let [offset, length] = numbers;
        let line = self.act(action, file, offset, length)?;
        cursor.at_end().then_some(line)
    }

    fn act(&mut self, action: &[u8], file: u64, offset: u64, length: u64) -> Option<Line> {
        let op = match action {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"sync" | b"datasync" => {
                let flush = Request::new(self.now, Op::Flush, 0, 0);
                return Some(Line::Request(flush));
            }
            b"wait" if self.version == Some(FioVersion::Two) => {
                let now = self.now.get().checked_add(offset.checked_mul(MICROSECOND)?)?;
                self.now = Nanos::new(now);
                return Some(Line::Nothing);
            }
            b"add" | b"open" | b"close" => return Some(Line::Nothing),
            _ => return None,
        };
        let offset = apart(file, offset, length)?;
        Some(Line::Request(Request::new(self.now, op, offset, length)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bad, parse as parse_all};
    use super::super::units::SPAN;
    use super::*;

    fn request(micros: u64, op: Op, offset: u64, length: u64) -> Request {
        Request::new(Nanos::new(micros * 1_000), op, offset, length)
    }

    #[test]
    fn in_version_2_waits_add_up() {
        let text = "fio version 2 iolog\n\
                    /dev/sdb add\n\
                    /dev/sdb open\n\
                    /dev/sdb write 4096 8192\n\
                    /dev/sdb wait 1000 0\n\
                    /dev/sdb wait 50 0\n\
                    /dev/sdb read 0 512\n\
                    /dev/sdb datasync 0 0\n\
                    /dev/sdb trim 4096 8192\n\
                    /dev/sdb sync\n\
                    /dev/sdb close\n";
        let expected = [
            request(0, Op::Write, 4096, 8192),
            request(1050, Op::Read, 0, 512),
            request(1050, Op::Flush, 0, 0),
            request(1050, Op::Trim, 4096, 8192),
            request(1050, Op::Flush, 0, 0),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn in_version_3_lines_have_their_times_and_files_are_set_side_by_side() {
        let text = "fio version 3 iolog\n\
                    0 /dev/sdb add\n\
                    0 /dev/sdc add\n\
                    2 /dev/sdc open\n\
                    125 /dev/sdb write 4096 8192\n\
                    130 /dev/sdc write 4096 8192\r\n\
                    140 /dev/sdb sync 0 0\n";
        let expected = [
            request(125, Op::Write, 4096, 8192),
            request(130, Op::Write, SPAN + 4096, 8192),
            request(140, Op::Flush, 0, 0),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
    }

    #[test]
    fn a_line_that_is_cut_or_has_a_wrong_field_is_bad() {
        for line in [
            "/dev/sdb write 4096",
            "/dev/sdb write",
            "/dev/sdb",
            "/dev/sdb frob 4096 8192",
            "/dev/sdb write 4096 8192 1",
            "/dev/sdb write 99999999999999999999 8192",
            "/dev/sdb write 18446744073709551615 8192",
            "/dev/sdb wait 18446744073709551615 0",
        ] {
            assert_eq!(bad(&FORMAT, &format!("fio version 2 iolog\n{line}\n")), line);
            assert_eq!(bad(&FORMAT, line), line, "without a first line");
        }
        for line in ["/dev/sdb write 4096 8192", "7 /dev/sdb wait 1000 0", "7 /dev/sdb"] {
            assert_eq!(bad(&FORMAT, &format!("fio version 3 iolog\n{line}\n")), line);
        }
    }
}
