//! What a linked program consists of.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_demangle::demangle;

use crate::{Outcome, said};

/// A linked program.
pub(crate) struct Program {
    file: PathBuf,
    /// Functions with their bytes, largest first.
    functions: Vec<(String, u64)>,
    /// Every other name that has a place.
    names: Vec<String>,
    read_only: u64,
}

/// Parts of names that only the machinery of panics and of formatting has.
const UNWANTED: [&str; 4] =
    ["core::panicking", "core::fmt", "rust_begin_unwind", "a_panic_is_reachable"];

impl Program {
    /// Reads it.
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let data = fs::read(file).map_err(|error| said(file, &error))?;
        let elf = object::File::parse(&*data).map_err(|error| said(file, &error))?;
        let mut functions = BTreeMap::new();
        let mut names = Vec::new();
        for symbol in elf.symbols() {
            let name = symbol.name().map_err(|error| said(file, &error))?;
            let name = format!("{:#}", demangle(name));
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                // One place can have several names: only one of them counts.
                functions.entry(symbol.address()).or_insert((name.clone(), symbol.size()));
            }
            names.push(name);
        }
        let mut functions: Vec<(String, u64)> = functions.into_values().collect();
        functions.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let constants = elf.sections().filter(|section| {
            matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyString)
                && section.name() == Ok(".rodata")
        });
        let read_only = constants.map(|section| section.size()).sum();
        if functions.is_empty() {
            return Err(format!("{} has no symbols to judge by", file.display()));
        }
        Ok(Self { file: file.to_owned(), functions, names, read_only })
    }

    /// The functions of the FTL, largest first: its own, and those of the program that call it, into which the compiler
    /// has put much of it.
    pub(crate) fn functions_of_the_ftl(&self) -> impl Iterator<Item = &(String, u64)> {
        self.functions.iter().filter(|(name, _)| is_of_the_ftl(name))
    }

    /// Bytes of the FTL's code and constants, and of what the compiler's library adds: copying, division.
    pub(crate) fn sizes(&self) -> [(&'static str, u64); 3] {
        let library = |name: &str| {
            let of_library = ["compiler_builtins", "__aeabi_", "core::"];
            of_library.iter().any(|part| name.starts_with(part))
                || matches!(name, "memcpy" | "memmove" | "memset" | "memcmp")
        };
        let others = self.functions.iter().filter(|(name, _)| !is_of_the_ftl(name));
        let library = others.filter(|(name, _)| library(name)).map(|(_, size)| size).sum();
        let own = self.functions_of_the_ftl().map(|(_, size)| size).sum();
        [("code", own), ("constants", self.read_only), ("library", library)]
    }

    /// That nothing in it panics or formats. The link has shown the first already; the names show both.
    pub(crate) fn holds_no_panic(&self) -> Outcome<()> {
        let functions = self.functions.iter().map(|(name, _)| name);
        let unwanted = functions
            .chain(&self.names)
            .find(|name| UNWANTED.iter().any(|unwanted| name.contains(unwanted)));
        match unwanted {
            None => Ok(()),
            Some(name) => Err(format!("{} holds `{name}`", self.file.display())),
        }
    }
}

fn is_of_the_ftl(name: &str) -> bool {
    ["ftl_core::", "ftl_iface::", "bare::host::"].iter().any(|part| name.contains(part))
        && !name.contains("BlackBox as")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(functions: &[(&str, u64)]) -> Program {
        Program {
            file: "a program".into(),
            functions: functions.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect(),
            names: Vec::new(),
            read_only: 7,
        }
    }

    #[test]
    fn a_program_that_can_panic_or_format_is_told_from_one_that_cannot() {
        assert!(program(&[("ftl_core::hybrid::ftl::Ftl::write", 9)]).holds_no_panic().is_ok());
        for name in ["core::panicking::panic_fmt", "core::fmt::write", "rust_begin_unwind"] {
            let why = program(&[("main", 1), (name, 9)]).holds_no_panic().unwrap_err();
            assert!(why.contains(name), "{why}");
        }
    }

    #[test]
    fn code_is_counted_for_the_ftl_the_library_or_nobody() {
        let program = program(&[
            ("ftl_core::hybrid::slc::Log::append", 100),
            ("bare::host::write", 50),
            ("<bare::BlackBox as ftl_iface::nand::NandDevice>::read", 1000),
            ("compiler_builtins::mem::memcpy", 20),
            ("bare::main", 1000),
        ]);
        assert_eq!(program.sizes(), [("code", 150), ("constants", 7), ("library", 20)]);
        assert_eq!(program.functions_of_the_ftl().count(), 2);
    }
}
