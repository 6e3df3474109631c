//! What a comparison concludes: the gain of the SLC apart from that of the FTL, the ranking, and the states from which
//! systems are compared.

use std::fs;

use serde_json::Value;

use crate::common::{failure, file, printed, result, tandem};

fn number(value: &Value, path: &str) -> f64 {
    let figure = value.pointer(path).unwrap_or_else(|| panic!("{path} of {value}"));
    figure.as_f64().unwrap_or_else(|| panic!("{path} is {figure}"))
}

const SMALL: [&str; 4] = ["--capacity", "256MiB", "--slc", "8MiB"];

#[test]
fn the_gain_of_the_slc_is_that_of_two_replays() {
    let hot = "synth:zipf?requests=20000&size=4KiB&footprint=8MiB&skew=1.1";
    let compared = result(
        &[&["compare", hot, "--systems", "conventional,hybrid,paged,ko"], &SMALL[..]].concat(),
    );
    for (system, slc) in [("paged", "0"), ("hybrid", "0")] {
        let with = result(&[&["replay", hot, "--system", system], &SMALL[..]].concat());
        let sizes = ["--capacity", "256MiB", "--slc", slc];
        let without = result(&[&["replay", hot, "--system", system], &sizes[..]].concat());
        let gain = number(&without, "/response_us/total") / number(&with, "/response_us/total");
        let found = number(&compared, &format!("/slc_gain/{system}"));
        assert!((found / gain - 1.0).abs() < 1e-12, "{system}: {found} for {gain}");
    }
    assert!(compared["slc_gain"].get("ko").is_none(), "it cannot do without");
    assert!(compared["slc_gain"].get("conventional").is_none(), "it has none");
    assert_eq!(compared["runs"].as_array().map(Vec::len), Some(4), "those that were asked for");
    assert_eq!(compared["without_slc"]["paged"]["slc_bytes"], 0);
    assert_eq!(compared["without_slc"]["hybrid"]["system"], "conventional");
    let said =
        printed(&[&["compare", hot, "--systems", "conventional,hybrid,ko"], &SMALL[..]].concat());
    assert!(said.contains("Not run without SLC: ko"), "{said}");
}

#[test]
fn the_ranking_is_that_of_its_own_figures() {
    let hot = "synth:zipf?requests=20000&size=4KiB&footprint=64MiB&reads=20";
    let compared = result(&[&["compare", hot, "--systems", "all"], &SMALL[..]].concat());
    let ranking = compared["ranking"].as_array().expect("a ranking");
    assert_eq!(ranking[0]["standing"], "taken");
    let compared_with = |row: &&Value| row["standing"] == "taken" || row["standing"] == "ranked";
    let worths: Vec<f64> =
        ranking.iter().filter(compared_with).map(|row| number(row, "/speed_for_price")).collect();
    assert!(worths.is_sorted_by(|one, other| one >= other), "{worths:?}");
    for row in ranking {
        let priced = row["standing"] != "priced_elsewhere";
        assert_eq!(row["price"].is_null(), !priced, "{row}");
        if row["standing"] == "loses_data" {
            assert_eq!(row["survives_power_loss"], false);
        }
    }
    let elsewhere = ranking.iter().filter(|row| row["standing"] == "priced_elsewhere");
    let mut elsewhere: Vec<&str> = elsewhere.filter_map(|row| row["system"].as_str()).collect();
    elsewhere.sort_unstable();
    assert_eq!(elsewhere, ["disk-cache", "multi-scm"]);
    assert!(compared["ratios"]["multi-scm"]["ec"].is_null());
}

/// The first writes of a fresh device: no system pays for erases that another has behind it.
#[test]
fn a_fresh_device_of_each_system_costs_the_same() {
    let path = file(
        "fresh.csv",
        (0..64).map(|at| format!("{at},W,{},524288", at * 524_288)).collect::<Vec<_>>().join("\n"),
    );
    let sizes = ["--capacity", "512MiB", "--slc", "0", "--fill", "nothing"];
    let systems = "conventional,page-mlc,paged";
    let compared = result(&[&["compare", &path, "--systems", systems], &sizes[..]].concat());
    let [chains, map, paged] =
        [0, 1, 2].map(|at| number(&compared, &format!("/runs/{at}/write_us/total")));
    assert!((chains / map - 1.0).abs() < 0.001, "{chains} and {map}");
    // The page store writes a summary for each block besides, and no system erases what is erased.
    assert!((paged / map - 1.0).abs() < 0.015, "{paged} and {map}");
    assert!((0..3).all(|at| compared["runs"][at]["mlc"]["erases"] == 0), "{compared}");
    assert_eq!(compared["runs"][2]["fill"], "nothing");
}

#[test]
fn what_was_never_written_reads_as_zeros_and_what_was_filled_at_random_as_it_was_written() {
    for fill in ["nothing", "in-order", "random"] {
        let words = ["compare", "synth:uniform?requests=4000&size=4KiB&reads=50", "--fill", fill];
        let device = ["--capacity", "128MiB", "--slc", "8MiB"];
        let compared = result(
            &[&words[..], &["--systems", "conventional,hybrid,paged,page-mlc"], &device].concat(),
        );
        for run in compared["runs"].as_array().expect("runs") {
            assert!(number(run, "/verified_reads") > 0.0, "{fill}: {run}");
            assert_eq!(run["fill"], fill);
        }
    }
}

#[test]
fn what_the_fill_left_in_the_slc_is_not_on_the_account_of_the_trace() {
    let path = file(
        "seventeen.csv",
        (0..17)
            .map(|at| format!("{},W,{},4096", at * 1000, at * 8192))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let words = ["replay", &path, "--system", "paged?bursts=on", "--open-loop"];
    let run = result(&[&words[..], &SMALL].concat());
    let programs: f64 = ["slc", "mlc"]
        .iter()
        .flat_map(|region| {
            ["host", "gc", "wl", "meta"].map(|cause| format!("/{region}/pages/{cause}_program"))
        })
        .map(|path| number(&run, &path))
        .sum();
    assert!(programs < 100.0, "{programs}: {run}");
}

#[test]
fn a_steady_run_ends_when_five_rounds_agree_and_its_figures_are_of_these() {
    let hot = "synth:uniform?requests=3000&size=4KiB&footprint=16MiB";
    let words = ["compare", hot, "--device", "c3", "--steady", "--systems", "page-mlc,paged"];
    let compared = result(&[&words[..], &SMALL].concat());
    for run in compared["runs"].as_array().expect("runs") {
        let rounds = run["steady"]["rounds"].as_array().expect("rounds");
        assert_eq!(run["steady"]["settled"], true, "{run}");
        assert_eq!(run["passes"], rounds.len());
        assert!((5..=25).contains(&rounds.len()));
        assert_eq!(run["requests"]["writes"], 5 * 3000, "those of five rounds");
        let of_rounds =
            rounds[rounds.len() - 5..].iter().map(|round| number(round, "/write_amplification"));
        let mean = of_rounds.sum::<f64>() / 5.0;
        assert!((number(run, "/write_amplification") / mean - 1.0).abs() < 1e-9, "{run}");
    }
    let said = printed(&[&words[..], &SMALL].concat());
    assert!(said.contains("Steady after "), "{said}");
}

/// Five writes a round: garbage collection runs in some rounds, and in others it does not.
#[test]
fn a_run_that_never_settles_ends_after_25_rounds_and_says_so() {
    let words = ["replay", "synth:uniform?requests=5&size=1KiB", "--device", "tiny", "--steady"];
    let run = result(&words);
    assert_eq!(run["steady"]["settled"], false, "{run}");
    assert_eq!(run["steady"]["rounds"].as_array().map(Vec::len), Some(25));
    assert_eq!((&run["passes"], &run["requests"]["writes"]), (&25.into(), &25.into()));
    assert!(printed(&words).contains("NOT STEADY after 25 rounds"));
}

#[test]
fn a_full_device_cannot_be_filled_and_an_almost_full_one_can() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../devices/tiny.toml");
    let text = fs::read_to_string(own).expect("a device file of ours");
    let with = |name: &str, exported: &str| {
        let own = "exported = \"320KiB\"";
        assert!(text.contains(own), "{text}");
        file(name, text.replace(own, &format!("exported = \"{exported}\"")))
    };
    // The MLC has 18 blocks of 32 KiB.
    let (full, nearly) = (with("full.toml", "576KiB"), with("nearly-full.toml", "400KiB"));
    let load = "synth:uniform?requests=500&size=1KiB&reads=50";
    for fill in ["nothing", "in-order", "random"] {
        for system in ["page-mlc", "conventional", "paged"] {
            let words = ["replay", load, "--device", &full, "--fill", fill, "--system", system];
            let (code, said) = failure(&words);
            assert!(code == Some(2) && said.contains("does not fit tiny: "), "{said}");
        }
        let words = ["replay", load, "--device", &nearly, "--fill", fill, "--system", "page-mlc"];
        assert!(number(&result(&words), "/verified_reads") > 0.0, "{fill}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let hot = "synth:uniform?requests=10";
    let (code, said) = failure(&["compare", hot, "--bytes-a-day", "0"]);
    assert!(code == Some(2) && said.contains("wears nothing"), "{said}");
    let (code, said) = failure(&["compare", hot, "--steady", "--passes", "3"]);
    assert!(code == Some(2) && said.contains("cannot be used with"), "{said}");
    let (code, said) = failure(&["compare", hot, "--json", "-", "--csv", "-"]);
    assert!(code == Some(2) && said.contains("cannot both"), "{said}");
}

#[test]
fn a_trace_beyond_the_device_is_fitted_by_a_comparison_which_says_how() {
    let path =
        file("far-away.csv", "0,W,4096,8192\n1,W,99999997952,4096\n2,R,4096,4096\n3,W,0,0\n");
    let output = tandem(&["compare", &path, "--systems", "conventional", "--json", "-"]);
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("are moved together, as with --fit pack"), "{said}");
    assert!(said.contains("1 request of length zero passed over"), "{said}");
    let (code, said) = failure(&["replay", &path]);
    assert!(code == Some(2) && said.contains("--fit pack"), "a replay asks: {said}");
    let nothing = file("nothing.csv", "0,W,0,0\n1,R,512,0\n");
    let (code, said) = failure(&["compare", &nothing]);
    assert!(code == Some(2) && said.contains("holds no request"), "{said}");
}

#[test]
fn a_report_shows_where_chains_are_written_for_systems_that_have_chains() {
    let path = file("chains.html", "");
    let hot = "synth:zipf?requests=3000&size=1KiB";
    let words = ["compare", hot, "--device", "tiny", "--report", &path, "--systems"];
    let told = |systems: &str| {
        printed(&[&words[..], &[systems]].concat());
        let page = fs::read_to_string(&path).expect("a page");
        let titles = page.matches(": pages of new data written to chains").count();
        (page.contains("Where the chains are written"), titles)
    };
    // Each chart has its title twice: as its name, and in the picture.
    let of_chains = told("conventional");
    assert!(of_chains.0 && of_chains.1 > 0, "{of_chains:?}");
    assert_eq!(told("conventional,paged,page-mlc"), of_chains);
    assert_eq!(told("paged,page-mlc"), (false, 0));
}
