//! An FTL in Python. It is asked by pages, and slow: every request crosses into the interpreter.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use ftl_iface::{
    BlockStore, Bytes, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};
use ftl_rivals::Rival;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use sim::engine::systems::own::Memory;
use sim::engine::systems::{Given, Session, StoreShape, on_shared};
use sim::input::device::Setup;
use sim::{Chosen, Failure};

use crate::failed::bad;
use crate::flash::Flash;
use crate::watched::Watch;

/// A system by its name, or one in Python.
pub(crate) fn chosen(system: &Bound<'_, PyAny>, watch: &Arc<Watch>) -> PyResult<Chosen> {
    if let Ok(name) = system.extract::<String>() {
        return Chosen::parse(&name).map_err(|reason| bad(&reason));
    }
    let memory: String = system.getattr("memory")?.extract()?;
    let memory = match memory.as_str() {
        "both" => Memory::Both,
        "mlc" => Memory::Mlc,
        "slc" => Memory::Slc,
        other => return Err(bad(&format!("`{other}` is no memory: give both, mlc or slc"))),
    };
    let name: String = system.getattr("name")?.extract()?;
    let given = PythonSystem { object: system.clone().unbind(), memory, watch: Arc::clone(watch) };
    Chosen::given(&name, Arc::new(given)).map_err(|reason| bad(&reason))
}

/// A system in Python: an object, or a class of which each run makes one.
struct PythonSystem {
    object: Py<PyAny>,
    memory: Memory,
    watch: Arc<Watch>,
}

impl fmt::Debug for PythonSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonSystem").field("object", &self.object).finish_non_exhaustive()
    }
}

impl Given for PythonSystem {
    fn uses_slc(&self) -> bool {
        self.memory == Memory::Both
    }

    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        on_shared(self.memory, setup, session, |device, wish| {
            let flash = Flash::new(device, wish);
            let unit = flash.unit();
            let started = Python::attach(|py| {
                let object = self.object.bind(py);
                let object = if object.is_instance_of::<PyType>() {
                    object.call0()?
                } else {
                    object.clone()
                };
                object.call_method1("start", (flash,))?;
                Ok(object.unbind())
            });
            let object = started.map_err(|error| {
                self.watch.raise(error);
                Failure::Unfit("it could not be started".into())
            })?;
            Ok(Pages { object, watch: Arc::clone(&self.watch), wish, unit })
        })
    }
}

/// The store that the object is: it serves whole pages, and a part of one is read, changed and written.
struct Pages {
    object: Py<PyAny>,
    watch: Arc<Watch>,
    wish: StoreShape,
    /// Bytes of a page.
    unit: usize,
}

/// A part of a request within one page.
struct Piece {
    page: u64,
    at: usize,
    bytes: usize,
}

/// Python code raised an exception, which the watch has: it is raised where the run was begun.
struct Raised;

impl From<Raised> for StoreReadError<Infallible> {
    fn from(_: Raised) -> Self {
        Self::Corrupt
    }
}

impl From<Raised> for StoreWriteError<Infallible> {
    fn from(_: Raised) -> Self {
        Self::Corrupt
    }
}

impl Pages {
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, Raised> {
        if self.watch.is_stopped() {
            return Err(Raised);
        }
        let called = Python::attach(|py| work(self.object.bind(py)));
        called.map_err(|error| {
            self.watch.raise(error);
            Raised
        })
    }

    fn read_page(&self, page: u64) -> Result<Vec<u8>, Raised> {
        self.call(|object| {
            let data = object.call_method1("read", (page,))?;
            let data: &[u8] = data.extract().map_err(|_| {
                let found = data.get_type();
                let found = found.name().map_or_else(|_| "that".into(), |name| name.to_string());
                let (what, bytes) =
                    ("a System's read must return the bytes of the page", self.unit);
                bad(&format!("read({page}) returned {found}: {what}, {bytes} of them"))
            })?;
            if data.len() == self.unit {
                return Ok(data.to_vec());
            }
            let (found, expected) = (data.len(), self.unit);
            Err(bad(&format!("read: a page has {expected} bytes, and this one has {found}")))
        })
    }

    fn write_page(&self, page: u64, data: &[u8]) -> Result<(), Raised> {
        self.call(|object| {
            let data = PyBytes::new(object.py(), data);
            object.call_method1("write", (page, data)).map(drop)
        })
    }

    fn tell(&self, method: &str) -> Result<(), Raised> {
        self.call(|object| object.call_method0(method).map(drop))
    }

    fn change(&self, piece: &Piece, change: impl FnOnce(&mut [u8])) -> Result<(), Raised> {
        let mut whole = self.read_page(piece.page)?;
        change(&mut whole[piece.at..piece.at + piece.bytes]);
        self.write_page(piece.page, &whole)
    }

    /// The parts of a request, each within one page.
    fn pieces(&self, first: Sector, bytes: u64) -> impl Iterator<Item = Piece> + use<> {
        let unit = self.unit as u64;
        let mut at = u64::from(first.get()) * u64::from(self.wish.sector.get());
        let end = at + bytes;
        std::iter::from_fn(move || {
            let offset = at % unit;
            let bytes = (unit - offset).min(end - at);
            let piece = Piece { page: at / unit, at: offset as usize, bytes: bytes as usize };
            at += bytes;
            (bytes > 0).then_some(piece)
        })
    }
}

impl BlockStore for Pages {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.wish.sector
    }

    fn capacity(&self) -> SectorCount {
        self.wish.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        let mut rest = data;
        for piece in self.pieces(first, rest.len() as u64) {
            let (part, others) = rest.split_at_mut(piece.bytes);
            part.copy_from_slice(&self.read_page(piece.page)?[piece.at..piece.at + piece.bytes]);
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        let mut rest = data;
        for piece in self.pieces(first, rest.len() as u64) {
            let (part, others) = rest.split_at(piece.bytes);
            if piece.bytes == self.unit {
                self.write_page(piece.page, part)?;
            } else {
                self.change(&piece, |data| data.copy_from_slice(part))?;
            }
            rest = others;
        }
        Ok(())
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        let bytes = u64::from(count.get()) * u64::from(self.wish.sector.get());
        for piece in self.pieces(first, bytes) {
            if piece.bytes == self.unit {
                self.call(|object| object.call_method1("trim", (piece.page,)).map(drop))?;
            } else {
                self.change(&piece, |data| data.fill(0))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(self.tell("flush")?)
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        let is_left =
            self.call(|object| object.call_method1("maintain", (budget.get(),))?.is_truthy())?;
        Ok(if is_left { Work::Left } else { Work::Done })
    }
}

impl Rival for Pages {
    fn settle(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(self.tell("settle")?)
    }

    fn ram_bytes(&self) -> u64 {
        self.call(|object| object.getattr("ram_bytes")?.extract()).unwrap_or(0)
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn check(&self) -> Result<(), String> {
        self.tell("check").map_err(|Raised| "its check failed".into())
    }
}
