//! Failures as exceptions, with the program's message.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::{PyErr, import_exception};
use sim::Failure;

import_exception!(tandem._errors, BadInput);
import_exception!(tandem._errors, Note);
import_exception!(tandem._errors, TandemError);
import_exception!(tandem._errors, Violation);

/// The exception of a failure.
pub(crate) fn raised(failure: &Failure) -> PyErr {
    match failure {
        Failure::Violation(_) => Violation::new_err(in_python(&failure.to_string())),
        Failure::Interrupted(_) => PyKeyboardInterrupt::new_err(()),
        _ => bad(&failure.to_string()),
    }
}

/// The exception of bad input.
pub(crate) fn bad(reason: &str) -> PyErr {
    BadInput::new_err(in_python(reason))
}

/// Flags that are switches.
const SWITCHES: [&str; 4] = ["lenient", "open-loop", "parallel", "steady"];

/// A sentence whose flags of the command line are arguments: `--fit pack` is `fit="pack"`.
pub(crate) fn in_python(sentence: &str) -> String {
    let mut words = sentence.split(' ').peekable();
    let mut said: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        let Some((before, flag)) = word.split_once("--").filter(|(_, flag)| is_flag(flag)) else {
            said.push(word.into());
            continue;
        };
        let name = flag.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let after = &flag[name.len()..];
        let argument = name.replace('-', "_");
        let value = words.peek().filter(|value| after.is_empty() && is_value(name, value));
        said.push(match value {
            Some(value) => {
                let end = value.trim_end_matches([')', ',', ';', '.']);
                let quoted = format!("{before}{argument}=\"{end}\"{}", &value[end.len()..]);
                words.next();
                quoted
            }
            None if SWITCHES.contains(&name) => format!("{before}{argument}=True{after}"),
            None => format!("{before}{argument}{after}"),
        });
    }
    said.join(" ")
}

fn is_flag(flag: &str) -> bool {
    flag.starts_with(|letter: char| letter.is_ascii_lowercase())
}

/// Whether the word after that flag is its value, and not the sentence's next word.
fn is_value(flag: &str, word: &str) -> bool {
    match flag {
        "fit" => ["wrap", "pack", "auto"].iter().any(|way| word.starts_with(way)),
        "format" => !["says", "or", "and", "is"].contains(&word),
        "columns" => word.contains('='),
        "slc" | "capacity" => word.starts_with(|letter: char| letter.is_ascii_digit()),
        "ftl" => word.starts_with("hybrid") || word.starts_with("paged"),
        _ => false,
    }
}
