//! Synthetic requests as arrays, and requests as files.

use std::fs::File;
use std::path::{Path, PathBuf};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use sim::input::synth::Synth;
use sim::input::trace::lifetime;
use sim::input::trace::output::{self, Fields, Output};
use sim::{Failure, Request, show, whole};

use crate::failed::raised;
use crate::typed::size;
use crate::watched::{Watch, watched};
use crate::workload::RequestColumns;

/// Times in nanoseconds, operations, offsets, lengths, lifetimes.
type Columns<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u8>>,
);

/// Looks for a stop after this many requests.
const LOOKED_EVERY: u64 = 4096;

/// The requests of a synthetic workload on a disk of that capacity.
#[pyfunction]
pub(crate) fn synth<'py>(name: &str, capacity: &Bound<'py, PyAny>) -> PyResult<Columns<'py>> {
    let (py, watch) = (capacity.py(), Watch::default());
    let capacity = size(Some(capacity))?.unwrap_or(0);
    let made = watched(py, None, &watch, |watch| {
        let synth = Synth::parse(name).map_err(Failure::Arguments)?;
        let mut made: Vec<Request> = Vec::new();
        for request in synth.requests(capacity).map_err(Failure::Arguments)? {
            let number = made.len() as u64;
            if number.is_multiple_of(LOOKED_EVERY) && watch.is_stopped() {
                let made = format!("{} requests were made", show::count(number));
                return Err(Failure::Interrupted(made));
            }
            made.push(request);
        }
        Ok(made)
    })?;
    let ops: Vec<u8> = made.iter().map(|request| request.op as u8).collect();
    let column =
        |of: fn(&Request) -> u64| made.iter().map(of).collect::<Vec<u64>>().into_pyarray(py);
    let times = column(|request| request.time.get());
    let (offsets, lengths) = (column(|request| request.offset), column(|request| request.length));
    let lifetimes = made.iter().map(|request| lifetime::number(request.lifetime));
    let lifetimes: Vec<u8> = lifetimes.collect();
    Ok((times, ops.into_pyarray(py), offsets, lengths, lifetimes.into_pyarray(py)))
}

/// Writes requests to a file, in the program's own format; a name in .gz or .zst is compressed.
#[pyfunction]
pub(crate) fn save(py: Python<'_>, path: PathBuf, columns: RequestColumns<'_>) -> PyResult<()> {
    let requests = columns.requests()?;
    let written = py.detach(|| write(&path, &requests));
    written.map_err(|failure| raised(&failure))
}

fn write(path: &Path, requests: &[Request]) -> Result<(), Failure> {
    sim::files::check(path)?;
    whole::replace_with(path, |file: &mut File| {
        let mut packed = Output::over(file.try_clone()?, path)?;
        let fields = Fields::of(requests);
        output::begin(fields, &mut packed)?;
        for request in requests {
            output::put(request, fields, &mut packed)?;
        }
        Ok(packed.finish()?)
    })
}
