//! Files that no server wrote, with checks that fit: for tests and fuzzers of what is done with them.

use std::io::Read;

use ftl_iface::NandDevice;

use super::disk::{Disk, Opened};
use super::journaled::Journaled;
use super::memory::MemoryFile;
use super::record;
use super::seal::{self, Check, SEAL_BYTES, Seal};
use super::slot::{self, Header, State};
use super::store::{Extent, FileStore, StoreBytes};
use super::unit::{self, About};

/// A new disk's file, with room for a journal.
pub fn new(about: &About, device: &mut Journaled) -> std::io::Result<MemoryFile> {
    Ok(Disk::create(MemoryFile::default(), about, device)?.store)
}

/// The file with those bytes as its journal, sealed record by record. Bytes that begin no record are left out.
pub fn with_journal(file: &MemoryFile, records: &[u8]) -> std::io::Result<MemoryFile> {
    let file = file.clone();
    let Ok(Ok((_, opened))) = Disk::open(file.clone()) else {
        return Ok(file);
    };
    let (seal, geometry) = (Seal::of(&opened.header), *opened.device.geometry());
    let (mut at, mut rest, mut last) = (opened.header.records().at, records, Check::NONE);
    while let [kind, region, ..] = *rest {
        let Some(length) = record::length(kind, region, &geometry) else {
            rest = &rest[1..];
            continue;
        };
        let mut sealed = rest[..length.min(rest.len())].to_vec();
        rest = rest.get(length..).unwrap_or(&[]);
        sealed.resize(length, kind);
        last = seal.check(last, at, &sealed);
        seal::close(last, &mut sealed);
        if at + (length + SEAL_BYTES) as u64 > opened.header.journal.end() {
            break;
        }
        file.write_at(at, &sealed)?;
        at += sealed.len() as u64;
    }
    Ok(file)
}

/// The file with other numbers in its headers: the disk's generation, where its chip and its journal are, and the
/// generation in which that began. What the header calls the chip matches its check.
pub fn with_header(file: &MemoryFile, numbers: [u64; 6]) -> std::io::Result<MemoryFile> {
    let file = file.clone();
    let Ok(State::Disk(header, _)) = slot::state(&file) else {
        return Ok(file);
    };
    let [generation, chip_at, chip_bytes, journal_at, journal_bytes, begun] = numbers;
    let (chip, journal) = (
        Extent { at: chip_at, bytes: chip_bytes },
        Extent { at: journal_at, bytes: journal_bytes },
    );
    let mut header = Header { generation, chip, journal, begun, ..header };
    if chip.end() <= file.length()? {
        header.check = unit::checked(&file, &header)?;
    }
    slot::replace(&file, &header)?;
    Ok(file)
}

/// How the image of a chip begins.
const CHIP: &[u8] = b"TNDMCHIP";

/// The file with another image of its chip: what is changed in it matches all checks.
pub fn with_chip(file: &MemoryFile, change: impl FnOnce(&mut [u8])) -> std::io::Result<MemoryFile> {
    let file = file.clone();
    let Ok(State::Disk(header, _)) = slot::state(&file) else {
        return Ok(file);
    };
    let mut bytes = vec![0; header.chip.bytes as usize];
    StoreBytes::over(&file, header.chip).read_exact(&mut bytes)?;
    let start = bytes.windows(CHIP.len()).position(|there| there == CHIP).unwrap_or(bytes.len());
    if let Some((image, check)) = bytes[start..].split_last_chunk_mut::<4>() {
        change(image);
        *check = crc32fast::hash(image).to_le_bytes();
    }
    file.write_at(header.chip.at, &bytes)?;
    slot::replace(&file, &Header { check: unit::checked(&file, &header)?, ..header })?;
    Ok(file)
}

/// The numbers of a file's header, in that order.
pub fn header(file: &MemoryFile) -> Option<[u64; 6]> {
    let Ok(State::Disk(Header { generation, chip, journal, begun, .. }, _)) = slot::state(file)
    else {
        return None;
    };
    Some([generation, chip.at, chip.bytes, journal.at, journal.bytes, begun])
}

/// Opens a file as a server does. `None`: it is refused.
pub fn opened(file: MemoryFile) -> Option<(Disk<MemoryFile>, Opened)> {
    Disk::open(file).ok()?.ok()
}
