//! Tests of the repository itself: what no compiler checks, and every crate keeps.
//!
//! `tests/files.rs`: each file by its lines, and which crate builds upon which. `tests/modules.rs`: which module uses
//! which. `tests/names.rs`: names of types. `tests/functions.rs`: parameters, nesting, booleans. `tests/pages.rs`:
//! links, and code that pages quote. `tests/rules.rs`: seeded bugs stand in the rules that they break. `tests/face.rs`:
//! the public names of `ftl-core`.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Every file of the repository whose name ends so, what builds leave behind excepted.
pub fn files(ending: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, name) = (entry.path(), entry.file_name());
            let passed_over = name.to_string_lossy().starts_with('.') || name == "target";
            if path.is_dir() && !passed_over {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no .{ending} file was found");
    found
}

/// A file's text.
pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A path of a file as the repository knows it.
pub fn name(path: &Path) -> String {
    path.strip_prefix(root()).expect("within the repository").to_string_lossy().into_owned()
}
