//! The journal: what happened to the chip since it was written, record after record.
//!
//! ```text
//!   journal  records | zeros up to its end
//!   sealed   record | CRC-32 of disk, generation, place and record | 0x5A
//! ```
//!
//! A record's check covers which disk it is of, and where it stands, so that none is taken for another. Its last byte is
//! no zero: a record whose end is missing was being written when the server ended, and was never acknowledged.

use std::io::{self, BufReader, Read};

use crc32fast::Hasher;
use ftl_iface::{Geometry, NandDevice};

use super::journaled::Device;
use super::record::{self, Event};
use super::slot::Header;
use super::store::{Extent, Store, Stream};
use super::tail::{self, Damage, Tail};

/// The last byte of a sealed record.
pub(super) const END: u8 = 0x5A;

/// A sealed record's bytes besides the record.
pub(super) const SEAL_BYTES: usize = 5;

/// What the checks of a journal's records have in common.
#[derive(Clone, Debug)]
pub(crate) struct Seal(Hasher);

impl Seal {
    pub(super) fn of(header: &Header) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(&header.identity.0);
        hasher.update(&header.begun.to_le_bytes());
        Self(hasher)
    }

    pub(super) fn check(&self, at: u64, record: &[u8]) -> [u8; 4] {
        let mut hasher = self.0.clone();
        hasher.update(&at.to_le_bytes());
        hasher.update(record);
        hasher.finalize().to_le_bytes()
    }

    /// Whether that is a sealed record at that place.
    pub(super) fn holds(&self, at: u64, sealed: &[u8]) -> bool {
        let Some((record, [check @ .., end])) = sealed.split_last_chunk::<SEAL_BYTES>() else {
            return false;
        };
        *end == END && self.check(at, record) == *check
    }
}

/// Records that are not in the file yet.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    seal: Seal,
    /// Where they will be.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// Room for records that is kept between two writes.
const KEPT: usize = 1 << 20;

impl Pending {
    pub(super) const fn new(seal: Seal, at: u64) -> Self {
        Self { seal, at, bytes: Vec::new() }
    }

    /// Adds a record.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let (start, at) = (self.bytes.len(), self.end());
        event.put(&mut self.bytes);
        let check = self.seal.check(at, &self.bytes[start..]);
        self.bytes.extend_from_slice(&check);
        self.bytes.push(END);
    }

    /// Where the next record will be.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// They are in the file now.
    pub(super) fn written(&mut self) {
        self.at = self.end();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }
}

/// What a journal held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replayed {
    /// Operations on the chip.
    pub(crate) operations: u64,
    /// Whole records up to the end, or up to the damage.
    pub(crate) records: u64,
    /// Where the next one goes.
    pub(crate) end: u64,
    pub(crate) tail: Tail,
}

/// Repeats on the device what a journal says, as far as it is whole.
pub(super) fn replay<S: Store>(
    store: &S,
    header: &Header,
    device: &mut Device,
) -> io::Result<Replayed> {
    let (seal, geometry) = (Seal::of(header), *device.geometry());
    let journal = header.journal;
    let mut replayed = Replayed { operations: 0, records: 0, end: journal.at, tail: Tail::Clean };
    let mut input = BufReader::with_capacity(1 << 20, Stream::over(store, journal));
    let mut sealed = Vec::new();
    loop {
        let at = replayed.end;
        if !next(&mut input, &geometry, &mut sealed)? || !seal.holds(at, &sealed) {
            let rest = Extent { at, bytes: journal.end() - at };
            replayed.tail = tail::examine(store, rest, &seal, &geometry)?;
            if let Tail::Damaged(damage) = &mut replayed.tail {
                damage.record = replayed.records + 1;
            }
            return Ok(replayed);
        }
        let event = record::take(&sealed[..sealed.len() - SEAL_BYTES], &geometry);
        if event.and_then(|event| event.repeat(device)).is_none() {
            replayed.tail = Tail::Damaged(Damage::impossible(at, replayed.records + 1));
            return Ok(replayed);
        }
        let is_operation = !matches!(event, Some(Event::Flushed | Event::PowerOff));
        replayed.operations += u64::from(is_operation);
        replayed.records += 1;
        replayed.end += sealed.len() as u64;
    }
}

/// Reads the next sealed record. `false`: there is none, or a part of it.
fn next(input: &mut impl Read, geometry: &Geometry, sealed: &mut Vec<u8>) -> io::Result<bool> {
    sealed.resize(2, 0);
    if !filled(input, sealed)? {
        return Ok(false);
    }
    let Some(length) = record::length(sealed[0], sealed[1], geometry) else {
        return Ok(false);
    };
    sealed.resize(length + SEAL_BYTES, 0);
    filled(input, &mut sealed[2..])
}

pub(super) fn filled(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
