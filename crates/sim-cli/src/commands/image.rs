//! `tandem image`: says whether a disk's file is whole, and saves what can be saved of one that is not.

use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use sim::engine::image::damage::Tail;
use sim::engine::image::device::Device;
use sim::engine::image::mark::Mark;
use sim::engine::image::refusal::Refusal;
use sim::engine::image::slot::Copies;
use sim::engine::image::{About, Journaled, Opened, disk, disk_file, version_1};
use sim::{Failure, show};

/// The arguments of `image`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Check the file of a disk and report what it holds; the file is not changed
    Check {
        /// The file, as given to `serve --image`
        file: PathBuf,
    },
    /// Report what can be recovered from a damaged file, and what is lost; with --to, write it to a new file
    Recover {
        /// The file; it is only read
        file: PathBuf,
        /// Write the disk to this file, which must not be there yet
        #[arg(long, value_name = "NEW")]
        to: Option<PathBuf>,
    },
}

/// Checks or recovers a file.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    match &args.task {
        Task::Check { file } => check(file, out),
        Task::Recover { file, to } => recover(file, to.as_deref(), out),
    }
}

/// Opens a file that no server writes meanwhile.
fn read(path: &Path) -> Result<Result<Option<Opened>, Refusal>, Failure> {
    let mut options = std::fs::OpenOptions::new();
    let file = disk_file::locked(path, options.read(true), FlockOperation::NonBlockingLockShared)?;
    Ok(disk::read(&file))
}

fn check(path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let name = path.display();
    let opened = read(path)?.map_err(|refusal| disk_file::refused(path, &refusal))?;
    let Some(opened) = opened else {
        return Ok(writeln!(out, "{name}: no disk yet; a server may begin one in it")?);
    };
    writeln!(out, "{name}: {}", of(&opened.about))?;
    let header = &opened.header;
    let (identity, generation) = (header.identity, header.generation);
    writeln!(out, "disk     {identity}, generation {generation}")?;
    let copies = match opened.copies {
        Copies::Same => "whole".into(),
        Copies::BrokenOff => "being replaced when the server ended, which did no harm".into(),
        Copies::DamagedAt(at) => format!("the one at byte {at} is damaged; the other is whole"),
    };
    writeln!(out, "headers  {copies}")?;
    let (bytes, at) = (show::count(header.chip.bytes), show::count(header.chip.at));
    writeln!(out, "chip     {bytes} bytes from byte {at} on: whole")?;
    let (records, end) = (show::count(opened.replayed.records), show::count(opened.replayed.end));
    let tail = match &opened.replayed.tail {
        Tail::Clean if header.journal.bytes == 0 => "none: the last server ended well".into(),
        Tail::Clean => format!("{records} records up to byte {end}: whole"),
        Tail::Incomplete(bytes) => format!(
            "{records} records up to byte {end}: whole; {bytes} bytes of the next, which nobody was told of"
        ),
        Tail::Damaged(_) => format!("{records} records up to byte {end} are whole"),
    };
    writeln!(out, "journal  {tail}")?;
    if header.journal.bytes > 0 {
        let flushes = match opened.replayed.mark {
            Mark::Absent => "there was none since the chip was written".into(),
            Mark::Flushed(end) => format!("they cover the records up to byte {}", show::count(end)),
            Mark::Damaged => {
                "what is said of them is damaged; no record is missing for that".into()
            }
        };
        writeln!(out, "flushes  {flushes}")?;
    }
    if let Tail::Damaged(damage) = opened.replayed.tail {
        out.flush()?;
        return Err(disk_file::refused(path, &Refusal::Journal(damage)));
    }
    match opened.copies {
        Copies::DamagedAt(at) => Err(Failure::Arguments(format!(
            "{name} is damaged: its header at byte {at}. Nothing is lost, and the next server writes it again"
        ))),
        _ if opened.replayed.mark == Mark::Damaged => Err(Failure::Arguments(format!(
            "{name} is damaged: what it says of flushes. Nothing is lost, and the next flush writes it again"
        ))),
        _ => Ok(()),
    }
}

fn recover(path: &Path, to: Option<&Path>, out: &mut dyn Write) -> Result<(), Failure> {
    let name = path.display();
    let (about, device) = match read(path)? {
        Ok(Some(opened)) => {
            write!(out, "{}", saved(&opened))?;
            (opened.about, opened.device)
        }
        Ok(None) => {
            return Err(Failure::Arguments(format!("{name} holds no disk yet: nothing is lost")));
        }
        Err(Refusal::Old) => {
            let (about, device, said) =
                version_1::read(path).map_err(|refusal| disk_file::refused(path, &refusal))?;
            write!(out, "{name} has version 1: {}.\n{said}", of(&about))?;
            (about, device)
        }
        Err(refusal) => {
            return Err(Failure::Arguments(format!(
                "{name}: {refusal}. Nothing can be saved of it by this program; it is left as it is"
            )));
        }
    };
    match to {
        Some(to) => save(to, &about, device, out),
        None => Ok(writeln!(out, "Nothing was written: --to NEW writes it to a new file.")?),
    }
}

fn save(to: &Path, about: &About, device: Device, out: &mut dyn Write) -> Result<(), Failure> {
    let mut device = Journaled::new(device);
    let disk = disk_file::create(to, about, &mut device);
    let closed = disk.and_then(|mut disk| disk.close(&mut device));
    closed.map_err(|reason| Failure::File { path: to.into(), reason })?;
    Ok(writeln!(out, "{} holds it now: tandem serve --image {0}", to.display())?)
}

/// What is saved of a disk, and what is given up.
fn saved(opened: &Opened) -> String {
    let (records, about) = (show::count(opened.replayed.records), of(&opened.about));
    let kept = format!("Saved: the chip ({about}), and {records} records of its journal.\n");
    let given_up = match &opened.replayed.tail {
        Tail::Clean => "Given up: nothing.\n".into(),
        Tail::Incomplete(_) => {
            "Given up: the last record, incomplete; nobody was told of it.\n".into()
        }
        Tail::Damaged(damage) => format!("Given up: all from there on: {damage}.\n"),
    };
    kept + &given_up
}

fn of(about: &About) -> String {
    let size = |size: Option<u64>| size.map_or_else(|| "the device's".into(), show::size);
    let About { system, device, capacity, slc, .. } = about;
    format!("{system} on {device}, capacity {}, SLC {}", size(*capacity), size(*slc))
}
