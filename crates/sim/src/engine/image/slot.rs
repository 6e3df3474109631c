//! The file's header: which disk it is, where its chip is, and where its journal is.
//!
//! It stands there twice, at bytes 0 and 4096, so that it can be replaced: the second one is written first, and reaches
//! the machine's disk before the first one is touched. So a whole one is always there, and the second is never older.
//!
//! ```text
//!   header  magic "TNDMDISK" | version u16 | kind u8 | identity [u8; 16] | generation u64 |
//!           chip: at, bytes, check u64 | journal: at, bytes, begun u64 | zeros | CRC-32 of all 4092 bytes before
//! ```

use std::fs::File;
use std::io::{self, Read};

use super::format::{BEHIND, GRAIN, MARK_BYTES, SECOND_AT, SLOT, VERSION};
use super::refusal::Refusal;
use super::store::{Extent, FileStore};

const MAGIC: [u8; 8] = *b"TNDMDISK";

/// A number that no two disks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity(pub [u8; 16]);

impl Identity {
    /// A new one, by chance.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes))
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// What the file holds, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The disk's own number.
    pub identity: Identity,
    /// Raised whenever the header is replaced.
    pub generation: u64,
    /// What is said about the disk, and its chip.
    pub chip: Extent,
    /// The check of all that.
    pub check: u64,
    /// Room for records of what was done since. Without bytes: the last server ended well.
    pub journal: Extent,
    /// The generation in which the journal began. It is part of the check of each of its records.
    pub begun: u64,
}

impl Header {
    /// Room for the records themselves, behind the mark.
    pub const fn records(&self) -> Extent {
        let Extent { at, bytes } = self.journal;
        let mark = if bytes > MARK_BYTES as u64 { MARK_BYTES as u64 } else { bytes };
        Extent { at: at.saturating_add(mark), bytes: bytes - mark }
    }

    /// Whether a server can have written it: nothing lies upon anything else, and generations can be counted on.
    fn is_sound(&self) -> bool {
        let Self { chip, journal, .. } = *self;
        let is_placed = |extent: Extent| extent.at >= BEHIND && extent.at.is_multiple_of(GRAIN);
        let are_apart = chip.end() <= journal.at || journal.end() <= chip.at;
        let has_journal = journal.bytes > 0;
        is_placed(chip)
            && (!has_journal || is_placed(journal) && are_apart)
            && self.begun <= self.generation
            && self.generation < u64::MAX / 2
    }

    /// The least bytes of the file.
    pub const fn needed(&self) -> u64 {
        let (chip, journal) = (self.chip.end(), self.journal.end());
        if self.journal.bytes > 0 && journal > chip { journal } else { chip }
    }
}

/// What stands in a header's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Whole(Header),
    /// The file is being made: nothing was served from it.
    Begun,
    /// Zeros.
    Empty,
    Version(u16),
    Damaged,
    Foreign,
}

/// The file's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It holds no disk yet.
    Blank,
    /// It holds a disk.
    Disk(Header, Copies),
}

/// How the two headers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// Both are whole and the same.
    Same,
    /// Replacing them was broken off, which did no harm.
    BrokenOff,
    /// The one at that byte is damaged. The other is whole.
    DamagedAt(u64),
}

fn put(kind: u8, header: &Header) -> [u8; SLOT] {
    let mut bytes = Vec::with_capacity(SLOT);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(&header.identity.0);
    for number in [header.generation, header.chip.at, header.chip.bytes] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&header.check.to_le_bytes());
    for number in [header.journal.at, header.journal.bytes, header.begun] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let mut slot = [0; SLOT];
    slot[..bytes.len()].copy_from_slice(&bytes);
    let check = crc32fast::hash(&slot[..SLOT - 4]);
    slot[SLOT - 4..].copy_from_slice(&check.to_le_bytes());
    slot
}

/// A reader of numbers in a row.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk::<N>() {
            Some((bytes, rest)) => {
                self.0 = rest;
                *bytes
            }
            None => [0; N],
        }
    }

    fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

fn take(slot: &[u8; SLOT]) -> Slot {
    if slot.iter().all(|byte| *byte == 0) {
        return Slot::Empty;
    }
    let (content, check) = slot.split_at(SLOT - 4);
    let whole = crc32fast::hash(content).to_le_bytes() == *check;
    let mut numbers = Numbers(content);
    if numbers.take::<8>() != MAGIC {
        return if whole { Slot::Damaged } else { Slot::Foreign };
    }
    let version = u16::from_le_bytes(numbers.take());
    match (whole, version) {
        (false, _) => return Slot::Damaged,
        (true, VERSION) => {}
        (true, other) => return Slot::Version(other),
    }
    let [kind] = numbers.take();
    let header = Header {
        identity: Identity(numbers.take()),
        generation: numbers.long(),
        chip: Extent { at: numbers.long(), bytes: numbers.long() },
        check: numbers.long(),
        journal: Extent { at: numbers.long(), bytes: numbers.long() },
        begun: numbers.long(),
    };
    match kind {
        1 => Slot::Begun,
        2 if header.is_sound() => Slot::Whole(header),
        _ => Slot::Damaged,
    }
}

fn read(store: &impl FileStore, at: u64) -> io::Result<Slot> {
    let mut slot = [0; SLOT];
    let mut filled = 0;
    while filled < SLOT {
        match store.read_at(at + filled as u64, &mut slot[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(take(&slot))
}

/// Reads the headers.
pub fn state(store: &impl FileStore) -> Result<State, Refusal> {
    let length = store.length()?;
    if length == 0 {
        return Ok(State::Blank);
    }
    let state = match (read(store, 0)?, read(store, SECOND_AT)?) {
        (Slot::Whole(first), Slot::Whole(second)) => both(first, second)?,
        (Slot::Whole(header), _) => State::Disk(header, Copies::DamagedAt(SECOND_AT)),
        // The first disk of a file, whose first header still says that it is being made.
        (Slot::Begun, Slot::Whole(header)) => State::Disk(header, Copies::BrokenOff),
        (_, Slot::Whole(header)) => State::Disk(header, Copies::DamagedAt(0)),
        // The first header says otherwise before anything is served.
        (Slot::Begun, _) => State::Blank,
        (Slot::Version(found), _) | (_, Slot::Version(found)) => {
            return Err(Refusal::Version { found });
        }
        (Slot::Foreign, _) if is_old(store)? => return Err(Refusal::Old),
        (Slot::Foreign | Slot::Empty, Slot::Foreign | Slot::Empty) => return Err(Refusal::Foreign),
        _ => return Err(Refusal::Headers),
    };
    if let State::Disk(header, _) = &state
        && header.needed() > length
    {
        return Err(Refusal::CutShort { found: length, needed: header.needed() });
    }
    Ok(state)
}

/// The beginning of a file of version 1.
pub(super) const OLD: &[u8] = b"{\"tandem_disk\":1,";

fn is_old(store: &impl FileStore) -> io::Result<bool> {
    let mut head = [0; OLD.len()];
    Ok(store.read_at(0, &mut head)? == head.len() && head == OLD)
}

fn both(first: Header, second: Header) -> Result<State, Refusal> {
    if first.identity != second.identity {
        return Err(Refusal::TwoDisks);
    }
    if first == second {
        return Ok(State::Disk(second, Copies::Same));
    }
    // The second one is written before the first.
    if first.generation >= second.generation {
        return Err(Refusal::TwoStates);
    }
    Ok(State::Disk(second, Copies::BrokenOff))
}

/// Says of a new file that it is being made.
pub(super) fn begin(store: &impl FileStore, identity: Identity) -> io::Result<()> {
    store.write_at(0, &put(1, &Header { identity, ..Header::default() }))
}

/// Makes both headers the same, the one that was found.
pub(super) fn mend(store: &impl FileStore, header: &Header, copies: Copies) -> io::Result<()> {
    match copies {
        Copies::Same => Ok(()),
        Copies::BrokenOff => {
            store.sync()?;
            replace(store, header)
        }
        // The other one is the only one.
        Copies::DamagedAt(at) => write(store, at, header),
    }
}

/// Replaces the headers. All that the new one names must have been synced.
pub(super) fn replace(store: &impl FileStore, header: &Header) -> io::Result<()> {
    write(store, SECOND_AT, header)?;
    write(store, 0, header)
}

fn write(store: &impl FileStore, at: u64, header: &Header) -> io::Result<()> {
    store.write_at(at, &put(2, header))?;
    store.sync()
}
