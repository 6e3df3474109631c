//! What can be named.

use std::path::PathBuf;

use nand_model::datasheet;
use pyo3::prelude::*;
use sim::engine::systems as all;
use sim::files;
use sim::input::synth;
use sim::input::trace::formats::FORMATS;

use crate::failed::bad;
use crate::typed::plain;

/// The names of the built-in devices.
#[pyfunction]
pub(crate) fn devices() -> Vec<&'static str> {
    datasheet::builtin_names().collect()
}

/// The names of all systems, each with what it is.
#[pyfunction]
pub(crate) fn systems() -> Vec<(&'static str, &'static str)> {
    all::names().map(|name| (name, all::title(name).unwrap_or_default())).collect()
}

/// The names of the synthetic workloads.
#[pyfunction]
pub(crate) fn workloads() -> Vec<&'static str> {
    synth::names().collect()
}

/// The names of the formats of traces, each with what it is.
#[pyfunction]
pub(crate) fn formats() -> Vec<(&'static str, &'static str)> {
    FORMATS.iter().map(|format| (format.name, format.title)).collect()
}

/// Bytes of the longest table.
const LONGEST: u64 = 1 << 20;

/// The table in a TOML file.
#[pyfunction]
pub(crate) fn table(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let wrong = |reason: &dyn std::fmt::Display| bad(&format!("{}: {reason}", path.display()));
    let text = files::text(&path, LONGEST)
        .map_err(|reason| wrong(&format!("it cannot be read ({reason}): check the path")))?;
    let table: toml::Table = files::keys(&text).map_err(|reason| wrong(&reason))?;
    plain(py, &table)
}
