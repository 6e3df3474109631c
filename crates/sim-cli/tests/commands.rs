//! The binary as people call it: what it prints, and with which exit code it ends.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect_file;

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// `UPDATE_EXPECT=1 cargo test -p sim-cli --test commands` writes what the program prints now into the pages.
#[test]
fn the_examples_of_pages_are_what_the_program_prints() {
    for page in ["README.md", "docs/PARALLEL.md", "docs/TRACES.md"] {
        assert_examples_hold(page);
    }
}

fn assert_examples_hold(page: &str) {
    const START: &str = "$ cargo run --release -- ";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = expect_file![root.join(page)];
    let written = file.data();
    let mut examples = written.split(START);
    let mut renewed = examples.next().expect("what stands before the examples").to_owned();
    let mut count = 0;
    for example in examples {
        let (command, rest) = example.split_once('\n').expect("its first line");
        let (_, after) = rest.split_once("```").expect("its end");
        let output = Command::new(env!("CARGO_BIN_EXE_tandem"))
            .args(command.split(' '))
            .current_dir(&root)
            // As wide as it comes, whatever the terminal of whoever tests asks for.
            .env_remove("COLUMNS")
            .output()
            .expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        renewed.extend([START, command, "\n", text(&output.stdout), "```", after]);
        count += 1;
    }
    assert!(count > 0, "{page} has an example");
    file.assert_eq(&renewed);
}

#[test]
fn without_arguments_help_is_shown_and_all_is_well() {
    let output = tandem(&[]);
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    assert!(help.contains("Examples:") && help.contains("tandem chip tiny"), "{help}");
    assert_eq!(help.trim(), text(&tandem(&["--help"]).stdout).trim());
}

#[test]
fn the_version_says_how_the_program_was_built() {
    let [short, long] = ["-V", "--version"].map(|flag| tandem(&[flag]).stdout);
    let short = text(&short).trim();
    let built = text(&long).trim().strip_prefix(short).expect("the version first").to_owned();
    assert_eq!(short, format!("tandem {}", env!("CARGO_PKG_VERSION")));
    // `./ci dist` shows that a release says its commit, too.
    let profile = built.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    assert!(profile.is_some_and(|profile| profile.contains("profile ")), "{built}");
}

#[test]
fn bad_arguments_end_with_exit_code_2_and_a_reason_on_standard_error() {
    for (arguments, telling) in [
        (vec!["chip"], "<DEVICE>"),
        (vec!["chip", "c9"], "no device is named `c9`"),
        (vec!["chip", "tinny"], "did you mean `tiny`?"),
        (vec!["chip", "C3"], "did you mean `c3`?"),
        (vec!["replay", "zipf?seed=2"], "did you mean the synthetic workload `synth:zipf?seed=2`?"),
        (vec!["replay", "synth:zipf?sede=2"], "did you mean `seed`? Else take one of requests="),
        (
            vec!["torture", "--device", "tny"],
            "error: no device is named `tny`: did you mean `tiny`?",
        ),
        (vec!["torture", "--ftl", "page"], "'paged'"),
        (vec!["torture", "--system", "smal"], "'small'"),
        (vec!["torture", "--faults", "progam"], "did you mean `program`?"),
        (vec!["replay", "a.csv", "--system", "hybird"], "did you mean `hybrid`?"),
        (vec!["replay", "synth:ziff"], "did you mean `zipf`?"),
        (vec!["compere", "a.csv"], "'compare'"),
        (vec!["chip", "tiny", "--fast"], "--fast"),
        (vec!["devices", "./none.toml"], "./none.toml"),
        (
            vec!["replay", "a.csv", "--queue-depth", "0"],
            "write a whole number from 1 to 4294967295",
        ),
        (vec!["sweep", "a.toml", "--out", "b", "--jobs", "0"], "write a whole number from 1 to "),
        (vec!["torture", "--seed", "x"], "write a whole number from 0 to 18446744073709551615"),
        (vec!["serve", "--port", "99999"], "write a whole number from 0 to 65535"),
        (vec!["replay", "a.csv", "--slc", "100PiB"], "write a whole number and K, M, G or T"),
        (vec!["fly"], "fly"),
    ] {
        let output = tandem(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(telling), "{arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_wrong_device_file_is_told_with_its_line_and_key() {
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../devices/tiny.toml");
    let wrong =
        std::fs::read_to_string(good).unwrap().replace("page = \"2KiB\"", "page = \"3KiB\"");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong.toml");
    std::fs::write(&path, &wrong).unwrap();
    let output = tandem(&["chip", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let line = wrong.lines().position(|line| line.contains("3KiB")).unwrap() + 1;
    let place = format!("wrong.toml, line {line}, mlc.page: ");
    assert!(text(&output.stderr).contains(&place), "{output:?}");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .arg("devices")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn help_tells_every_format_of_traces_and_what_it_is() {
    let output = tandem(&["replay", "--help"]);
    let help = text(&output.stdout);
    for format in sim::input::trace::formats::FORMATS {
        assert!(help.contains(&format!("- {}:", format.name)), "{}: {help}", format.name);
    }
    let listed = tandem(&["formats"]);
    let helped = tandem(&["help", "formats"]);
    for format in sim::input::trace::formats::FORMATS {
        let row = format!("  {} ", format.name);
        assert!(text(&listed.stdout).lines().any(|line| line.starts_with(&row)), "{listed:?}");
        assert!(text(&helped.stdout).lines().any(|line| line.starts_with(&row)), "{helped:?}");
    }
    let output = tandem(&["replay", "a.csv", "--format", "blkpars"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("'blkparse'"), "{output:?}");
}
