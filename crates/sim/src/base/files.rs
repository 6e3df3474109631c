//! Files that are read whole, and what is asked before one is written.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use nand_model::datasheet;
use serde::de::DeserializeOwned;

use crate::base::Failure;

/// A file's text, up to a maximum number of bytes, because a file may be endless.
pub fn text(path: &Path, longest: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(longest + 1).read_to_string(&mut text)?;
    if text.len() as u64 > longest {
        let reason = format!("it has more than {longest} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(text)
}

/// The keys of a TOML text. Errors name the line; for an unknown key they suggest a known one.
pub fn keys<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let reason = datasheet::in_plain_words(error.message());
        let before = error.span().and_then(|at| text.get(..at.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        line.map_or_else(|| reason.clone(), |line| format!("line {line}: {reason}"))
    })
}

/// Checks that a file can be written there, before a long run rather than after it.
pub fn check(path: &Path) -> Result<(), Failure> {
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

/// Waits until the name of a file would survive a crash of the machine.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))) {
        Ok(folder) => folder.sync_all(),
        // A folder that lets files be made in it, but not its names be read.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}
