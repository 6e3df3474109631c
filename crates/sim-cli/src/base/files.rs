//! Files: how they are read and written, and which are one and the same.

use std::fs;
use std::path::Path;

pub(crate) use sim::files::{check, keys, text};
pub(crate) use sim::whole::{replace, replace_with};

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
