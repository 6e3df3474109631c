//! The bytes of a trace: decompressed on the fly, returned in counted lines.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Position;
use super::unpack::unpack;

/// The size of a read. Lines of a trace have some 30 bytes.
const BUFFER: usize = 256 << 10;

/// The longest line of a text trace; a longer one is not text.
const LINE_MAX: usize = 1 << 20;

/// What some programs write before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// How far a file was read, in its own (compressed) bytes, for the progress bar.
#[derive(Clone, Debug, Default)]
pub(crate) struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A reader that counts its bytes.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) position: BytesRead,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.0.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// A trace's bytes.
pub struct Input {
    source: Box<dyn Read>,
    buffer: Vec<u8>,
    /// The bytes that are buffered and not returned yet.
    start: usize,
    end: usize,
    ended: bool,
    /// Why the source ended before its own end, if it did: its compression was cut short.
    cut: Option<io::Error>,
    /// How many lines or records were returned.
    count: u64,
    in_records: bool,
}

impl Input {
    /// Bytes from anywhere, compressed or not.
    pub fn new(source: impl Read + 'static) -> io::Result<Self> {
        let source = unpack(source)?;
        let buffer = vec![0; BUFFER];
        let (cut, in_records) = (None, false);
        let mut input =
            Self { source, buffer, start: 0, end: 0, ended: false, cut, count: 0, in_records };
        input.fill()?;
        // Editors of Windows write one before a text, and no binary format begins so.
        if input.head().starts_with(BYTE_ORDER_MARK) {
            input.start += BYTE_ORDER_MARK.len();
        }
        Ok(input)
    }

    /// Why the source ended early, if it did and all that it had was returned.
    pub(super) fn take_cut(&mut self) -> Option<io::Error> {
        if self.ended && self.start == self.end { self.cut.take() } else { None }
    }

    /// The first bytes, by which a format is recognised. They are not consumed.
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The position of the line or record returned last.
    pub fn place(&self) -> Position {
        if self.in_records { Position::Record(self.count) } else { Position::Line(self.count) }
    }

    /// The next line without its end, or `None` after the last.
    #[inline]
    pub fn line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = 0;
        let length = loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                break searched + at;
            }
            if self.ended {
                // A line that was cut short may be read as another.
                if unread.is_empty() || self.cut.is_some() {
                    self.start = self.end;
                    return Ok(None);
                }
                break unread.len();
            }
            searched = unread.len();
            if searched > LINE_MAX {
                let reason = format!("after line {} comes no end of a line", self.count);
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            self.fill()?;
        };
        let line = self.start..self.start + length;
        self.start = (line.end + 1).min(self.end);
        self.count += 1;
        let line = &self.buffer[line];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The next bytes as one record, counted like a line: fewer at the end of the file, none after it.
    #[inline]
    pub fn record(&mut self, length: usize) -> io::Result<&[u8]> {
        let record = self.take(length)?;
        self.count += u64::from(!record.is_empty());
        self.in_records = true;
        Ok(&self.buffer[record])
    }

    /// The next bytes, which belong to the record before: fewer at the end of the file.
    pub fn bytes(&mut self, length: usize) -> io::Result<&[u8]> {
        let bytes = self.take(length)?;
        Ok(&self.buffer[bytes])
    }

    /// Skips bytes that belong to the record before, and returns how many there were.
    pub fn pass(&mut self, length: usize) -> io::Result<usize> {
        Ok(self.take(length)?.len())
    }

    #[inline]
    fn take(&mut self, length: usize) -> io::Result<Range<usize>> {
        while self.end - self.start < length && !self.ended {
            self.fill()?;
        }
        let taken = self.start..self.end.min(self.start + length);
        self.start = taken.end;
        Ok(taken)
    }

    /// Reads until the buffer is full or the source has ended. Bytes not returned yet move to the front.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.end * 2, 0);
        }
        while self.end < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    (self.ended, self.cut) = (true, Some(error));
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut input = Input::new(io::Cursor::new(bytes)).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = input.line().unwrap() {
            lines.push(line.to_vec());
        }
        assert_eq!(input.place(), Position::Line(lines.len() as u64));
        lines
    }

    #[test]
    fn lines_end_with_a_newline_with_both_or_with_the_file() {
        assert_eq!(lines(b"a\nbc\r\n\nd".to_vec()), [&b"a"[..], b"bc", b"", b"d"]);
        assert_eq!(lines(Vec::new()), [b""; 0]);
    }

    #[test]
    fn records_are_counted_and_what_belongs_to_them_is_passed_over() {
        let bytes: Vec<u8> = (0..BUFFER * 3).map(|at| at as u8).collect();
        let mut input = Input::new(io::Cursor::new(bytes)).unwrap();
        let (mut taken, mut records) = (0, 0);
        while taken + 100 <= BUFFER * 3 {
            let expected: Vec<u8> = (taken..taken + 48).map(|at| at as u8).collect();
            assert_eq!(input.record(48).unwrap(), expected);
            assert_eq!(input.pass(52).unwrap(), 52);
            (taken, records) = (taken + 100, records + 1);
        }
        assert_eq!(input.record(100).unwrap().len(), BUFFER * 3 - taken);
        assert_eq!(input.record(100).unwrap(), b"");
        assert_eq!(input.place(), Position::Record(records + 1));
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_whole_and_one_without_end_is_refused() {
        let long = vec![b'x'; BUFFER * 2];
        assert_eq!(lines([long.clone(), b"\ny".to_vec()].concat()), [long, b"y".to_vec()]);
        let mut endless = Input::new(io::repeat(b'x')).unwrap();
        assert_eq!(endless.line().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
