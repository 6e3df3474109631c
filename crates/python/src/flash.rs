//! The flash that an FTL in Python has: places of a page each, in blocks, in one region or two.

use ftl_iface::{Block, Bytes, Cause, Page, PageIndex, Region, RegionGeometry};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sim::engine::systems::{Shared, StoreShape};

use crate::failed::{Violation, bad};
use crate::quiet;

/// The flash of a system. A slot has the bytes of the host's pages, which are those of the largest physical page: a
/// region whose pages are smaller takes several for one.
#[pyclass(frozen, module = "tandem._native")]
pub(crate) struct Flash {
    device: Shared,
    page_bytes: usize,
    pages: u32,
}

impl Flash {
    pub(crate) fn new(device: Shared, wish: StoreShape) -> Self {
        let shapes = Region::ALL.map(|region| device.geometry().region(region).copied());
        let sizes = shapes.iter().flatten().map(|shape| shape.page_bytes.as_usize());
        let page_bytes = sizes.chain([wish.sector.as_usize()]).max().unwrap_or(1);
        let bytes = u64::from(wish.capacity.get()) * u64::from(wish.sector.get());
        let pages = u32::try_from(bytes.div_ceil(page_bytes as u64)).unwrap_or(u32::MAX);
        Self { device, page_bytes, pages }
    }

    pub(crate) const fn unit(&self) -> usize {
        self.page_bytes
    }

    fn shape(&self, region: &str) -> PyResult<(Region, &RegionGeometry)> {
        let found = Region::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(region));
        let found = found.and_then(|region| Some((region, self.device.geometry().region(region)?)));
        found.ok_or_else(|| bad(&format!("the flash has no region `{region}`")))
    }

    /// Physical pages of a slot.
    fn width(&self, shape: &RegionGeometry) -> usize {
        self.page_bytes / shape.page_bytes.as_usize()
    }

    fn block_at(
        &self,
        region: &str,
        block: &Bound<'_, PyAny>,
    ) -> PyResult<(Block, &RegionGeometry)> {
        let (region, shape) = self.shape(region)?;
        let block = Block::new(region, place("block", block)?);
        if !self.device.geometry().contains_block(block) {
            return Err(bad(&format!("{block} is beyond the region's {}", shape.blocks)));
        }
        Ok((block, shape))
    }

    /// The physical pages of a slot.
    fn pages_at(
        &self,
        region: &str,
        block: &Bound<'_, PyAny>,
        slot: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Page>> {
        let ((block, shape), slot) = (self.block_at(region, block)?, place("slot", slot)?);
        let (width, slots) = (self.width(shape) as u32, self.slots_of(shape));
        if slot >= slots {
            return Err(bad(&format!("slot {slot} is beyond the {slots} of a block")));
        }
        let pages = slot * width..(slot + 1) * width;
        Ok(pages.map(|page| block.page(PageIndex::new(page as u16))).collect())
    }

    fn slots_of(&self, shape: &RegionGeometry) -> u32 {
        shape.pages_per_block.get() / self.width(shape) as u32
    }
}

/// The number of a block or of a slot.
fn place(what: &str, number: &Bound<'_, PyAny>) -> PyResult<u32> {
    number.extract().map_err(|_| bad(&format!("{what}: give a number from 0 on, not {number}")))
}

/// The cause of that name.
fn cause_of(name: &str) -> PyResult<Cause> {
    let found = Cause::ALL.into_iter().find(|cause| cause.name() == name);
    found.ok_or_else(|| {
        let names = Cause::ALL.map(Cause::name).join(", ");
        bad(&format!("`{name}` is no cause: give one of {names}"))
    })
}

/// Does an operation. If it breaks a rule of the chip, that is a violation, and not the end of the interpreter.
fn ruled<T>(operation: impl FnOnce() -> Result<T, String>) -> PyResult<T> {
    match quiet::caught(operation) {
        Ok(outcome) => outcome.map_err(Violation::new_err),
        Err(panic) => {
            let said = quiet::words(panic.as_ref()).unwrap_or("a rule of the chip was broken");
            Err(Violation::new_err(said.to_owned()))
        }
    }
}

#[pymethods]
impl Flash {
    /// Bytes of a page of the host, and of a slot.
    #[getter]
    fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Pages that the host may use.
    #[getter]
    fn pages(&self) -> u32 {
        self.pages
    }

    /// The regions that there are.
    #[getter]
    fn regions(&self) -> Vec<String> {
        let there = |region: &Region| self.device.geometry().region(*region).is_some();
        let regions = Region::ALL.into_iter().filter(there);
        regions.map(|region| region.name().to_ascii_lowercase()).collect()
    }

    /// Blocks of a region.
    fn blocks(&self, region: &str) -> PyResult<u32> {
        Ok(self.shape(region)?.1.blocks.get())
    }

    /// Slots of each of its blocks.
    fn slots(&self, region: &str) -> PyResult<u32> {
        Ok(self.slots_of(self.shape(region)?.1))
    }

    /// The content of a slot.
    #[pyo3(signature = (region, block, slot, cause="host"))]
    fn read<'py>(
        slf: &Bound<'py, Self>,
        region: &str,
        block: &Bound<'_, PyAny>,
        slot: &Bound<'_, PyAny>,
        cause: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (flash, cause) = (slf.get(), cause_of(cause)?);
        let pages = flash.pages_at(region, block, slot)?;
        let mut data = vec![0; flash.page_bytes];
        let each = flash.page_bytes / pages.len();
        ruled(|| {
            pages.iter().zip(data.chunks_mut(each)).try_for_each(|(page, part)| {
                let read = flash.device.read(*page, Bytes::new(0), part, cause);
                read.map_err(|error| format!("{page} cannot be read: {error:?}"))
            })
        })?;
        Ok(PyBytes::new(slf.py(), &data))
    }

    /// Programs a slot: those of a block in their order, each once after an erase.
    #[pyo3(signature = (region, block, slot, data, cause="host"))]
    fn program(
        &self,
        region: &str,
        block: &Bound<'_, PyAny>,
        slot: &Bound<'_, PyAny>,
        data: &[u8],
        cause: &str,
    ) -> PyResult<()> {
        let (pages, cause) = (self.pages_at(region, block, slot)?, cause_of(cause)?);
        if data.len() != self.page_bytes {
            let (found, expected) = (data.len(), self.page_bytes);
            return Err(bad(&format!("a slot has {expected} bytes, and was given {found}")));
        }
        let each = self.page_bytes / pages.len();
        ruled(|| {
            pages.iter().zip(data.chunks(each)).try_for_each(|(page, part)| {
                let programmed = self.device.program(*page, part, cause);
                programmed.map_err(|error| format!("{page} cannot be programmed: {error:?}"))
            })
        })
    }

    /// Erases a block.
    #[pyo3(signature = (region, block, cause="gc"))]
    fn erase(&self, region: &str, block: &Bound<'_, PyAny>, cause: &str) -> PyResult<()> {
        let ((block, _), cause) = (self.block_at(region, block)?, cause_of(cause)?);
        ruled(|| {
            let erased = self.device.erase(block, cause);
            erased.map_err(|error| format!("{block} cannot be erased: {error:?}"))
        })
    }

    /// How often a block was erased.
    fn erase_count(&self, region: &str, block: &Bound<'_, PyAny>) -> PyResult<u32> {
        Ok(self.device.erase_count(self.block_at(region, block)?.0))
    }
}
