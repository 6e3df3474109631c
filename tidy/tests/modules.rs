//! The modules of a crate use each other without circles.
//!
//! A file is a module, and so is a folder. An arrow runs from a file to each whose names it uses: by `use`, by a path,
//! or by a call of a method that another file gives to the same type. Where a crate has layers, arrows run down.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, ItemUse, UseTree, Visibility};

/// A module by its names, from the crate's root on.
type Module = Vec<String>;

/// Which file uses which, and the names by which it does.
type Arrows = BTreeMap<(Module, Module), BTreeSet<String>>;

/// Modules that do not use each other: only what calls both uses both.
const SEPARATE: [(&str, &str, &str); 2] =
    [("ftl-core", "hybrid/slc", "hybrid/mlc"), ("ftl-core", "hybrid", "paged")];

/// The layers of a crate, the highest first: a module uses none of a higher layer. The root is above all.
const LAYERS: [(&str, &[&str]); 2] =
    [("sim", &["engine", "input", "base"]), ("sim-cli", &["commands", "output", "flags", "base"])];

/// A crate's files.
#[derive(Default)]
struct Modules {
    files: BTreeMap<Module, syn::File>,
}

impl Modules {
    fn read(root: &Path) -> Self {
        let mut modules = Self::default();
        let file = syn::parse_file(&fs::read_to_string(root).expect("a root")).expect("Rust");
        let folder = root.parent().expect("a folder").to_path_buf();
        modules.enter(Module::new(), file, &folder);
        modules
    }

    /// Takes a file in, and those whose modules it declares, tests excepted.
    fn enter(&mut self, module: Module, file: syn::File, folder: &Path) {
        for item in &file.items {
            let Item::Mod(child) = item else { continue };
            if child.content.is_some() || is_for_tests(&child.attrs) || is_elsewhere(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let beside = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
            let path = beside.into_iter().find(|path| path.exists()).expect("the module's file");
            let text = fs::read_to_string(&path).expect("a file");
            let inner = [module.clone(), vec![name.clone()]].concat();
            self.enter(inner, syn::parse_file(&text).expect("Rust"), &folder.join(name));
        }
        self.files.insert(module, file);
    }

    fn of_texts(texts: &[(&str, &str)]) -> Self {
        let module = |name: &str| -> Module {
            name.split('/').filter(|part| !part.is_empty()).map(String::from).collect()
        };
        let parse = |text: &str| syn::parse_file(text).expect("Rust");
        let files = texts.iter().map(|(name, text)| (module(name), parse(text)));
        Self { files: files.collect() }
    }

    fn arrows(&self) -> Arrows {
        let exports: BTreeMap<_, _> =
            self.files.iter().map(|(module, file)| (module.clone(), handed_on(file))).collect();
        let methods = self.methods();
        let mut arrows = Arrows::new();
        for (module, file) in &self.files {
            let mut reader = Reader::new(self, &exports, &methods, module);
            reader.visit_file(file);
            for (to, name) in reader.found {
                if to != *module {
                    arrows.entry((module.clone(), to)).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// Which file gives a type that method, where only one does.
    fn methods(&self) -> BTreeMap<(String, String), Module> {
        let mut found: BTreeMap<_, BTreeSet<&Module>> = BTreeMap::new();
        for (module, file) in &self.files {
            for item in &file.items {
                let Item::Impl(block) = item else { continue };
                let Some(owner) = type_name(&block.self_ty) else { continue };
                for item in &block.items {
                    if let ImplItem::Fn(method) = item {
                        let key = (owner.clone(), method.sig.ident.to_string());
                        found.entry(key).or_default().insert(module);
                    }
                }
            }
        }
        found.retain(|_, files| files.len() == 1);
        found
            .into_iter()
            .map(|(key, files)| (key, files.first().copied().cloned().unwrap_or_default()))
            .collect()
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// Whether a module's file is another crate's.
fn is_elsewhere(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("path"))
}

fn type_name(owner: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = owner else { return None };
    path.path.segments.last().map(|segment| segment.ident.to_string())
}

/// What a file only hands on, by its names: `pub use` of what is in its own folder.
fn handed_on(file: &syn::File) -> BTreeMap<String, Vec<String>> {
    let children = children_of(file);
    let mut handed = BTreeMap::new();
    for item in &file.items {
        let Item::Use(item) = item else { continue };
        for (name, path) in leaves(&item.tree) {
            if is_handed_on(item, &path, &children) {
                handed.insert(name, path);
            }
        }
    }
    handed
}

fn is_handed_on(item: &ItemUse, path: &[String], children: &BTreeSet<String>) -> bool {
    let own = path.first().is_some_and(|first| children.contains(first));
    own && !matches!(item.vis, Visibility::Inherited)
}

fn children_of(file: &syn::File) -> BTreeSet<String> {
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(child) if child.content.is_none() => Some(child.ident.to_string()),
        _ => None,
    });
    modules.collect()
}

/// Each name that a `use` brings, and the path that it stands for.
fn leaves(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        UseTree::Path(path) => {
            let first = path.ident.to_string();
            let inner = leaves(&path.tree).into_iter();
            inner
                .map(|(name, rest)| {
                    (if name == "self" { first.clone() } else { name }, join(&first, rest))
                })
                .collect()
        }
        UseTree::Name(name) if name.ident == "self" => vec![("self".into(), Vec::new())],
        UseTree::Name(name) => vec![(name.ident.to_string(), vec![name.ident.to_string()])],
        UseTree::Rename(name) => vec![(name.rename.to_string(), vec![name.ident.to_string()])],
        UseTree::Glob(_) => vec![("*".into(), Vec::new())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

fn join(first: &str, rest: Vec<String>) -> Vec<String> {
    [vec![first.to_string()], rest].concat()
}

/// Finds what a file uses.
struct Reader<'a> {
    modules: &'a Modules,
    exports: &'a BTreeMap<Module, BTreeMap<String, Vec<String>>>,
    methods: &'a BTreeMap<(String, String), Module>,
    module: &'a Module,
    children: BTreeSet<String>,
    /// What its own `use`s bring.
    names: BTreeMap<String, Vec<String>>,
    owner: Option<String>,
    found: Vec<(Module, String)>,
}

impl<'a> Reader<'a> {
    fn new(
        modules: &'a Modules,
        exports: &'a BTreeMap<Module, BTreeMap<String, Vec<String>>>,
        methods: &'a BTreeMap<(String, String), Module>,
        module: &'a Module,
    ) -> Self {
        let children = children_of(&modules.files[module]);
        let (names, owner, found) = (BTreeMap::new(), None, Vec::new());
        Self { modules, exports, methods, module, children, names, owner, found }
    }

    /// Notes the file that a path leads into, and follows what that one only hands on.
    fn note(&mut self, path: &[String]) {
        let Some(mut full) = self.absolute(path) else { return };
        for _ in 0..8 {
            let depth = (0..=full.len())
                .rev()
                .find(|depth| self.modules.files.contains_key(&full[..*depth]));
            let depth = depth.expect("the root is a file");
            let module = full[..depth].to_vec();
            let name = full.get(depth).cloned().unwrap_or_default();
            match self.exports[&module].get(&name) {
                Some(to) => full = [module, to.clone(), full[depth + 1..].to_vec()].concat(),
                None => return self.found.push((module, name)),
            }
        }
    }

    /// The path from the crate's root on; none where it leads into another crate.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([self.module.clone(), rest.to_vec()].concat()),
            "super" => {
                let mut module = self.module.clone();
                module.pop();
                let ups = rest.iter().take_while(|part| *part == "super").count();
                module.truncate(module.len().saturating_sub(ups));
                Some([module, rest[ups..].to_vec()].concat())
            }
            child if self.children.contains(child) => {
                Some([self.module.clone(), path.to_vec()].concat())
            }
            name => {
                let brought =
                    self.names.get(name).filter(|brought| brought.first() != path.first())?;
                self.absolute(&[brought.clone(), rest.to_vec()].concat())
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for (name, path) in leaves(&item.tree) {
            if !is_handed_on(item, &path, &self.children) {
                self.note(&path);
                self.names.insert(name, path);
            }
        }
    }

    /// `pub(super)` names no module that it uses.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        self.owner = type_name(&block.self_ty);
        visit::visit_item_impl(self, block);
        self.owner = None;
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        match &parts[..] {
            [own, method] if own == "Self" => self.call(method),
            // A name of its own, or one that a `use` has brought.
            [_] => {}
            _ => self.note(&parts),
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self")) {
            self.call(&call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }
}

impl Reader<'_> {
    fn call(&mut self, method: &str) {
        let Some(owner) = &self.owner else { return };
        if let Some(file) = self.methods.get(&(owner.clone(), method.to_string())) {
            self.found.push((file.clone(), format!("{owner}::{method}")));
        }
    }
}

/// Every circle, told by the arrows of which it is made.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut reached: BTreeMap<&Module, BTreeSet<&Module>> = BTreeMap::new();
    for (from, to) in arrows.keys() {
        reached.entry(from).or_default().insert(to);
    }
    loop {
        let mut grown = false;
        for from in reached.keys().copied().collect::<Vec<_>>() {
            let next: Vec<_> =
                reached[from].iter().filter_map(|to| reached.get(to)).flatten().copied().collect();
            for to in next {
                grown |= reached.get_mut(from).is_some_and(|known| known.insert(to));
            }
        }
        if !grown {
            break;
        }
    }
    let back =
        |from: &Module, to: &Module| reached.get(to).is_some_and(|known| known.contains(from));
    let within = arrows.iter().filter(|((from, to), _)| back(from, to));
    within
        .map(|((from, to), names)| format!("{} -> {}: {names:?}", from.join("/"), to.join("/")))
        .collect()
}

/// The arrows between the modules of a folder, each folder among them one module.
fn within_folder(arrows: &Arrows, folder: &[String]) -> Arrows {
    let mut between = Arrows::new();
    for ((from, to), names) in arrows {
        let deep = folder.len() + 1;
        let inside = |module: &Module| module.len() >= deep && module.starts_with(folder);
        if inside(from) && inside(to) && from[..deep] != to[..deep] {
            let key = (from[..deep].to_vec(), to[..deep].to_vec());
            between.entry(key).or_default().extend(names.iter().cloned());
        }
    }
    between
}

fn all_circles(modules: &Modules) -> Vec<String> {
    let arrows = modules.arrows();
    let mut found = circles(&arrows);
    let folders: BTreeSet<&[String]> = modules
        .files
        .keys()
        .filter(|module| !module.is_empty())
        .map(|module| &module[..module.len() - 1])
        .collect();
    found.extend(folders.iter().flat_map(|folder| circles(&within_folder(&arrows, folder))));
    found.sort();
    found.dedup();
    found
}

/// Arrows that run up between layers, and modules that are in none.
fn rising(modules: &Modules, layers: &[&str]) -> Vec<String> {
    let on = |module: &Module| match module.first() {
        None => Some(0),
        Some(first) => layers.iter().position(|layer| layer == first).map(|at| at + 1),
    };
    let beside = modules.files.keys().filter(|module| on(module).is_none());
    let beside = beside.map(|module| format!("{} is in no layer", module.join("/")));
    let arrows = modules.arrows();
    let rising = arrows.iter().filter(|((from, to), _)| on(to) < on(from));
    let rising = rising
        .map(|((from, to), names)| format!("{} -> {}: {names:?}", from.join("/"), to.join("/")));
    beside.chain(rising).collect()
}

/// The crates of the repository and of its firmware, each by its folder's name, from each of their roots.
fn crates() -> Vec<(String, Modules)> {
    let folders = ["crates", "firmware", "examples"].map(|folder| tidy::root().join(folder));
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    found.sort();
    let mut crates = Vec::new();
    for folder in found {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        let roots = roots.iter().filter(|root| root.exists());
        crates.extend(roots.map(|root| (name.clone(), Modules::read(root))));
    }
    assert!(crates.len() > 16, "the crates were found");
    crates
}

#[test]
fn circles_are_found() {
    let by_use = [
        ("", "mod a; mod b;"),
        ("a", "use crate::b::B; pub struct A;"),
        ("b", "use super::a::A; pub struct B;"),
    ];
    assert_eq!(all_circles(&Modules::of_texts(&by_use)).len(), 2);
    let falling =
        [("", "mod a; mod b;"), ("a", "use crate::b::B; pub struct A;"), ("b", "pub struct B;")];
    assert_eq!(all_circles(&Modules::of_texts(&falling)), [""; 0]);
    let by_method = [
        ("", "mod a; mod b;"),
        ("a", "impl T { fn one(&self) { self.two() } }"),
        ("b", "impl T { fn two(&self) { Self::one(self) } }"),
    ];
    assert_eq!(all_circles(&Modules::of_texts(&by_method)).len(), 2);
    let by_folder = [
        ("", "mod a; mod b;"),
        ("a", "pub use inner::A; mod inner; mod other;"),
        ("a/inner", "use crate::b::B; pub struct A;"),
        ("a/other", "pub struct Other;"),
        ("b", "use crate::a::other::Other; pub struct B;"),
    ];
    assert_eq!(all_circles(&Modules::of_texts(&by_folder)).len(), 2);
}

#[test]
fn no_crate_has_a_circle() {
    let found: Vec<String> = crates()
        .iter()
        .flat_map(|(name, modules)| {
            all_circles(modules).into_iter().map(move |arrow| format!("{name}: {arrow}"))
        })
        .collect();
    assert!(found.is_empty(), "arrows that lie in circles:\n{}", found.join("\n"));
}

#[test]
fn rising_arrows_are_found() {
    let found = |high: &str, low: &str| {
        let texts = [
            ("", "mod high; mod low; pub use low::Low; pub struct Root;"),
            ("high", "mod a;"),
            ("high/a", high),
            ("low", "mod b; pub use b::Low;"),
            ("low/b", low),
        ];
        rising(&Modules::of_texts(&texts), &["high", "low"])
    };
    let high = "use crate::low::Low; pub struct High;";
    assert_eq!(found(high, "pub struct Low;"), [""; 0]);
    let rises = ["low/b -> high/a: {\"High\"}"];
    assert_eq!(found(high, "pub struct Low(crate::high::a::High);"), rises);
    assert_eq!(found(high, "pub struct Low(crate::Root);"), ["low/b -> : {\"Root\"}"]);
    // What the root only hands on is not the root's.
    assert_eq!(found(high, "pub struct Low; pub struct Lower(crate::Low);"), [""; 0]);
    let beside = Modules::of_texts(&[("", "mod beside;"), ("beside", "")]);
    assert_eq!(rising(&beside, &["high", "low"]), ["beside is in no layer"]);
}

#[test]
fn arrows_between_layers_run_down() {
    let crates = crates();
    for (name, layers) in LAYERS {
        let (_, modules) = crates.iter().find(|(known, _)| known == name).expect("the crate");
        let first = modules.files.keys().filter_map(|module| module.first());
        let first: BTreeSet<&str> = first.map(String::as_str).collect();
        assert!(layers.iter().all(|layer| first.contains(layer)), "{name}: {first:?}");
        let found = rising(modules, layers);
        assert!(found.is_empty(), "{name}: arrows that run up:\n{}", found.join("\n"));
    }
}

#[test]
fn separate_modules_do_not_use_each_other() {
    for (name, one, other) in SEPARATE {
        let crates = crates();
        let (_, modules) = crates.iter().find(|(known, _)| known == name).expect("the crate");
        let within = |module: &Module, part: &str| {
            format!("{}/", module.join("/")).starts_with(&format!("{part}/"))
        };
        let arrows = modules.arrows();
        let meet = arrows.keys().find(|(from, to)| {
            within(from, one) && within(to, other) || within(from, other) && within(to, one)
        });
        assert_eq!(meet, None, "{name}: {one} and {other} use each other");
    }
}
