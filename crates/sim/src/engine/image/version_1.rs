//! Files of version 1, whose journal was a file beside them. They are read, and never written.
//!
//! ```text
//!   FILE           one line of JSON: version, generation, about the disk | the image of a chip under faults
//!   FILE.journal   magic "TNDMJRNL" | 1 u16 | generation u64 | records, each with its CRC-32
//! ```
//!
//! They lack reads, so it is not known how often a page that wears down was read. Such pages are taken to be
//! worn out: the contract lets them be that at any time, and lets none read well again.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use ftl_iface::NandDevice;
use nand_model::power::Tear;
use serde::Deserialize;

use super::device::Device;
use super::record;
use super::refusal::Refusal;
use super::store::{Amount, fill};
use super::unit::{self, About};

const MAGIC: &[u8; 8] = b"TNDMJRNL";
const HEAD_BYTES: usize = 8 + 2 + 8;

/// The longest first line.
const LINE_MOST: u64 = 64 << 10;

#[derive(Deserialize)]
struct Head {
    generation: u64,
    about: About,
}

/// Reads a file and its journal. Returns also what is not taken over, in sentences.
pub fn read(path: &Path) -> Result<(About, Device, String), Refusal> {
    let mut file = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    file.by_ref().take(LINE_MOST).read_until(b'\n', &mut line)?;
    let head: Head = serde_json::from_slice(&line).map_err(|_| Refusal::About { at: 0 })?;
    let at = line.len() as u64;
    let mut device = Device::load(&mut file).map_err(|reason| Refusal::Chip { at, reason })?;
    if let Some(reason) = unit::misfit(&device) {
        return Err(Refusal::NoServers { at, reason });
    }
    let said = match File::open(journal_path(path)) {
        Ok(journal) => replay(&journal, head.generation, &mut device)?,
        Err(error) => {
            format!("Its journal cannot be read ({error}): what was done since is missing.\n")
        }
    };
    device.power_off();
    device.wear_out();
    Ok((head.about, device, said))
}

/// Where the journal of that file is.
pub(super) fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

fn replay(journal: &File, generation: u64, device: &mut Device) -> io::Result<String> {
    let bytes = journal.metadata()?.len();
    let mut input = BufReader::with_capacity(1 << 20, journal);
    let mut head = [0; HEAD_BYTES];
    let whole = fill(&mut input, &mut head)? == Amount::Whole
        && head[..8] == *MAGIC
        && head[8..10] == [1, 0];
    let (found, _) = head[10..].split_first_chunk().unwrap_or((&[0; 8], &[]));
    let found = u64::from_le_bytes(*found);
    if !whole || found != generation {
        return Ok(format!(
            "Its journal is not of this file (generation {generation}, that of the journal {found}): it is left out.\n"
        ));
    }
    let (mut operations, mut read, mut record) = (0_u64, HEAD_BYTES as u64, Vec::new());
    while next(&mut input, device, &mut record)? == Amount::Whole {
        operations += 1;
        read += record.len() as u64 + 4;
    }
    let mut said = format!("{operations} operations are of its journal.\n");
    if bytes > read {
        let left = bytes - read;
        let _ = writeln!(
            said,
            "The last {left} bytes of it, from byte {read} on, are no whole record: they are left out."
        );
    }
    Ok(said)
}

/// Reads and repeats the next record. It is short where there is no whole one.
fn next(input: &mut impl Read, device: &mut Device, record: &mut Vec<u8>) -> io::Result<Amount> {
    let geometry = *device.geometry();
    record.resize(record::LEAST, 0);
    if fill(input, record)? == Amount::Short {
        return Ok(Amount::Short);
    }
    let codes = record::of_version_1(record[0], record[1]);
    let length = codes.and_then(|[kind, region]| record::length(kind, region, &geometry));
    let (Some(codes), Some(length)) = (codes, length) else {
        return Ok(Amount::Short);
    };
    record.resize(length, 0);
    let mut check = [0; 4];
    if fill(input, &mut record[record::LEAST..])? == Amount::Short
        || fill(input, &mut check)? == Amount::Short
    {
        return Ok(Amount::Short);
    }
    if crc32fast::hash(record) != u32::from_le_bytes(check) {
        return Ok(Amount::Short);
    }
    record[..2].copy_from_slice(&codes);
    let repeated = record::take(record, &geometry).and_then(|event| event.repeat(device));
    Ok(repeated.map_or(Amount::Short, |()| Amount::Whole))
}

#[cfg(test)]
mod tests {
    use ftl_iface::{Block, Bytes, PageIndex, Region};
    use nand_model::{Chip, Content, datasheet};

    use super::*;

    const BLOCK: Block = Block::new(Region::Slc, 2);

    /// A record as version 1 wrote it: a program of SLC pages, whole or unstable.
    fn record(kind: u8, page: u8, byte: u8) -> Vec<u8> {
        let (fate, reads) = if kind == 3 { (4, 2) } else { (0, 0) };
        let mut record = vec![kind, 0, 2, 0, 0, 0, page, 0, fate, reads, 0, 0, 0, 0];
        record.resize(record::LEAST + 1024, byte);
        record.resize(record::LEAST + 1024 + 32, 0);
        let check = crc32fast::hash(&record);
        record.extend_from_slice(&check.to_le_bytes());
        record
    }

    fn written(path: &Path, generation: u64, records: &[u8]) {
        let part = datasheet::builtin("tiny").unwrap();
        let device = Device::new(Chip::new(&part, Content::Bytes).unwrap(), 1);
        let line = "{\"tandem_disk\":1,\"generation\":5,\"about\":{\"system\":\"hybrid\",\
                    \"device\":\"tiny\",\"capacity\":null,\"slc\":null,\"parallel\":false}}\n";
        let mut file = line.as_bytes().to_vec();
        device.save(&mut file).unwrap();
        std::fs::write(path, file).unwrap();
        let mut journal = [&MAGIC[..], &[1, 0], &generation.to_le_bytes()].concat();
        journal.extend_from_slice(records);
        std::fs::write(journal_path(path), journal).unwrap();
    }

    fn pages(device: &mut Device) -> Vec<Option<u8>> {
        let mut page = |index| {
            let mut data = [0; 1024];
            let page = BLOCK.page(PageIndex::new(index));
            device.read(page, Bytes::ZERO, &mut data, &mut []).ok().map(|_| data[0])
        };
        (0..3).map(&mut page).collect()
    }

    #[test]
    fn file_and_journal_are_read_and_what_is_left_out_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.img");
        let records = [record(0, 0, 10), record(3, 1, 11)].concat();
        written(&path, 5, &records);
        let (about, mut device, said) = read(&path).unwrap();
        assert_eq!((&*about.system, &*about.device), ("hybrid", "tiny"));
        assert_eq!(pages(&mut device), [Some(10), None, Some(0xFF)], "its reads are not known");
        assert!(said.starts_with("2 operations"), "{said}");

        written(&path, 5, &records[..records.len() - 1]);
        let (_, mut device, said) = read(&path).unwrap();
        assert_eq!(pages(&mut device), [Some(10), Some(0xFF), Some(0xFF)]);
        assert!(said.contains("The last 1073 bytes of it, from byte 1092 on"), "{said}");

        written(&path, 6, &records);
        let (_, mut device, said) = read(&path).unwrap();
        assert_eq!(pages(&mut device), [Some(0xFF); 3]);
        assert!(
            said.contains("is not of this file (generation 5, that of the journal 6)"),
            "{said}"
        );

        std::fs::remove_file(journal_path(&path)).unwrap();
        let (_, _, said) = read(&path).unwrap();
        assert!(said.contains("what was done since is missing"), "{said}");
    }
}
