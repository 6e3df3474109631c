//! Answers that were wrong once: each test holds one of them to what was worked out by hand.

use serde_json::Value;

mod common;

use common::{failure, file, printed, result};

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
    let (code, slc) = failure(&["replay", "synth:uniform?requests=1", "--slc", "300GiB"]);
    assert_eq!(code, Some(2));
    assert!(slc.contains("ask for --slc ") && !slc.contains("--capacity"), "{slc}");
    let beyond = |name: &str, gibibytes: u64| {
        let path = file(name, format!("0,R,{},4096\n", gibibytes << 30));
        failure(&["replay", &path]).1
    };
    let near = beyond("near.csv", 25);
    assert!(near.contains("--fit pack") && near.contains("--capacity makes"), "{near}");
    // The tables of 16 bits number no more than 32 GiB of C3's blocks.
    let far = beyond("far.csv", 100);
    assert!(far.contains("--fit pack") && !far.contains("--capacity"), "{far}");
}

#[test]
fn energies_have_one_unit_and_trims_are_told() {
    let path = file("trims.csv", "0,W,0,8192\n10,T,0,4096\n20,T,4096,4096\n30,R,0,4096\n");
    let arguments = [&path, "--device", "tiny"];
    let replayed = printed(&[&["replay"], &arguments[..]].concat());
    let compared = printed(&[&["compare", "--systems", "hybrid"], &arguments[..]].concat());
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
    let nested: String = (0..400_000).map(|at| format!("[a.b.c.d.e{at}]\n")).collect();
    let (code, said) = failure(&["chip", &file("nested.toml", nested)]);
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
