//! `tandem sweep` as people call it: whole, killed and resumed, in shards, and with plans that are wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().expect("the binary runs")
}

/// An empty folder of that name.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// A plan of that name in the folder.
fn plan(folder: &Path, name: &str, keys: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, keys).expect("a plan");
    path
}

fn sweep(plan: &Path, out: &Path, more: &[&str]) -> Output {
    tandem(&[&["sweep", text(plan), "--out", text(out)][..], more].concat())
}

/// The results' files with their content.
fn results(out: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(out.join("runs")).expect("runs").map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().into(), path));
    // What a killed run was about to write has a name that no result has.
    let whole = named.filter(|(name, _): &(String, PathBuf)| !name.starts_with('.'));
    whole.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

fn table(out: &Path) -> String {
    fs::read_to_string(out.join("table.csv")).expect("table.csv")
}

const SMALL: &str = "\
    devices = [\"tiny\"]\n\
    slc = [\"64KiB\", \"80KiB\"]\n\
    systems = [\"conventional\", \"hybrid\"]\n\
    traces = [\"synth:zipf?requests=2000&size=1KiB\"]\n\
    seeds = [1, 2]\n";

#[test]
fn the_example_answers_how_large_the_slc_should_be() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = fs::read_to_string(root.join("plans/slc-size.toml")).unwrap();
    let home = folder("sweep-example");
    let out = home.join("out");
    // A short trace, and no fill: the others would take most of the time.
    let keys = example.replace("../traces", text(&root.join("traces"))) + "fill = \"nothing\"\n";
    let keys = keys.replace("ext4_server", "ntfs_uml");
    let output = sweep(&plan(&home, "plan.toml", &keys), &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("15 of 15 runs") && shown.contains("256MiB"), "{shown}");
    let asked = "Which system has the most speed for the money?\n  paged";
    assert!(
        shown.contains(asked) && shown.contains("times as fast as conventional, for"),
        "{shown}"
    );
    assert!(shown.contains("How large should the SLC be?\n  hybrid on c3: "), "{shown}");
    assert!(shown.contains("times as fast as hybrid without SLC"), "{shown}");
    assert!(shown.contains("paged on c3: ") && shown.contains("as paged without SLC"), "{shown}");
    // The system without SLC runs once, the others at each of six sizes and without.
    let table = table(&out);
    assert_eq!(table.lines().count(), 1 + 15, "{table}");
    let json: Value =
        serde_json::from_str(&fs::read_to_string(out.join("table.json")).unwrap()).unwrap();
    let runs = json["runs"].as_array().unwrap();
    let baseline = runs[0]["result"]["response_us"]["total"].as_f64().unwrap();
    for run in runs {
        let total = run["result"]["response_us"]["total"].as_f64().unwrap();
        assert_eq!(run["ratios"]["rs"].as_f64().unwrap().to_bits(), (baseline / total).to_bits());
        assert!(out.join(run["file"].as_str().unwrap()).exists());
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for told in [
        "RS: times as fast as conventional",
        "size of the SLC",
        "256MiB",
        "devices = [",
        "On c3",
        "How large should the SLC be?",
        "r=\"7\" fill=\"none\"",
        "Life of the flash",
        "Not in this chart: conventional, hybrid without SLC, paged without SLC and paged. BW",
    ] {
        assert!(page.contains(told), "{told}");
    }
    let at = |words: &str| page.find(words).expect(words);
    assert!(at("How large should the SLC be?") < at("one page map over SLC and MLC"));
    assert!(
        at("How large should the SLC be?") < at("What was asked for"),
        "the answer comes first"
    );
    for elsewhere in ["<script", "<link", "url(", "src=", "href=", "NaN"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

#[test]
fn the_page_store_is_swept_over_sizes_of_its_slc() {
    let home = folder("sweep-paged");
    let out = home.join("out");
    // In 64 KiB it has no room beside its map.
    let keys = SMALL.replace("\"hybrid\"", "\"hybrid\", \"paged\"").replace("64KiB", "96KiB");
    let plan = plan(&home, "plan.toml", &keys);
    let output = sweep(&plan, &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let runs = results(&out);
    let of = |system: &str| runs.values().filter(|run| run.contains(system)).count();
    let each =
        ["conventional", "hybrid", "paged"].map(|name| of(&format!("\"system\": \"{name}\"")));
    assert_eq!(each, [2, 4, 4], "two seeds, and two sizes for those that have an SLC");
}

#[test]
fn one_system_with_and_without_slc_has_an_answer() {
    let home = folder("sweep-one");
    let keys = "devices = [\"c3\"]\ncapacity = \"256MiB\"\nslc = [\"16MiB\", \"0\", \"8MiB\"]\n\
        systems = [\"paged\"]\ntraces = [\"synth:zipf?requests=30000&footprint=8MiB\"]\n";
    let out = home.join("out");
    let output = sweep(&plan(&home, "plan.toml", keys), &out, &[]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("paged on c3: 8MiB") || shown.contains("paged on c3: 16MiB"), "{shown}");
    assert!(shown.contains("times as fast as paged without SLC, for "), "{shown}");
    let json: Value =
        serde_json::from_str(&fs::read_to_string(out.join("table.json")).unwrap()).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!((&runs[0]["slc_asked"], &runs[0]["ratios"]["rs"]), (&0.into(), &1.0.into()));
    let total = |run: &Value| run["result"]["response_us"]["total"].as_f64().unwrap();
    for run in &runs[1..] {
        let rs = run["ratios"]["rs"].as_f64().unwrap();
        assert!((rs / (total(&runs[0]) / total(run)) - 1.0).abs() < 1e-12, "{run}");
    }
}

#[test]
fn what_a_sweep_cannot_tell_it_says_with_what_is_missing() {
    let home = folder("sweep-cannot");
    let said = |name: &str, keys: &str| {
        let plan = plan(&home, name, keys);
        let output = sweep(&plan, &home.join(name).with_extension("out"), &[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        // Sentences are folded.
        String::from_utf8(output.stdout).unwrap().replace("\n    ", " ")
    };
    let of = |systems: &str, slc: &str| {
        format!(
            "devices = [\"c3\"]\ncapacity = \"256MiB\"\nslc = [{slc}]\nsystems = [{systems}]\n\
             traces = [\"synth:zipf?requests=3000&footprint=8MiB\"]\n"
        )
    };
    let three = "\"8MiB\", \"16MiB\", \"32MiB\"";
    let no_zero = said("no-zero.toml", &of("\"conventional\", \"paged\"", three));
    assert!(
        no_zero.contains("cannot be told") && no_zero.contains("add \"0\" to slc"),
        "{no_zero}"
    );
    let none = said("none.toml", &of("\"pslc\"", "\"0\""));
    assert!(none.contains("pslc has none, and ran once"), "{none}");
}

#[test]
fn a_runs_file_is_what_a_replay_writes() {
    let home = folder("sweep-schema");
    let out = home.join("out");
    let plan = plan(&home, "plan.toml", SMALL);
    assert_eq!(sweep(&plan, &out, &["--jobs", "2"]).status.code(), Some(0));
    let results = results(&out);
    assert_eq!(results.len(), 2 * 3, "two seeds; conventional once, hybrid at two sizes");
    let workload = "synth:zipf?requests=2000&size=1KiB&seed=2";
    let on = ["--device", "tiny", "--slc", "80KiB", "--system", "hybrid"];
    let arguments = [&["replay", workload, "--json", "-"][..], &on].concat();
    let replay: Value = serde_json::from_slice(&tandem(&arguments).stdout).unwrap();
    let found = results.values().map(|text| serde_json::from_str::<Value>(text).unwrap());
    let same = |found: &Value| {
        ["system", "slc_bytes", "trace"].iter().all(|key| found[key] == replay[key])
    };
    let found: Vec<Value> = found.filter(same).collect();
    let [found] = &found[..] else { panic!("{}", found.len()) };
    let (found, replay) = (found.as_object().unwrap(), replay.as_object().unwrap());
    assert!(found.keys().eq(replay.keys()));
    let walls = ["wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"];
    for (key, value) in found.iter().filter(|(key, _)| !walls.contains(&key.as_str())) {
        assert_eq!(value, &replay[key], "{key}");
    }
}

#[test]
fn what_is_there_is_kept_and_what_is_missing_or_damaged_is_run_again() {
    let home = folder("sweep-resume");
    let out = home.join("out");
    let plan = plan(&home, "plan.toml", SMALL);
    sweep(&plan, &out, &[]);
    let (first, whole) = (results(&out), table(&out));
    let names: Vec<&String> = first.keys().collect();
    let file = |at: usize| out.join("runs").join(names[at]);
    fs::remove_file(file(0)).unwrap();
    fs::write(file(1), &first[names[1]][..100]).unwrap();
    fs::write(file(2), first[names[2]].replace("\"partial\": false", "\"partial\": true")).unwrap();
    let again = sweep(&plan, &out, &[]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let second = results(&out);
    assert!(second.keys().eq(first.keys()));
    // Wall times tell a run from another.
    for name in &names[3..] {
        assert_eq!(second[*name], first[*name], "{name} was run again");
    }
    for name in &names[..3] {
        assert_ne!(second[*name], first[*name], "{name} was not run again");
        assert!(second[*name].contains("\"partial\": false"));
    }
    assert_eq!(table(&out), whole);
}

#[test]
fn a_plan_that_changes_runs_what_changed() {
    let home = folder("sweep-change");
    let out = home.join("out");
    sweep(&plan(&home, "plan.toml", SMALL), &out, &[]);
    let first = results(&out);
    for change in [
        "passes = 2\n",
        "parallel = true\n",
        "open-loop = true\n",
        "queue-depth = 4\n",
        "capacity = \"288KiB\"\n",
    ] {
        let output = sweep(&plan(&home, "changed.toml", &format!("{change}{SMALL}")), &out, &[]);
        assert_eq!(output.status.code(), Some(0), "{change}: {output:?}");
    }
    assert_eq!(results(&out).len(), 6 * first.len());
    let larger = SMALL.replace("seeds = [1, 2]", "seeds = [1, 2, 3]");
    sweep(&plan(&home, "larger.toml", &larger), &out, &[]);
    let last = results(&out);
    assert_eq!(last.len(), 6 * first.len() + 3);
    assert!(first.iter().all(|(name, text)| last[name] == *text), "what was there is kept");
}

const LONG: &str = "\
    devices = [\"tiny\"]\n\
    systems = [\"conventional\", \"hybrid\"]\n\
    traces = [\"synth:uniform?requests=30000&size=1KiB\"]\n\
    seeds = [1, 2, 3, 4, 5, 6, 7, 8]\n";

/// Starts a sweep and waits until it has a result.
fn started(plan: &Path, out: &Path) -> std::process::Child {
    let child = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["sweep", text(plan), "--out", text(out), "--jobs", "2"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !out.join("runs").exists() || results(out).is_empty() {
        assert!(Instant::now() < deadline, "no result within a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_sweep_that_is_killed_leaves_whole_results_and_goes_on_where_it_was() {
    let home = folder("sweep-kill");
    let (out, other) = (home.join("out"), home.join("other"));
    let plan = plan(&home, "plan.toml", LONG);
    let mut child = started(&plan, &out);
    child.kill().unwrap();
    child.wait().unwrap();
    let left = results(&out);
    assert!((1..16).contains(&left.len()), "{}", left.len());
    for (name, text) in &left {
        let result: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(result["requests"]["writes"], 30_000);
    }
    assert_eq!(sweep(&plan, &out, &[]).status.code(), Some(0));
    let done = results(&out);
    assert_eq!(done.len(), 16);
    assert!(left.iter().all(|(name, text)| done[name] == *text), "nothing was run twice");
    assert_eq!(sweep(&plan, &other, &[]).status.code(), Some(0));
    assert_eq!(table(&out), table(&other), "a sweep in two goes is as good as one in one");
}

/// What a sweep proposes ends the warning that proposes it.
#[test]
fn a_sweep_proposes_rounds_where_they_suffice() {
    let home = folder("sweep-steady");
    let told = |name: &str, requests: u32, more: &str| {
        let plan = format!(
            "devices = [\"c3\"]\ncapacity = \"256MiB\"\nsystems = [\"page-mlc\", \"paged\"]\nslc = [\"8MiB\"]\n\
             traces = [\"synth:uniform?requests={requests}&size=4KiB&footprint=16MiB\"]\n{more}"
        );
        let path = self::plan(&home, &format!("{name}.toml"), &plan);
        let output = sweep(&path, &home.join(name), &[]);
        String::from_utf8(output.stdout).unwrap().replace("\n    ", " ")
    };
    let (short, proposed) = ("may still change", "; steady = true, in place of passes");
    let once = told("once", 6_000, "");
    assert!(once.contains(short) && once.contains(proposed), "{once}");
    let steady = told("steady", 6_000, "steady = true\n");
    assert!(!steady.contains(short) && !steady.contains(proposed), "{steady}");
    for more in ["", "steady = true\n"] {
        let empty = format!("fill = \"nothing\"\n{more}");
        let few = told(&format!("few-{}", more.len()), 100, &empty);
        assert!(few.contains(short) && few.contains("; write more, with "), "{few}");
        assert!(!few.contains(proposed), "{few}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_sweep_with_a_table_of_what_is_there() {
    let home = folder("sweep-interrupt");
    let out = home.join("out");
    let plan = plan(&home, "plan.toml", LONG);
    let child = started(&plan, &out);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("PARTIAL") && shown.contains("goes on where"), "{shown}");
    let results = results(&out);
    assert_eq!(table(&out).lines().count(), 1 + results.len());
    assert!(results.values().all(|text| text.contains("\"partial\": false")));
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains("Partial"));
}

#[test]
fn shards_of_a_sweep_make_the_whole_when_they_are_put_together() {
    let home = folder("sweep-shards");
    let whole = home.join("whole");
    let plan = plan(&home, "plan.toml", SMALL);
    sweep(&plan, &whole, &[]);
    let together = home.join("together");
    fs::create_dir_all(together.join("runs")).unwrap();
    let mut count = 0;
    for shard in ["1/4", "2/4", "3/4", "4/4"] {
        let out = home.join(shard.replace('/', "-of-"));
        let output = sweep(&plan, &out, &["--shard", shard]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains("PARTIAL"));
        for (name, text) in results(&out) {
            assert!(!together.join("runs").join(&name).exists(), "{name} was run by two shards");
            fs::write(together.join("runs").join(name), text).unwrap();
            count += 1;
        }
    }
    assert_eq!(count, 6);
    let before = results(&together);
    assert_eq!(sweep(&plan, &together, &[]).status.code(), Some(0));
    assert_eq!(results(&together), before, "nothing is left to run");
    assert_eq!(table(&together), table(&whole));
}

#[test]
fn files_lie_where_the_plan_says_and_several_replay_in_a_row() {
    let home = folder("sweep-files");
    fs::create_dir(home.join("traces")).unwrap();
    fs::write(home.join("traces/a.csv"), "0,W,0,1024\n5,R,0,1024\n").unwrap();
    fs::write(home.join("traces/b.csv"), "0,W,4096,2048\n").unwrap();
    let keys = "devices = [\"tiny\"]\nsystems = [\"hybrid\"]\n\
        traces = [\"traces/a.csv\", [\"traces/a.csv\", \"traces/b.csv\"]]\n";
    let out = home.join("out");
    let output = sweep(&plan(&home, "plan.toml", keys), &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let table = table(&out);
    let requests: Vec<&str> =
        table.lines().skip(1).map(|line| line.split(',').nth(7).unwrap()).collect();
    assert_eq!(requests, ["2", "3"], "{table}");
    // A trace that became longer is another trace.
    fs::write(home.join("traces/b.csv"), "0,W,4096,2048\n1,W,4096,2048\n").unwrap();
    sweep(&home.join("plan.toml"), &out, &[]);
    assert_eq!(results(&out).len(), 3);
}

#[test]
fn a_run_that_fails_is_told_and_the_others_are_done() {
    let home = folder("sweep-fail");
    fs::write(home.join("beyond.csv"), "0,W,100000000,1024\n").unwrap();
    let keys = "devices = [\"tiny\"]\nsystems = [\"conventional\", \"hybrid\"]\n\
        traces = [\"beyond.csv\", \"synth:zipf?requests=500\"]\n";
    let out = home.join("out");
    let output = sweep(&plan(&home, "plan.toml", keys), &out, &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let reason = String::from_utf8(output.stderr).unwrap();
    for part in ["2 of 4 runs failed", "hybrid on tiny, beyond.csv", "line 1", "--fit"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(results(&out).len(), 2);
    assert_eq!(table(&out).lines().count(), 1 + 2);
    assert!(String::from_utf8(output.stdout).unwrap().contains("2 of 4 runs are in"));
}

#[test]
fn a_wrong_plan_is_told_with_its_line() {
    let home = folder("sweep-wrong");
    let base = "devices = [\"tiny\"]\nsystems = [\"hybrid\"]\ntraces = [\"synth:zipf\"]\n";
    for (wrong, line, telling) in [
        (base.replace("\"tiny\"", "\"tiny\",\n\"c9\""), 2, "no device is named `c9`"),
        (base.replace("hybrid", "hybird"), 2, "give one of paged, hybrid"),
        (base.replace("\"hybrid\"", "\"hybrid?filter=perhaps\""), 2, "on or off"),
        (base.replace("synth:zipf", "none.csv"), 3, "none.csv cannot be read"),
        (base.replace("synth:zipf", "synth:zipf?sked=1"), 3, "no parameter is called `sked`"),
        (base.replace("\"synth:zipf\"", "7"), 3, "synth:"),
        (base.replace("synth:zipf", "-"), 3, "standard input"),
        (format!("{base}slc = [\"1XB\"]\n"), 4, "20GiB"),
        (format!("{base}slc = [\"64KiB\",\n\"1KiB\"]\n"), 5, "less than one block"),
        (format!("{base}sizes = [\"1MiB\"]\n"), 4, "sizes"),
        (format!("{base}seeds = [1, -2]\n"), 4, "-2"),
        (format!("{base}passes = 0\n"), 4, "1 or more"),
        (format!("{base}fit = \"squeeze\"\n"), 4, "wrap or pack"),
        (format!("{base}format = \"tape\"\n"), 4, "msr"),
        (format!("{base}capacity = \"1000B\"\n"), 1, "less than a sector"),
        (base.replace("systems = [", "systems = "), 2, ""),
    ] {
        let path = plan(&home, "wrong.toml", &wrong);
        let output = sweep(&path, &home.join("out"), &[]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let reason = String::from_utf8(output.stderr).unwrap();
        let place = format!("wrong.toml, line {line}");
        assert!(reason.contains(&place) && reason.contains(telling), "{wrong}{reason}");
        assert!(!home.join("out").exists(), "{wrong}: nothing is done before the plan is right");
    }
    let missing = base.replace("devices = [\"tiny\"]\n", "");
    let empty = base.replace("\"hybrid\"", "");
    let twice = base.replace("synth:zipf", "synth:zipf?seed=3") + "seeds = [1]\n";
    for (wrong, telling) in
        [(missing, "devices"), (empty, "systems: the list is empty"), (twice, "leave one")]
    {
        let output = sweep(&plan(&home, "wrong.toml", &wrong), &home.join("out"), &[]);
        let reason = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(reason.contains("wrong.toml") && reason.contains(telling), "{wrong}{reason}");
    }
    let none = sweep(&home.join("none.toml"), &home.join("out"), &[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8(none.stderr).unwrap().contains("none.toml: the plan cannot be read"));
    let shard = sweep(&plan(&home, "right.toml", base), &home.join("out"), &["--shard", "3/2"]);
    assert!(String::from_utf8(shard.stderr).unwrap().contains("write I/N"));
}

/// Runs a sweep where `sbatch` is what that script says, or is not there.
#[cfg(unix)]
fn on_slurm(plan: &Path, out: &Path, sbatch: Option<&str>, more: &[&str]) -> Output {
    use std::os::unix::fs::PermissionsExt;
    let programs = out.with_extension("programs");
    fs::create_dir_all(&programs).unwrap();
    if let Some(script) = sbatch {
        let path = programs.join("sbatch");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["sweep", text(plan), "--out", text(out), "--on", "slurm"])
        .args(more)
        .env("PATH", &programs)
        .output()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn without_slurm_it_is_said_what_is_missing() {
    let folder = folder("no-slurm");
    let plan = plan(&folder, "plan.toml", SMALL);
    let output = on_slurm(&plan, &folder.join("out"), None, &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("sbatch, of Slurm, cannot be run"), "{told}");
    assert!(told.contains("without --on slurm"), "{told}");
    let refuses =
        "#!/bin/sh\necho 'sbatch: error: invalid partition specified: none' >&2\nexit 1\n";
    let output = on_slurm(&plan, &folder.join("out"), Some(refuses), &["--partition", "none"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("invalid partition"), "{told}");
}

/// The tasks of an array, as a shell would run them one after the other.
#[test]
#[cfg(unix)]
fn a_cluster_brings_what_one_machine_brings() {
    let folder = folder("a cluster's");
    let plan = plan(&folder, "plan.toml", SMALL);
    let (far, near) = (folder.join("far"), folder.join("near"));
    let shown = on_slurm(&plan, &far, None, &["--dry-run", "--tasks", "3", "--sbatch=--mem=1G"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("#SBATCH --array=1-3\n") && shown.contains("--collect"), "{shown}");
    assert_eq!(shown.matches("#SBATCH --mem=1G").count(), 2, "{shown}");
    assert!(!far.join("slurm").exists(), "a dry run writes nothing");

    // A cluster that loses its second task.
    let sbatch = "#!/bin/sh\n\
        for script in \"$@\"; do :; done\n\
        echo \"$@\" >> \"$0.calls\"\n\
        tasks=$(/bin/sed -n 's/#SBATCH --array=//p' \"$script\")\n\
        case $tasks in\n\
          1-3) for task in 1 3; do SLURM_ARRAY_TASK_ID=$task /bin/sh \"$script\" >/dev/null; done; echo 17 ;;\n\
          2) SLURM_ARRAY_TASK_ID=2 /bin/sh \"$script\" >/dev/null; echo '18;far' ;;\n\
          *) /bin/sh \"$script\" > \"$0.collected\"; echo 19 ;;\n\
        esac\n";
    let submit = || {
        let output = on_slurm(&plan, &far, Some(sbatch), &["--tasks", "3", "--partition", "night"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let programs = far.with_extension("programs");
    let told = submit();
    assert!(told.contains("job 17, in 3 tasks; job 19 collects"), "{told}");
    let calls = fs::read_to_string(programs.join("sbatch.calls")).unwrap();
    assert!(calls.contains("--parsable --dependency=afterany:17"), "{calls}");
    let collected = fs::read_to_string(programs.join("sbatch.collected")).unwrap();
    assert!(collected.contains("PARTIAL"), "{collected}");
    let told = submit();
    assert!(told.contains("job 18, in 1 tasks"), "{told}");
    assert!(submit().contains("All "), "nothing is left");
    sweep(&plan, &near, &[]);
    assert_eq!(table(&far), table(&near));
    let script = fs::read_to_string(far.join("slurm/shards.sh")).unwrap();
    assert!(script.contains("#SBATCH --partition=night\n"), "{script}");
}
