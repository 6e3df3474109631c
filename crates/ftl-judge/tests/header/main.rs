//! The header is what the sources say: `RENEW_HEADER=1 cargo test -p ftl-judge --test header` writes it anew.

#[path = "../../../ftl-c/tests/header/c.rs"]
mod c;

use std::fs;
use std::path::{Path, PathBuf};

use c::Header;

/// The files with what C knows, in an order in which everything is declared before it is used.
const SOURCES: [&str; 7] = ["clause", "figures", "judge", "bus", "watch", "told", "face"];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn made() -> String {
    let mut header = Header::default();
    let files = SOURCES.map(|name| {
        let text = fs::read_to_string(home().join(format!("src/{name}.rs"))).expect("a source");
        syn::parse_file(&text).expect("Rust")
    });
    for file in &files {
        header.types(file);
    }
    for file in &files {
        header.functions(file);
    }
    let preamble = fs::read_to_string(home().join("tests/header/preamble.h")).expect("it");
    preamble.replace("@DECLARATIONS@\n", &header.text())
}

#[test]
fn the_header_is_what_the_sources_say() {
    let (file, made) = (home().join("include/tandem_judge.h"), made());
    if std::env::var_os("RENEW_HEADER").is_some() {
        fs::write(&file, &made).expect("the header");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == made,
        "include/tandem_judge.h is not what the sources say: RENEW_HEADER=1 cargo test -p ftl-judge --test header"
    );
}

#[test]
fn all_that_a_program_needs_is_in_it() {
    let made = made();
    for name in [
        "tandem_judge_new(",
        "tandem_judge_transfer(",
        "tandem_judge_driver(",
        "TANDEM_JUDGE_BREACH",
    ] {
        assert!(made.contains(name), "{name} is not in the header");
    }
}
