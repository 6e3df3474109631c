//! Files that are complete or absent.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::failure::Failure;
use super::files::sync_folder;

/// Writes a file under a temporary name and then renames it, so that even after a run is killed a reader finds the old
/// content or the new one.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), Failure> {
    replace_with(path, |file| Ok(file.write_all(content)?))
}

/// Like [`replace`], for content that is produced while it is written. If `fill` fails, nothing is changed.
pub fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), Failure>,
) -> Result<(), Failure> {
    write(path, fill).map_err(|failure| match failure {
        Failure::Output(reason) => Failure::File { path: path.into(), reason },
        other => other,
    })
}

fn write(path: &Path, fill: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<(), Failure> {
    // A device or a pipe, such as /dev/stdout, has a name that must stay its own.
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return fill(&mut File::create(path)?);
    }
    // A link stands for its target.
    let path = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".tandem-");
    if let Some(mut file) = nameless::begin(folder) {
        fill(&mut file)?;
        // The content is on the disk before the name is, so the file is complete even after a power loss.
        file.sync_data()?;
        let named = builder.make_in(folder, |name| nameless::name(&file, name))?;
        named.persist(&path).map_err(|error| error.error)?;
    } else {
        #[cfg(unix)]
        let builder = {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(MODE))
        };
        let mut file: NamedTempFile = builder.tempfile_in(folder)?;
        fill(file.as_file_mut())?;
        file.as_file().sync_data()?;
        file.persist(&path).map_err(|error| error.error)?;
    }
    Ok(sync_folder(&path)?)
}

/// The permissions of any new file, less the user's mask.
#[cfg(unix)]
const MODE: u32 = 0o666;

/// Files that get a name when they are complete, so that a killed program leaves nothing behind.
#[cfg(target_os = "linux")]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// The files that a program has open, by which one without a name is found.
    const OPEN: &str = "/proc/self/fd";

    /// Begins one in that folder, if its file system has such files.
    pub(super) fn begin(folder: &Path) -> Option<File> {
        let how = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = open(folder, how, Mode::from_raw_mode(super::MODE)).ok()?;
        Path::new(OPEN).is_dir().then(|| file.into())
    }

    /// Gives it a name that is free.
    pub(super) fn name(file: &File, name: &Path) -> io::Result<()> {
        let open = format!("{OPEN}/{}", file.as_raw_fd());
        Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod nameless {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) const fn begin(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn name(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::files::check;

    /// A program that is killed while it writes leaves what is in the folder then.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_has_no_name_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let has_nameless_files = nameless::begin(folder.path()).is_some();
        for before in [0, 1] {
            let mut seen = None;
            let fill = |file: &mut File| {
                file.write_all(b"whole")?;
                seen = Some(names());
                Ok(())
            };
            replace_with(&path, fill).unwrap();
            // Other file systems need a name from the beginning.
            assert_eq!(seen, Some(before + usize::from(!has_nameless_files)));
            assert_eq!((fs::read(&path).unwrap(), names()), (b"whole".to_vec(), 1));
        }
        let failed = replace_with(&path, |_| Err(Failure::Unfit("no".into())));
        assert!(failed.is_err() && names() == 1);
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        for content in ["first", "second"] {
            replace(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        replace(Path::new("/dev/null"), b"gone").unwrap();
        check(&path).unwrap();
        let told = |path: &Path| check(path).unwrap_err().to_string();
        assert!(told(folder.path()).contains("name a file in it"));
        assert!(told(&folder.path().join("none/result.json")).contains("make it first"));
        let missing = replace(&folder.path().join("none/result.json"), b"").unwrap_err();
        assert!(missing.to_string().contains("none/result.json cannot be written"), "{missing}");
    }
}
