//! `tandem.Device`: a device file, its size, and what fills it before a run.

use std::path::{Path, PathBuf};

use ftl_iface::RegionGeometry;
use nand_model::datasheet::{DatasheetError, Fault};
use nand_model::part::Part;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sim::input::device::{Fill, Setup};
use sim::{DeviceChoice, Failure};

use crate::failed::{bad, raised};
use crate::typed::{size, toml_of};

/// A path as `DeviceChoice` spells it. A bare file name gets `./`, so that it is not taken for a built-in device.
fn file_of(path: PathBuf) -> String {
    let is_bare = path.parent().is_some_and(|folder| folder.as_os_str().is_empty());
    let path = if is_bare { Path::new(".").join(path) } else { path };
    path.to_string_lossy().into()
}

/// The part of a table. Its text is made from the table, so errors name no line of it.
fn part_of(table: &Bound<'_, PyAny>) -> PyResult<Result<Part, Failure>> {
    let part = Part::parse(&toml_of(table, "the device")?, "the device");
    let part = part.map_err(|error| match error {
        DatasheetError::Invalid(fault) => DatasheetError::Invalid(Fault { line: None, ..fault }),
        other => other,
    });
    Ok(part.map_err(Failure::from))
}

/// A device, at a size, with what is written to it before a run.
#[pyclass(frozen, module = "tandem._native")]
pub(crate) struct Device {
    pub(crate) setup: Setup,
}

#[pymethods]
impl Device {
    /// The device of that name or file, or with these figures.
    #[new]
    #[pyo3(signature = (device, capacity=None, slc=None, parallel=false, fill="in-order"))]
    fn new(
        device: &Bound<'_, PyAny>,
        capacity: Option<&Bound<'_, PyAny>>,
        slc: Option<&Bound<'_, PyAny>>,
        parallel: bool,
        fill: &str,
    ) -> PyResult<Self> {
        let fill = Fill::parse(fill).map_err(|reason| bad(&reason))?;
        let (capacity, slc) = (size(capacity)?, size(slc)?);
        let choice = |name: &str| DeviceChoice { device: name.into(), capacity, slc, parallel };
        let setup = if let Ok(name) = device.cast::<PyString>() {
            choice(name.to_str()?).setup()
        } else if let Ok(path) = device.extract::<PathBuf>() {
            choice(&file_of(path)).setup()
        } else if device.is_instance_of::<PyDict>() {
            part_of(device)?.and_then(|part| choice("").setup_of(part))
        } else {
            let kinds = "a device is a name, a path, a dictionary or a tandem.Device";
            return Err(bad(&format!("{kinds}, not {}", device.repr()?)));
        };
        let setup = setup.map_err(|failure| raised(&failure))?;
        Ok(Self { setup: Setup { fill, ..setup } })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.setup.part.name
    }

    /// What it is.
    #[getter]
    fn title(&self) -> &str {
        &self.setup.part.title
    }

    /// Bytes exported to the host.
    #[getter]
    fn capacity(&self) -> u64 {
        self.setup.part.exported_bytes
    }

    /// Bytes of its SLC.
    #[getter]
    fn slc_bytes(&self) -> u64 {
        self.setup.part.geometry.slc().map_or(0, RegionGeometry::capacity_bytes)
    }

    /// Bytes of its MLC.
    #[getter]
    fn mlc_bytes(&self) -> u64 {
        self.setup.part.geometry.mlc().map_or(0, RegionGeometry::capacity_bytes)
    }

    fn __repr__(&self) -> String {
        let Self { setup } = self;
        format!("<Device {}: {}>", setup.part.name, sim::show::size(setup.part.exported_bytes))
    }
}
