//! The binary as people call it, and files for it.

#![allow(dead_code)] // Each test binary needs some of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().expect("the binary runs")
}

/// Runs with `--json -` and takes the result.
pub(crate) fn result(arguments: &[&str]) -> Value {
    let output = tandem(&[arguments, &["--json", "-"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Runs well, and takes what is printed.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = tandem(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Runs in vain, and takes exit code and reason.
pub(crate) fn failure(arguments: &[&str]) -> (Option<i32>, String) {
    let output = tandem(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

/// A path of that name for files of tests.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// An empty folder of that name.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = path(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// A file of that name with that content, as it is named on the command line.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = path(name);
    fs::write(&path, content).expect("a file");
    path.to_str().expect("a path of text").into()
}
