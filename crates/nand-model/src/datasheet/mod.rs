//! Device files: from TOML to a [`Part`].
//!
//! ```text
//!   devices/c3.toml ──┐  include_str!                      sheet           check
//!                     ├────────────────▶ text ──▶ keys with their units ──▶ Part
//!   a file of yours ──┘  Part::load                │                          │
//!                                                  └── error: file, line, key, what to write instead
//! ```
//!
//! A figure is a string with its unit (`"25us"`, `"2KiB"`, `"3.3V"`) or a plain count; unknown keys are errors. The
//! files in `devices/` are the registry of what is built in, and the examples to copy.
//!
//! # Modules
//!
//! - `names`: the devices that are built in. `sheet`: the file's shape. `units`: numbers with units. `check`: whether
//!   the keys agree. `error`: what is reported when they do not.
//!
//! ```
//! use nand_model::datasheet;
//! let c3 = datasheet::builtin("c3")?;
//! assert_eq!(c3.mlc.unwrap().timing.program.get(), 800_000);
//! # Ok::<(), datasheet::DatasheetError>(())
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use ftl_iface::Pairing;
use toml::de::{DeTable, DeValue};

use self::sheet::Sheet;
use crate::part::Part;

mod check;
mod error;
mod names;
mod sheet;
mod units;
mod words;

pub use self::error::{DatasheetError, Fault};
pub use self::names::{builtin_names, meant, nearest};
pub use self::words::in_plain_words;

/// The built-in device of that name.
pub fn builtin(name: &str) -> Result<Part, DatasheetError> {
    match names::BUILTIN.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Part::parse(text, &format!("built-in {name}")),
        None => Err(DatasheetError::UnknownName { name: name.into() }),
    }
}

/// The device that a person means: a built-in one's name, or else the path of a device file.
///
/// What has a directory or ends with `.toml` is a path; a built-in name always wins over a file that is called so.
pub fn open(name_or_path: &str) -> Result<Part, DatasheetError> {
    let path = Path::new(name_or_path);
    let is_path = path.components().count() > 1
        || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if is_path { Part::load(path) } else { builtin(name_or_path) }
}

/// The name by which device files call the scheme; none for a table of the part's own.
pub fn pairing_name(scheme: Pairing) -> Option<&'static str> {
    sheet::SCHEMES.iter().find(|(_, known)| *known == scheme).map(|(name, _)| *name)
}

impl Part {
    /// Reads a device file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, DatasheetError> {
        let path = path.as_ref();
        let text = read(path)
            .map_err(|reason| DatasheetError::Unreadable { path: path.into(), reason })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads a device file's text. Errors name `origin` as the file.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DatasheetError> {
        let fault = |line, key, reason| {
            DatasheetError::Invalid(Fault { origin: origin.into(), line, key, reason })
        };
        let sheet = sheet(text).map_err(|(line, key, reason)| fault(line, key, reason))?;
        check::part(sheet).map_err(|objection| {
            let line = line_of_key(text, &objection.key);
            fault(line, objection.key, objection.reason)
        })
    }
}

/// Bytes of the longest device file: a hundred times what the longest known one has. What is read takes many times its
/// length while it is parsed.
const LONGEST: u64 = 256 << 10;

/// A file's text. A file without end is not read to it.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        let reason = format!("a device file has {LONGEST} bytes at most, and this one goes on");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(text)
}

/// The keys of a file, or the line, the key and the reason of the first that cannot be read.
fn sheet(text: &str) -> Result<Sheet, (Option<usize>, String, String)> {
    toml::from_str(text).map_err(|error| {
        let key = error.span().map_or_else(String::new, |span| key_at(text, &span));
        (line_of(text, error.span()), key, in_plain_words(error.message()))
    })
}

/// The key at that place of the text, as in `mlc.page`; empty where the file as a whole is meant.
fn key_at(text: &str, place: &Range<usize>) -> String {
    let Some(document) = DeTable::parse(text).ok().filter(|_| !place.is_empty()) else {
        return String::new();
    };
    let path = path_in_table(document.get_ref(), place).unwrap_or_default();
    path.trim_start_matches('.').into()
}

fn path_in_table(table: &DeTable<'_>, place: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let is_here = || holds(&name.span(), place) || holds(&value.span(), place);
        let below = path_in(value.get_ref(), place).or_else(|| is_here().then(String::new))?;
        Some(format!(".{}{below}", name.get_ref()))
    })
}

fn path_in(value: &DeValue<'_>, place: &Range<usize>) -> Option<String> {
    match value {
        DeValue::Table(inner) => path_in_table(inner, place),
        DeValue::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            let below = || path_in(item.get_ref(), place).unwrap_or_default();
            holds(&item.span(), place).then(|| format!("[{at}]{}", below()))
        }),
        _ => None,
    }
}

fn holds(span: &Range<usize>, place: &Range<usize>) -> bool {
    span.start <= place.start && place.end <= span.end
}

/// The line, counted from 1, on which a span of the text starts.
fn line_of(text: &str, span: Option<Range<usize>>) -> Option<usize> {
    Some(text.get(..span?.start)?.matches('\n').count() + 1)
}

/// The line of a key such as `mlc.page`, or of the section where the key is missing.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for name in key.split('.') {
        let Some((at, value)) = table.iter().find(|(at, _)| at.get_ref() == name) else {
            break;
        };
        found = Some(at.span());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    line_of(text, found)
}
