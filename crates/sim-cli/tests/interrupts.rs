//! Ctrl-C in every command that takes its time: exit code 130, what was done is said, and no file is left half written.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

mod common;

use common::{file, folder};

fn start(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    let command = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// Runs for a while, stops by Ctrl-C, and takes what was said: on standard output, and on standard error.
fn stopped(arguments: &[&str]) -> (String, String) {
    let child = start(arguments);
    thread::sleep(Duration::from_millis(1500));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill runs").success(), "{arguments:?} ended before it was stopped");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("an end");
    let [out, error] = [stdout, stderr].map(|text| String::from_utf8(text).expect("text"));
    assert_eq!(status.code(), Some(130), "{arguments:?}: {out}{error}");
    assert!(error.contains("stopped by Ctrl-C: "), "{arguments:?}: {error}");
    (out, error)
}

const ENDLESS: &str = "synth:uniform?requests=1000000000&size=4KiB";

/// Files of a folder, by name.
fn left(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn synth_leaves_no_file() {
    let folder = folder("interrupted-synth");
    for name in ["made.csv", "made.csv.gz", "made.csv.zst"] {
        let path = folder.join(name);
        let path = path.to_str().unwrap();
        let (_, said) = stopped(&["synth", "uniform", "--requests", "1000000000", "-o", path]);
        assert!(said.contains("requests were made") && said.contains("was not written"), "{said}");
        assert_eq!(left(&folder), [""; 0]);
    }
}

#[test]
fn replay_and_compare_show_what_they_have_and_write_no_file() {
    let folder = folder("interrupted-replay");
    let [json, page] = ["a.json", "a.html"].map(|name| folder.join(name).display().to_string());
    for command in ["replay", "compare"] {
        let (out, said) = stopped(&[command, ENDLESS, "--json", &json, "--report", &page]);
        assert!(out.contains("PARTIAL"), "{command}: {out}");
        assert!(said.contains("requests were served") && said.contains("no file"), "{said}");
        assert_eq!(left(&folder), [""; 0]);
    }
    let csv = folder.join("a.csv").display().to_string();
    let (out, said) = stopped(&["compare", ENDLESS, "--csv", &csv]);
    assert!(out.contains("PARTIAL") && said.contains("no file was written"), "{out}{said}");
    assert_eq!(left(&folder), [""; 0]);
    let (out, said) = stopped(&["compare", ENDLESS, "--csv", "-"]);
    assert!(out.starts_with("device,") && out.lines().count() == 3, "{out}");
    assert!(said.contains("all figures are of these") && !said.contains("no file"), "{said}");
    let (out, _) = stopped(&["replay", ENDLESS, "--json", "-"]);
    let result: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(result["partial"], true);
}

#[test]
fn profile_counts_nothing_by_halves() {
    let (out, said) = stopped(&["profile", "synth:sequential?requests=4000000000&footprint=1MiB"]);
    assert!(out.is_empty() && said.contains("requests were counted"), "{out}{said}");
}

#[test]
fn sweep_keeps_what_is_done_and_says_so() {
    let folder = folder("interrupted-sweep");
    let plan = file(
        "interrupted.toml",
        format!(
            "devices = [\"tiny\"]\nsystems = [\"conventional\"]\n\
             traces = [\"synth:zipf?requests=100\", \"{ENDLESS}\"]\nfit = \"wrap\"\n"
        ),
    );
    let out = folder.join("out");
    let (table, said) = stopped(&["sweep", &plan, "--out", out.to_str().unwrap(), "--jobs", "1"]);
    assert!(said.contains("1 of 2 runs are done and kept"), "{table}{said}");
    assert_eq!(left(&out.join("runs")).len(), 1);
}

#[test]
fn torture_says_how_far_it_was() {
    let (out, said) = stopped(&["torture", "--seeds", "100000"]);
    assert!(out.contains(" cuts, ") && said.contains("what was tried"), "{out}{said}");
}

#[test]
fn repro_writes_no_figure() {
    let folder = folder("interrupted-repro");
    let out = folder.join("figures");
    let long = ["repro", "chang", "table3", "--requests", "100000000", "--out"];
    let (_, said) = stopped(&[&long[..], &[out.to_str().unwrap()]].concat());
    assert!(said.contains("runs were done"), "{said}");
}
