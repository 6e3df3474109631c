//! The files that blktrace records, one per processor, merged by time into one, as `blkparse -d` does it.
//!
//! A file's records are nearly in order, and keep their order; of all files, the next record is the one with the
//! smallest time.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use super::formats::{RECORD, recorded};
use super::input::{BytesRead, Counted, Input};

/// One of the files.
struct Lane {
    input: Input,
    /// Its next record with its payload; empty after the last.
    record: Vec<u8>,
    time: u64,
}

impl Lane {
    fn new(input: Input) -> io::Result<Self> {
        let mut lane = Self { input, record: Vec::new(), time: 0 };
        lane.next()?;
        Ok(lane)
    }

    fn next(&mut self) -> io::Result<()> {
        self.record.clear();
        self.record.extend_from_slice(self.input.bytes(RECORD)?);
        if let Some((time, payload)) = recorded(&self.record) {
            self.time = time;
            self.record.extend_from_slice(self.input.bytes(payload)?);
        } else {
            // Bytes that are not a record come after all others, where the reader reports them. What follows them is
            // lost.
            self.time = u64::MAX;
            while !self.input.bytes(1 << 16)?.is_empty() {}
        }
        Ok(())
    }
}

/// The files as one.
pub(super) struct Merged {
    lanes: Vec<Lane>,
    /// The lane whose record is being returned, and how much of it was.
    from: Option<usize>,
    done: usize,
}

impl Merged {
    pub(super) fn new(inputs: Vec<Input>) -> io::Result<Self> {
        let lanes = inputs.into_iter().map(Lane::new).collect::<io::Result<_>>()?;
        Ok(Self { lanes, from: None, done: 0 })
    }
}

impl Read for Merged {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.record.is_empty());
        let next = || left.min_by_key(|(_, lane)| lane.time).map(|(next, _)| next);
        let Some(from) = self.from.or_else(next) else { return Ok(0) };
        let lane = &mut self.lanes[from];
        let part = &lane.record[self.done..];
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        self.done += count;
        self.from = Some(from);
        if self.done == lane.record.len() {
            lane.next()?;
            (self.from, self.done) = (None, 0);
        }
        Ok(count)
    }
}

/// The bytes of a file, or of blktrace's files of each processor; and how far they are read.
pub(super) fn open(paths: &[PathBuf]) -> io::Result<(Input, BytesRead)> {
    let position = BytesRead::default();
    let open = |path: &PathBuf| {
        let inner = File::open(path)?;
        Input::new(Counted { inner, position: position.clone() })
    };
    let input = match paths {
        [path] => open(path)?,
        paths => Input::new(Merged::new(paths.iter().map(open).collect::<io::Result<_>>()?)?)?,
    };
    Ok((input, position))
}
