//! Replays on a device whose channels, dies and planes work at the same time.
//!
//! `tlc-pslc`: 2 channels of 2 dies of 2 planes, 16-KiB pages. pSLC programs take 200 us, TLC reads 75 us and programs
//! 750 us; a byte crosses a bus in 1.25 ns, so that a page with its 128 spare bytes takes 20.64 us.

#![allow(clippy::float_cmp)] // The figures are exact: sums of whole numbers, or short decimals.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn result(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(arguments)
        .args(["--json", "-"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

const TLC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices/tlc-pslc.toml");

fn trace(name: &str, lines: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("parallel-{name}.csv"));
    fs::write(&path, lines).expect("a file of the test's own");
    path.to_str().expect("text").to_owned()
}

/// A replay on a small `tlc-pslc`.
fn on_tlc(workload: &str, flags: &[&str]) -> Value {
    let arguments = ["replay", workload, "--device", "tlc-pslc", "--capacity", "2GiB"];
    result(&[&arguments[..], flags].concat())
}

fn figure(result: &Value, place: &str) -> f64 {
    result.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("{place}: {result}"))
}

fn total(result: &Value) -> f64 {
    figure(result, "/response_us/total")
}

#[test]
fn a_lone_write_answers_when_its_page_is_programmed() {
    let lone = trace("lone", "0,W,4096,4096\n");
    for flags in [&[][..], &["--parallel"], &["--parallel", "--open-loop"]] {
        let result = on_tlc(&lone, &[&["--system", "hybrid"], flags].concat());
        assert_eq!(figure(&result, "/write_us/total"), 200.0 + 20.64, "{flags:?}");
        assert_eq!(figure(&result, "/response_by_cause_us/writes/host"), 220.64, "{flags:?}");
    }
}

#[test]
fn one_large_read_is_spread_over_the_dies() {
    // Eight pages, a stripe of the first block. Of each page the spare bytes that the FTL asks for come along.
    let (one, eight) = (trace("one", "0,R,0,16384\n"), trace("eight", "0,R,0,131072\n"));
    let flags = ["--system", "conventional"];
    let alone = total(&on_tlc(&one, &flags));
    let transfer = alone - 75.0;
    assert!((20.48..20.64).contains(&transfer), "{alone}");
    assert!((total(&on_tlc(&eight, &flags)) - 8.0 * alone).abs() < 1e-6);
    let spread = total(&on_tlc(&eight, &["--system", "conventional", "--parallel"]));
    // All planes sense together; each of the two channels carries four pages.
    assert!((spread - (75.0 + 4.0 * transfer)).abs() < 1e-6, "{spread}");
}

#[test]
fn a_large_write_is_spread_over_the_dies() {
    let large = trace("large", "0,W,0,131072\n");
    let written = on_tlc(&large, &["--system", "conventional", "--parallel"]);
    // Four pages over each channel, then all planes program together. What the FTL does beside that is told apart.
    let host = figure(&written, "/response_by_cause_us/writes/host");
    assert!((host - (4.0 * 20.64 + 750.0)).abs() < 1e-6, "{written}");
    assert_eq!(figure(&written, "/mlc/pages/host_program"), 8.0);
}

#[test]
fn a_write_that_covers_a_sector_in_part_waits_for_the_read_before_it() {
    let part = trace("part", "0,W,4096,512\n");
    let (serial, parallel) = (on_tlc(&part, &[]), on_tlc(&part, &["--parallel"]));
    assert_eq!(total(&serial), total(&parallel));
    assert!(total(&serial) > 220.64 + 75.0, "{serial}");
}

#[test]
fn random_reads_approach_as_many_times_one_dies_rate_as_there_are_dies() {
    let workload = "synth:uniform?requests=5000&size=16KiB&reads=100&footprint=256MiB";
    let time = |depth: &str| {
        let flags = ["--system", "conventional", "--parallel", "--queue-depth", depth];
        let result = on_tlc(workload, &flags);
        assert_eq!(result["queue_depth"].to_string(), depth);
        figure(&result, "/elapsed_us")
    };
    let serial = total(&on_tlc(workload, &["--system", "conventional"]));
    let [one, two, four, many] = ["1", "2", "4", "64"].map(time);
    assert!((one / serial - 1.0).abs() < 1e-9, "one at a time gains nothing: {one} {serial}");
    assert!(one > two && two > four && four > many, "{one} {two} {four} {many}");
    assert!((3.6..4.2).contains(&(serial / many)), "four dies: {}", serial / many);
}

#[test]
fn requests_that_arrive_together_share_the_dies() {
    let workload =
        "synth:uniform?requests=5000&size=16KiB&reads=100&footprint=256MiB&interval_us=30";
    let time = |flags: &[&str]| {
        let flags = [&["--system", "conventional", "--open-loop"], flags].concat();
        figure(&on_tlc(workload, &flags), "/response_us/mean")
    };
    // One die serves a read in 95.5 us, four of them one in 24.
    assert!(time(&[]) > 1e5, "serially, the queue grows without end");
    assert!(time(&["--parallel"]) < 1e3);
}

#[test]
fn long_runs_gain_from_every_plane() {
    let workload = "synth:sequential?requests=48&size=1MiB";
    let time = |flags: &[&str]| total(&on_tlc(workload, flags));
    let gain = time(&[]) / time(&["--parallel"]);
    assert!((4.0..8.0).contains(&gain), "{gain}");
}

#[test]
fn where_operations_follow_each_other_a_longer_queue_only_waits() {
    let workload = "synth:zipf?requests=3000&size=1KiB&reads=30";
    let run =
        |depth: &str| result(&["replay", workload, "--device", "tiny", "--queue-depth", depth]);
    let (one, four) = (run("1"), run("4"));
    for place in ["/energy_mj", "/mlc/erases", "/response_by_cause_us/writes/fold"] {
        assert_eq!(figure(&one, place), figure(&four, place), "{place}");
    }
    let ratio = total(&four) / total(&one);
    assert!((3.9..4.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_queue_and_arrivals_exclude_each_other() {
    let output = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["replay", "synth:zipf?requests=10", "--open-loop", "--queue-depth", "2"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A block that is striped over the device works all planes by itself: a page map that filled eight of them in turn
/// would find neighbours on one plane.
#[test]
fn a_page_map_on_striped_blocks_reads_as_fast_as_chains() {
    let load = "synth:sequential?requests=400&size=64KiB&reads=100";
    let words = ["compare", load, "--device", "tlc-pslc", "--capacity", "8GiB", "--parallel"];
    let compared = result(&[&words[..], &["--systems", "conventional,page-mlc"]].concat());
    let [chains, map] =
        [0, 1].map(|at| compared["runs"][at]["read_us"]["mean"].as_f64().expect("a mean"));
    assert!((map / chains - 1.0).abs() < 0.1, "{map} for {chains}");
}

/// Blocks of the cache that were filled in turn are emptied together: one after the other, each would put its units,
/// every fourth or eighth of the disk, beside each other.
#[test]
fn neighbours_that_a_cache_has_emptied_are_read_as_fast_as_those_of_a_page_map() {
    let text = fs::read_to_string(Path::new(TLC)).expect("a device file of ours");
    let lines = text.lines().filter(|line| !line.starts_with("stripe"));
    let plain = lines.collect::<Vec<_>>().join("\n");
    assert!(plain.len() < text.len(), "{text}");
    let device = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unstriped.toml");
    fs::write(&device, plain).expect("a file of the test's own");
    let load = "synth:sequential?requests=400&size=64KiB&reads=100";
    let words = ["compare", load, "--device", device.to_str().expect("text"), "--parallel"];
    let sizes = ["--capacity", "16GiB", "--systems", "page-mlc,pslc"];
    let compared = result(&[&words[..], &sizes].concat());
    let [map, cache] =
        [0, 1].map(|at| compared["runs"][at]["read_us"]["mean"].as_f64().expect("a mean"));
    assert!((cache / map - 1.0).abs() < 0.1, "{cache} for {map}");
}

#[test]
fn a_cache_of_nothing_is_none() {
    let load = "synth:sequential?requests=6000&size=256KiB";
    let words = ["compare", load, "--device", "tlc-pslc", "--capacity", "2GiB", "--fit", "wrap"];
    let systems = ["--systems", "page-mlc,pslc?static=0&dynamic=0"];
    for flags in [&[][..], &["--parallel", "--queue-depth", "4"]] {
        let compared = result(&[&words[..], &systems, flags].concat());
        for place in ["/elapsed_us", "/write_amplification"] {
            let [map, cache] = [0, 1].map(|at| figure(&compared["runs"][at], place));
            assert!((cache / map - 1.0).abs() < 0.03, "{place}: {cache} for {map}");
        }
        assert_eq!(figure(&compared["runs"][1], "/figures/pages_cached"), 0.0);
    }
}
