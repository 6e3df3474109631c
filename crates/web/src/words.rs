//! What the simulator says, in the page's words.

/// Flags that are fields of the page, and the fields' names.
const FIELDS: [(&str, &str); 2] = [("slc", "SLC"), ("capacity", "Capacity")];

/// A sentence of the program for the page: a flag becomes the field's name (`--slc 64MiB fits` is `SLC 64MiB fits`),
/// and any other is called the program's.
pub(crate) fn on_the_page(sentence: &str) -> String {
    let mut is_said = false;
    let words = sentence.split(' ').map(|word| {
        let Some((before, flag)) = flag(word) else { return word.into() };
        let length = flag.find(|letter: char| !is_of_name(letter)).unwrap_or(flag.len());
        let (name, after) = flag.split_at(length);
        if let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == name) {
            return format!("{before}{field}{after}");
        }
        // Once is enough.
        let whose = if std::mem::replace(&mut is_said, true) { "" } else { "the program's " };
        format!("{before}{whose}--{flag}")
    });
    words.collect::<Vec<String>>().join(" ")
}

/// What stands before the dashes of a flag, and what behind; dashes within the name of a file are of no flag.
fn flag(word: &str) -> Option<(&str, &str)> {
    let is_flag = |(before, flag): &(&str, &str)| {
        matches!(*before, "" | "(") && flag.starts_with(|letter: char| letter.is_ascii_lowercase())
    };
    word.split_once("--").filter(is_flag)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter == '-'
}

#[cfg(test)]
mod tests {
    use super::on_the_page;

    #[test]
    fn flags_are_fields_of_the_page_or_the_programs() {
        for (said, told) in [
            (
                "found `x`; --lenient skips such lines",
                "found `x`; the program's --lenient skips such lines",
            ),
            (
                "say which with --format, or with --columns",
                "say which with the program's --format, or with --columns",
            ),
            ("bytes (--format heimdall)", "bytes (the program's --format heimdall)"),
            (
                "--fit wrap begins at 0, --capacity makes it larger",
                "the program's --fit wrap begins at 0, Capacity makes it larger",
            ),
            ("it has no room; --slc 64MiB fits", "it has no room; SLC 64MiB fits"),
            ("a--b.csv -- --9 - is `--lenient`", "a--b.csv -- --9 - is `--lenient`"),
        ] {
            assert_eq!(on_the_page(said), told);
        }
    }
}
