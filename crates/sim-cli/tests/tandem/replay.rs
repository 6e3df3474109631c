//! `tandem replay` and `tandem compare` as people call them: results, exit codes, what is reported when something is
//! wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().expect("the binary runs")
}

/// Runs with `--json -` and takes the result.
fn result(arguments: &[&str]) -> Value {
    let output = tandem(&[arguments, &["--json", "-"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Runs in vain, and takes exit code and reason.
fn failure(arguments: &[&str]) -> (Option<i32>, String) {
    let output = tandem(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("text"))
}

/// These lines, as those of a trace, in a file of that name.
fn trace(name: &str, lines: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, lines).expect("a file");
    path.to_str().expect("a path of text").into()
}

/// What does not depend on how fast this machine is.
fn without_wall_times(mut value: Value) -> Value {
    let runs = match value.get_mut("runs") {
        Some(runs) => runs.as_array_mut().expect("runs").iter_mut().collect(),
        None => vec![&mut value],
    };
    for run in runs {
        let run = run.as_object_mut().expect("a run");
        for key in ["wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"] {
            assert!(run.remove(key).is_some_and(|figure| figure.is_f64()), "{key}");
        }
    }
    value
}

/// Replays without a log on `tiny` with four blocks more, so that the first writes need no fold.
fn on_roomy(name: &str, lines: &str, more: &[&str]) -> Value {
    let (slim, roomy) = ("blocks = 18\n", "blocks = 22\n");
    let tiny = include_str!("../../../../devices/tiny.toml");
    assert_eq!(tiny.matches(slim).count(), 1);
    let device = trace(&format!("{name}.toml"), &tiny.replace(slim, roomy));
    let path = trace(&format!("{name}.csv"), lines);
    let arguments = ["replay", &path, "--device", &device, "--system", "conventional"];
    result(&[&arguments, more].concat())
}

const HAND: &str = "time_us,op,offset,length\n\
    0,R,0,1024\n\
    10,W,4096,2048\n\
    20,R,4096,2048\n\
    30,W,8704,512\n\
    40,R,8192,1024\n\
    50,F,0,0\n";

#[test]
fn times_and_energies_are_those_worked_out_by_hand_without_a_log() {
    let result = on_roomy("hand-conventional", HAND, &[]);
    // One sector from a data block: one MLC read, 60 us. Two sectors that fill a page: one program, 800 us; they are
    // read back with one read. Half a sector: 60 us to read the whole one, 800 us to program it; 60 us to read it.
    let (reads, writes) = (60.0 + 60.0 + 60.0, 800.0 + 60.0 + 800.0);
    assert_eq!(result["read_us"]["total"], reads);
    assert_eq!(result["read_us"]["max"], 60.0);
    assert_eq!(result["write_us"]["total"], writes);
    assert_eq!(
        (&result["write_us"]["mean"], &result["write_us"]["max"]),
        (&830.0.into(), &860.0.into())
    );
    assert_eq!(result["response_us"]["total"], reads + writes);
    // Four reads and two programs at 3.3 V and 15 mA, whose product is 49.5 mW.
    let millijoules = 49.5 * (4.0 * 60.0 + 2.0 * 800.0) / 1e6;
    assert!((result["energy_mj"].as_f64().unwrap() - millijoules).abs() < 1e-9, "{result}");
    assert_eq!(result["mlc"]["pages"]["host_read"], 4);
    assert_eq!(result["mlc"]["pages"]["host_program"], 2);
    // Two pages of 2 KiB for 2,560 bytes of the host's.
    assert_eq!(result["write_amplification"], 4096.0 / 2560.0);
    assert_eq!(result["requests"]["sectors_read"], 4);
    assert_eq!(result["requests"]["sectors_written"], 3);
    assert_eq!(result["verified_reads"], 5);
}

#[test]
fn times_are_those_worked_out_by_hand_with_a_log() {
    let path = trace("hand-hybrid.csv", HAND);
    let result = result(&["replay", &path, "--device", "tiny", "--system", "hybrid"]);
    // Two sectors are hot, and each takes a page of the SLC: 2 x 200 us to write, 2 x 25 us to read. Half a sector is
    // read from the MLC and written to the SLC.
    assert_eq!(result["read_us"]["total"], 60.0 + 2.0 * 25.0 + 25.0);
    assert_eq!(result["write_us"]["total"], 2.0 * 200.0 + 60.0 + 200.0);
    assert_eq!(result["slc"]["pages"]["host_program"], 3);
    assert_eq!(result["mlc"]["pages"]["host_program"], 0);
    assert_eq!(result["factors"]["alpha"], 1.0);
}

#[test]
fn in_an_open_loop_a_request_waits_for_the_one_before_it() {
    let lines = "0,W,4096,2048\n100,R,4096,2048\n5000,R,4096,2048\n";
    let result = on_roomy("open", lines, &["--open-loop"]);
    // The first read arrives 700 us before the write is done.
    assert_eq!(result["read_us"]["max"], 700.0 + 60.0);
    assert_eq!(result["read_us"]["total"], 760.0 + 60.0);
    assert_eq!(result["write_us"]["total"], 800.0);
}

#[test]
fn a_result_has_every_name_of_the_schema() {
    let workload = "synth:zipf?requests=2000&reads=30&seed=7";
    let result = result(&["replay", workload, "--device", "tiny", "--system", "hybrid"]);
    for key in [
        "schema system device slc_bytes parallel open_loop queue_depth trace passes seed partial skipped_lines",
        "elapsed_us bytes_written bytes_touched write_amplification rewrite_amplification energy_mj cost_usd ram_bytes",
        "verified_reads wall_s busy_s requests_per_s nand_ops_per_s",
    ]
    .join(" ")
    .split(' ')
    {
        assert!(result.get(key).is_some_and(|value| !value.is_null()), "{key}: {result}");
    }
    let times = "total mean p50 p90 p99 p999 max";
    let causes = "waiting host reclaim fold write_back wear_leveling scan map meta";
    let region = "erases erase_count lifetime_years pages";
    let pages = "host_read host_program gc_read gc_program wl_read wl_program scan_read map_read \
                 map_program meta_read meta_program";
    for (place, keys) in [
        ("/requests", "reads writes trims flushes sectors_read sectors_written"),
        ("/response_us", times),
        ("/read_us", times),
        ("/write_us", times),
        ("/trim_us", times),
        ("/response_by_cause_us", "reads writes trims flushes"),
        ("/response_by_cause_us/reads", causes),
        ("/response_by_cause_us/trims", causes),
        ("/slc", region),
        ("/mlc", region),
        ("/mlc/erase_count", "min mean max stddev"),
        ("/mlc/pages", pages),
        ("/slc/pages", pages),
        ("/factors", "alpha n1 n2 n3 n4 p1 p2"),
        ("/filter", "threshold_bytes threshold_sectors"),
        ("/throttle", "active_share rejected_writes k"),
        ("/hash", "rejected_writes load probes_mean valid"),
    ] {
        let object = result.pointer(place).and_then(Value::as_object).expect(place);
        let mut expected: Vec<&str> = keys.split(' ').collect();
        expected.sort_unstable();
        assert!(object.keys().eq(expected), "{place}: {object:?}");
    }
    assert_eq!((&result["schema"], &result["seed"]), (&2.into(), &7.into()));
    assert_eq!(result["slc_bytes"], 96 << 10);
    let requests = &result["requests"];
    assert_eq!(requests["reads"].as_u64().unwrap() + requests["writes"].as_u64().unwrap(), 2000);
}

/// The parts of `response_by_cause_us` of one kind of request.
fn causes(result: &Value, kind: &str) -> Vec<(String, f64)> {
    let parts = result["response_by_cause_us"][kind].as_object().expect(kind);
    parts.iter().map(|(name, part)| (name.clone(), part.as_f64().expect(name))).collect()
}

#[test]
fn response_times_are_split_by_cause_without_rest() {
    let workload = "synth:zipf?requests=4000&reads=20&size=1KiB&interval_us=900";
    for flags in [&[][..], &["--open-loop"], &["--parallel"], &["--parallel", "--open-loop"]] {
        for device in ["tiny", "spi-nand-1g"] {
            let arguments = [&["replay", workload, "--device", device][..], flags].concat();
            let result = result(&arguments);
            let sum = |kind: &str| causes(&result, kind).iter().map(|part| part.1).sum::<f64>();
            for (kind, times) in [("reads", "read_us"), ("writes", "write_us")] {
                let total = result[times]["total"].as_f64().unwrap();
                let sum = sum(kind);
                assert!((sum / total - 1.0).abs() < 1e-9, "{arguments:?}: {kind} {sum} {total}");
            }
            let open = flags.contains(&"--open-loop");
            assert_eq!(result["open_loop"], open);
            assert_eq!(result["parallel"], flags.contains(&"--parallel"));
            let waits = causes(&result, "writes")
                .iter()
                .any(|(name, part)| name == "waiting" && *part > 0.0);
            assert!(!waits || open, "{arguments:?}");
        }
    }
}

#[test]
fn a_replay_says_in_words_what_the_time_was_spent_on() {
    let trimmed = trace("trimmed.csv", "0,W,0,32768\n1,T,1024,1024\n2,R,0,1024\n");
    let output = tandem(&["replay", &trimmed, "--device", "tiny", "--system", "conventional"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().skip_while(|line| *line != "What the time was spent on:");
    let heads: Vec<&str> = lines.nth(1).expect(&text).split_whitespace().collect();
    assert_eq!(heads, ["all", "reads", "writes", "trims"], "{text}");
    // A block of 16 pages is 12.8 ms; a sector read is 60 us; a trim's record takes a page.
    assert_eq!(
        lines.next().unwrap().trim(),
        "host  12.86 ms  60.0 us  12.80 ms         0",
        "{text}"
    );
}

#[test]
fn the_time_of_each_cause_is_that_worked_out_by_hand() {
    // Without a log, serially, and without bus time: a fold's part is its pages read and programmed, and its erases.
    let workload = "synth:uniform?requests=3000&size=1KiB";
    let result = result(&["replay", workload, "--device", "tiny", "--system", "conventional"]);
    let count = |place: &str| result.pointer(place).and_then(Value::as_f64).expect(place);
    let part = |name: &str| count(&format!("/response_by_cause_us/writes/{name}"));
    let (read, program, erase) = (60.0, 800.0, 1500.0);
    let folds = count("/mlc/pages/gc_read") * read
        + count("/mlc/pages/gc_program") * program
        + count("/mlc/erases") * erase;
    let leveled = count("/mlc/pages/wl_read") * read + count("/mlc/pages/wl_program") * program;
    let made = part("fold") + part("wear_leveling");
    assert!((made - folds - leveled).abs() < 1e-3, "{made} {folds} {leveled}");
    assert!(folds > 0.0);
    let scans = count("/mlc/pages/scan_read") * read;
    assert!((part("scan") - scans).abs() < 1e-3);
    let host = count("/mlc/pages/host_program") * program + count("/mlc/pages/host_read") * read;
    assert!((part("host") - host).abs() < 1e-3);
    assert!(part("reclaim") == 0.0 && part("write_back") == 0.0 && part("waiting") == 0.0);
}

#[test]
fn what_overlaps_takes_less_time() {
    let total = |device: &str, flags: &[&str]| {
        let workload = "synth:uniform?requests=500&size=64KiB&footprint=64MiB";
        let arguments = ["replay", workload, "--device", device, "--capacity", "2GiB"];
        result(&[&arguments[..], flags].concat())["response_us"]["total"].as_f64().unwrap()
    };
    // The present-day part has channels and dies; a single die's programs still wait for each other.
    assert!(total("tlc-pslc", &["--parallel"]) < 0.9 * total("tlc-pslc", &[]));
}

#[test]
fn every_operation_of_the_chip_has_a_cause() {
    let workload = "synth:uniform?requests=3000&reads=20&size=1KiB";
    let result = result(&["replay", workload, "--device", "tiny"]);
    let pages = |region: &str| -> u64 {
        let pages = result[region]["pages"].as_object().unwrap();
        pages.values().map(|count| count.as_u64().unwrap()).sum()
    };
    let erases = |region: &str| result[region]["erases"].as_u64().unwrap();
    let all = pages("slc") + pages("mlc") + erases("slc") + erases("mlc");
    let per_second = result["nand_ops_per_s"].as_f64().unwrap();
    let counted = per_second * result["busy_s"].as_f64().unwrap();
    #[allow(clippy::cast_precision_loss)] // Some ten thousand operations.
    let difference = counted - all as f64;
    assert!(difference.abs() < 0.5, "the chip did {counted}, and {all} have a cause");
    assert!(erases("mlc") > 0 && erases("slc") > 0, "{result}");
}

#[test]
fn the_same_requests_give_the_same_result_but_for_wall_times() {
    let zipf = "synth:zipf?requests=5000&seed=3&reads=10&size=1KiB";
    let replay =
        || without_wall_times(result(&["replay", zipf, "--device", "tiny", "--passes", "2"]));
    let first = replay();
    assert_eq!(first, replay());
    let compare =
        || without_wall_times(result(&["compare", zipf, "--device", "tiny", "--passes", "2"]));
    let compared = compare();
    assert_eq!(compared, compare());
    assert_eq!(compared["runs"][2], first);
    let other = zipf.replace("seed=3", "seed=4");
    assert_ne!(without_wall_times(result(&["replay", &other, "--device", "tiny"])), first);
}

#[test]
fn a_comparison_holds_every_run_and_its_ratios_to_the_first() {
    let systems = "conventional,hybrid,hybrid?filter=off&throttle=off";
    let arguments = ["compare", "synth:zipf?requests=5000&size=1KiB", "--device", "tiny"];
    let comparison = result(&[&arguments[..], &["--systems", systems]].concat());
    let runs = comparison["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3);
    let figure = |run: usize, place: &str| runs[run].pointer(place).unwrap().as_f64().unwrap();
    for (at, system) in systems.split(',').enumerate() {
        assert_eq!(runs[at]["system"], system);
        let assert_is = |ratio: &str, expected: f64| {
            let found = comparison["ratios"][system][ratio].as_f64().expect(ratio);
            assert!((found / expected - 1.0).abs() < 1e-12, "{system}, {ratio}: {found}");
        };
        let total = "/response_us/total";
        assert_is("rs", figure(0, total) / figure(at, total));
        assert_is("es", figure(at, "/energy_mj") / figure(0, "/energy_mj"));
        assert_is("ec", figure(at, "/cost_usd") / figure(0, "/cost_usd"));
        if at > 0 {
            let erases = |region: &str| figure(at, &format!("/{region}/erase_count/mean"));
            assert_is("bw", erases("slc") / erases("mlc"));
        }
    }
    assert!(comparison["ratios"]["conventional"]["bw"].is_null(), "it has no SLC");
    assert_eq!(runs[0]["slc_bytes"], 0);
}

#[test]
fn guarding_paired_pages_costs_copies_in_the_slc() {
    let systems = "hybrid,hybrid?paired-pages=guard";
    let workload = "synth:uniform?requests=5000&size=4KiB&reads=20";
    let comparison =
        result(&["compare", workload, "--device", "tiny", "--systems", systems, "--passes", "2"]);
    let copies = |run: usize| {
        let run = &comparison["runs"][run];
        assert_eq!(run["verified_reads"], comparison["runs"][0]["verified_reads"]);
        run.pointer("/slc/pages/meta_program").unwrap().as_u64().unwrap()
    };
    assert!(copies(1) > copies(0), "{} and {}", copies(1), copies(0));
}

#[test]
fn a_report_shows_what_ran_and_what_came_of_it_in_one_file() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    let path = path.to_str().unwrap();
    let workload = "synth:zipf?requests=5000&size=1KiB&reads=20&seed=9";
    let arguments = ["compare", workload, "--device", "tiny", "--report", path, "--json", "-"];
    let output = tandem(&arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = fs::read_to_string(path).unwrap();
    let escaped = workload.replace('&', "&amp;");
    for told in [
        escaped.as_str(),
        "Reads: how long they took",
        "Writes: how long they took",
        "What the time was spent on",
        "Write traffic by cause",
        "Erases of the SLC's blocks",
        "Erases of the MLC's blocks",
        "Mean response time over the run",
        "hybrid: pages of new data written to chains",
        "conventional: pages of new data written to chains",
        "times as fast",
        "prefers-color-scheme:dark",
    ] {
        assert!(page.contains(told), "{told}");
    }
    let at = |words: &str| page.find(words).expect(words);
    assert!(at("<p class=\"answer\"><strong>Take ") < at("<svg") && at("<svg") < at("power loss"));
    assert!(at("power loss") < at("a log, in the SLC if there is one"), "the answer is first");
    for elsewhere in ["<script", "<link", "url(", "@import", "src=", "href=", "NaN", "inf"] {
        assert!(!page.contains(elsewhere), "{elsewhere}: the page needs no other file");
    }
    // What is on the page is what is in the JSON.
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rs = format!("{:.2}", comparison["ratios"]["hybrid"]["rs"].as_f64().unwrap());
    assert!(page.contains(&format!("<td>RS</td><td>{rs}</td>")), "{rs}");
    let silent = without_wall_times(result(&arguments[..4]));
    assert_eq!(without_wall_times(comparison), silent, "a report changes no result");
    let (code, reason) = failure(&[&arguments[..4], &["--report", "/none/x.html"]].concat());
    assert_eq!((code, reason.contains("/none/x.html cannot be written")), (Some(2), true));
}

#[test]
fn what_is_said_of_the_rest_of_a_disk_follows_its_fill() {
    let few = ["replay", "synth:uniform?requests=30&size=4KiB&footprint=8MiB"];
    for (fill, told) in [("nothing", "The rest is empty"), ("in-order", "The rest is cold")] {
        let output = tandem(&[&few[..], &["--capacity", "1GiB", "--fill", fill]].concat());
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn several_traces_follow_each_other_in_their_order() {
    let first = trace("first.csv", "0,W,0,1024\n1000,R,0,1024\n");
    let second = trace("second.csv", "rubbish\n7000000,W,4096,1024\n7005000,R,0,1024\n");
    let synthetic = "synth:sequential?requests=3&size=1KiB&interval_us=1";
    let arguments = ["replay", &first, &second, synthetic, &first, "--device", "tiny"];
    let options = ["--lenient", "--format", "csv", "--open-loop", "--passes", "2"];
    let result = result(&[&arguments[..], &options].concat());
    assert_eq!(
        (&result["requests"]["reads"], &result["requests"]["writes"]),
        (&6.into(), &12.into())
    );
    // Bad lines are counted once, however many passes there are.
    assert_eq!((&result["skipped_lines"], &result["passes"]), (&1.into(), &2.into()));
    assert_eq!(result["trace"], [&first, &second, synthetic, &first].join(" "));
}

#[test]
fn what_cannot_be_written_is_told_before_anything_runs() {
    let long = "synth:uniform?requests=1000000000";
    for (flag, file, telling) in [
        ("--json", "/none/x.json", "/none/x.json cannot be written: there is no such folder"),
        ("--report", "/none/x.html", "make it first"),
        ("--report", "/", "it is a folder"),
        ("--report", "-", "a page goes to a file"),
    ] {
        let (code, reason) = failure(&["compare", long, "--device", "tiny", flag, file]);
        assert_eq!((code, reason.contains(telling)), (Some(2), true), "{reason}");
    }
}

#[test]
fn a_log_of_too_many_blocks_is_refused_with_a_size_that_works_and_chains_may_have_more() {
    let arguments = ["replay", "synth:zipf?requests=10", "--device", "c1", "--system"];
    for system in ["hybrid", "conventional"] {
        let result = result(&[&arguments[..], &[system]].concat());
        assert_eq!(result["requests"]["writes"], 10, "{system} with 172,032 blocks");
    }
    // The default has more entries for such a log than an index takes.
    let with = [&arguments[..], &["hybrid?entries=100000"]].concat();
    let (code, reason) = failure(&[&with[..], &["--slc", "16GiB"]].concat());
    assert_eq!(code, Some(2));
    let proposed = reason.split("--slc ").nth(1).expect(&reason).split(' ').next().unwrap();
    assert!(reason.contains("make the log smaller") && proposed.ends_with("iB"), "{reason}");
    let result = result(&[&with[..], &["--slc", proposed]].concat());
    assert_eq!(result["requests"]["writes"], 10, "{proposed}");
}

#[test]
fn a_bad_line_is_told_with_file_and_line_or_skipped_and_counted() {
    let path = trace("bad.csv", "0,W,0,1024\n5,W,0,1024\nrubbish\n9,R,0,1024\n");
    let (code, reason) = failure(&["replay", &path, "--device", "tiny"]);
    assert_eq!(code, Some(2));
    assert!(reason.contains("bad.csv, line 3: expected `time_us,op,offset,length`"), "{reason}");
    let lenient = result(&["replay", &path, "--device", "tiny", "--lenient"]);
    assert_eq!(lenient["skipped_lines"], 1);
    assert_eq!(lenient["requests"]["reads"], 1);
}

#[test]
fn addresses_beyond_the_device_are_refused_wrapped_or_packed() {
    let lines =
        "0,W,1000000000,2048\n1,W,0,2048\n2,R,1000000000,2048\n3,R,0,2048\n4,T,0,2000000000\n";
    let path = trace("beyond.csv", lines);
    let on_tiny = ["replay", &path, "--device", "tiny"];
    let (code, reason) = failure(&on_tiny);
    assert_eq!(code, Some(2));
    for part in ["beyond.csv, line 1", "1000002048", "--fit pack", "--fit wrap", "--capacity"] {
        assert!(reason.contains(part), "{reason}");
    }
    for fit in ["wrap", "pack"] {
        let result = result(&[&on_tiny[..], &["--fit", fit]].concat());
        assert_eq!(result["requests"]["reads"], 2, "{fit}");
        assert_eq!(result["requests"]["trims"], 1, "{fit}");
    }
    let large = trace("large.csv", "0,W,0,1048576\n1,R,5000000000,2048\n");
    let (code, reason) = failure(&["replay", &large, "--device", "tiny", "--fit", "pack"]);
    assert_eq!(code, Some(2));
    assert!(reason.contains("touches") && reason.contains("327680"), "{reason}");
}

#[test]
fn compressed_files_and_standard_input_are_the_same_trace() {
    let lines = (0..500).map(|at| format!("{at},W,{},1024\n", at * 7 % 320 * 1024));
    let lines = lines.collect::<Vec<String>>().concat();
    let plain = trace("same.csv", &lines);
    let compressed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("same.zst");
    fs::write(&compressed, zstd::encode_all(lines.as_bytes(), 3).unwrap()).unwrap();
    let gzip = Path::new(env!("CARGO_TARGET_TMPDIR")).join("same.with-any-name");
    let mut encoder = flate2::write::GzEncoder::new(
        fs::File::create(&gzip).unwrap(),
        flate2::Compression::fast(),
    );
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap();
    let figures = |mut value: Value| {
        value["trace"].take();
        without_wall_times(value)
    };
    let twice = ["--device", "tiny", "--passes", "2"];
    let expected = figures(result(&[&["replay", &plain][..], &twice].concat()));
    for path in [&compressed, &gzip] {
        let arguments = [&["replay", path.to_str().unwrap()][..], &twice].concat();
        assert_eq!(figures(result(&arguments)), expected, "{path:?}");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args([&["replay", "-", "--json", "-"][..], &twice].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(figures(serde_json::from_slice(&output.stdout).unwrap()), expected);
}

#[test]
fn bad_arguments_end_with_exit_code_2_and_say_what_there_is() {
    let path = trace("one.csv", "0,W,0,1024\n");
    let empty = trace("empty.csv", "time_us,op,offset,length\n");
    let strange = trace("strange.csv", "hello\nworld\n");
    for (arguments, telling) in [
        (vec!["replay", "none.csv"], "none.csv cannot be read"),
        (vec!["replay", &empty], "no request"),
        (vec!["replay", &strange], "--format"),
        (vec!["replay", &path, "--format", "tape"], "csv, msr, spc, "),
        (vec!["replay", &path, "--system", "fat"], "hybrid, conventional"),
        (vec!["replay", &path, "--system", "hybrid?filter=maybe", "--device", "tiny"], "on or off"),
        (vec!["replay", &path, "--slc", "20GX"], "GiB"),
        (vec!["replay", &path, "--passes", "0"], "--passes"),
        (vec!["replay", "-", "-"], "standard input"),
        (vec!["replay", "synth:fat"], "uniform, zipf, sequential"),
        (vec!["compare", &path, "--systems", "hybrid,hybrid"], "twice"),
        (vec!["replay", &path, "--device", "tiny", "--slc", "1KiB"], "less than one block"),
        (vec!["replay", &path, "--device", "tiny", "--json", "/nowhere/result.json"], "/nowhere"),
    ] {
        let output = tandem(&arguments);
        let reason = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {reason}");
        assert!(reason.contains(telling), "{arguments:?}: {reason}");
    }
}

#[test]
fn every_builtin_device_that_the_ftl_can_drive_replays() {
    for (device, capacity) in [
        ("tiny", None),
        ("tiny-tlc", None),
        ("spi-nand-1g", None),
        ("k9f2g08u0a", None),
        ("k9gag08u0m", Some("256MiB")),
        ("tlc-pslc", Some("2GiB")),
        ("c1", Some("256MiB")),
        ("c2", Some("256MiB")),
        ("c3", Some("256MiB")),
    ] {
        let mut arguments =
            vec!["compare", "synth:zipf?requests=2000&reads=20", "--device", device];
        arguments.extend(capacity.iter().flat_map(|capacity| ["--capacity", *capacity]));
        let comparison = result(&arguments);
        let reads = &comparison["runs"][1]["requests"]["reads"];
        assert!(reads.as_u64().unwrap() > 300, "{device}");
    }
}

/// All but the longest, which takes as long as the others together.
fn own_traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/own");
    let entries = fs::read_dir(folder).expect("traces/own").map(|entry| entry.unwrap().path());
    let is_short = |path: &Path| {
        path.extension().is_some_and(|ending| ending == "zst")
            && path.metadata().expect("its length").len() < 1 << 20
    };
    let mut traces: Vec<PathBuf> = entries.filter(|path| is_short(path)).collect();
    traces.sort();
    traces
}

#[test]
fn our_own_traces_replay_with_every_read_verified() {
    let traces = own_traces();
    assert!(traces.len() >= 6, "{traces:?}");
    for path in traces {
        let path = path.to_str().unwrap();
        let disk = ["--capacity", "4GiB", "--slc", "64MiB", "--fit", "pack", "--fill", "nothing"];
        let systems = ["--systems", "hybrid,paged"];
        let comparison = result(&[&["compare", path][..], &disk, &systems].concat());
        for run in comparison["runs"].as_array().unwrap() {
            let read = run["requests"]["sectors_read"].as_u64().unwrap();
            assert!(run["verified_reads"].as_u64().unwrap() >= read && read > 1000, "{run}");
            assert_eq!(run["partial"], false);
        }
    }
}

#[test]
fn a_table_names_the_systems_and_says_what_the_ratios_mean() {
    let output = tandem(&["compare", "synth:zipf?requests=1000", "--device", "tiny"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let against = ["hybrid against conventional:", "paged against conventional:"];
    for part in ["conventional", "RS", "times as fast", "$"].into_iter().chain(against) {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(output.stderr.is_empty(), "no bar where nobody sees it: {:?}", output.stderr);
}

#[test]
fn of_the_usual_systems_the_page_store_is_left_out_where_it_has_no_room() {
    let trace = "synth:zipf?requests=1000";
    let device = ["--device", "tiny", "--slc", "64KiB"];
    let usual = tandem(&[&["compare", trace][..], &device].concat());
    let [text, told] = [usual.stdout, usual.stderr].map(|said| String::from_utf8(said).unwrap());
    assert!(usual.status.success() && text.contains("hybrid against conventional:"), "{text}");
    assert!(!text.contains("paged against"), "{text}");
    for said in [&text, &told] {
        assert!(said.contains("paged is left out: the capacity needs"), "{said}");
    }
    // Who names it is told that it does not fit.
    let systems = ["--systems", "conventional,paged"];
    let named = tandem(&[&["compare", trace][..], &device, &systems].concat());
    assert_eq!(named.status.code(), Some(2), "{named:?}");
}
