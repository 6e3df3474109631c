//! The journal: a file of records.
//!
//! ```text
//!   journal  magic "TNDMJRNL" | version u16 | generation u64 | records
//!   record   kind u8 | region u8 | block u32 | page u16 | fate u8 | reads u32 | pair u8 | data, spare | CRC-32
//! ```
//!
//! Numbers are little-endian. Only records of programs have data and spare bytes, in the lengths of the region.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use ftl_iface::{Block, Geometry, NandDevice, PageIndex, Region, RegionGeometry};
use nand_model::power::{PairFate, Tear};

use super::entry::{block_fate_of, page_fate_of};
use super::journaled::Journaled;

const MAGIC: [u8; 8] = *b"TNDMJRNL";
const VERSION: u16 = 1;
const HEAD_BYTES: usize = 8 + 2 + 8;

/// A record without data, spare bytes and check.
const RECORD_BYTES: usize = 14;

/// Begins a journal for the file of that generation. Returns its length.
pub(super) fn begin(journal: &mut File, generation: u64) -> io::Result<u64> {
    let mut head = Vec::from(MAGIC);
    head.extend_from_slice(&VERSION.to_le_bytes());
    head.extend_from_slice(&generation.to_le_bytes());
    journal.set_len(0)?;
    journal.seek(SeekFrom::Start(0))?;
    journal.write_all(&head)?;
    Ok(head.len() as u64)
}

/// The content of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Replayed {
    /// Complete records.
    pub(super) operations: u64,
    /// Their bytes, head included.
    pub(super) bytes: u64,
}

/// Replays a journal of that generation; if it is of another generation, or missing, begins a new one.
pub(super) fn replay(
    mut journal: &File,
    generation: u64,
    device: &mut Journaled,
) -> io::Result<Replayed> {
    journal.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::with_capacity(1 << 20, journal);
    let mut head = [0; HEAD_BYTES];
    let expected = [&MAGIC[..], &VERSION.to_le_bytes(), &generation.to_le_bytes()].concat();
    if input.read_exact(&mut head).is_err() || head[..] != expected[..] {
        let bytes = begin(&mut journal.try_clone()?, generation)?;
        return Ok(Replayed { operations: 0, bytes });
    }
    let geometry = *device.geometry();
    let mut replayed = Replayed { operations: 0, bytes: HEAD_BYTES as u64 };
    let mut record = Vec::new();
    while let Some(place) = next(&mut input, &geometry, &mut record)? {
        let done = apply(place, &record, &geometry, device);
        if done.is_none() {
            let reason = "the journal says what cannot be: it is of another disk, or damaged";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        replayed.operations += 1;
        replayed.bytes += record.len() as u64 + 4;
    }
    Ok(replayed)
}

/// Reads the next record, if it is complete. Returns its block.
fn next(
    input: &mut impl Read,
    geometry: &Geometry,
    record: &mut Vec<u8>,
) -> io::Result<Option<Block>> {
    record.resize(RECORD_BYTES, 0);
    if !filled(input, record)? {
        return Ok(None);
    }
    let Some(region) = Region::ALL.get(usize::from(record[1])).copied() else {
        return Ok(None);
    };
    let Some(shape) = geometry.region(region) else {
        return Ok(None);
    };
    if [0, 3].contains(&record[0]) {
        record.resize(RECORD_BYTES + payload(shape), 0);
        if !filled(input, &mut record[RECORD_BYTES..])? {
            return Ok(None);
        }
    }
    let mut check = [0; 4];
    if !filled(input, &mut check)? || crc32fast::hash(record) != u32::from_le_bytes(check) {
        return Ok(None);
    }
    let index = u32::from_le_bytes([record[2], record[3], record[4], record[5]]);
    Ok((index < shape.blocks.get()).then_some(Block::new(region, index)))
}

fn filled(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

const fn payload(shape: &RegionGeometry) -> usize {
    shape.page_bytes.as_usize() + shape.spare_bytes.as_usize()
}

/// Replays a record. `None` if that is impossible.
fn apply(block: Block, record: &[u8], geometry: &Geometry, device: &mut Journaled) -> Option<()> {
    let shape = geometry.region(block.region())?;
    let index = u16::from_le_bytes([record[6], record[7]]);
    let reads = u32::from_le_bytes([record[9], record[10], record[11], record[12]]);
    let pair = if record[13] == 0 { PairFate::Kept } else { PairFate::Lost };
    let page = block.page(PageIndex::new(index));
    let programs = [0, 3].contains(&record[0]);
    // The chip panics on misuse.
    let chip = device.inner().inner();
    let fits = u32::from(index) < shape.pages_per_block.get() && index >= chip.next_page(block);
    if programs && !fits || device.is_bad(block) != Ok(false) && record[0] != 2 {
        return None;
    }
    let (data, spare) =
        record[RECORD_BYTES..].split_at_checked(shape.page_bytes.as_usize()).unwrap_or((&[], &[]));
    match record[0] {
        0 => device.program(page, data, spare).ok(),
        1 => device.erase(block).ok(),
        2 => device.mark_bad(block).ok(),
        3 => {
            let fate = page_fate_of(record[8], reads)?;
            device.tear_program(page, data, spare, fate, pair).ok()
        }
        4 => device.tear_erase(block, block_fate_of(record[8])?).ok(),
        _ => None,
    }
}
