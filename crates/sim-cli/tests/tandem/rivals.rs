//! The systems of other papers in the simulator: every one runs, verified, on devices of every shape and on a real
//! trace, and says what it is on.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn tandem(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output();
    let output = output.expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Compares on JSON, and gives the runs.
fn runs(arguments: &[&str]) -> Vec<Value> {
    let (code, out, err) = tandem(&[&["compare"], arguments, &["--json", "-"]].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    let mut value: Value = serde_json::from_str(&out).expect("JSON");
    value["runs"].as_array_mut().expect("runs").drain(..).collect()
}

fn number(run: &Value, path: &str) -> f64 {
    let figure = run.pointer(path).unwrap_or_else(|| panic!("{path} of {run}"));
    figure.as_f64().unwrap_or_else(|| panic!("{path} is {figure}"))
}

/// Operations of all parts on that account.
fn operations(run: &Value, cause: &str, verb: &str) -> f64 {
    let parts = run["parts"].as_object().expect("parts");
    let of = |part: &Value| part["operations"][cause][verb].as_f64().unwrap_or(0.0);
    parts.values().map(of).sum()
}

#[test]
fn every_system_runs_on_devices_of_every_shape() {
    let workload = "synth:zipf?requests=3000&reads=30&size=4KiB&seed=5";
    for device in
        [["tiny", "320KiB"], ["c3", "256MiB"], ["spi-nand-1g", "120MiB"], ["k9gag08u0m", "256MiB"]]
    {
        let [name, capacity] = device;
        let slc: &[&str] = if name == "c3" { &["--slc", "8MiB"] } else { &[] };
        let flags = [workload, "--systems", "all", "--device", name, "--capacity", capacity];
        for run in runs(&[&flags, slc].concat()) {
            assert!(number(&run, "/verified_reads") > 0.0, "{run}");
            assert!(number(&run, "/cost_usd") > 0.0 && number(&run, "/energy_mj") > 0.0, "{run}");
            assert!(number(&run, "/response_us/mean") > 0.0, "{run}");
            assert!(number(&run, "/ram_bytes") > 0.0, "{run}");
        }
    }
}

/// The seeds of fuzzing have a file of every format that is known.
#[test]
fn every_system_runs_on_every_format() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/trace");
    for seed in std::fs::read_dir(seeds).expect("seeds") {
        let path = seed.expect("a seed").path();
        let path = path.to_str().expect("text");
        let device = ["--device", "tiny", "--capacity", "320KiB", "--fit", "wrap"];
        let runs = runs(&[&[path, "--systems", "all"], &device[..]].concat());
        // Two of the 16 have more blocks open at a time than so small a device has to spare.
        assert_eq!(runs.len(), 14, "{path}");
        let served = |run: &Value| number(run, "/requests/reads") + number(run, "/requests/writes");
        assert!(runs.iter().all(|run| served(run) > 0.0), "{path}");
    }
}

#[test]
fn a_device_that_a_system_does_not_fit_is_no_violation() {
    // Each chain may have several blocks, and so small a disk has hardly one to spare.
    let device = ["--device", "c3", "--capacity", "64MiB"];
    let words = ["compare", "synth:uniform?requests=10", "--systems", "conventional"];
    let (code, _, err) = tandem(&[&words[..], &device].concat());
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("does not fit"), "{err}");
}

#[test]
fn every_system_runs_on_a_real_trace() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/own");
    let files = std::fs::read_dir(own).expect("traces").map(|file| file.expect("a file").path());
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|end| end == "zst");
    let mut smallest: Vec<PathBuf> = files.filter(is_trace).collect();
    smallest.sort_by_key(|path| path.metadata().map_or(u64::MAX, |file| file.len()));
    let path = smallest[0].to_str().expect("text");
    let flags =
        [path, "--systems", "all", "--device", "c3", "--capacity", "256MiB", "--fit", "wrap"];
    let runs = runs(&[&flags[..], &["--slc", "8MiB"]].concat());
    assert!(runs.len() >= 9);
    assert!(runs.iter().all(|run| number(run, "/requests/writes") > 0.0));
}

#[test]
fn real_time_is_the_sum_of_its_causes_and_parts_say_who_asked() {
    let workload = "synth:uniform?requests=14000&size=4KiB&seed=2";
    let flags = ["--device", "c3", "--capacity", "256MiB", "--slc", "4MiB"];
    for run in runs(
        &[&[workload, "--systems", "page-mlc,ko,ahdm,combo,pslc,density"], &flags[..]].concat(),
    ) {
        let causes = ["host", "reclaim", "fold", "write_back", "wear_leveling", "scan", "meta"];
        let kinds = ["reads", "writes", "trims", "flushes"];
        let by_cause = |kind: &str, cause: &str| {
            number(&run, &format!("/response_by_cause_us/{kind}/{cause}"))
        };
        let sum: f64 =
            kinds.iter().flat_map(|kind| causes.map(|cause| by_cause(kind, cause))).sum();
        let total = number(&run, "/response_us/total");
        assert!((sum / total - 1.0).abs() < 1e-9, "{sum} of {total} in {run}");
        assert!(operations(&run, "host", "program") >= 14_000.0, "{run}");
        assert!(operations(&run, "gc", "erase") > 0.0, "{run}");
    }
}

#[test]
fn the_hardware_of_a_system_is_its_own_and_has_its_price() {
    let systems = ["--systems", "page-mlc,page-slc,density", "--fill", "nothing"];
    let flags = [&["synth:uniform?requests=10", "--device", "c3"][..], &systems].concat();
    let runs = runs(&flags);
    let [mlc, slc, density] = &runs[..] else { panic!("three runs") };
    // 21 GiB at $3.22 and at $11.05; and half a GiB more MLC than the first.
    assert!((number(mlc, "/cost_usd") - 67.62).abs() < 0.01);
    assert!((number(slc, "/cost_usd") - 232.05).abs() < 0.01);
    assert!((number(density, "/cost_usd") - 69.23).abs() < 0.01, "{density}");
    assert!((number(slc, "/parts/slc/bytes") - number(mlc, "/parts/mlc/bytes")).abs() < 1.0);
    let (code, out, _) = tandem(&[&["compare"], &flags[..]].concat());
    assert_eq!(code, Some(0));
    assert!(
        out.contains("Systems whose hardware is not the device's:")
            && out.contains("slc 21.00 GiB"),
        "{out}"
    );
}

#[test]
fn a_cache_in_slc_mode_is_quick_until_it_is_full() {
    let mean = |requests: u32, system: &str| {
        let workload = format!("synth:sequential?requests={requests}&size=64KiB");
        let flags = [
            &*workload,
            "--systems",
            &*format!("page-mlc,{system}"),
            "--device",
            "tlc-pslc",
            "--capacity",
            "2GiB",
        ];
        let runs = runs(&flags);
        assert!(runs[1]["parts"]["slc-mode"]["operations"]["host"]["program"].as_f64() > Some(0.0));
        number(&runs[1], "/write_us/mean") / number(&runs[0], "/write_us/mean")
    };
    for (system, full) in [("pslc", 0.9..1.05), ("pslc?full=fold", 1.2..1.6)] {
        let (within, beyond) = (mean(100, system), mean(20_000, system));
        assert!(within < 0.5, "{system}: {within} of the time without a cache");
        assert!(full.contains(&beyond), "{system}: {beyond} of the time without a cache");
    }
}

#[test]
fn the_threshold_of_ko_decides_what_stays() {
    let workload = "synth:zipf?requests=20000&size=4KiB&seed=3";
    let flags = ["--device", "c3", "--capacity", "64MiB", "--slc", "4MiB"];
    let stayed = |system: &str| {
        let run = &runs(&[&[workload, "--systems", system], &flags[..]].concat())[0];
        number(run, "/figures/stayed_in_slc")
    };
    assert!(stayed("ko?threshold=0") > stayed("ko?threshold=4"));
}

#[test]
fn parameters_that_make_no_sense_are_told_what_to_write() {
    for (system, hint) in [
        ("page-mlc?victims=best", "write greedy, cost-benefit or cat"),
        ("ko?threshold=many", "write a whole number"),
        ("pslc?static=900", "of cache, "),
        ("pslc?full=wait", "write fold, direct or beside"),
    ] {
        let (code, _, err) =
            tandem(&["replay", "synth:uniform?requests=5", "--device", "tiny", "--system", system]);
        assert_eq!(code, Some(2), "{system}: {err}");
        assert!(err.contains(hint), "{err}");
    }
}

#[test]
fn the_list_says_which_systems_survive_power_cuts() {
    let (_, out, _) = tandem(&["systems"]);
    let line = |name: &str| out.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    assert!(line("hybrid").contains("  power-safe  "));
    assert!(line("pslc").contains("  loses data  "));
}
