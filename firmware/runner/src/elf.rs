//! A linked program as the runner reads it: sizes of functions and constants, and names that it must not have.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use rustc_demangle::demangle;

use crate::outcome::{Outcome, said};

/// A linked program.
pub(crate) struct Program {
    file: PathBuf,
    /// Functions with their bytes, largest first.
    functions: Vec<(String, u64)>,
    /// The names of all symbols.
    symbols: Vec<String>,
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
        let mut symbols = Vec::new();
        for symbol in elf.symbols() {
            let name = symbol.name().map_err(|error| said(file, &error))?;
            let name = format!("{:#}", demangle(name));
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                // One place can have several names: only one of them counts.
                functions.entry(symbol.address()).or_insert((name.clone(), symbol.size()));
            }
            symbols.push(name);
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
        Ok(Self { file: file.to_owned(), functions, symbols, read_only })
    }

    /// The functions of the FTL, largest first: its own, and those of the program that call it, into which the compiler
    /// has put much of it.
    pub(crate) fn functions_of_the_ftl(&self) -> impl Iterator<Item = &(String, u64)> {
        self.functions.iter().filter(|(name, _)| owner(name) == Owner::Ftl)
    }

    /// Bytes of the FTL's code and constants, and of what the compiler's library adds: copying, division.
    pub(crate) fn sizes(&self) -> [(&'static str, u64); 3] {
        let code = |whose: Owner| -> u64 {
            self.functions
                .iter()
                .filter(|(name, _)| owner(name) == whose)
                .map(|(_, size)| size)
                .sum()
        };
        let [own, library] = [Owner::Ftl, Owner::Library].map(code);
        [("code", own), ("constants", self.read_only), ("library", library)]
    }

    /// That nothing in it panics or formats. The link has shown the first already; the names show both.
    pub(crate) fn holds_no_panic(&self) -> Outcome<()> {
        let mut symbols = self.symbols.iter();
        let unwanted = symbols.find(|name| UNWANTED.iter().any(|unwanted| name.contains(unwanted)));
        match unwanted {
            None => Ok(()),
            Some(name) => Err(format!("{} holds `{name}`", self.file.display())),
        }
    }
}

/// Whose code a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The FTL's, with the calls of a host and the generic code of others that was made for it.
    Ftl,
    /// The compiler's library.
    Library,
    /// The program's: what starts it, the chip that does nothing, the memory that is lent.
    Program,
}

/// What only the compiler's library has in the beginnings of its names.
const LIBRARY: [&str; 7] =
    ["compiler_builtins", "__aeabi_", "__udiv", "memcpy", "memmove", "memset", "memcmp"];

/// Parts of names of what is around the FTL.
const PROGRAM: [&str; 10] = [
    "BlackBox as",
    "chips::black_box",
    "tandem_firmware::memory",
    "cortex_m_rt",
    "riscv_rt",
    "Reset",
    "_start",
    "PreInit",
    "Handler",
    "HardFault",
];

/// Where a program starts, as the libraries for start-up name it. Functions of the FTL end with `main`, too: an area is
/// called so.
fn is_start(name: &str) -> bool {
    name == "main" || name.ends_with("::main") || name.ends_with("_rt_main")
}

/// Whatever is not known to be another's is the FTL's, so that no code of it is forgotten when a name changes.
fn owner(name: &str) -> Owner {
    if LIBRARY.iter().any(|part| name.starts_with(part)) {
        Owner::Library
    } else if is_start(name) || PROGRAM.iter().any(|part| name.contains(part)) {
        Owner::Program
    } else {
        Owner::Ftl
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(functions: &[(&str, u64)]) -> Program {
        Program {
            file: "a program".into(),
            functions: functions.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect(),
            symbols: functions.iter().map(|(name, _)| (*name).to_owned()).collect(),
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
    fn code_is_counted_for_the_ftl_the_library_or_the_program() {
        let program = program(&[
            ("ftl_core::hybrid::slc::Log::append", 100),
            ("tandem_firmware::bare::write", 50),
            ("<core::iter::adapters::zip::Zip<A,B> as core::clone::Clone>::clone", 4),
            (
                "<tandem_firmware::chips::black_box::BlackBox as ftl_iface::nand::NandDevice>::read",
                1000,
            ),
            ("compiler_builtins::mem::memcpy", 20),
            ("bare::__cortex_m_rt_main", 1000),
        ]);
        assert_eq!(program.sizes(), [("code", 154), ("constants", 7), ("library", 20)]);
        assert_eq!(program.functions_of_the_ftl().count(), 3);
    }
}
