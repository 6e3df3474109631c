//! A file in memory that notes each call, so that a test can end after any of them; it may be full, or not be read, and
//! any call may fail.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

use super::super::memory::MemoryFile;
use super::super::store::{Extent, FileStore};

/// A call that changed the file.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Length(u64),
    Write(u64, Vec<u8>),
    Clear(Extent),
    /// Room is given back: of an extent, or of all behind a length.
    GiveBack(Extent),
    Cut(u64),
    Sync,
    SyncName,
}

/// A call that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failing {
    /// How many calls were noted before.
    pub after: usize,
    pub done: Done,
    pub lasts: Lasts,
}

/// What a call that fails has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    Half,
    All,
}

/// Whether the calls behind it fail, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    Once,
    ForGood,
}

/// The file.
#[derive(Clone, Debug, Default)]
pub(super) struct Noted {
    memory: MemoryFile,
    calls: RefCell<Vec<Call>>,
    /// The pages that take room.
    pages: RefCell<BTreeSet<u64>>,
    /// The most of them.
    pub room: Cell<Option<usize>>,
    /// A byte that the system cannot read.
    pub unreadable: Cell<Option<u64>>,
    pub failing: Cell<Option<Failing>>,
}

const PAGE: u64 = 4096;

impl Noted {
    /// What is in it before the zeros at its end.
    pub(super) fn data(&self) -> Vec<u8> {
        self.memory.data()
    }

    /// A file of that length with that data.
    pub(super) fn like(data: &[u8], length: u64) -> Self {
        let noted = Self::default();
        for (page, at) in data.chunks(PAGE as usize).zip((0..).step_by(PAGE as usize)) {
            if page.iter().any(|byte| *byte != 0) {
                noted.write_at(at, page).unwrap();
            }
        }
        noted.set_length(length).unwrap();
        noted.calls.take();
        noted
    }

    /// How many pages take room.
    pub(super) fn pages(&self) -> usize {
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
    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }

    /// Does what a call did.
    pub(super) fn apply(&self, call: &Call) {
        // The room is not limited.
        let _ = self.carry_out(call.clone());
    }

    fn carry_out(&self, call: Call) -> io::Result<()> {
        let done = match &call {
            Call::Length(length) | Call::Cut(length) => {
                self.pages.borrow_mut().retain(|page| page * PAGE < *length);
                self.memory.set_length(*length)
            }
            Call::Write(at, bytes) => self.memory.write_at(*at, bytes),
            Call::Clear(extent) | Call::GiveBack(extent) => {
                let freed = extent.at.div_ceil(PAGE)..extent.end() / PAGE;
                self.pages.borrow_mut().retain(|page| !freed.contains(page));
                self.memory.clear(*extent)
            }
            Call::Sync | Call::SyncName => Ok(()),
        };
        self.calls.borrow_mut().push(call);
        done
    }

    /// Carries out the call, unless it is to fail.
    fn call(&self, call: Call) -> io::Result<()> {
        let Some(failing) = self.failing.get().filter(|it| it.after <= self.calls.borrow().len())
        else {
            return self.carry_out(call);
        };
        if failing.lasts == Lasts::Once {
            self.failing.take();
        }
        let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
        match (failing.done, call) {
            (Done::All, call) => self.carry_out(call)?,
            (Done::Half, Call::Write(at, bytes)) => self.carry_out(Call::Write(at, half(bytes)))?,
            (Done::Half, Call::Clear(Extent { at, bytes })) => {
                self.carry_out(Call::Clear(Extent { at, bytes: bytes / 2 }))?;
            }
            _ => {}
        }
        Err(io::Error::other("a call failed"))
    }
}

impl FileStore for Noted {
    fn length(&self) -> io::Result<u64> {
        self.memory.length()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.call(Call::Length(length))
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let read = at..at + bytes.len() as u64;
        if self.unreadable.get().is_some_and(|byte| read.contains(&byte)) {
            return Err(io::Error::other("a sector is worn out"));
        }
        self.memory.read_at(at, bytes)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let written = &bytes[..self.room_for(at, bytes.len())];
        self.call(Call::Write(at, written.to_vec()))?;
        let is_whole = written.len() == bytes.len();
        if is_whole { Ok(()) } else { Err(ErrorKind::StorageFull.into()) }
    }

    fn sync(&self) -> io::Result<()> {
        self.call(Call::Sync)
    }

    fn sync_name(&self) -> io::Result<()> {
        self.call(Call::SyncName)
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        self.call(Call::Clear(extent))
    }

    fn give_back(&self, extent: Extent) {
        let _ = self.call(Call::GiveBack(extent));
    }

    fn cut(&self, length: u64) {
        let _ = self.call(Call::Cut(length));
    }

    fn next_data(&self, at: u64) -> io::Result<u64> {
        self.memory.next_data(at)
    }
}
