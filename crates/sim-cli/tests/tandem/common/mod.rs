//! The binary as people call it, and files for it.

#![allow(dead_code)] // Each test binary needs some of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

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

/// Runs for a while, stops by Ctrl-C, and takes what was said: on standard output, and on standard error.
fn stopped_after(pause: Duration, arguments: &[&str]) -> (String, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    thread::sleep(pause);
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill runs").success(), "{arguments:?} ended before it was stopped");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("an end");
    let [out, error] = [stdout, stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(status.code(), Some(130), "{arguments:?}: {out}{error}");
    assert!(error.contains("stopped by Ctrl-C: "), "{arguments:?}: {error}");
    (out, error)
}

/// Stops a command while it does its work: as late as this machine, busy as it is, has begun with it.
pub(crate) fn stopped(arguments: &[&str], at_work: impl Fn(&str) -> bool) -> (String, String) {
    let mut pause = Duration::from_secs(1);
    loop {
        let (out, error) = stopped_after(pause, arguments);
        if at_work(&format!("{out}{error}")) || pause > Duration::from_secs(120) {
            return (out, error);
        }
        pause *= 2;
    }
}
