//! What every file of the repository keeps, and no compiler checks.
//!
//! Each rule is a function from a text to its faults, and is first shown to find what it looks for.

use std::fs;
use std::path::{Path, PathBuf};

use tidy::{files, name, root, text};

/// Columns of any line. `cargo fmt` keeps code to 100; this is for what it leaves alone: comments, whose sentences
/// break badly in narrow columns, strings, and the insides of macros.
const COLUMNS: usize = 120;

/// Lines of code of a file, its tests excluded: more is more than one thought.
const FILE_LINES: usize = 400;

/// Lines of a function, from its first to its last: more does not fit a screen.
const FUNCTION_LINES: usize = 60;

/// Which crates a crate may build upon. A new crate must be listed here.
const ARROWS: [(&str, &[&str]); 14] = [
    ("ftl-iface", &[]),
    ("ftl-conformance", &["ftl-iface"]),
    ("ftl-core", &["ftl-iface"]),
    ("ftl-adapters", &["ftl-iface", "ftl-core"]),
    ("ftl-c", &["ftl-iface", "ftl-conformance", "ftl-core"]),
    ("ftl-rivals", &["ftl-iface"]),
    ("ftl-spi-nand", &["ftl-iface"]),
    ("nand-model", &["ftl-iface"]),
    ("ftl-judge", &["ftl-iface", "ftl-c", "ftl-conformance", "ftl-spi-nand", "nand-model"]),
    ("torture", &["ftl-iface", "ftl-core", "nand-model"]),
    ("sim", &["ftl-iface", "ftl-core", "ftl-rivals", "nand-model"]),
    ("web", &["nand-model", "sim"]),
    ("sim-cli", &["ftl-iface", "ftl-core", "ftl-adapters", "nand-model", "sim", "torture"]),
    ("python", &["ftl-iface", "ftl-core", "ftl-rivals", "nand-model", "sim", "torture"]),
];

/// Asserts that no file breaks the rule; says all that do, each with its place.
fn assert_tidy(files: &[PathBuf], rule: impl Fn(&str) -> Vec<String>) {
    let faults: Vec<String> = files
        .iter()
        .flat_map(|path| rule(&text(path)).into_iter().map(move |fault| (path, fault)))
        .map(|(path, fault)| format!("{}: {fault}", name(path)))
        .collect();
    assert!(faults.is_empty(), "untidy:\n{}", faults.join("\n"));
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// What is before the unit tests at a file's end.
fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

// The rules.

fn wide_lines(text: &str) -> Vec<String> {
    let widths = text.lines().map(|line| line.chars().count()).enumerate();
    let wide = widths.filter(|(_, width)| *width > COLUMNS);
    wide.map(|(at, width)| format!("line {} is {width} wide", at + 1)).collect()
}

fn long_file(text: &str) -> Vec<String> {
    let code = without_tests(text).lines();
    let lines = code.filter(|line| !line.trim().is_empty() && !is_comment(line)).count();
    let fault = format!("{lines} lines of code, more than {FILE_LINES}: split it");
    Vec::from_iter((lines > FILE_LINES).then_some(fault))
}

/// A function of formatted code ends with the first brace that stands as far to the left as its own line.
fn long_functions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut faults = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[first..].iter().position(|later| **later == end).map_or(1, |at| at + 1);
        if length > FUNCTION_LINES && !line.ends_with(';') && !line.ends_with('}') {
            faults.push(format!("line {}: `{name}` has {length} lines: split it", first + 1));
        }
    }
    faults
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for word in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.strip_prefix("fn ")?.split(['(', '<']).next()
}

fn unfinished(text: &str) -> Vec<String> {
    // In two halves each, so that this file does not find itself.
    let marks =
        [["to", "do!("], ["unimple", "mented!("], ["db", "g!("], ["FIX", "ME"], ["XX", "X"]];
    let marks = marks.map(|halves| halves.concat());
    let numbered = text.lines().enumerate();
    numbered
        .flat_map(|(at, line)| {
            let found = marks.iter().filter(move |mark| line.contains(*mark));
            found.map(move |mark| format!("line {}: `{mark}`", at + 1))
        })
        .collect()
}

/// The crates of this workspace that a manifest builds upon, tests excluded.
fn falls_to(manifest: &toml::Table) -> Vec<&str> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let by_target = targets.into_iter().flat_map(|targets| targets.values());
    let tables = by_target.filter_map(toml::Value::as_table).chain([manifest]);
    tables
        .flat_map(|table| ["dependencies", "build-dependencies"].map(|section| table.get(section)))
        .filter_map(|section| section?.as_table())
        .flat_map(|section| section.keys().map(String::as_str))
        .filter(|name| ARROWS.iter().any(|(known, _)| known == name))
        .collect()
}

fn rising_arrows(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().expect("a manifest");
    let Some(name) = manifest.get("package").and_then(|package| package["name"].as_str()) else {
        return Vec::new();
    };
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        return vec![format!("the crate {name} is not among ARROWS")];
    };
    let beyond = falls_to(&manifest).into_iter().filter(|to| !allowed.contains(to));
    beyond.map(|to| format!("{name} builds upon {to}, which does not lie below it")).collect()
}

/// Whether a file declares the module.
fn declares(text: &str, module: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let line = ["pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .find_map(|word| line.strip_prefix(word))
            .unwrap_or(line);
        line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) == Some(module)
    })
}

/// The files one of which must declare the module that `path` holds; none for a target's own root.
fn declarers(path: &Path) -> Option<(String, Vec<PathBuf>)> {
    let stem = path.file_stem()?.to_str()?;
    let folder = path.parent()?;
    let (module, home) = if stem == "mod" {
        (folder.file_name()?.to_str()?, folder.parent()?)
    } else {
        (stem, folder)
    };
    let home_name = home.file_name()?.to_str()?;
    if stem == "build" && folder.join("Cargo.toml").exists() {
        // Cargo runs it by its name.
        return None;
    }
    if home_name == "src" {
        let roots = ["lib", "main"];
        let is_root = stem != "mod" && roots.contains(&stem);
        let files = roots.map(|root| home.join(format!("{root}.rs")));
        return (!is_root).then(|| (module.into(), files.into()));
    }
    if ["tests", "benches", "examples", "bin", "fuzz_targets"].contains(&home_name) {
        // Files here are targets of their own; a folder is shared by those that declare it.
        let targets = || files_of(home);
        return (stem == "mod").then(|| (module.into(), targets()));
    }
    if stem == "main" {
        // A test or an example in a folder of its own.
        return None;
    }
    let roots = [home.with_extension("rs"), home.join("mod.rs"), home.join("main.rs")];
    Some((module.into(), roots.into()))
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The folder of a module whose own file lies beside it.
fn folder_beside(path: &Path) -> Option<PathBuf> {
    let folder = path.with_extension("");
    (folder.is_dir() && !files_of(&folder).is_empty()).then_some(folder)
}

// The inspection.

#[test]
fn lines_are_no_wider_than_people_read() {
    let wide = |columns: usize| "x".repeat(columns);
    assert_eq!(wide_lines(&wide(120)), [""; 0]);
    assert_eq!(wide_lines(&format!("\n{}", wide(121))), ["line 2 is 121 wide"]);
    assert_tidy(&files("rs"), wide_lines);
}

#[test]
fn files_hold_one_thought_each() {
    assert_eq!(long_file(&"code();\n".repeat(400)).len(), 0);
    assert_eq!(long_file(&"code();\n".repeat(401)).len(), 1);
    assert_eq!(long_file(&"// words\n\n".repeat(401)).len(), 0);
    let tested = format!("code();\n#[cfg(test)]\nmod tests {{\n{}}}\n", "case();\n".repeat(401));
    assert_eq!(long_file(&tested).len(), 0);
    let in_tests = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "tests");
    let sources: Vec<PathBuf> = files("rs").into_iter().filter(|path| !in_tests(path)).collect();
    assert_tidy(&sources, long_file);
}

#[test]
fn functions_fit_a_screen() {
    let function =
        |lines: usize| format!("    pub fn long() {{\n{}    }}\n", "        x();\n".repeat(lines));
    assert_eq!(long_functions(&function(58)).len(), 0);
    assert_eq!(long_functions(&function(59)), ["line 1: `long` has 61 lines: split it"]);
    assert_tidy(&files("rs"), long_functions);
}

#[test]
fn nothing_is_left_unfinished() {
    assert_eq!(unfinished("fn f() {\n    to\u{64}o!()\n}"), ["line 2: `to\u{64}o!(`"]);
    assert_tidy(&files("rs"), unfinished);
}

#[test]
fn arrows_between_crates_only_fall() {
    let rising = "package.name = \"ftl-core\"\n[dependencies]\nnand-model.workspace = true\n";
    assert_eq!(rising_arrows(rising).len(), 1);
    let tests_alone = rising.replace("[dep", "[dev-dep");
    assert_eq!(rising_arrows(&tests_alone).len(), 0);
    let on_a_target = rising.replace("[dep", "[target.'cfg(unix)'.dep");
    assert_eq!(rising_arrows(&on_a_target).len(), 1);
    assert_eq!(rising_arrows("package.name = \"newcomer\"").len(), 1);
    let crates = root().join("crates");
    let mut manifests = files("toml");
    manifests.retain(|path| path.ends_with("Cargo.toml") && path.starts_with(&crates));
    assert_eq!(manifests.len(), ARROWS.len(), "a crate per entry: {manifests:?}");
    assert_tidy(&manifests, rising_arrows);
}

#[test]
fn every_source_file_is_part_of_its_crate() {
    assert!(declares("    pub(crate) mod ring;\n", "ring"));
    assert!(!declares("mod ringed;\n// mod ring;\n", "ring"));
    let dead: Vec<PathBuf> = files("rs")
        .into_iter()
        .filter(|path| {
            declarers(path).is_some_and(|(module, files)| {
                !files.iter().any(|file| file.exists() && declares(&text(file), &module))
            })
        })
        .collect();
    assert!(dead.is_empty(), "no module declares {dead:?}");
}

#[test]
fn a_module_with_a_folder_lies_in_it_as_mod_rs() {
    let crates = tempfile::tempdir().expect("a folder");
    let file = |name: &str| {
        let path = crates.path().join(name);
        fs::create_dir_all(path.parent().expect("its folder")).expect("a folder");
        fs::write(&path, "").expect("a file");
        path
    };
    let beside = file("beside.rs");
    assert_eq!(folder_beside(&beside), None);
    file("beside/inner.rs");
    assert_eq!(folder_beside(&beside), Some(crates.path().join("beside")));
    assert_eq!(folder_beside(&file("within/mod.rs")), None);
    let beside: Vec<PathBuf> = files("rs").iter().filter_map(|path| folder_beside(path)).collect();
    assert!(beside.is_empty(), "move the module's file into its folder, as mod.rs: {beside:?}");
}
