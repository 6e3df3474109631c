//! Ctrl-C in every command that takes its time: exit code 130, what was done is reported, and no file is left half
//! written.

use std::fs;
use std::path::Path;

use crate::common::{file, folder, stopped};

/// Whether a replay or a comparison has served a request.
fn served(said: &str) -> bool {
    said.contains("requests were served")
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
        let (_, said) =
            stopped(&["synth", "uniform", "--requests", "1000000000", "-o", path], |said| {
                said.contains("requests were made")
            });
        assert!(said.contains("requests were made") && said.contains("was not written"), "{said}");
        assert_eq!(left(&folder), [""; 0]);
    }
}

#[test]
fn replay_and_compare_show_what_they_have_and_write_no_file() {
    let folder = folder("interrupted-replay");
    let [json, page] = ["a.json", "a.html"].map(|name| folder.join(name).display().to_string());
    for command in ["replay", "compare"] {
        let (out, said) = stopped(
            &[command, ENDLESS, "--device", "tiny", "--json", &json, "--report", &page],
            served,
        );
        assert!(out.contains("PARTIAL"), "{command}: {out}");
        assert!(said.contains("requests were served") && said.contains("no file"), "{said}");
        assert_eq!(left(&folder), [""; 0]);
    }
    let csv = folder.join("a.csv").display().to_string();
    let (out, said) = stopped(&["compare", ENDLESS, "--device", "tiny", "--csv", &csv], served);
    assert!(out.contains("PARTIAL") && said.contains("no file was written"), "{out}{said}");
    assert_eq!(left(&folder), [""; 0]);
    let (out, said) = stopped(&["compare", ENDLESS, "--device", "tiny", "--csv", "-"], served);
    assert!(out.starts_with("device,") && out.lines().count() == 4, "{out}");
    assert!(said.contains("all figures are of these") && !said.contains("no file"), "{said}");
    let (out, _) = stopped(&["replay", ENDLESS, "--device", "tiny", "--json", "-"], served);
    let result: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(result["partial"], true);
}

#[test]
fn ctrl_c_gives_the_result_so_far_and_all_systems_stop_after_the_same_request() {
    let page = folder("partial").join("partial.html");
    let page = page.to_str().unwrap();
    let endless = ["compare", "synth:uniform?requests=1000000000", "--device", "tiny"];
    let arguments = [&endless[..], &["--json", "-", "--report", page]].concat();
    let (out, _) = stopped(&arguments, served);
    let comparison: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let runs = comparison["runs"].as_array().unwrap();
    let writes = |run: usize| runs[run]["requests"]["writes"].as_u64().unwrap();
    assert_eq!((&runs[0]["partial"], &runs[1]["partial"]), (&true.into(), &true.into()));
    assert_eq!(writes(0), writes(1));
    assert!((1..1_000_000_000).contains(&writes(0)));
    assert!(!Path::new(page).exists(), "a page of half a run is none");
}

#[test]
fn profile_counts_nothing_by_halves() {
    let (out, said) =
        stopped(&["profile", "synth:sequential?requests=4000000000&footprint=1MiB"], |said| {
            said.contains("requests were counted")
        });
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
    let (table, said) =
        stopped(&["sweep", &plan, "--out", out.to_str().unwrap(), "--jobs", "1"], |said| {
            said.contains("1 of 2 runs")
        });
    assert!(said.contains("1 of 2 runs are done and kept"), "{table}{said}");
    assert_eq!(left(&out.join("runs")).len(), 1);

    let plan = file(
        "interrupted-at-once.toml",
        format!(
            "devices = [\"tiny\"]\nsystems = [\"conventional\"]\ntraces = [\"{ENDLESS}\"]\nfit = \"wrap\"\n"
        ),
    );
    let out = folder.join("nothing");
    let (told, said) = stopped(&["sweep", &plan, "--out", out.to_str().unwrap()], |said| {
        said.contains("0 of 1 runs")
    });
    assert!(told.contains("0 of 1 runs are in") && !told.contains("report.html"), "{told}{said}");
    assert!(!out.join("report.html").exists() && !out.join("table.csv").exists());
}

#[test]
fn torture_says_how_far_it_was() {
    let (out, said) = stopped(&["torture", "--seeds", "100000"], |said| said.contains(" cuts, "));
    assert!(out.contains(" cuts, ") && said.contains("what was tried"), "{out}{said}");
    let folder = folder("interrupted-torture");
    let json = folder.join("a.json").display().to_string();
    let all = ["torture", "--seeds", "100000", "--json", &json];
    let (out, said) = stopped(&all, |said| said.contains(" cuts, "));
    assert!(out.contains(" cuts, ") && said.contains("no file was written"), "{out}{said}");
    assert_eq!(left(&folder), [""; 0]);
}

#[test]
fn bounds_shows_no_load_that_was_cut_short() {
    let (out, said) = stopped(&["bounds", "c1"], |said| said.contains("loads were replayed"));
    let rows = out.lines().filter(|line| line.ends_with(" %")).count();
    assert!(said.contains(&format!("{rows} of 50 loads were replayed")), "{out}{said}");
    assert!(!out.contains("inf"), "{out}");
}

#[test]
fn repro_writes_no_figure() {
    let folder = folder("interrupted-repro");
    let out = folder.join("figures");
    let long = ["repro", "chang", "table3", "--requests", "100000000", "--out"];
    let (_, said) = stopped(&[&long[..], &[out.to_str().unwrap()]].concat(), |said| {
        said.contains("runs were done")
    });
    assert!(said.contains("runs were done"), "{said}");
}

#[test]
fn fit_tells_of_the_workloads_that_were_tried() {
    let many = ["fit", "chang", "--requests", "1000", "--tries", "1000000"];
    let (out, said) = stopped(&many, |said| said.contains("workloads were tried"));
    assert!(out.contains("workloads tried, 0 agree") && said.contains("of 1000000"), "{out}{said}");
}
