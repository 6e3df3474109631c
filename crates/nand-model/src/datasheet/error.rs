//! What can be wrong with a device file.

use std::fmt;
use std::path::PathBuf;

use super::names;

/// Why there is no [`Part`](crate::part::Part) of that name or file.
#[derive(Debug, thiserror::Error)]
pub enum DatasheetError {
    /// The file could not be read at all.
    #[error("{}: the device file cannot be read ({reason}): check the path", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: std::io::Error,
    },
    /// The file describes no possible device.
    #[error("{0}")]
    Invalid(Fault),
    /// No device of that name is built in.
    #[error(
        "no device is named `{name}`: {}name one of {}, or give the path of a device file (.toml)",
        names::meant(name, names::builtin_names()),
        names::builtin_names().collect::<Vec<_>>().join(", ")
    )]
    UnknownName {
        /// What was asked for.
        name: String,
    },
}

/// What is wrong with a device file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, or `built-in` and the device's name.
    pub origin: String,
    /// The line, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// The key with its section, as in `mlc.page`; empty where the file as a whole is meant.
    pub key: String,
    /// What is wrong, and what to write instead.
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ", {}", self.key)?;
        }
        write!(f, ": {}", self.reason)
    }
}
