//! The code of the guides is compiled and run elsewhere in this repository; here it is compared with what they quote.

use std::fs;
use std::path::Path;

/// A file of the repository.
fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pieces of Rust of a page.
fn pieces(page: &str) -> Vec<&str> {
    page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_guide_to_an_ftl_of_ones_own_quotes_the_test_that_runs() {
    let (page, toy) = (text("docs/YOUR-FTL.md"), text("crates/nand-model/tests/your_ftl.rs"));
    let [piece] = pieces(&page)[..] else { panic!("the guide is one piece of code") };
    let told = toy.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    assert_eq!(piece.trim(), told.trim());
    let code =
        piece.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    assert!(code.count() <= 80, "the guide promises 80 lines of code");
}
