//! What is typed as a string or as a number.

use pyo3::prelude::*;
use pyo3::types::PyString;
use serde::Serialize;

use crate::failed::bad;

/// A size in bytes: a number, or a string as in `256MiB`.
pub(crate) fn size(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    let read = |value: &Bound<'_, PyAny>| match value.cast::<PyString>() {
        Ok(text) => sim::input::size::parse(text.to_str()?).map_err(|reason| bad(&reason)),
        Err(_) => value.extract::<u64>().map_err(|_| {
            bad(&format!("`{value}` is no size: give bytes, or a string as in 20GiB"))
        }),
    };
    value.map(read).transpose()
}

/// A value as Python's own: dictionaries, lists, strings and numbers.
pub(crate) fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

/// Python's own as a table's text, as a file of it would be written.
pub(crate) fn toml_of(table: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let wrong = |reason: &dyn std::fmt::Display| bad(&format!("{what}: {reason}"));
    let table: toml::Table = pythonize::depythonize(table).map_err(|reason| wrong(&reason))?;
    toml::to_string(&table).map_err(|reason| wrong(&reason))
}
