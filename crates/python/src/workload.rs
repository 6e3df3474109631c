//! Which requests.

use nand_model::part::Nanos;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use sim::Request;
use sim::input::trace::formats::{As, Columns};
use sim::input::trace::{Op, formats, lifetime};
use sim::input::workload::{Reading, Reads};

use crate::failed::{bad, raised};

/// How files are read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Read {
    format: Option<String>,
    columns: Option<String>,
    lenient: bool,
    first: Option<u64>,
}

/// The requests of a run.
#[pyclass(frozen, module = "tandem._native")]
pub(crate) struct Workload(pub(crate) sim::Workload);

#[pymethods]
impl Workload {
    /// Files, folders, patterns and synthetic workloads, one after the other.
    #[staticmethod]
    fn named(names: Vec<String>, read: Read) -> PyResult<Self> {
        let format = match (read.format, read.columns) {
            (Some(_), Some(_)) => Err("a file has a format, or columns of its own".into()),
            (Some(name), None) => formats::named(&name).map(As::Format).map(Some),
            (None, Some(text)) => Columns::parse(&text).map(As::Columns).map(Some),
            (None, None) => Ok(None),
        };
        let format = format.map_err(|reason| bad(&reason))?;
        let reading = Reading { format, lenient: read.lenient };
        let workload = sim::Workload::named(&names, reading, Reads::Often);
        let workload = workload.map_err(|failure| raised(&failure))?;
        Ok(Self(workload.first(read.first.unwrap_or(u64::MAX))))
    }

    /// Requests in arrays of equal length.
    #[staticmethod]
    fn arrays(name: &str, columns: RequestColumns<'_>) -> PyResult<Self> {
        let requests = columns.requests()?;
        let workload = sim::Workload::of_requests(name, requests);
        workload.map(Self).map_err(|failure| raised(&failure))
    }
}

/// Requests in arrays of equal length.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RequestColumns<'py> {
    time_ns: PyReadonlyArray1<'py, u64>,
    op: PyReadonlyArray1<'py, u8>,
    offset: PyReadonlyArray1<'py, u64>,
    length: PyReadonlyArray1<'py, u64>,
    lifetime: PyReadonlyArray1<'py, u8>,
}

impl RequestColumns<'_> {
    /// The requests, one by one.
    pub(crate) fn requests(&self) -> PyResult<Vec<Request>> {
        let (times, ops) = (self.time_ns.as_array(), self.op.as_array());
        let (offsets, lengths) = (self.offset.as_array(), self.length.as_array());
        let lifetimes = self.lifetime.as_array();
        let counts = [ops.len(), offsets.len(), lengths.len(), lifetimes.len()];
        if counts.iter().any(|count| *count != times.len()) {
            return Err(bad(
                "times, operations, offsets, lengths and lifetimes must be equally many",
            ));
        }
        let places = times.iter().zip(offsets.iter().zip(lengths.iter()));
        let rows = places.zip(ops.iter().zip(lifetimes.iter()));
        let request = |((time, (offset, length)), (op, lifetime)): ((&u64, _), (&u8, &u8))| {
            let op = Op::ALL.get(usize::from(*op)).copied();
            let op =
                op.ok_or_else(|| bad("an operation is 0 for R, 1 for W, 2 for T or 3 for F"))?;
            let lifetime = lifetime::of_number(*lifetime);
            let lifetime = lifetime.ok_or_else(|| bad("a lifetime is a number from 0 to 5"))?;
            let (offset, length): (&u64, &u64) = (offset, length);
            Ok(Request::new(Nanos::new(*time), op, *offset, *length).living(lifetime))
        };
        rows.map(request).collect()
    }
}
