//! A persistent chip: a file with its content, and a journal of the operations since.
//!
//! ```text
//!   FILE           about the disk, one line of JSON | the chip with what befell it    written whole or not at all
//!   FILE.journal   which FILE it goes with | programs, erases, marks, in order     appended before clients hear of it
//! ```
//!
//! However the program ends, the next one reads the file and replays the journal, so nothing acknowledged is missing.
//! An incomplete record was never acknowledged, and is skipped. When the journal is long, and at a normal end, the file
//! is rewritten and a new journal begins.
//!
//! The journal is locked while the program runs, and stays as an empty file, which the next one locks.
//!
//! # Modules
//!
//! - `entry`: a record of the journal. `journal`: the file. `journaled`: the device that makes the records.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use nand_model::power::Tear;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::{Failure, files};

mod entry;
mod journal;
mod journaled;

pub(crate) use journaled::{Device, Journaled};

/// The version of the format, raised with every change.
const VERSION: u32 = 1;

/// The longest first line accepted.
const HEAD_MOST: u64 = 64 << 10;

/// The file is rewritten when the journal exceeds this size, or twice the file's.
const JOURNAL_MOST: u64 = 256 << 20;

/// The settings needed to use the chip of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// The system that formatted the chip, with its parameters.
    pub(crate) system: String,
    /// The device, as it was named.
    pub(crate) device: String,
    /// The requested capacity.
    pub(crate) capacity: Option<u64>,
    /// The requested SLC size.
    pub(crate) slc: Option<u64>,
    /// Whether dies work at the same time.
    pub(crate) parallel: bool,
}

/// The file's first line.
#[derive(Serialize, Deserialize)]
struct Head {
    tandem_disk: u32,
    /// The generation, shared with its journal.
    generation: u64,
    about: About,
}

/// A file and its journal, locked.
#[derive(Debug)]
pub(crate) struct Keeper {
    path: PathBuf,
    journal: File,
    generation: u64,
    /// Bytes in the journal, and in the file.
    journal_bytes: u64,
    image_bytes: u64,
}

/// The content found.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) about: About,
    pub(crate) device: Device,
    /// Operations replayed from the journal.
    pub(crate) replayed: u64,
}

impl Keeper {
    /// Locks the file, and reads it if it is there.
    pub(crate) fn open(path: &Path) -> Result<(Self, Option<Opened>), Failure> {
        files::check(path)?;
        let journal_path = journal_path(path);
        let failed = |reason| Failure::File { path: journal_path.clone(), reason };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let journal = options.open(&journal_path).map_err(failed)?;
        flock(&journal, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            let path = path.display();
            Failure::Arguments(format!("another server has {path} open: stop it first"))
        })?;
        let (generation, journal_bytes, image_bytes) = (0, 0, 0);
        let mut keeper =
            Self { path: path.into(), journal, generation, journal_bytes, image_bytes };
        let found = if path.exists() { Some(keeper.load()?) } else { None };
        Ok((keeper, found))
    }

    fn load(&mut self) -> Result<Opened, Failure> {
        let (path, journal_path) = (self.path.clone(), journal_path(&self.path));
        let told = |reason: &dyn std::fmt::Display| {
            Failure::Arguments(format!("{} cannot be used: {reason}", path.display()))
        };
        let file = File::open(&path).map_err(|error| told(&error))?;
        self.image_bytes = file.metadata().map_err(|error| told(&error))?.len();
        let mut file = BufReader::new(file);
        let head = head(&mut file).map_err(|reason| told(&reason))?;
        let device = Device::load(&mut file).map_err(|error| told(&error))?;
        self.generation = head.generation;
        let mut device = Journaled::new(device);
        let failed = |reason| Failure::File { path: journal_path.clone(), reason };
        let journal = journal::replay(&self.journal, head.generation, &mut device);
        let journal = journal.map_err(failed)?;
        self.journal_bytes = journal.bytes;
        self.journal.set_len(journal.bytes).map_err(failed)?;
        self.journal.seek(SeekFrom::End(0)).map_err(failed)?;
        let replayed = journal.operations;
        // However the last server ended, power was off since.
        device.power_off();
        Ok(Opened { about: head.about, device: device.into_inner(), replayed })
    }

    /// Writes the operations since the last call to the journal. They may be acknowledged only after that.
    pub(crate) fn commit(&mut self, device: &mut Journaled) -> Result<(), Failure> {
        let pending = device.pending();
        if pending.is_empty() {
            return Ok(());
        }
        let path = &self.path;
        self.journal
            .write_all(pending)
            .map_err(|reason| Failure::File { path: journal_path(path), reason })?;
        self.journal_bytes += pending.len() as u64;
        pending.clear();
        Ok(())
    }

    /// Makes the journal survive a crash of the machine, not only of the program.
    pub(crate) fn sync(&self) -> Result<(), Failure> {
        let failed = |reason| Failure::File { path: journal_path(&self.path), reason };
        self.journal.sync_data().map_err(failed)
    }

    /// Whether the journal is so long that the file should be rewritten.
    pub(crate) fn is_long(&self) -> bool {
        self.journal_bytes > JOURNAL_MOST.max(2 * self.image_bytes)
    }

    /// Writes the file, and begins a new journal.
    pub(crate) fn save(&mut self, about: &About, device: &mut Journaled) -> Result<(), Failure> {
        let generation = self.generation + 1;
        let head = Head { tandem_disk: VERSION, generation, about: about.clone() };
        files::replace_by(&self.path, |file| {
            let mut file = BufWriter::with_capacity(1 << 20, file);
            serde_json::to_writer(&mut file, &head)?;
            writeln!(file)?;
            device.inner().save(&mut file).map_err(io::Error::other)?;
            file.flush()
        })?;
        let failed = |reason| Failure::File { path: journal_path(&self.path), reason };
        self.generation = generation;
        // The pending records are in the file now.
        device.pending().clear();
        self.journal_bytes = journal::begin(&mut self.journal, generation).map_err(failed)?;
        let data = std::fs::metadata(&self.path);
        self.image_bytes = data.map_or(self.image_bytes, |data| data.len());
        Ok(())
    }
}

fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".journal");
    name.into()
}

fn head(file: &mut impl BufRead) -> Result<Head, String> {
    let mut line = Vec::new();
    let read = file.by_ref().take(HEAD_MOST).read_until(b'\n', &mut line);
    read.map_err(|error| error.to_string())?;
    let head: Head = serde_json::from_slice(&line)
        .map_err(|_| "it is no disk of `tandem serve`: name another file".to_owned())?;
    if head.tandem_disk != VERSION {
        let found = head.tandem_disk;
        return Err(format!("it has version {found}, and this program reads version {VERSION}"));
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region};
    use nand_model::Chip;
    use nand_model::power::{PageFate, PairFate, Tear};
    use nand_model::{Content, datasheet};

    use super::*;

    fn about() -> About {
        let (system, device) = ("hybrid".into(), "tiny".into());
        About { system, device, capacity: None, slc: None, parallel: false }
    }

    fn device() -> Journaled {
        let part = datasheet::builtin("tiny").unwrap();
        let chip = Chip::new(&part, Content::Bytes).unwrap();
        let mut device = Journaled::new(Device::new(chip, 1));
        device.keep();
        device
    }

    fn program(device: &mut Journaled, page: u16, byte: u8) {
        let page = Block::new(Region::Slc, 2).page(PageIndex::new(page));
        device.program(page, &[byte; 1024], &[0; 32]).unwrap();
    }

    fn first_byte(device: &mut Device, page: u16) -> Option<u8> {
        let page = Block::new(Region::Slc, 2).page(PageIndex::new(page));
        let mut data = [0; 1024];
        device.read(page, Bytes::ZERO, &mut data, &mut []).ok()?;
        Some(data[0])
    }

    #[test]
    fn what_was_committed_is_there_whenever_the_program_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        let (mut keeper, found) = Keeper::open(&path).unwrap();
        assert!(found.is_none());
        let mut device = device();
        program(&mut device, 0, 10);
        keeper.save(&about(), &mut device).unwrap();
        program(&mut device, 1, 11);
        let torn = Block::new(Region::Slc, 2).page(PageIndex::new(2));
        let (fate, pair) = (PageFate::Uncorrectable, PairFate::Kept);
        device.tear_program(torn, &[12; 1024], &[0; 32], fate, pair).unwrap();
        keeper.commit(&mut device).unwrap();
        program(&mut device, 3, 13);
        let locked = Keeper::open(&path).unwrap_err().to_string();
        assert!(locked.contains("another server has"), "{locked}");
        drop(keeper);

        let (keeper, found) = Keeper::open(&path).unwrap();
        let mut found = found.unwrap();
        assert_eq!((found.about, found.replayed), (about(), 2));
        let bytes: Vec<_> = (0..4).map(|page| first_byte(&mut found.device, page)).collect();
        assert_eq!(bytes, [Some(10), Some(11), None, Some(0xFF)], "the last was not committed");
        drop(keeper);

        // An incomplete record.
        let journal = journal_path(&path);
        let whole = std::fs::read(&journal).unwrap();
        for length in [whole.len() - 1, whole.len() - 1100, 20, 3] {
            std::fs::write(&journal, &whole[..length]).unwrap();
            let (_, found) = Keeper::open(&path).unwrap();
            let mut found = found.unwrap();
            assert!(found.replayed < 2);
            assert_eq!(first_byte(&mut found.device, 0), Some(10));
        }
    }

    #[test]
    fn what_fades_without_power_is_gone_when_the_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        let (mut keeper, _) = Keeper::open(&path).unwrap();
        let mut device = device();
        let fading = |device: &mut Journaled, page| {
            let page = Block::new(Region::Slc, 2).page(PageIndex::new(page));
            let (fate, pair) = (PageFate::Fading, PairFate::Kept);
            device.tear_program(page, &[12; 1024], &[0; 32], fate, pair).unwrap();
        };
        program(&mut device, 0, 10);
        fading(&mut device, 1);
        assert_eq!(first_byte(device.inner_mut(), 1), Some(12));
        keeper.save(&about(), &mut device).unwrap();
        fading(&mut device, 2);
        keeper.commit(&mut device).unwrap();
        drop(keeper);
        let (_, found) = Keeper::open(&path).unwrap();
        let mut found = found.unwrap().device;
        let bytes: Vec<_> = (0..3).map(|page| first_byte(&mut found, page)).collect();
        assert_eq!(bytes, [Some(10), None, None], "in the file and in the journal");
    }

    #[test]
    fn a_journal_of_another_file_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        let (mut keeper, _) = Keeper::open(&path).unwrap();
        let mut device = device();
        keeper.save(&about(), &mut device).unwrap();
        program(&mut device, 0, 10);
        keeper.commit(&mut device).unwrap();
        let old = std::fs::read(journal_path(&path)).unwrap();
        keeper.save(&about(), &mut device).unwrap();
        drop(keeper);
        // As if the program had ended between the file and its journal.
        std::fs::write(journal_path(&path), &old).unwrap();
        let (_, found) = Keeper::open(&path).unwrap();
        let mut found = found.unwrap();
        assert_eq!((found.replayed, first_byte(&mut found.device, 0)), (0, Some(10)));
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk.img");
        std::fs::write(&path, "no disk\n").unwrap();
        let told = Keeper::open(&path).map(drop).unwrap_err().to_string();
        assert!(told.contains("disk.img") && told.contains("no disk of"), "{told}");
    }
}
