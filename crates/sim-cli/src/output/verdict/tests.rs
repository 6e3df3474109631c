//! The verdicts of whole comparisons.

use clap::Parser;

use crate::commands::compare;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: compare::Args,
}

/// A text whose sentences stand on a line each.
fn unfolded(text: &str) -> String {
    text.replace("\n    ", " ")
}

/// What `compare` prints.
fn printed(words: &[&str]) -> String {
    let line = Line::try_parse_from([&["compare"], words].concat());
    let Line { args } = line.unwrap_or_else(|error| panic!("{error}"));
    let mut out = Vec::new();
    compare::run(&args, &mut out).unwrap();
    unfolded(&String::from_utf8(out).unwrap())
}

#[test]
fn a_comparison_ends_in_an_answer_with_its_reason_and_the_flashs_lifetime() {
    let hot = "synth:zipf?requests=40000&size=4KiB&footprint=8MiB&skew=1.1";
    let said = printed(&[hot, "--capacity", "256MiB", "--slc", "8MiB"]);
    assert!(said.contains("Take paged with 8MiB of SLC, as far as this run can tell"), "{said}");
    assert!(said.contains("Is the SLC of hybrid worth it? ") && said.contains("paged"), "{said}");
    assert!(said.contains("% more money") && said.contains("The SLC costs $"), "{said}");
    assert!(said.contains("a request of paged"), "{said}");
    assert!(said.contains(" less on "), "{said}");
    assert!(said.contains("At 20 GB a day") && said.contains(" in its MLC"), "{said}");
    assert!(!said.contains("never filled") && !said.contains("never ran"), "{said}");
    assert!(said.contains("Speed and life") && said.contains("may still change"), "{said}");
}

#[test]
fn what_a_run_cannot_show_is_said_with_what_to_do() {
    let said = printed(&["synth:uniform?requests=30&size=4KiB&footprint=8MiB"]);
    assert!(said.contains("SLC of hybrid and paged was never filled"), "{said}");
    assert!(
        said.contains("Garbage collection never ran in conventional, hybrid, paged with"),
        "{said}"
    );
    assert!(said.contains("Little of the disk was written: less than 0.1 % ("), "{said}");
    // No disk and no SLC is so small that this would fill it.
    assert!(!said.contains("--capacity") && !said.contains("--slc"), "{said}");
}

/// Many systems: a warning for each cause, and not one for each system.
#[test]
fn a_cause_is_told_once_for_all_systems_that_it_concerns() {
    let hot = "synth:zipf?requests=300&size=4KiB&footprint=8MiB";
    let said = printed(&[hot, "--systems", "all", "--capacity", "1GiB", "--fill", "nothing"]);
    let (_, said) = said.split_once("What this run cannot show:\n").expect("warnings");
    let warnings: Vec<&str> = said.lines().take_while(|line| !line.is_empty()).collect();
    let of = |cause: &str| -> Vec<&&str> {
        warnings.iter().filter(|warning| warning.contains(cause)).collect()
    };
    for cause in ["was never filled", "never ran in", "of the disk was written"] {
        assert_eq!(of(cause).len(), 1, "{cause}: {warnings:#?}");
    }
    assert!(of("Nothing was written to the SLC").len() <= 1, "{warnings:#?}");
    assert!(of("may still change").len() <= 1, "{warnings:#?}");
    assert!(warnings.len() <= 6, "{warnings:#?}");
    let filled = of("was never filled")[0];
    assert!(
        ["hybrid", "paged", "ko", "combo"].iter().all(|name| filled.contains(name)),
        "{filled}"
    );
}

#[test]
fn a_price_beyond_the_gain_is_no_yes_and_the_first_system_is_taken() {
    let hot = "synth:zipf?requests=4000&size=4KiB&footprint=8MiB";
    let said = printed(&[
        hot,
        "--capacity",
        "512MiB",
        "--slc",
        "2GiB",
        "--systems",
        "conventional,hybrid",
    ]);
    assert!(said.contains("Take conventional, without SLC, as far as this run can tell"), "{said}");
    assert!(said.contains("Is the SLC of hybrid worth it? No: 2GiB make it "), "{said}");
    assert!(said.contains("If speed alone counted, it would be hybrid"), "{said}");
}

#[test]
fn a_faster_system_that_loses_data_is_not_proposed() {
    let hot = "synth:zipf?requests=3000&size=4KiB&footprint=8MiB";
    let systems = "conventional,hybrid,page-slc";
    let said = printed(&[hot, "--capacity", "256MiB", "--slc", "8MiB", "--systems", systems]);
    assert!(said.contains("Take hybrid with 8MiB of SLC"), "{said}");
    assert!(said.contains("Left out, because as described they lose"), "{said}");
    assert!(said.contains("when the power fails: page-slc ("), "{said}");
}

#[test]
fn a_system_that_is_as_fast_for_less_money_is_taken() {
    let reads = "synth:zipf?requests=300&reads=100&footprint=8MiB";
    let said = printed(&[reads, "--capacity", "256MiB", "--systems", "hybrid,conventional"]);
    assert!(said.contains("Take conventional, without SLC"), "{said}");
    assert!(
        said.contains("Is the SLC of hybrid worth it? No: 256MiB make it 1.00 times"),
        "{said}"
    );
    assert!(said.contains("Nothing was written to the SLC of hybrid"), "{said}");
}

#[test]
fn one_number_of_passes_is_told_for_all_that_lacks() {
    let said = printed(&[
        "synth:zipf?requests=3000&size=4KiB&footprint=8MiB",
        "--capacity",
        "256MiB",
        "--systems",
        "hybrid",
    ]);
    let told: Vec<&str> = said.split("--passes ").skip(1).collect();
    let number = |text: &&str| text.chars().take_while(char::is_ascii_digit).collect();
    let told: Vec<String> = told.iter().map(number).collect();
    assert!(told.len() > 1 && told.iter().all(|passes| *passes == told[0]), "{said}");
}

#[test]
fn no_capacity_is_proposed_that_the_disk_does_not_exceed() {
    let said = printed(&["synth:zipf?requests=300&footprint=1MiB", "--device", "spi-nand-1g"]);
    assert!(said.contains("of 120MiB). ") && !said.contains("--capacity"), "{said}");
    assert!(!said.contains("never filled"), "{said}");
}

#[test]
fn flushes_are_counted_where_they_lower_the_mean() {
    let trace = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    let lines = "time_us,op,offset,length\n0,W,0,4096\n1,F,0,0\n2,T,0,4096\n3,F,0,0\n";
    std::fs::write(trace.path(), lines).unwrap();
    let said = printed(&[trace.path().to_str().unwrap(), "--capacity", "256MiB"]);
    assert!(said.contains("4 requests (1 writes, 1 trims, 2 flushes)"), "{said}");
    assert!(said.contains(" of flushes ") && said.contains(" of trims "), "{said}");
}

/// What a message proposes is run on the case that made the message.
#[test]
fn a_disk_and_an_slc_that_are_proposed_run() {
    // 2.5 GiB are written and trimmed, so that hardly anything is live at the end: they must fit nevertheless.
    let trace = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    let lines = (0..160_u64)
        .map(|at| at * (100 << 20))
        .map(|at| format!("0,W,{at},8388608\n0,T,{at},8388608\n0,R,{at},4096\n"));
    let lines = ["time_us,op,offset,length\n".to_owned()].into_iter().chain(lines);
    std::fs::write(trace.path(), lines.collect::<Vec<_>>().concat()).unwrap();
    let trace = trace.path().to_str().unwrap();
    let hot = "synth:zipf?requests=300&size=4KiB&footprint=8MiB";
    let more = "synth:zipf?requests=40000&size=4KiB&footprint=8MiB";
    let (mut disks, mut caches) = (0, 0);
    for words in [&[trace][..], &[hot], &[hot, "--device", "tlc-pslc"], &[more]] {
        let words = &[words, &["--fill", "nothing"]].concat()[..];
        let said = printed(words);
        let sizes = |flag: &str| -> Vec<String> {
            let told = said.split(flag).skip(1);
            told.map(|rest| rest.split([' ', '.']).next().unwrap().to_owned()).collect()
        };
        for told in said.split("Use --capacity ").skip(1) {
            let (sizes, _) = told.split_once(" --fit pack:").expect("a command");
            let sizes = format!("--capacity {sizes} --fit pack");
            let smaller: Vec<&str> = sizes.split(' ').collect();
            let smaller = printed(&[words, &smaller].concat());
            assert!(!smaller.contains("of the disk was written"), "{smaller}");
        }
        for slc in sizes("less SLC, with --slc ") {
            let less = printed(&[words, &["--slc", &slc]].concat());
            assert!(!less.contains("was never filled"), "{less}");
        }
        disks += sizes("--capacity ").len();
        caches += sizes("less SLC, with --slc ").len();
    }
    assert!(disks >= 1 && caches >= 1, "{disks} {caches}");
}

/// The passes that a warning proposes end that warning.
#[test]
fn passes_that_are_proposed_run_and_show_what_was_missing() {
    let hot = "synth:zipf?requests=3000&size=4KiB&footprint=8MiB";
    let words = [hot, "--capacity", "256MiB", "--slc", "64MiB", "--systems", "hybrid,paged"];
    let said = printed(&words);
    let mut tried = 0;
    for cause in ["was never filled", "never ran in"] {
        let Some(warning) = said.lines().find(|line| line.contains(cause)) else { continue };
        let (_, passes) = warning.split_once("--passes ").unwrap_or_else(|| panic!("{warning}"));
        let passes: String = passes.chars().take_while(char::is_ascii_digit).collect();
        let more = printed(&[&words[..], &["--passes", &passes]].concat());
        assert!(!more.contains(cause), "{warning}\n{more}");
        tried += 1;
    }
    assert!(tried > 1, "{said}");
}

#[test]
fn a_part_with_pseudo_slc_is_compared_by_a_page_map_and_with_the_cache_as_sold() {
    let said = printed(&[
        "synth:zipf?requests=300&size=16KiB",
        "--device",
        "tlc-pslc",
        "--fill",
        "nothing",
    ]);
    let heads = said.lines().find(|line| line.contains("paged")).unwrap();
    let names: Vec<&str> = heads.split_whitespace().collect();
    assert_eq!(names[..2], ["page-mlc", "pslc"], "{said}");
    assert!(!said.contains("conventional") && !said.contains("hybrid"), "{said}");
}

#[test]
fn a_day_has_the_bytes_that_were_asked_for() {
    let hot = "synth:zipf?requests=40000&size=4KiB&footprint=8MiB&skew=1.1";
    let words = [hot, "--capacity", "256MiB", "--slc", "8MiB", "--bytes-a-day", "5GB"];
    let said = printed(&words);
    assert!(said.contains("life of the MLC at 5 GB a day") && !said.contains("20 GB"), "{said}");
    let none = Line::try_parse_from(["compare", hot, "--bytes-a-day", "0"]).err().unwrap();
    assert!(none.to_string().contains("wears nothing"), "{none}");
}

#[test]
fn a_system_that_fits_only_without_slc_runs_without_it() {
    let few = "synth:uniform?requests=30&size=4KiB&footprint=8MiB";
    let said = printed(&[few, "--device", "c2", "--slc", "32MiB", "--fill", "nothing"]);
    assert!(said.contains("paged runs without SLC: the capacity needs "), "{said}");
    assert!(said.contains("--slc 64MiB fits"), "{said}");
    assert!(said.contains("Which FTL, without SLC ($67.62): "), "{said}");
}

#[test]
fn a_cache_that_was_never_full_is_told() {
    let few = "synth:uniform?requests=300&size=64KiB&footprint=8MiB";
    let said = printed(&[few, "--device", "tlc-pslc", "--systems", "page-mlc,pslc,paged"]);
    assert!(said.contains("The cache of pslc was never full: "), "{said}");
    assert!(said.contains("it would be pslc, as far as this run can tell"), "{said}");
}

#[test]
fn a_disk_that_is_too_slow_for_a_recording_is_told() {
    let hot = "synth:uniform?requests=2000&size=4KiB&footprint=8MiB&interval_us=1";
    let all = [hot, "--capacity", "256MiB", "--systems", "conventional,hybrid", "--open-loop"];
    let said = printed(&all);
    let told =
        "Most of the response time of conventional and hybrid is waiting for earlier requests";
    assert!(said.contains(told), "{said}");
    assert!(!printed(&all[..5]).contains("Most of the response time"), "{said}");
}

#[test]
fn rounds_that_write_the_same_part_of_the_disk_are_told() {
    let part = "synth:uniform?requests=200&size=2KiB&footprint=192KiB";
    let said = printed(&[part, "--device", "tiny", "--systems", "conventional", "--steady"]);
    assert!(said.contains("Each round writes the same ") && said.contains("requests="), "{said}");
}

#[test]
fn a_steady_replay_that_is_proposed_ends_its_warning() {
    let some = "synth:uniform?requests=8000&size=4KiB&footprint=16MiB";
    let words = [some, "--capacity", "256MiB", "--systems", "page-mlc"];
    let said = printed(&words);
    assert!(said.contains("may still change") && said.contains("`--steady`"), "{said}");
    let steady = printed(&[&words[..], &["--steady"]].concat());
    assert!(steady.contains("\nSteady after 5 rounds"), "{steady}");
    assert!(!steady.contains("may still change") && !steady.contains("`--steady`"), "{steady}");
    // An empty disk has free pages for longer, and until they are used up, rounds that agree mean nothing.
    let empty = printed(&[&words[..], &["--fill", "nothing", "--steady"]].concat());
    assert!(empty.contains("\nSteady after "), "{empty}");
    assert!(!empty.contains("\nSteady after 5 rounds"), "{empty}");
}

#[test]
fn a_comparison_tells_how_addresses_were_moved() {
    let trace = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    let lines = "time_us,op,offset,length\n0,W,0,8192\n1,W,99999997952,4096\n";
    std::fs::write(trace.path(), lines).unwrap();
    let words = [trace.path().to_str().unwrap(), "--systems", "conventional"];
    let said = printed(&words);
    assert!(said.contains("the 12.00 KiB that the trace reads or writes are moved"), "{said}");
    let said = printed(&[&words[..], &["--fit", "wrap"]].concat());
    assert!(said.contains("begin again at 0 (--fit wrap)"), "{said}");
}
