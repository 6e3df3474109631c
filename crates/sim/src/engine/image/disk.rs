//! A disk in its file, from its first byte to its end.
//!
//! # The order of writes
//!
//! Whatever a header names is on the machine's disk before the header is written, and what the header before named
//! stays until both copies are replaced. A crash at any call leaves one of these states; each is opened without loss:
//!
//! | after | the file has | opened as |
//! |---|---|---|
//! | making it | no bytes | no disk yet |
//! | "it is being made", chip, journal's room, sync | a first header that says so | no disk yet |
//! | second header, sync | a whole second header | the new disk |
//! | first header, sync | two headers, the same | the new disk |
//! | its folder, sync | the same, by its name | the new disk |
//! | a start: headers mended | two headers, the same | the disk |
//! | an incomplete record cleared from behind, sync | less of it, then none | the disk |
//! | the journal's room; both headers, as above | a journal without records | the disk |
//! | a record, in part | an incomplete record | the disk without it: nobody was answered |
//! | a record | one more record | the disk with it |
//! | a flush: a record, sync, mark | a mark, which says no more than is there | the disk with it |
//! | an end: both headers, as above | a journal cut to its records | the disk before |
//! | a rewrite: chip in free room, journal's room, sync | bytes that no header names | the disk before |
//! | second header, sync | two headers, the second newer | the disk as rewritten |
//! | first header, sync | two headers, the same | the disk as rewritten |
//! | freeing what no header names | gaps, a shorter file | the disk as rewritten |
//!
//! A call that fails may have done its work, a part of it, or nothing, so nobody knows which of these states the file
//! has. Therefore nothing that a header names is written after a failure. But it does not matter whether room is given
//! back, or a mark is written; and if the last chip fails, which no header names yet, the journal stays.
//!
//! Whoever goes on with a file mends its headers before anything else. Otherwise the next header that fails could have
//! been the only whole one, or leave an older one whose chip is gone.

use std::io;

use ftl_iface::{NandDevice, Region, RegionGeometry};
use nand_model::power::Tear;

use super::damage::Tail;
use super::device::Device;
use super::format::{BEHIND, GRAIN};
use super::journal::{self, Replayed};
use super::journaled::Journaled;
use super::layout;
use super::mark;
use super::record::Event;
use super::refusal::Refusal;
use super::seal::{Check, Pending, Seal};
use super::slot::{self, Copies, Header, Identity, State};
use super::store::{Extent, FileStore};
use super::unit::{self, About};

/// A file that holds a disk.
#[derive(Debug)]
pub struct Disk<S> {
    pub(super) store: S,
    header: Header,
    about: About,
    /// Where the journal's records end, and the check of the last one that was found in it.
    end: u64,
    last: Check,
    tail: Tail,
    copies: Copies,
    synced: Synced,
    changes: Changes,
}

/// How the changes of the file went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    Done,
    Failed,
}

/// Whether all records would survive a crash of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Synced {
    Yes,
    No,
}

/// How a disk's file was closed.
#[derive(Debug)]
#[must_use]
pub enum Closed {
    /// It holds the chip alone.
    Chip,
    /// The chip could not be written anew, so the journal stays, which has everything.
    Journal(io::Error),
}

/// What a file held.
#[derive(Debug)]
pub struct Opened {
    /// What is said about the disk.
    pub about: About,
    /// Its chip.
    pub device: Device,
    /// The journal.
    pub replayed: Replayed,
    /// The headers.
    pub copies: Copies,
    /// The newer one.
    pub header: Header,
}

/// Reads a file's disk, as far as it is whole. `None`: it holds none yet.
pub fn read<S: FileStore>(store: &S) -> Result<Option<Opened>, Refusal> {
    let State::Disk(header, copies) = slot::state(store)? else {
        return Ok(None);
    };
    let (about, mut device) = unit::read(store, &header)?;
    let replayed = journal::replay(store, &header, &mut device)?;
    // However the last server ended, power was off since.
    device.power_off();
    Ok(Some(Opened { about, device, replayed, copies, header }))
}

/// Bytes of the device's pages.
fn capacity(device: &Device) -> u64 {
    let shapes = Region::ALL.iter().filter_map(|region| device.geometry().region(*region));
    shapes.map(RegionGeometry::capacity_bytes).sum()
}

/// What follows on a chip that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Journal,
    Nothing,
}

impl<S: FileStore> Disk<S> {
    /// Opens a file. `None`: it holds no disk yet.
    pub fn open(store: S) -> Result<Result<(Self, Opened), S>, Refusal> {
        let Some(opened) = read(&store)? else {
            return Ok(Err(store));
        };
        if let Tail::Damaged(damage) = opened.replayed.tail {
            return Err(Refusal::Journal(damage));
        }
        let Opened { about, replayed, copies, header, .. } = &opened;
        let (about, tail) = (about.clone(), replayed.tail.clone());
        let (end, last) = (replayed.end, replayed.last);
        let (header, copies, synced, changes) = (*header, *copies, Synced::No, Changes::Done);
        Ok(Ok((Self { store, header, about, end, last, tail, copies, synced, changes }, opened)))
    }

    /// The file, when nobody works on its disk any more.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Makes a disk of a file that holds none.
    pub fn create(store: S, about: &About, device: &mut Journaled) -> io::Result<Self> {
        let header = Header { identity: Identity::new()?, ..Header::default() };
        store.set_length(0)?;
        slot::begin(&store, header.identity).inspect_err(|_| store.cut(0))?;
        let (about, tail, copies) = (about.clone(), Tail::Clean, Copies::Same);
        let (end, last, synced, changes) = (0, Check::NONE, Synced::Yes, Changes::Done);
        let mut disk = Self { store, header, about, end, last, tail, copies, synced, changes };
        match disk.rewrite(device).and_then(|()| disk.store.sync_name()) {
            Ok(()) => Ok(disk),
            Err(error) => {
                // It was never a disk, and should not look like a damaged one.
                disk.store.cut(0);
                Err(error)
            }
        }
    }

    /// Goes on with a disk that was opened: from now on its operations are recorded.
    pub fn go_on(&mut self, device: &mut Journaled) -> io::Result<()> {
        self.unless_failed(|disk| disk.begin_records(device))
    }

    /// Writes the records since the last call. What they record may be acknowledged only after that.
    pub fn commit(&mut self, device: &mut Journaled) -> io::Result<()> {
        self.unless_failed(|disk| disk.write_records(device))
    }

    /// Writes the chip as it is now, with a new journal.
    pub(super) fn rewrite(&mut self, device: &mut Journaled) -> io::Result<()> {
        self.unless_failed(|disk| disk.write_anew(device))
    }

    /// Makes all that was done survive a crash of the machine.
    pub fn sync(&mut self, device: &mut Journaled) -> io::Result<()> {
        self.unless_failed(|disk| disk.sync_records(device))
    }

    /// Writes the chip without a journal, if it can be written, as the last thing that is done.
    pub fn close(&mut self, device: &mut Journaled) -> io::Result<Closed> {
        self.unless_failed(|disk| disk.end_records(device))
    }

    /// Changes the file, if no change failed before.
    fn unless_failed<T>(
        &mut self,
        change: impl FnOnce(&mut Self) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.changes == Changes::Failed {
            return Err(io::Error::other("an earlier change of the file failed"));
        }
        change(self).inspect_err(|_| self.changes = Changes::Failed)
    }

    fn begin_records(&mut self, device: &mut Journaled) -> io::Result<()> {
        slot::mend(&self.store, &self.header, self.copies)?;
        if let Tail::Incomplete(bytes) = self.tail {
            self.clear_record(bytes)?;
        }
        if self.header.journal.bytes == 0 {
            let bytes = layout::journal_bytes(capacity(device.inner()), self.header.chip.bytes);
            let journal = layout::place(&self.used(), bytes);
            self.make_room(journal)?;
            let header = Header { journal, ..self.begun() };
            self.replace(header, header.records().at)?;
        }
        self.free_unused();
        // Who made it may have been killed before that.
        self.store.sync_name()?;
        let mut pending = Pending::new(Seal::of(&self.header), self.last, self.end);
        pending.add(&Event::PowerOff);
        device.keep(pending);
        self.write_records(device)
    }

    /// Clears an incomplete record, from behind, so that what is left is one at any time.
    fn clear_record(&self, bytes: u64) -> io::Result<()> {
        let end = self.end + bytes;
        for at in [self.end + 2, self.end + 1, self.end] {
            if at < end {
                self.store.clear(Extent { at, bytes: end - at })?;
            }
        }
        // What is left of it must not come back behind the next one.
        self.store.sync()
    }

    fn write_records(&mut self, device: &mut Journaled) -> io::Result<()> {
        let Some(pending) = device.pending().filter(|pending| !pending.bytes.is_empty()) else {
            return Ok(());
        };
        if pending.end() > self.header.journal.end() {
            return self.write_anew(device);
        }
        self.store.write_at(pending.at, &pending.bytes)?;
        pending.written();
        (self.end, self.synced) = (pending.at, Synced::No);
        Ok(())
    }

    fn write_anew(&mut self, device: &mut Journaled) -> io::Result<()> {
        let header = self.write_chip(device.inner(), Then::Journal)?;
        self.name_chip(header, device)
    }

    fn sync_records(&mut self, device: &mut Journaled) -> io::Result<()> {
        self.write_records(device)?;
        if self.synced == Synced::Yes {
            return Ok(());
        }
        if let Some(pending) = device.pending() {
            pending.add(&Event::Flushed);
        }
        self.write_records(device)?;
        self.store.sync()?;
        self.synced = Synced::Yes;
        if device.pending().is_some() {
            // Only now, so that it never says more than is true. A check more is no reason to end without room for it.
            let _ = mark::write(&self.store, &self.header, self.end);
        }
        Ok(())
    }

    fn end_records(&mut self, device: &mut Journaled) -> io::Result<Closed> {
        self.sync_records(device)?;
        let (end, journal) = (self.end, self.header.journal);
        let records = Extent { bytes: end - journal.at, ..journal };
        // The rest of its room is needed for the chip.
        self.replace(Header { journal: records, ..self.header }, end)?;
        match self.write_chip(device.inner(), Then::Nothing) {
            Ok(header) => {
                self.name_chip(header, device)?;
                Ok(Closed::Chip)
            }
            Err(error) => {
                self.make_room(Extent { at: end, bytes: journal.end() - end })?;
                self.replace(Header { journal, ..self.header }, end)?;
                Ok(Closed::Journal(error))
            }
        }
    }

    /// Has the headers name a chip that was written.
    fn name_chip(&mut self, header: Header, device: &mut Journaled) -> io::Result<()> {
        self.replace(header, header.records().at)?;
        // The records that were pending are in the chip now.
        device.keep(Pending::new(Seal::of(&self.header), Check::NONE, self.end));
        self.synced = Synced::Yes;
        self.free_unused();
        Ok(())
    }

    /// Writes the chip where nothing is in use, and returns the header that names it.
    fn write_chip(&self, device: &Device, then: Then) -> io::Result<Header> {
        // What was written in part takes no more room. It did no harm.
        self.place_chip(device, then).inspect_err(|_| self.free_unused())
    }

    fn place_chip(&self, device: &Device, then: Then) -> io::Result<Header> {
        let bytes = unit::bytes(&self.about, device)?;
        let room = bytes.next_multiple_of(GRAIN);
        let journal = match then {
            Then::Journal => layout::journal_bytes(capacity(device), bytes),
            Then::Nothing => 0,
        };
        let place = layout::place(&self.used(), room + journal);
        let chip = Extent { at: place.at, bytes };
        let check = unit::write((&self.about, device), self.header.identity, (&self.store, chip))?;
        let mut journal = Extent { at: place.at + room, bytes: journal };
        match then {
            Then::Journal => self.make_room(journal)?,
            Then::Nothing => journal = Extent::default(),
        }
        Ok(Header { chip, check, journal, ..self.begun() })
    }

    /// Fills an extent that is not in use with zeros.
    fn make_room(&self, extent: Extent) -> io::Result<()> {
        if extent.at < self.header.needed() {
            self.store.clear(extent)?;
        } else {
            self.store.set_length(extent.at)?;
        }
        let length = self.store.length()?;
        if length < extent.end() { self.store.set_length(extent.end()) } else { Ok(()) }
    }

    /// The header, for a journal that begins.
    const fn begun(&self) -> Header {
        Header { begun: self.header.generation + 1, ..self.header }
    }

    /// Replaces the headers by that one, with records up to there.
    fn replace(&mut self, header: Header, end: u64) -> io::Result<()> {
        self.store.sync()?;
        let header = Header { generation: header.generation + 1, ..header };
        slot::replace(&self.store, &header)?;
        (self.header, self.end) = (header, end);
        Ok(())
    }

    /// What must not be written over. Behind the journal's records are zeros, which say where it ends.
    fn used(&self) -> Vec<Extent> {
        let used = [self.header.chip, self.header.journal];
        used.into_iter().filter(|extent| extent.bytes > 0).collect()
    }

    /// Gives back what no header names. If that fails it takes room, and does no harm.
    fn free_unused(&self) {
        self.store.cut(self.header.needed().max(BEHIND));
        for gap in layout::gaps(&self.used()) {
            self.store.give_back(gap);
        }
    }
}
