//! The flash access layer: every operation gets its cause, and every page its tag.

use ftl_iface::{
    Block, Bytes, Cause, Mode, ModeError, NandDevice, Page, PageIndex, Probe, ProgramError,
    ReadError, Region, StoreReadError, StoreWriteError, Verb,
};

/// Why an operation of the kit failed.
#[derive(Debug)]
pub enum Fault<E> {
    /// No block can be freed any more.
    Full,
    /// A page cannot be read.
    Lost,
    /// A program or an erase failed: the block must be retired.
    Failed,
    /// The driver failed.
    Device(E),
}

impl<E> From<Fault<E>> for StoreWriteError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Full => Self::ReadOnly,
            Fault::Lost | Fault::Failed => Self::Corrupt,
            Fault::Device(error) => Self::Device(Some(error)),
        }
    }
}

impl<E> From<Fault<E>> for StoreReadError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Full | Fault::Lost | Fault::Failed => Self::Corrupt,
            Fault::Device(error) => Self::Device(Some(error)),
        }
    }
}

/// The device, the probe of its operations, and memory for a spare area.
#[derive(Debug)]
pub struct Flash<D, P> {
    device: D,
    probe: P,
    spare: [Vec<u8>; 2],
    page_bytes: [usize; 2],
}

/// Bytes of a page's tag: the number of the unit that it holds.
pub const TAG_BYTES: usize = 4;

impl<D: NandDevice, P: Probe> Flash<D, P> {
    /// The access layer of that device.
    pub fn new(device: D, probe: P) -> Self {
        let shape = |region| device.geometry().region(region);
        let spare = |region| shape(region).map_or(0, |shape| shape.spare_bytes.as_usize());
        let spare = Region::ALL.map(|region| vec![0xFF; spare(region)]);
        let page = |region| shape(region).map_or(0, |shape| shape.page_bytes.as_usize());
        let page_bytes = Region::ALL.map(page);
        Self { device, probe, spare, page_bytes }
    }

    /// The device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Returns the device.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Data bytes of a page.
    #[inline]
    pub const fn page_bytes(&self, region: Region) -> usize {
        self.page_bytes[region as usize]
    }

    /// Reads part of a page, without its tag.
    #[inline]
    pub fn read(
        &mut self,
        page: Page,
        at: usize,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.probe.operation(page.region(), Verb::Read, cause);
        let read = self.device.read(page, Bytes::new(at as u32), data, &mut []);
        read.map(|_| ()).map_err(read_fault)
    }

    /// Reads a whole page, and returns the unit named in its tag.
    #[inline]
    pub fn read_tagged(
        &mut self,
        page: Page,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<u32, Fault<D::Error>> {
        self.probe.operation(page.region(), Verb::Read, cause);
        let mut tag = [0; TAG_BYTES];
        self.device.read(page, Bytes::ZERO, data, &mut tag).map_err(read_fault)?;
        Ok(u32::from_le_bytes(tag))
    }

    /// Programs a page with its tag.
    #[inline]
    pub fn program(
        &mut self,
        page: Page,
        data: &[u8],
        unit: u32,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.probe.operation(page.region(), Verb::Program, cause);
        let spare = &mut self.spare[page.region() as usize];
        if let Some(tag) = spare.first_chunk_mut::<TAG_BYTES>() {
            *tag = unit.to_le_bytes();
        }
        self.device.program(page, data, spare).map_err(|error| match error {
            ProgramError::Failed => Fault::Failed,
            ProgramError::Driver(error) => Fault::Device(error),
        })
    }

    /// Erases a block into a mode.
    pub fn erase(&mut self, block: Block, mode: Mode, cause: Cause) -> Result<(), Fault<D::Error>> {
        self.probe.operation(block.region(), Verb::Erase, cause);
        self.device.erase_into(block, mode).map_err(|error| match error {
            ModeError::NoModes | ModeError::Failed => Fault::Failed,
            ModeError::Driver(error) => Fault::Device(error),
        })
    }

    /// Whether the block is marked bad.
    pub fn is_bad(&mut self, block: Block) -> Result<bool, Fault<D::Error>> {
        self.device.is_bad(block).map_err(Fault::Device)
    }

    /// Takes a block out of use. A mark that fails does not matter, because the kit does not use the block again.
    pub fn retire(&mut self, block: Block) {
        let _ = self.device.mark_bad(block);
    }
}

fn read_fault<E>(error: ReadError<E>) -> Fault<E> {
    match error {
        ReadError::Uncorrectable => Fault::Lost,
        ReadError::Driver(error) => Fault::Device(error),
    }
}

/// The page of a block.
#[inline]
pub(crate) const fn page(block: Block, index: u32) -> Page {
    block.page(PageIndex::new(index as u16))
}
