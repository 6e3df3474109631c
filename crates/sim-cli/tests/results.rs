//! `docs/RESULTS.md` names every field of a result, as the types have them. `UPDATE_EXPECT=1 cargo test -p sim-cli
//! --test results` makes its tables anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use syn::{Attribute, Expr, Fields, Item, Lit, Meta, Type};

/// The sources, and the types in the order of the page.
const TYPES: [(&str, &str); 17] = [
    ("../../sim/src/engine/result/mod.rs", "RunResult"),
    ("../../sim/src/engine/result/mod.rs", "Requests"),
    ("../../sim/src/engine/result/mod.rs", "Times"),
    ("../../sim/src/engine/result/mod.rs", "ByRequest"),
    ("../../sim/src/engine/result/mod.rs", "ByCause"),
    ("../../sim/src/engine/result/mod.rs", "RegionResult"),
    ("../../sim/src/engine/result/mod.rs", "Spread"),
    ("../../sim/src/engine/result/mod.rs", "Pages"),
    ("../../sim/src/engine/result/mod.rs", "PartResult"),
    ("../../sim/src/engine/result/mod.rs", "ByVerb"),
    ("../../sim/src/engine/result/mod.rs", "Factors"),
    ("../../sim/src/engine/result/mod.rs", "Folding"),
    ("../../sim/src/engine/result/mod.rs", "Filter"),
    ("../../sim/src/engine/result/mod.rs", "Throttle"),
    ("../../sim/src/engine/result/mod.rs", "Hash"),
    ("../../sim/src/engine/result/mod.rs", "Ratios"),
    ("../../sim/src/engine/result/rounds.rs", "Steady"),
];

/// Types that are told beside these.
const MORE: [(&str, &str); 4] = [
    ("../../sim/src/engine/result/rounds.rs", "Round"),
    ("../../sim/src/engine/result/mod.rs", "ServedResult"),
    ("../../sim/src/engine/comparison/mod.rs", "Comparison"),
    ("../../sim/src/engine/comparison/ranking.rs", "RankingRow"),
];

fn source(name: &str) -> syn::File {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name);
    syn::parse_file(&fs::read_to_string(path).expect("a source")).expect("Rust")
}

/// What the comment of an item says, in one line.
fn told(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.collect::<Vec<String>>().join(" ");
    // Links of rustdoc are names here.
    text.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

/// What a type is in JSON.
fn shown(of: &Type) -> String {
    let Type::Path(path) = of else { return shown_of_other(of) };
    let Some(last) = path.path.segments.last() else { return String::new() };
    let inner = match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => list
            .args
            .iter()
            .filter_map(|argument| match argument {
                syn::GenericArgument::Type(of) => Some(shown(of)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    match (last.ident.to_string().as_str(), inner.as_slice()) {
        ("u64" | "u32", _) => "whole number".into(),
        ("f64", _) => "number".into(),
        ("bool", _) => "true or false".into(),
        ("String", _) => "text".into(),
        ("Option", [of]) => format!("{of}, or null"),
        ("Vec", [of]) => format!("list of {of}"),
        ("BTreeMap", [_, of]) => format!("by name: {of}"),
        (name, _) => name.into(),
    }
}

fn shown_of_other(of: &Type) -> String {
    match of {
        Type::Reference(to) => match &*to.elem {
            Type::Path(path) if path.path.is_ident("str") => "text".into(),
            other => shown(other),
        },
        Type::Slice(of) => format!("list of {}", shown(&of.elem)),
        _ => String::new(),
    }
}

fn table((file, name): (&str, &str)) -> String {
    let file = source(file);
    let found = file.items.iter().find_map(|item| match item {
        Item::Struct(of) if of.ident == name => Some(of),
        _ => None,
    });
    let of = found.unwrap_or_else(|| panic!("no type is called {name}"));
    let mut text =
        format!("\n### {name}\n\n{}\n\n| field | is | |\n|---|---|---|\n", told(&of.attrs));
    let Fields::Named(fields) = &of.fields else { panic!("{name} has no fields") };
    for field in &fields.named {
        let field_name = field.ident.as_ref().expect("a name");
        writeln!(text, "| `{field_name}` | {} | {} |", shown(&field.ty), told(&field.attrs))
            .expect("text");
    }
    text
}

const MARK: &str = "<!-- from here on as the types have it -->\n";

#[test]
fn the_page_names_every_field_as_the_types_have_it() {
    let file = expect_file!["../../../docs/RESULTS.md"];
    let page = file.data();
    let (head, _) = page.split_once(MARK).expect("the mark");
    let tables: String = TYPES.into_iter().chain(MORE).map(table).collect();
    file.assert_eq(&format!("{head}{MARK}{tables}"));
}
