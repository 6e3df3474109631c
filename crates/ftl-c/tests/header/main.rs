//! The header is what the sources say: `UPDATE_EXPECT=1 cargo test -p ftl-c --test header` writes it anew.

mod c;

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

/// The files with what C knows, in an order in which everything is declared before it is used.
const SOURCES: [&str; 9] =
    ["error", "device", "nand", "config", "told", "profiles", "page_store", "hybrid", "examine"];

/// Of these only what is public, behind the types.
const BETWEEN: &str = "calls";

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn made() -> String {
    let mut names: Vec<&str> = SOURCES.to_vec();
    names.insert(6, BETWEEN);
    c::header(&home(), &names)
}

#[test]
fn the_header_is_what_the_sources_say() {
    expect_file!["../../include/tandem.h"].assert_eq(&made());
}

#[test]
fn every_function_and_every_error_is_in_it() {
    let made = made();
    let mut functions = 0;
    for name in SOURCES {
        let text = fs::read_to_string(home().join(format!("src/{name}.rs"))).expect("a source");
        for line in text.lines().filter(|line| line.contains("extern \"C\" fn tandem_")) {
            let name = line.split("fn ").nth(1).and_then(|rest| rest.split('(').next());
            let name = name.expect("a name");
            assert!(made.contains(&format!("{name}(")), "{name} is not in the header");
            functions += 1;
        }
    }
    assert!(functions > 40, "{functions} functions");
    for error in ftl_c::Error::ALL {
        let line = format!(" = {},", error.number());
        assert!(made.contains(&line), "{error:?} is not in the header");
    }
}
