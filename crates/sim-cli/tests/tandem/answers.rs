//! Answers that were wrong once: each test holds one of them to what was worked out by hand.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sim::show;

use crate::common::{failure, file, folder, printed, result, tandem};

/// Pages that were programmed for the host, in the SLC and in the MLC.
fn programmed(result: &Value) -> [u64; 2] {
    ["slc", "mlc"].map(|region| result[region]["pages"]["host_program"].as_u64().expect("pages"))
}

#[test]
fn the_filter_judges_a_request_by_its_own_size_wherever_it_lies() {
    // 124 KiB before the line of 4 MiB, and 4 KiB behind it, which alone would be hot.
    let path = file("over-a-line.csv", "0,W,4067328,131072\n");
    assert_eq!(programmed(&result(&["replay", &path])), [0, 32]);
}

#[test]
fn no_slc_is_no_log() {
    let mut runs = ["hybrid", "conventional"].map(|system| {
        let trace = "synth:zipf?requests=3000&reads=30&seed=3";
        result(&["replay", trace, "--capacity", "1GiB", "--slc", "0", "--system", system])
    });
    for run in &mut runs {
        let run = run.as_object_mut().expect("a result");
        for key in ["system", "wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"] {
            assert!(run.remove(key).is_some());
        }
    }
    let [hybrid, conventional] = runs;
    assert_eq!(hybrid["slc_bytes"], 0);
    assert_eq!(hybrid, conventional);
}

#[test]
fn advice_names_what_helps() {
    let (code, slc) =
        failure(&["replay", "synth:uniform?requests=1", "--system", "hybrid", "--slc", "300GiB"]);
    assert_eq!(code, Some(2));
    assert!(slc.contains("; --slc ") && !slc.contains("--capacity"), "{slc}");
    // What is advised works.
    let advised =
        slc.split("--slc ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a size");
    let ten = "synth:uniform?requests=10";
    let advised = result(&["replay", ten, "--system", "hybrid", "--slc", advised]);
    assert!(advised["slc_bytes"].as_u64().expect("a size") >= 4 << 30);
    let beyond = |name: &str, gibibytes: u64| {
        let path = file(name, format!("0,R,{},4096\n", gibibytes << 30));
        failure(&["replay", &path]).1
    };
    let near = beyond("near.csv", 25);
    assert!(near.contains("--fit pack") && near.contains("--capacity makes"), "{near}");
    // No FTL names more than 2 TiB in sectors of 2 KiB.
    let far = beyond("far.csv", 10_000);
    assert!(far.contains("--fit pack") && !far.contains("--capacity"), "{far}");
}

#[test]
fn energies_have_one_unit_and_trims_are_told() {
    let path = file("trims.csv", "0,W,0,8192\n10,T,0,4096\n20,T,4096,4096\n30,R,0,4096\n");
    let arguments = [&path, "--device", "tiny"];
    let replayed = printed(&[&["replay"], &arguments[..]].concat());
    let compared = printed(&[&["compare", "--systems", "paged"], &arguments[..]].concat());
    let energy = replayed
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("energy "))
        .expect("energy");
    assert!(compared.contains(energy.trim()), "{replayed}{compared}");
    let trims =
        replayed.lines().find(|line| line.trim_start().starts_with("trims")).expect("trims");
    assert_eq!(trims.split_whitespace().nth(1), Some("2"));
}

#[test]
fn many_names_make_no_long_heading() {
    let names: Vec<String> =
        (0..39).map(|at| file(&format!("day-{at}.csv"), "0,R,0,512\n")).collect();
    let words: Vec<&str> =
        std::iter::once("profile").chain(names.iter().map(String::as_str)).collect();
    let profile = printed(&words);
    let heading = profile.lines().next().expect("a heading");
    assert!(heading.contains("(39 traces): 0 writes, 39 reads"), "{heading}");
    assert!(!heading.contains("day-7.csv"), "{heading}");
}

#[test]
fn what_is_wrong_below_our_own_heading_is_told_with_its_line() {
    for line in ["0,R,0,many", "0,Q,0,4096", "zero,R,0,4096"] {
        let path = file("bad-first-line.csv", format!("time_us,op,offset,length\n{line}\n"));
        let (code, said) = failure(&["replay", &path]);
        assert_eq!(code, Some(2));
        assert!(said.contains("line 2: expected `time_us,op,offset,length`"), "{said}");
        assert!(said.contains(line), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_device_file_without_end_is_not_read_to_it() {
    let (code, said) = failure(&["chip", "/dev/zero"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("/dev/zero") && said.contains("262144 bytes at most"), "{said}");
    let (code, said) = failure(&["sweep", "/dev/zero", "--out", "/nowhere"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("more than 1048576 bytes"), "{said}");
}

#[test]
fn nine_megabytes_of_nested_tables_are_refused_unread() {
    let nested: Vec<String> = (0..400_000).map(|at| format!("[a.b.c.d.e{at}]\n")).collect();
    let (code, said) = failure(&["chip", &file("nested.toml", nested.concat())]);
    assert_eq!(code, Some(2));
    assert!(said.contains("bytes at most"), "{said}");
}

#[test]
fn a_plan_of_too_many_runs_is_refused_at_once() {
    let list = |item: &dyn Fn(u32) -> String, count| {
        (0..count).map(item).collect::<Vec<String>>().join(", ")
    };
    let sizes = list(&|at| format!("\"{}KiB\"", 16 * (at + 1)), 530);
    let seeds = list(&|at| at.to_string(), 5300);
    let systems = list(&|at| format!("\"hybrid?probes={}\"", at % 32 + 1), 53);
    let plan = format!(
        "devices = [\"tiny\"]\nslc = [{sizes}]\nseeds = [{seeds}]\nsystems = [{systems}]\n\
         traces = [\"synth:zipf\"]\n"
    );
    let (code, said) = failure(&["sweep", &file("many.toml", plan), "--out", "/nowhere"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("148,877,000 runs"), "{said}");
}

/// Records as blktrace writes them: time, action with kind, block, bytes.
fn blktrace(records: &[(u64, u32, u64, u32)]) -> Vec<u8> {
    let record = |(time, action, block, bytes): &(u64, u32, u64, u32)| {
        let mut record = 0x6561_7407_u32.to_le_bytes().to_vec();
        record.extend(0_u32.to_le_bytes());
        record.extend(time.to_le_bytes());
        record.extend(block.to_le_bytes());
        record.extend([*bytes, *action, 1, 8 << 20, 0, 0].map(u32::to_le_bytes).concat());
        record
    };
    records.iter().flat_map(record).collect()
}

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const QUEUED: u32 = 1;
const ISSUED: u32 = 7;

#[test]
fn what_blktrace_wrote_for_each_processor_is_one_trace() {
    let folder = folder("by-processor");
    // What was issued is in the first file alone: the second one's queued request is the same once more.
    let files = [
        blktrace(&[(1_000, ISSUED | WRITE, 8, 4096), (5_000, ISSUED | READ, 8, 4096)]),
        blktrace(&[(900, QUEUED | WRITE, 8, 4096), (3_000, ISSUED | WRITE, 16, 4096)]),
    ];
    for (at, file) in files.iter().enumerate() {
        fs::write(folder.join(format!("sda.blktrace.{at}")), file).expect("a file");
    }
    let folder = folder.to_str().expect("text");
    let pattern = format!("{folder}/sda.blktrace.*");
    let [first, second] = [0, 1].map(|at| format!("{folder}/sda.blktrace.{at}"));
    let on_hybrid = ["replay", "--open-loop", "--device", "tiny", "--system", "hybrid"];
    for names in [&[folder][..], &[pattern.as_str()], &[second.as_str(), first.as_str()]] {
        let run = result(&[&on_hybrid[..], names].concat());
        let requests = &run["requests"];
        assert_eq!((requests["reads"].as_u64(), requests["writes"].as_u64()), (Some(1), Some(2)));
        // The read, 4 us after the first write, waits for both: four pages of 200 us each in the log, whose block is
        // full after seven and ends with a summary. Then it reads four of 25 us.
        let waits = (2.0 * 4.0 + 1.0) * 200.0 - 4.0;
        assert_eq!(run["read_us"]["total"], waits + 4.0 * 25.0, "{names:?}");
    }
}

#[test]
fn a_trace_that_can_be_read_in_two_ways_is_refused_or_told() {
    let bytes = file("bytes.txt", "0.000 0 200626176 4096 0\n223.412 0 36864 36864 1\n");
    let output = tandem(&["profile", &bytes, "--json", "-"]);
    let profile: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(profile["bytes_written"], 4096);
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("note: ") && said.contains("multiples of 4,096"), "{said}");
    let doubt = file("doubt.txt", "0.0 0 1024 512 0\n1.0 0 512 512 1\n");
    let (code, said) = failure(&["profile", &doubt]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--format heimdall"), "{said}");
    for (format, written) in [("heimdall", 512), ("disksim", 512 * 512), ("flashsim", 512 * 4096)] {
        let output = printed(&["profile", &doubt, "--format", format, "--json", "-"]);
        let profile: Value = serde_json::from_str(&output).expect("JSON");
        assert_eq!(profile["bytes_written"], written, "{format}");
    }
}

#[test]
fn any_columns_are_read_once_they_are_described() {
    let lines = "ts,queue,kind,lba,count\n0.5,1,W,8,16\n0.75,1,R,8,16\n";
    let path = file("columns.csv", lines);
    let (code, said) = failure(&["replay", &path]);
    assert_eq!(code, Some(2));
    assert!(said.contains("`ts` as the time") && said.contains("not `queue`"), "{said}");
    let columns = "time=ts:s,op=kind,offset=lba:sectors,length=count";
    let run = result(&["replay", &path, "--device", "tiny", "--columns", columns]);
    assert_eq!(run["requests"]["sectors_written"], 8);
}

#[test]
fn what_a_line_of_bpftrace_prints_is_read_by_its_columns() {
    // As the line in the README prints it: the first line is bpftrace's own.
    let text = "Attaching 1 probe...\n1000 WS 16 8\n2000 RA 16 8\n3000 W 64 16\n";
    let path = file("bpftrace.txt", text);
    let columns = "time=0:ns,op=1,offset=2:sectors,length=3";
    let result = result(&["replay", &path, "--columns", columns, "--device", "tiny"]);
    assert_eq!(
        (&result["requests"]["reads"], &result["requests"]["writes"]),
        (&1.into(), &2.into())
    );
    assert_eq!(result["bytes_written"], 12_288);
}

#[cfg(unix)]
#[test]
fn torture_of_a_large_device_says_at_once_why_it_takes_long() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["torture", "--device", "c3"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut said = String::new();
    let errors = child.stderr.take().expect("a pipe");
    // It waits as long as nothing is reported, and the whole run takes most of a minute for each of hundreds of cuts.
    BufReader::new(errors).read_line(&mut said).expect("a line");
    let runs = child.try_wait().expect("a child").is_none();
    child.kill().expect("it is ended");
    child.wait().expect("it has ended");
    assert!(
        runs && said.contains("c3 has") && said.contains("this takes some 46 s a cut"),
        "{said}"
    );
}

#[test]
fn torture_of_nothing_is_refused() {
    const LAST: &str = "18446744073709551615";
    for (arguments, said) in [
        (&["--requests", "0"][..], "write a whole number from 1 to 4294967295"),
        (&["--worlds", "0"], "write a whole number from 1 to"),
        (
            &["--requests", "2", "--cuts", "1", "--seed", "2"],
            "so few were asked for that none was drawn",
        ),
        (&["--seed", LAST], "begin with 18446744073709551614 or less"),
        (&["--seed", LAST, "--worlds", "3"], "begin with 18446744073709551612 or less"),
    ] {
        let (code, reason) = failure(&[&["torture"], arguments].concat());
        assert!(code == Some(2) && reason.contains(said), "{arguments:?}: {reason}");
    }
    // A failure without a cut prints this command: its workload runs.
    let told = printed(&["torture", "--requests", "5", "--cuts", "0"]);
    assert!(told.starts_with("no power cut was tried: the workload ran alone, "), "{told}");
    assert!(!told.contains("lost") && !told.contains(" 0 operations"), "{told}");
}

/// The total of a table of RAM.
#[cfg(unix)]
fn all_of_ram(arguments: &[&str]) -> u64 {
    let told = printed(&[&["size"], arguments].concat());
    let line = told.lines().find(|line| line.starts_with("  all ")).expect("a total");
    line.trim_start_matches("  all").trim().replace(',', "").parse().expect("bytes")
}

#[cfg(unix)]
#[test]
fn the_size_of_a_configuration_is_what_a_replay_and_the_pages_tell() {
    for system in ["paged", "hybrid", "conventional"] {
        for device in ["c3", "spi-nand-1g"] {
            let words = ["replay", "synth:zipf?requests=1", "--fit", "wrap", "--fill", "nothing"];
            let result = result(&[&words[..], &["--device", device, "--system", system]].concat());
            assert_eq!(all_of_ram(&[device, "--system", system]), result["ram_bytes"], "{system}");
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown = show::about(all_of_ram(&["c3"]));
    assert!(readme.contains(&format!("{shown}\n")), "README.md does not say {shown}");
    let small = all_of_ram(&["spi-nand-1g"]);
    let page = fs::read_to_string(root.join("docs/RAM.md")).unwrap();
    assert!(page.contains(&format!("{} bytes", show::count(small))), "docs/RAM.md: {small}");
}

#[cfg(unix)]
#[test]
fn a_device_is_named_by_position_or_by_its_flag() {
    assert_eq!(all_of_ram(&["spi-nand-1g"]), all_of_ram(&["--device", "spi-nand-1g"]));
    let (code, reason) = failure(&["size", "c3", "--device", "c3"]);
    assert!(code == Some(2) && reason.contains("cannot be used with"), "{reason}");
}

#[test]
fn a_system_that_does_not_fit_is_told_with_what_would() {
    let (code, reason) = failure(&["replay", "synth:zipf?requests=10", "--slc", "1MiB"]);
    assert_eq!(code, Some(2));
    assert!(reason.contains("`paged` does not fit c3: "), "{reason}");
    let remedy = reason.trim().strip_suffix(" fits").and_then(|rest| rest.rsplit_once("--slc "));
    let (_, size) = remedy.expect(&reason);
    printed(&["replay", "synth:zipf?requests=10", "--slc", size]);
}

/// The arguments that a message proposes behind a flag.
fn proposed<'a>(said: &'a str, flag: &str) -> &'a str {
    let (_, rest) = said.split_once(&format!("{flag} ")).unwrap_or_else(|| panic!("{said}"));
    rest.split([' ', ')', ';', '\n']).next().expect("what follows it")
}

#[test]
fn columns_that_are_proposed_read_the_file() {
    for (name, lines, writes) in [
        ("named.csv", "ts,queue,rw,lba,len\n5,1,W,8,4096\n7,1,R,8,4096\n", 4096),
        ("scsi.csv", "ts,rw,lba,len\n5,2a,8,4096\n7,28,8,4096\n", 4096),
        ("plain.txt", "0 0 0 4096 0\n15 0 8192 4096 1\n", 4096),
    ] {
        let path = file(name, lines);
        let (code, said) = failure(&["replay", &path, "--device", "tiny"]);
        assert_eq!(code, Some(2), "{said}");
        // The last one is the one with the columns.
        let at = said.rfind("--columns ").unwrap_or_else(|| panic!("{said}"));
        let columns = proposed(&said[at..], "--columns");
        let run = result(&["replay", &path, "--device", "tiny", "--columns", columns]);
        assert_eq!((&run["requests"]["reads"], &run["bytes_written"]), (&1.into(), &writes.into()));
    }
}

#[test]
fn where_lenient_is_proposed_it_reads_the_rest() {
    let odd = file("odd-line.csv", "0,R,0,512\nrubbish\n1,W,0,512\n");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/own/ext4_uml.csv.zst");
    let whole = fs::read(own).expect("a trace of ours");
    let cut = file("cut-short.csv.zst", &whole[..whole.len() / 2]);
    for (path, skipped) in [(odd, 1), (cut, 0)] {
        let words = ["replay", &path, "--fit", "wrap", "--device", "tiny"];
        let output = tandem(&words);
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.code() == Some(2) && said.contains("--lenient "), "{said}");
        let run = result(&[&words[..], &["--lenient"]].concat());
        let requests = &run["requests"];
        assert!(requests["writes"].as_u64() > Some(0), "{run}");
        assert!(run["skipped_lines"].as_u64() >= Some(skipped), "{run}");
    }
}
