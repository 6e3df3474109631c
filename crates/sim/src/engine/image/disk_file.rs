//! The file of a disk that is served: found by its path, then held by what the path leads to. Links, and names that
//! change while it is served, make no difference.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::damage::Tail;
use super::disk::{self, Closed, Disk, Opened};
use super::file::NamedFile;
use super::journaled::Journaled;
use super::mark::Mark;
use super::refusal::Refusal;
use super::slot::Copies;
use super::unit::About;
use super::version_1;
use crate::base::{Failure, Observer, files};

/// The file of a disk, locked.
#[derive(Debug)]
pub struct DiskFile {
    path: PathBuf,
    file: Kept,
}

#[derive(Debug)]
enum Kept {
    /// There is no such file.
    Absent,
    /// It holds no disk yet.
    Blank(NamedFile),
    Disk(Box<Disk<NamedFile>>),
}

/// Why a file is not used, as users are told.
pub fn refused(path: &Path, refusal: &Refusal) -> Failure {
    let path = path.display();
    let more = match refusal {
        Refusal::Unreadable(_)
        | Refusal::Unwritable(_)
        | Refusal::Unlockable(_)
        | Refusal::Foreign
        | Refusal::Version { .. }
        | Refusal::Old => "",
        _ => {
            ". It is left as it is: `tandem image check` says more, and `tandem image recover` \
             what can be saved"
        }
    };
    Failure::Arguments(format!("{path} cannot be used: {refusal}{more}"))
}

/// Opens a regular file, and locks it.
pub fn locked(
    path: &Path,
    options: &OpenOptions,
    lock: FlockOperation,
) -> Result<NamedFile, Failure> {
    let unreadable = |error| refused(path, &Refusal::Unreadable(error));
    // Others, such as pipes, may not be opened at all.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(refused(path, &Refusal::Foreign));
    }
    let file = options.open(path).map_err(|error| match File::open(path) {
        Ok(_) => refused(path, &Refusal::Unwritable(error)),
        Err(_) => unreadable(error),
    })?;
    flock(&file, lock).map_err(|error| not_locked(path, error))?;
    // What was opened may have been removed before it was locked.
    if !is_at(path, &file) {
        let gone = "it was removed or replaced while it was opened";
        return Err(unreadable(io::Error::new(ErrorKind::NotFound, gone)));
    }
    Ok(NamedFile::new(file, path))
}

/// Why a file was not locked, as users are told.
fn not_locked(path: &Path, error: Errno) -> Failure {
    if error == Errno::WOULDBLOCK {
        let path = path.display();
        return Failure::Arguments(format!("another server has {path} open: stop it first"));
    }
    refused(path, &Refusal::Unlockable(error.into()))
}

/// Whether the path leads to that file.
fn is_at(path: &Path, file: &File) -> bool {
    let of = |data: fs::Metadata| (data.dev(), data.ino());
    match (fs::metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => of(there) == of(here),
        _ => false,
    }
}

/// Reads a disk that nobody writes meanwhile, whole or not. `None`: the file holds none yet.
pub(super) fn read(path: &Path) -> Result<Option<Opened>, Failure> {
    let lock = FlockOperation::NonBlockingLockShared;
    let file = locked(path, OpenOptions::new().read(true), lock)?;
    disk::read(&file).map_err(|refusal| refused(path, &refusal))
}

impl DiskFile {
    /// Locks the file, and reads it if it is there. Nothing is written.
    pub fn open(path: &Path, observer: &dyn Observer) -> Result<(Self, Option<Opened>), Failure> {
        files::check(path)?;
        let disk_file = |file| Self { path: path.into(), file };
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            tell_journal(path, observer);
            return Ok((disk_file(Kept::Absent), None));
        }
        let lock = FlockOperation::NonBlockingLockExclusive;
        let file = locked(path, OpenOptions::new().read(true).write(true), lock)?;
        match Disk::open(file).map_err(|refusal| refused(path, &refusal))? {
            Ok((disk, opened)) => {
                tell(path, &opened, observer);
                Ok((disk_file(Kept::Disk(Box::new(disk))), Some(opened)))
            }
            Err(file) => Ok((disk_file(Kept::Blank(file)), None)),
        }
    }

    /// Reads the disk of a file that stays as it is.
    pub fn only_read(path: &Path, observer: &dyn Observer) -> Result<Opened, Failure> {
        let opened = read(path)?.ok_or_else(|| refused(path, &Refusal::Foreign))?;
        if let Tail::Damaged(damage) = opened.replayed.tail {
            return Err(refused(path, &Refusal::Journal(damage)));
        }
        tell(path, &opened, observer);
        Ok(opened)
    }

    /// Begins to keep the device in the file. From now on its operations are recorded.
    pub fn begin(&mut self, about: &About, device: &mut Journaled) -> Result<(), Failure> {
        let of_file = |reason| Failure::File { path: self.path.clone(), reason };
        let begun = match std::mem::replace(&mut self.file, Kept::Absent) {
            Kept::Absent => create(&self.path, about, device).map(Box::new).map_err(of_file),
            Kept::Blank(file) => Disk::create(file, about, device).map(Box::new).map_err(of_file),
            Kept::Disk(mut disk) => {
                disk.go_on(device).map(|()| disk).map_err(|reason| failed(&self.path, reason))
            }
        };
        self.file = Kept::Disk(begun?);
        Ok(())
    }

    /// Writes the operations since the last call. They may be acknowledged only after that.
    pub fn commit(&mut self, device: &mut Journaled) -> Result<(), Failure> {
        self.with_disk(|disk| disk.commit(device))
    }

    /// Makes all operations survive a crash of the machine, not only of the program.
    pub fn sync(&mut self, device: &mut Journaled) -> Result<(), Failure> {
        self.with_disk(|disk| disk.sync(device))
    }

    /// Ends with a file that holds the chip alone, or tells that the journal stays.
    pub fn close(mut self, device: &mut Journaled, observer: &dyn Observer) -> Result<(), Failure> {
        if let Kept::Disk(disk) = &mut self.file {
            close(disk, &self.path, device, observer)?;
            if disk.store.file.metadata().is_ok_and(|data| data.nlink() == 0) {
                let gone = "it was removed while it was served";
                return Err(failed(&self.path, io::Error::new(ErrorKind::NotFound, gone)));
            }
        }
        Ok(())
    }

    fn with_disk(
        &mut self,
        work: impl FnOnce(&mut Disk<NamedFile>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match &mut self.file {
            Kept::Disk(disk) => work(disk).map_err(|reason| failed(&self.path, reason)),
            Kept::Absent | Kept::Blank(_) => Ok(()),
        }
    }
}

/// Closes a disk, and tells if its journal stays.
fn close(
    disk: &mut Disk<NamedFile>,
    path: &Path,
    device: &mut Journaled,
    observer: &dyn Observer,
) -> Result<(), Failure> {
    match disk.close(device).map_err(|reason| failed(path, reason))? {
        Closed::Chip => {}
        Closed::Journal(error) => observer.note(&format!(
            "{} could not be rewritten ({error}): it keeps its journal, and loses nothing",
            path.display()
        )),
    }
    Ok(())
}

/// Writes a disk to a new file.
pub fn save(
    path: &Path,
    about: &About,
    device: &mut Journaled,
    observer: &dyn Observer,
) -> Result<(), Failure> {
    let mut disk = create(path, about, device)
        .map_err(|reason| Failure::File { path: path.into(), reason })?;
    close(&mut disk, path, device, observer)
}

/// A failure to write what a disk needs. What is missing may be room, without which it can still be read.
fn failed(path: &Path, reason: io::Error) -> Failure {
    let kind = reason.kind();
    let reason = match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            let hint = "what was answered is in it, and --read-only serves it without any room";
            io::Error::new(kind, format!("{reason}; {hint}"))
        }
        _ => reason,
    };
    Failure::File { path: path.into(), reason }
}

/// Says what was found besides a disk that was left in order.
fn tell(path: &Path, opened: &Opened, observer: &dyn Observer) {
    let path = path.display();
    if let Copies::DamagedAt(at) = opened.copies {
        observer.note(&format!("of the two headers of {path}, the one at byte {at} was damaged"));
    }
    if opened.replayed.mark == Mark::Damaged {
        observer.note(&format!(
            "what {path} says of flushes was damaged; its records match their checks"
        ));
    }
    if let Tail::Incomplete(bytes) = opened.replayed.tail {
        observer.note(&format!(
            "the last record of {path} is incomplete ({bytes} bytes): nobody was told that it was done"
        ));
    }
}

/// Says that a journal of version 1 is there without its file: who moved the one may miss the disk.
fn tell_journal(path: &Path, observer: &dyn Observer) {
    let journal = version_1::journal_path(path);
    if fs::symlink_metadata(&journal).is_ok() {
        observer.note(&format!(
            "{} is there, and the file of version 1 that it may belong to is not: a new disk is begun without it, and \
             it is left as it is. If a disk is missing, put its file beside it, and use `tandem image recover`",
            journal.display()
        ));
    }
}

/// Makes a new file for the device. No other one is touched.
fn create(path: &Path, about: &About, device: &mut Journaled) -> io::Result<Disk<NamedFile>> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    // Who locked it before has it.
    let begun = flock(&file, FlockOperation::NonBlockingLockExclusive);
    if begun == Err(Errno::WOULDBLOCK) {
        let other = "another server has just begun it";
        return Err(io::Error::new(ErrorKind::ResourceBusy, other));
    }
    // The lock holds until the last of both is closed.
    let held = file.try_clone()?;
    let made = begun
        .map_err(|error| io::Error::other(Refusal::Unlockable(error.into())))
        .and_then(|()| Disk::create(NamedFile::new(file, path), about, device));
    if made.is_err() && is_at(path, &held) {
        // It was never a disk.
        let _ = fs::remove_file(path);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_fails_is_told_by_its_cause() {
        let told = |error| not_locked(Path::new("disk.img"), error).to_string();
        assert!(told(Errno::WOULDBLOCK).contains("another server has disk.img open"));
        let other = told(Errno::NOLCK);
        assert!(other.contains("cannot be locked against a second server: No locks"), "{other}");
        assert!(!other.contains("another server") && !other.contains("recover"), "{other}");
    }

    /// Whichever write finds no room: a mount may program pages long after the server has greeted.
    #[test]
    fn a_full_disk_is_told_with_the_way_to_read_it() {
        let path = Path::new("disk.img");
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge] {
            let told = failed(path, kind.into()).to_string();
            assert!(told.starts_with("disk.img cannot be written: "), "{told}");
            assert!(told.contains("--read-only serves it without any room"), "{told}");
        }
        let told = failed(path, ErrorKind::PermissionDenied.into()).to_string();
        assert!(!told.contains("--read-only"), "{told}");
    }
}
