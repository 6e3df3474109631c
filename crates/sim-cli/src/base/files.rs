//! Files that are complete or absent.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use nand_model::datasheet;
use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

use crate::base::Failure;

/// Writes a file under a temporary name and then renames it, so that even after a run is killed a reader finds the old
/// content or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), Failure> {
    replace_with(path, |file| Ok(file.write_all(content)?))
}

/// Like [`replace`], for content that is produced while it is written. If `fill` fails, nothing is changed.
pub(crate) fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<(), Failure>,
) -> Result<(), Failure> {
    write(path, fill).map_err(|failure| match failure {
        Failure::Output(reason) => Failure::File { path: path.into(), reason },
        other => other,
    })
}

/// A file's text, up to a maximum number of bytes, because a file may be endless.
pub(crate) fn text(path: &Path, longest: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(longest + 1).read_to_string(&mut text)?;
    if text.len() as u64 > longest {
        let reason = format!("it has more than {longest} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(text)
}

/// The keys of a TOML text. Errors name the line; for an unknown key they suggest a known one.
pub(crate) fn keys<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let reason = datasheet::with_meant_key(&error.message().replace('\n', "; "));
        let before = error.span().and_then(|at| text.get(..at.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        line.map_or_else(|| reason.clone(), |line| format!("line {line}: {reason}"))
    })
}

/// Checks that a file can be written there, before a long run rather than after it.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let refused = |kind: io::ErrorKind, reason: &str| {
        Err(Failure::File { path: path.into(), reason: io::Error::new(kind, reason.to_owned()) })
    };
    if path.is_dir() {
        return refused(io::ErrorKind::IsADirectory, "it is a folder: name a file in it");
    }
    match fs::metadata(folder) {
        Ok(data) if data.is_dir() => Ok(()),
        _ => refused(io::ErrorKind::NotFound, "there is no such folder: make it first"),
    }
}

/// Whether that name means standard output.
pub(crate) fn is_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths lead to the same file, or will when it is made.
#[cfg(unix)]
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => {
            place(one).is_some_and(|place_of_one| Some(place_of_one) == place(other))
        }
        _ => false,
    }
}

fn write(path: &Path, fill: impl FnOnce(&mut File) -> Result<(), Failure>) -> Result<(), Failure> {
    // A device or a pipe, such as /dev/stdout, has a name that must stay its own.
    if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return fill(&mut File::create(path)?);
    }
    // A link stands for its target.
    let path = fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".tandem-");
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of any new file, less the user's mask.
        builder.permissions(fs::Permissions::from_mode(0o666))
    };
    let mut file: NamedTempFile = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    fill(file.as_file_mut())?;
    // The content is on the disk before the name is, so the file is complete even after a power loss.
    file.as_file().sync_data()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(sync_folder(&path)?)
}

/// Waits until the name of a file would survive a crash of the machine.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => folder.sync_all(),
        // A folder that lets files be made in it, but not its names be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
