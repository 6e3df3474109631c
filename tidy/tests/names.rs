//! Names of types: no two of a crate have the same one, and some words have one meaning in all crates.

use std::collections::{BTreeMap, BTreeSet};

use std::path::PathBuf;

use tidy::{files, name, text};

/// Names that several types of a crate have, and why.
const SHARED: [(&str, &str); 9] = [
    // The arguments of each command.
    ("crates/sim-cli", "Args"),
    // One of each is built: narrow or wide numbers, with or without a clock or a library, for one processor or another.
    ("crates/ftl-core", "BlockNumber"),
    ("crates/ftl-core", "Numbers"),
    ("crates/ftl-core", "Width"),
    ("crates/sim", "Clock"),
    ("crates/sim", "Zst"),
    ("firmware/programs", "Moment"),
    ("firmware/programs", "Span"),
    // Not told apart yet: a step of garbage collection, and what a step of a mount gives.
    ("crates/ftl-core/src/paged", "Step"),
];

/// Words that once named many types, and how many types each names now, all of one meaning: a *part* is what a
/// datasheet describes, a *place* the number of a slot, a *source* what an image is read from, a *verdict* what a
/// comparison ends with, a *verb* the kind of an operation on flash.
const WORDS: [(&str, usize); 7] = [
    ("Found", 0),
    ("Part", 2),
    ("Place", 2),
    ("Room", 0),
    ("Source", 1),
    ("Verb", 1),
    ("Verdict", 1),
];

/// Folders of a crate that use nothing of each other (`tests/modules.rs`), so that each is read by itself.
const APART: [&str; 2] = ["crates/ftl-core/src/hybrid", "crates/ftl-core/src/paged"];

/// The types that a file defines, also within its functions, but not what an `impl` names, such as `type Error`.
fn types(text: &str) -> Vec<&str> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    code.lines().filter_map(type_name).collect()
}

fn type_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    let is_outermost = rest.len() == line.len();
    for word in ["pub(crate) ", "pub(super) ", "pub "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let kinds = ["struct ", "enum ", "trait ", "union "];
    let alias = rest.strip_prefix("type ").filter(|_| is_outermost);
    let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind)).or(alias)?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

/// The folder whose types are told apart, for a file of some crate's sources.
fn house(path: &str) -> Option<String> {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    let (crate_folder, _) = path.split_once("/src/").filter(|_| !is_test)?;
    let apart = APART.iter().find(|folder| path.starts_with(&format!("{folder}/")));
    Some(apart.map_or(crate_folder, |folder| folder).into())
}

/// Names of several types in one house, with the files that define them.
fn repeated(sources: &[(String, String)]) -> Vec<String> {
    let mut defined: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for (path, text) in sources {
        let Some(house) = house(path) else { continue };
        for name in types(text) {
            defined.entry((house.clone(), name)).or_default().push(path);
        }
    }
    let shared: BTreeSet<_> = SHARED.into_iter().collect();
    defined.retain(|(house, name), paths| paths.len() > 1 && !shared.contains(&(&**house, *name)));
    defined.iter().map(|((_, name), paths)| format!("{name}: {}", paths.join(", "))).collect()
}

#[test]
fn a_word_has_one_meaning() {
    assert_eq!(type_name("    pub(super) enum Place<'a> {"), Some("Place"));
    assert_eq!(type_name("pub struct Place(u32);"), Some("Place"));
    assert_eq!(type_name("/// enum Place"), None);
    let sources = files("rs");
    for (word, count) in WORDS {
        let defines =
            |path: &&PathBuf| text(path).lines().any(|line| type_name(line) == Some(word));
        let found: Vec<_> = sources.iter().filter(defines).collect();
        assert_eq!(found.len(), count, "types called {word} are in {found:?}");
    }
}

#[test]
fn types_of_a_crate_have_names_of_their_own() {
    let found = |first: &str, second: &str| {
        let text = "pub(super) struct Image<'a>(u8);\n".to_string();
        let within = "impl T {\n    type Error = u8;\n}\n";
        repeated(&[(first.into(), text.clone() + within), (second.into(), text + within)])
    };
    let named = ["Image: crates/a/src/one.rs, crates/a/src/two/mod.rs"];
    assert_eq!(found("crates/a/src/one.rs", "crates/a/src/two/mod.rs"), named);
    assert_eq!(found("crates/a/src/one.rs", "crates/b/src/one.rs"), [""; 0]);
    assert_eq!(found("crates/a/src/one.rs", "crates/a/tests/two.rs"), [""; 0]);
    let halves = ("crates/ftl-core/src/hybrid/a.rs", "crates/ftl-core/src/paged/a.rs");
    assert_eq!(found(halves.0, halves.1), [""; 0]);
    assert_eq!(types("struct A;\n#[cfg(test)]\nmod tests {\n    struct A;\n}\n"), ["A"]);

    let sources: Vec<_> = files("rs").iter().map(|path| (name(path), text(path))).collect();
    let repeated = repeated(&sources);
    assert!(repeated.is_empty(), "types of the same name:\n{}", repeated.join("\n"));
}
