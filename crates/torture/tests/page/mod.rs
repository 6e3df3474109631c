//! The tables of docs/TORTURE.md that tests write.

use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/TORTURE.md");

fn read() -> String {
    fs::read_to_string(PAGE).expect("the page is there")
}

fn rows_of<'a>(page: &'a str, heading: &str) -> Vec<&'a str> {
    let start = page.find(heading).expect("the page has the table");
    page[start..].lines().take_while(|line| line.starts_with('|')).collect()
}

/// Returns the lines of the table with this heading, the heading first.
pub(crate) fn rows(heading: &str) -> Vec<String> {
    rows_of(&read(), heading).into_iter().map(String::from).collect()
}

/// Replaces the table with this heading.
pub(crate) fn renew(heading: &str, table: &str) {
    let page = read();
    let before = rows_of(&page, heading).join("\n") + "\n";
    fs::write(PAGE, page.replace(&before, table)).expect("the page can be written");
}
