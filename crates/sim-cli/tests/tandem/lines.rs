//! Traces in which a line says what no disk can do: every command that reads traces names the line, and takes neither
//! time nor memory for it.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::result;

/// Lines, each of which is refused by itself.
const LINES: [&str; 15] = [
    "0,W,0,9223372036854775807",
    "0,R,0,9223372036854775807",
    "0,W,0,1099511627776",
    "0,R,0,33554433",
    "0,W,18446744073709551615,1",
    "0,T,18446744073709551615,1",
    "0,W,0,99999999999999999999",
    "0,W,-4096,4096",
    "0,R,0,-4096",
    "-5,W,0,4096",
    "9223372036854775807,W,0,4096",
    "99999999999999999999,R,0,4096",
    "1e300,W,0,4096",
    "0,X,0,4096",
    "0,W,0",
];

/// What each command says of `x.csv`, beside the plans `plan.toml` and `wrap.toml`.
const COMMANDS: [&str; 10] = [
    "profile x.csv",
    "profile x.csv --fit wrap",
    "replay x.csv",
    "replay x.csv --open-loop",
    "replay x.csv --fit pack",
    "compare x.csv",
    "compare x.csv --fit wrap --passes 3",
    "compare x.csv --systems all",
    "sweep plan.toml --out results",
    "sweep wrap.toml --out results",
];

/// Runs a command with a second of processor time and 100 MB of memory. Returns what it says of its failure.
fn told(folder: &Path, command: &str) -> String {
    let program = env!("CARGO_BIN_EXE_tandem");
    let limited = format!("ulimit -t 1; ulimit -d 100000; exec {program} {command}");
    let output = Command::new("sh").args(["-c", &limited]).current_dir(folder).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{command}: {told}");
    told
}

fn with_plans() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plan = "devices = [\"c3\"]\nsystems = [\"hybrid\"]\ntraces = [\"x.csv\"]\n";
    fs::write(folder.path().join("plan.toml"), plan).unwrap();
    fs::write(folder.path().join("wrap.toml"), format!("{plan}fit = \"wrap\"\n")).unwrap();
    folder
}

#[test]
fn whatever_a_line_says_it_is_named_within_a_second_and_100_megabytes() {
    let folder = with_plans();
    for line in LINES {
        for (before, number) in [("", 1), ("5,W,0,4096\n6,R,0,4096\n", 3)] {
            // A clock that begins late is no fault.
            if before.is_empty() && line.starts_with("9223") {
                continue;
            }
            fs::write(folder.path().join("x.csv"), format!("{before}{line}\n")).unwrap();
            for command in COMMANDS {
                let told = told(folder.path(), command);
                let place = format!("line {number}");
                assert!(told.contains(&place), "{command}, `{before}{line}`: {told}");
            }
        }
    }
}

/// Its cost is that of the device, whatever length a line has.
#[test]
fn a_trim_that_wraps_round_the_device_is_one_trim_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.csv");
    let capacity = 128 << 20;
    let trimmed = |offset: u64, length: u64, system: &str| {
        fs::write(&trace, format!("0,T,{offset},{length}\n")).unwrap();
        let trace = trace.to_str().unwrap();
        let device = ["--capacity", "128MiB", "--slc", "8MiB"];
        let flags = [&["replay", trace, "--fit", "wrap", "--system", system], &device[..]].concat();
        let mut result = result(&flags);
        // How long this machine took.
        for field in ["wall_s", "busy_s", "requests_per_s", "nand_ops_per_s"] {
            assert!(result.as_object_mut().unwrap().remove(field).is_some(), "{field}");
        }
        result
    };
    for system in ["hybrid", "conventional", "paged"] {
        let whole = trimmed(0, capacity, system);
        for (offset, length) in [(0, capacity + 1), (0, i64::MAX as u64), (capacity, 1 << 62)] {
            assert_eq!(trimmed(offset, length, system), whole, "{system}: {offset}, {length}");
        }
    }
}

/// Where each line is good, and their sum is not.
#[test]
fn traces_and_passes_that_last_longer_than_clocks_count_are_told() {
    let folder = tempfile::tempdir().unwrap();
    // Sixty years.
    fs::write(folder.path().join("x.csv"), "0,W,0,512\n1893456000000000,W,0,512\n").unwrap();
    for command in
        ["replay x.csv --open-loop --passes 2", "compare x.csv x.csv", "profile x.csv x.csv"]
    {
        let told = told(folder.path(), command);
        assert!(told.contains("100 years after the first"), "{command}: {told}");
    }
}

/// A line that does not end, packed so that the file is small.
#[test]
fn a_line_without_an_end_is_told() {
    let folder = with_plans();
    for before in ["", "5,W,0,4096\n"] {
        let text = [before.as_bytes(), &b"1234567890".repeat(30_000_000)].concat();
        let packed = zstd::encode_all(&text[..], 1).unwrap();
        fs::write(folder.path().join("x.csv"), packed).unwrap();
        for command in COMMANDS {
            let told = told(folder.path(), command);
            assert!(told.contains("line 1"), "{command}, `{before}`: {told}");
        }
    }
}
