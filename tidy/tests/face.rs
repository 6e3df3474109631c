//! The face of `ftl-core`: the names that semver covers, which are those without the feature `internals`. `face.txt`
//! lists them, so that a name comes or goes by intent alone. The compiler sees to it that no signature leads past them:
//! a lint in the crate's root.
//!
//! To renew the list: `UPDATE_EXPECT=1 cargo test -p tidy --test face`.

use std::path::Path;

use expect_test::expect_file;
use syn::{Attribute, Item, UseTree, Visibility};

/// The names of a file's public items, those of its public modules included.
fn names(source: &str, folder: &Path, within: &str) -> Vec<String> {
    let file = syn::parse_file(source).expect("Rust");
    let mut found = Vec::new();
    for item in &file.items {
        let (attributes, visibility, own) = match item {
            Item::Const(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Enum(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Fn(item) => (&item.attrs, &item.vis, vec![item.sig.ident.to_string()]),
            Item::Mod(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Static(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Struct(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Trait(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Type(item) => (&item.attrs, &item.vis, vec![item.ident.to_string()]),
            Item::Use(item) => (&item.attrs, &item.vis, used(&item.tree)),
            _ => continue,
        };
        if !matches!(visibility, Visibility::Public(_)) || is_internal(attributes) {
            continue;
        }
        for name in own {
            if matches!(item, Item::Mod(_)) {
                found.extend(names_of_module(folder, &name, &format!("{within}{name}::")));
            }
            found.push(format!("{within}{name}"));
        }
    }
    found
}

fn names_of_module(folder: &Path, name: &str, within: &str) -> Vec<String> {
    let beside = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let path = beside.iter().find(|path| path.exists()).expect("the module's file");
    names(&tidy::text(path), &folder.join(name), within)
}

fn used(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => used(&path.tree),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(name) => vec![name.rename.to_string()],
        UseTree::Glob(_) => panic!("a glob hides which names it makes public"),
        UseTree::Group(group) => group.items.iter().flat_map(used).collect(),
    }
}

/// Whether an item is there with the feature `internals` only, or with one that implies it.
fn is_internal(attributes: &[Attribute]) -> bool {
    let internal =
        ["internals", "check", "seeded-bugs"].map(|name| format!("feature = \"{name}\""));
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        internal.contains(&list.tokens.to_string())
    })
}

#[test]
fn names_are_found() {
    let text = "
        pub use a::{B, c::D as E};
        use f::G;
        pub(crate) struct H;
        #[cfg(feature = \"alloc\")]
        pub struct I;
        #[cfg(feature = \"internals\")]
        pub struct J;
        #[cfg(feature = \"check\")]
        pub mod k;
    ";
    assert_eq!(names(text, Path::new(""), "at::"), ["at::B", "at::E", "at::I"]);
}

#[test]
fn the_face_of_ftl_core_is_that_of_the_list() {
    let folder = tidy::root().join("crates/ftl-core/src");
    let mut found = names(&tidy::text(&folder.join("lib.rs")), &folder, "");
    found.sort();
    expect_file!["face.txt"].assert_eq(&(found.join("\n") + "\n"));
}
