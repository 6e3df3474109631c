//! The header is what the sources say: `UPDATE_EXPECT=1 cargo test -p ftl-judge --test header` writes it anew.

#[path = "../../../ftl-c/tests/header/c.rs"]
mod c;

use std::path::{Path, PathBuf};

use expect_test::expect_file;

/// The files with what C knows, in an order in which everything is declared before it is used.
const SOURCES: [&str; 7] = ["clause", "figures", "judge", "bus", "watch", "told", "face"];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn made() -> String {
    c::header(&home(), &SOURCES)
}

#[test]
fn the_header_is_what_the_sources_say() {
    expect_file!["../../include/tandem_judge.h"].assert_eq(&made());
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
