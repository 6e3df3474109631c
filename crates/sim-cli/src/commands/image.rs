//! `tandem image`: says whether a disk's file is whole, and saves what can be saved of one that is not.

use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use sim::engine::image::damage::Tail;
use sim::engine::image::mark::Mark;
use sim::engine::image::refusal::Refusal;
use sim::engine::image::slot::Copies;
use sim::engine::image::{About, Journaled, Opened, disk, disk_file, version_1};
use sim::{Failure, show};

use crate::base::terminal::Terminal;

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
    let mut device = Journaled::of_file(device);
    match to {
        Some(to) => disk_file::save(to, &about, &mut device, &Terminal)?,
        None => writeln!(out, "Nothing was written: --to NEW writes it to a new file.")?,
    }
    let mounted = super::serve::try_mount(path, &about, device);
    if let Some(to) = to {
        write!(out, "{} holds it now", to.display())?;
        let how = format!(": tandem serve --image {}", to.display());
        writeln!(out, "{}", if mounted.is_ok() { &how } else { "." })?;
        out.flush()?;
    }
    mounted.map_err(|failure| {
        let why = match failure {
            Failure::Violation(what) => what,
            other => other.to_string(),
        };
        Failure::Arguments(format!(
            "this program cannot serve that chip: {why}. Keep {name}, which is as it was, for the program that made it"
        ))
    })
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

#[cfg(test)]
mod tests {
    use std::fs;

    use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region};
    use nand_model::faults::FaultInjector;
    use nand_model::{Chip, Content};
    use sim::engine::systems::Chosen;
    use sim::input::device::{DeviceChoice, Setup, Stored};

    use super::*;

    fn about() -> About {
        let (system, device) = ("hybrid".into(), "tiny".into());
        About { system, device, capacity: None, slc: None, parallel: false }
    }

    fn formatted() -> Journaled {
        let setup = DeviceChoice::named("tiny").setup().unwrap();
        let setup = Setup { kept: Stored::Bytes, ..setup };
        let blueprint = Chosen::parse("hybrid").unwrap().blueprint(&setup).unwrap();
        let chip = Chip::new(&blueprint.part, Content::Bytes).unwrap();
        blueprint.format(Journaled::new(FaultInjector::new(chip, 1))).unwrap()
    }

    /// Makes the version in each header of the flash one from before format 1.
    fn made_older(device: &mut Journaled) -> u32 {
        let (geometry, mut changed) = (*device.geometry(), 0);
        for region in Region::ALL {
            let Some(shape) = geometry.region(region) else { continue };
            for block in (0..shape.blocks.get()).map(|index| Block::new(region, index)) {
                let page = block.page(PageIndex::new(0));
                let mut data = vec![0; shape.page_bytes.as_usize()];
                let mut spare = vec![0; shape.spare_bytes.as_usize()];
                let is_read = device.read(page, Bytes::ZERO, &mut data, &mut spare).is_ok();
                if is_read && data.starts_with(b"TANDEMFT") {
                    data[8..10].copy_from_slice(&9_u16.to_le_bytes());
                    device.erase(block).unwrap();
                    device.program(page, &data, &spare).unwrap();
                    changed += 1;
                }
            }
        }
        changed
    }

    /// A file of version 1 with that chip.
    fn written(path: &Path, device: &Journaled) {
        let about = serde_json::to_string(&about()).unwrap();
        let mut file =
            format!("{{\"tandem_disk\":1,\"generation\":5,\"about\":{about}}}\n").into_bytes();
        device.inner().save(&mut file).unwrap();
        fs::write(path, file).unwrap();
    }

    #[test]
    fn a_disk_that_is_recovered_and_cannot_be_served_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new, older] = ["old", "new", "older"].map(|name| folder.path().join(name));
        let mut device = formatted();
        written(&old, &device);
        let mut out = Vec::new();
        recover(&old, Some(&new), &mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        assert!(told.contains("holds it now: tandem serve --image"), "{told}");

        assert!(made_older(&mut device) > 1);
        written(&old, &device);
        for to in [None, Some(&*older)] {
            let mut out = Vec::new();
            let failure = recover(&old, to, &mut out).unwrap_err().to_string();
            for part in
                ["cannot serve that chip", "before format 1", "for the program that made it"]
            {
                assert!(failure.contains(part), "{failure}");
            }
            let told = String::from_utf8(out).unwrap();
            assert!(!told.contains("tandem serve --image"), "{told}");
            assert_eq!(told.contains("older holds it now."), to.is_some(), "{told}");
        }
        check(&older, &mut Vec::new()).unwrap();
    }
}
