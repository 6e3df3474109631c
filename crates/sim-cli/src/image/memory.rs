//! A file in memory, for tests and fuzzers: it notes each call, ends after any of them, and may be full.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

use super::store::{Extent, Store};

/// A call that changed the file.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Length(u64),
    Write(u64, Vec<u8>),
    Clear(Extent),
    Sync,
}

/// The file. What is behind its bytes, up to its length, are zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    bytes: RefCell<Vec<u8>>,
    length: Cell<u64>,
    calls: RefCell<Vec<Call>>,
    /// The pages that take room.
    pages: RefCell<BTreeSet<u64>>,
    /// The most of them.
    pub(crate) room: Cell<Option<usize>>,
}

const PAGE: u64 = 4096;

impl Memory {
    /// A file of those bytes.
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        let length = Cell::new(bytes.len() as u64);
        let used = bytes.chunks(PAGE as usize).zip(0..);
        let used = used.filter(|(page, _)| page.iter().any(|byte| *byte != 0));
        let pages = RefCell::new(used.map(|(_, page)| page).collect());
        Self { bytes: RefCell::new(bytes), length, pages, ..Self::default() }
    }

    /// What is in it before the zeros at its end.
    pub(crate) fn data(&self) -> Vec<u8> {
        let bytes = self.bytes.borrow();
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes[..end].to_vec()
    }

    /// A file of that length with that data.
    pub(crate) fn like(&self, data: Vec<u8>, length: u64) -> Self {
        let memory = Self::of(data);
        let _ = memory.set_length(length);
        memory.calls.take();
        memory.room.set(self.room.get());
        memory
    }

    /// How many pages take room.
    pub(crate) fn pages(&self) -> usize {
        self.pages.borrow().len()
    }

    /// How many of so many bytes find room there.
    fn room_for(&self, at: u64, bytes: usize) -> usize {
        let (mut pages, end) = (self.pages.borrow_mut(), at + bytes as u64);
        for page in at / PAGE..end.div_ceil(PAGE) {
            let is_full = self.room.get().is_some_and(|room| pages.len() >= room);
            if is_full && !pages.contains(&page) {
                return (page * PAGE).saturating_sub(at) as usize;
            }
            pages.insert(page);
        }
        bytes
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }

    /// Does what a call did.
    pub(crate) fn apply(&self, call: &Call) {
        // The room is not limited.
        let _ = match call {
            Call::Length(length) => self.set_length(*length),
            Call::Write(at, bytes) => self.write_at(*at, bytes),
            Call::Clear(extent) => self.clear(*extent),
            Call::Sync => Ok(()),
        };
    }
}

impl Store for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length.get())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.calls.borrow_mut().push(Call::Length(length));
        self.bytes.borrow_mut().truncate(usize::try_from(length).unwrap_or(usize::MAX));
        self.length.set(length);
        self.pages.borrow_mut().retain(|page| page * PAGE < length);
        Ok(())
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.length.get().saturating_sub(at);
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let held = self.bytes.borrow();
        let known = held.get(at as usize..).unwrap_or(&[]);
        let known = &known[..known.len().min(count)];
        bytes[..known.len()].copy_from_slice(known);
        bytes[known.len()..count].fill(0);
        Ok(count)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.borrow_mut();
        let written = &bytes[..self.room_for(at, bytes.len())];
        let end = at as usize + written.len();
        if held.len() < end {
            held.resize(end, 0);
        }
        held[at as usize..end].copy_from_slice(written);
        self.length.set(self.length.get().max(end as u64));
        self.calls.borrow_mut().push(Call::Write(at, written.to_vec()));
        let is_whole = written.len() == bytes.len();
        if is_whole { Ok(()) } else { Err(ErrorKind::StorageFull.into()) }
    }

    fn sync(&self) -> io::Result<()> {
        self.calls.borrow_mut().push(Call::Sync);
        Ok(())
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        self.calls.borrow_mut().push(Call::Clear(extent));
        let mut held = self.bytes.borrow_mut();
        let end = held.len().min(extent.end() as usize);
        let start = end.min(extent.at as usize);
        held[start..end].fill(0);
        let freed = extent.at.div_ceil(PAGE)..extent.end() / PAGE;
        self.pages.borrow_mut().retain(|page| !freed.contains(page));
        Ok(())
    }

    fn next_data(&self, at: u64) -> io::Result<u64> {
        let end = self.bytes.borrow().len() as u64;
        Ok(if at < end { at } else { self.length.get() })
    }
}
