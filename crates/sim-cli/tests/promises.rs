//! `docs/SERVE.md` has a table of what happens to a disk kept in a file; each line names the tests that show it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The cells of the table's rows.
fn rows() -> Vec<Vec<String>> {
    let page = fs::read_to_string(here().join("../../docs/SERVE.md")).expect("the page");
    let part = page.split("## A disk in a file").nth(1).expect("its part about files");
    let table = part.split("\n\n").find(|part| part.starts_with("| ")).expect("a table");
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    table.lines().skip(2).map(cells).collect()
}

/// The names of all tests of this crate and of the library below it.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![here().join("src"), here().join("tests"), here().join("../sim/src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = fs::read_to_string(path).expect("a file");
                let after = file.split("#[test]\n").skip(1);
                let name =
                    |test: &str| test.split("fn ").nth(1)?.split('(').next().map(str::to_owned);
                names.extend(after.filter_map(name));
            }
        }
    }
    names
}

#[test]
fn each_line_of_what_happens_to_a_disk_in_a_file_has_its_tests() {
    let (tests, rows) = (tests(), rows());
    assert!(rows.len() >= 20, "{rows:?}");
    let mut told = BTreeSet::new();
    for row in rows {
        let [happens, outcome, named] = &row[..] else { panic!("three cells: {row:?}") };
        assert!(!outcome.is_empty() && told.insert(happens.clone()), "told once: {happens}");
        for name in named.split(", ") {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            let name = name.unwrap_or_else(|| panic!("no test is named: {happens}"));
            assert!(tests.contains(name), "there is no test `{name}`: {happens}");
        }
    }
}
