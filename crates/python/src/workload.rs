//! Which requests.

use nand_model::part::Nanos;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use sim::Request;
use sim::input::trace::formats::{As, Columns};
use sim::input::trace::{Op, formats};
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
    fn arrays(
        name: &str,
        time_ns: PyReadonlyArray1<'_, u64>,
        op: PyReadonlyArray1<'_, u8>,
        offset: PyReadonlyArray1<'_, u64>,
        length: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<Self> {
        let requests = requests([&time_ns, &offset, &length], &op)?;
        let workload = sim::Workload::of_requests(name, requests);
        workload.map(Self).map_err(|failure| raised(&failure))
    }
}

/// The requests of these arrays: times in nanoseconds, offsets and lengths; and numbers of operations.
pub(crate) fn requests(
    [times, offsets, lengths]: [&PyReadonlyArray1<'_, u64>; 3],
    ops: &PyReadonlyArray1<'_, u8>,
) -> PyResult<Vec<Request>> {
    let (times, offsets, lengths) = (times.as_array(), offsets.as_array(), lengths.as_array());
    let ops = ops.as_array();
    if [offsets.len(), lengths.len(), ops.len()].iter().any(|count| *count != times.len()) {
        return Err(bad("times, operations, offsets and lengths must be equally many"));
    }
    let places = times.iter().zip(ops.iter()).zip(offsets.iter().zip(lengths.iter()));
    let request = |((time, op), (offset, length)): ((&u64, &u8), (&u64, &u64))| {
        let op = Op::ALL.get(usize::from(*op)).copied();
        let op = op.ok_or_else(|| bad("an operation is 0 for R, 1 for W, 2 for T or 3 for F"))?;
        Ok(Request { time: Nanos::new(*time), op, offset: *offset, length: *length })
    };
    places.map(request).collect()
}
