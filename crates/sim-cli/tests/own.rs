//! A system from outside the simulator is one among the others.

use clap::Parser;
use sim_cli::commands::Cli;
use sim_cli::own;

#[path = "../examples/twice.rs"]
#[allow(dead_code, unreachable_pub)] // Its `main` is the example's.
mod twice;

fn said(words: &[&str]) -> Result<String, String> {
    let cli =
        Cli::try_parse_from([&["tandem"], words].concat()).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    sim_cli::commands::run(&cli, &mut out).map_err(|failure| failure.to_string())?;
    Ok(String::from_utf8(out).expect("text"))
}

/// One test, since systems are made known once in a process.
#[test]
fn a_system_of_ones_own_is_compared_listed_and_held_to_its_word() {
    let name = "synth:zipf?requests=20000&footprint=4MiB&reads=30";
    let compare = [
        "compare",
        name,
        "--device",
        "tiny",
        "--fit",
        "wrap",
        "--systems",
        "page-mlc,twice,twice?times=9",
    ];
    assert!(said(&compare).is_err_and(|why| why.contains("no system is called `twice`")));
    own::register([own::of::<twice::Twice>()]).unwrap();
    let again = own::register([own::of::<twice::Twice>()]).unwrap_err();
    assert!(again.to_string().contains("known once"), "{again}");
    let table = said(&compare).unwrap();
    assert!(table.contains("twice?times=9 against page-mlc"), "{table}");
    // The SLC is at work in both, and less where a unit must be written nine times.
    let erased = table.lines().find(|line| line.contains("blocks erased, SLC")).expect("a row");
    let erased: Vec<u64> =
        erased.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect();
    assert!(erased.len() == 2 && erased[0] > erased[1] && erased[1] > 0, "{table}");
    assert!(said(&["systems"]).unwrap().contains("what is written twice goes to the SLC"));
    let wrong =
        said(&["replay", name, "--device", "tiny", "--system", "twice?time=2"]).unwrap_err();
    assert!(wrong.contains("did you mean `times`?"), "{wrong}");
}
