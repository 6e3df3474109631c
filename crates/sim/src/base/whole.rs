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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::files::check;

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
