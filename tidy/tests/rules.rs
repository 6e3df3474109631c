//! The rules of safety of `ftl-core`: each seeded bug breaks one, and stands in its function. `docs/RULES.md` is
//! written from them.
//!
//! To renew the page: `UPDATE_EXPECT=1 cargo test -p tidy --test rules`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Lit, Meta};
use tidy::{files, name, root, text};

const SOURCES: &str = "crates/ftl-core/src";

/// Bugs that break two rules, and what these have in common.
const BREAK_TWO: [(&str, &str); 4] = [
    ("LevelInNeed", "leveling is seldom due when a request waits for a block"),
    ("ReplayBadRing", "numbers that go on from the last stamp do not follow those in a bad block"),
    ("TakeOldTags", "a tag is old by the horizon, or by the page of its leaf"),
    ("TrustFoldAlone", "an interrupted fold is met by the list of blocks, or by its chain"),
];

/// A rule: a function, its words, and the bugs that break it.
struct Rule {
    name: String,
    words: String,
    bugs: BTreeSet<String>,
}

/// The bugs that a function names.
#[derive(Default)]
struct Named(BTreeSet<String>);

impl<'ast> Visit<'ast> for Named {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut parts = path.segments.iter().map(|part| part.ident.to_string());
        if let (Some(bug), Some(named), None) = (parts.next(), parts.next(), parts.next())
            && bug == "Bug"
        {
            self.0.insert(named);
        }
        visit::visit_path(self, path);
    }
}

/// What is written above an item, as one line.
fn words(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(line) => Some(line.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// The title of a file of rules, and its rules.
fn rules_of(text: &str) -> (String, Vec<Rule>) {
    let file = syn::parse_file(text).expect("Rust");
    let functions = file.items.iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    let rules = functions.map(|function| {
        let mut named = Named::default();
        named.visit_block(&function.block);
        let name = function.sig.ident.to_string();
        Rule { name, words: words(&function.attrs), bugs: named.0 }
    });
    let title = words(&file.attrs);
    let end = title.find([':', '.']).unwrap_or(title.len());
    (title[..end].to_string(), rules.collect())
}

/// The files of rules of one room, in the order in which its `mod.rs` lists them.
fn rooms_in(room: &str) -> Vec<PathBuf> {
    let folder = root().join(SOURCES).join(room);
    let alone = folder.join("rules.rs");
    if alone.exists() {
        return vec![alone];
    }
    let listed = text(&folder.join("rules/mod.rs"));
    let modules = listed.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    modules.map(|module| folder.join(format!("rules/{module}.rs"))).collect()
}

fn is_for_rules(path: &Path) -> bool {
    path.ends_with("rules.rs") || path.parent().is_some_and(|folder| folder.ends_with("rules"))
}

/// What each bug does, as the list of bugs says.
fn bugs() -> BTreeMap<String, String> {
    let list = text(&root().join(SOURCES).join("bugs.rs"));
    let rows = list.split("\nbugs! {\n").nth(1).and_then(|rest| rest.split("\n}").next());
    let rows = rows.expect("the list of bugs").lines().filter_map(|line| {
        let (name, what) = line.trim().split_once(" \"")?;
        Some((name.to_string(), what.trim_end_matches('"').trim_end_matches('.').to_string()))
    });
    rows.collect()
}

#[test]
fn rules_are_read() {
    let file =
        "//! Erases: when.\n/// Nothing is\n/// erased.\nfn may(a: u8) -> bool { planted(Bug::A) }";
    let (title, rules) = rules_of(file);
    assert_eq!(title, "Erases");
    let [rule] = &rules[..] else { panic!("one rule") };
    assert_eq!((&*rule.name, &*rule.words), ("may", "Nothing is erased."));
    assert!(rule.bugs.iter().eq(["A"]));
}

#[test]
fn seeded_bugs_stand_in_rules_alone() {
    let list = root().join(SOURCES).join("bugs.rs");
    let beside: Vec<String> = files("rs")
        .iter()
        .filter(|path| path.starts_with(root().join(SOURCES)) && !is_for_rules(path))
        .filter(|path| **path != list && text(path).contains("planted("))
        .map(|path| name(path))
        .collect();
    assert!(beside.is_empty(), "move the condition into a function of rules.rs: {beside:?}");
}

#[test]
fn every_bug_breaks_one_rule() {
    let mut broken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files("rs").iter().filter(|path| is_for_rules(path)) {
        if !path.starts_with(root().join(SOURCES)) {
            continue;
        }
        for Rule { name: rule, words, bugs } in rules_of(&text(path)).1 {
            assert!(!words.is_empty() && !bugs.is_empty(), "{}, {rule}: say it", name(path));
            for bug in bugs {
                broken.entry(bug).or_default().push(rule.clone());
            }
        }
    }
    assert!(broken.keys().eq(bugs().keys()), "each bug of the list breaks a rule");
    let several = broken.iter().filter(|(_, rules)| rules.len() > 1);
    let several: Vec<(&str, usize)> = several.map(|(bug, all)| (&**bug, all.len())).collect();
    assert_eq!(several, BREAK_TWO.map(|(bug, _)| (bug, 2)));
}

#[test]
fn the_page_of_rules_is_that_of_the_code() {
    let mut page = String::from(INTRODUCTION);
    let whats = bugs();
    for (heading, room) in [("Page store", "paged"), ("Hybrid", "hybrid"), ("Both", "flash")] {
        write!(page, "\n## {heading}\n").expect("a string");
        for path in rooms_in(room) {
            let (title, rules) = rules_of(&text(&path));
            let file = name(&path);
            let file = file.trim_start_matches(SOURCES).trim_start_matches('/');
            write!(page, "\n**{title}** (`{file}`)\n\n").expect("a string");
            page.push_str("| rule | what must hold | what is planted |\n|---|---|---|\n");
            for Rule { name, words, bugs } in rules {
                let planted: Vec<&str> = bugs.iter().map(|bug| &*whats[bug]).collect();
                let planted = planted.join("; ");
                writeln!(page, "| `{name}` | {words} | {planted} |").expect("a string");
            }
        }
    }
    expect_file!["../../docs/RULES.md"].assert_eq(&page);
}

const INTRODUCTION: &str = "\
# Rules of safety

These keep acknowledged writes safe. Each is a small function of `crates/ftl-core/src`, called where it is kept.
[PAGE_STORE.md](PAGE_STORE.md) and [HYBRID.md](HYBRID.md) say how they make a whole.

Each can be broken on purpose: the feature `seeded-bugs` plants one bug at a time, in the function of the rule, and
[the tests](TORTURE.md#that-it-can-fail) must find it. Without the feature the rule is all that is compiled.

A test writes this page from the code: `UPDATE_EXPECT=1 cargo test -p tidy --test rules`.
";
