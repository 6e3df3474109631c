//! The files that blktrace records, one per processor, merged by time into one, as `blkparse -d` does it.
//!
//! A file's records are nearly in order, and keep their order; of all files, the next record is the one with the
//! smallest time. Files of Open-CAS's queues are put one behind the other, since their parser sorts all requests.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use super::formats::{RECORD, recorded};
use super::input::{BytesRead, Counted, Input};
use super::queues;

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
        if self.record.is_empty() {
            self.input.take_cut().map_or(Ok(()), Err)?;
        }
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

/// The most bytes taken from a file at once.
const AT_ONCE: usize = 1 << 16;

/// Files one after the other.
struct Chained(VecDeque<Input>);

impl Read for Chained {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(first) = self.0.front_mut() {
            let bytes = first.bytes(buffer.len().min(AT_ONCE))?;
            if !bytes.is_empty() {
                buffer[..bytes.len()].copy_from_slice(bytes);
                return Ok(bytes.len());
            }
            first.take_cut().map_or(Ok(()), Err)?;
            self.0.pop_front();
        }
        Ok(0)
    }
}

fn are_queues(paths: &[PathBuf]) -> bool {
    let name = paths.first().and_then(|path| path.file_name()?.to_str());
    name.is_some_and(queues::is_queue)
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
        paths if are_queues(paths) => {
            Input::new(Chained(paths.iter().map(open).collect::<io::Result<_>>()?))?
        }
        paths => Input::new(Merged::new(paths.iter().map(open).collect::<io::Result<_>>()?)?)?,
    };
    Ok((input, position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_queues_are_put_one_behind_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["octf.trace.0", "octf.trace.1"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], vec![7; 100_000]).unwrap();
        std::fs::write(&paths[1], b"end").unwrap();
        let (mut input, _) = open(&paths).unwrap();
        let mut found = Vec::new();
        loop {
            let bytes = input.bytes(1000).unwrap();
            if bytes.is_empty() {
                break;
            }
            found.extend_from_slice(bytes);
        }
        assert_eq!((found.len(), &found[99_998..]), (100_003, &b"\x07\x07end"[..]));
    }
}
