//! The driver: each operation as the commands that it takes.

use embedded_hal::spi::{Operation, SpiDevice};
use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError, Region, RegionGeometry,
};

use crate::change::Change;
use crate::error::{Error, SetupError};
use crate::onfi::{self, OnfiError, ParameterPage};
use crate::part::{EccStatus, Part, SPARE_MAX};
use crate::wire::{self, Command};

/// How often a chip is asked whether it is ready before it is given up. At the fastest bus, 104 MHz on one line, a
/// poll takes 231 ns: this many take 462 ms, where the slowest operation of any datasheet, an erase, takes 10 ms.
pub const POLLS: u32 = 2_000_000;

/// The same after a reset, which takes 500 us at most, in the midst of an erase (W25N01GV datasheet, "AC Electrical
/// Characteristics", tRST). A bus without a chip is soon found out by it.
const RESET_POLLS: u32 = 10_000;

/// What the status register of no chip reads: bits of it are always zero. A line that nobody drives reads so.
const NOBODY: u8 = 0xFF;

/// A good block's mark reads as 0xFF, a bad one's as 0x00 with most makers and as anything else with some. One bit
/// may flip without correction, so that a mark counts from two zeros on.
const ZEROS_OF_A_MARK: u32 = 2;

/// How many bytes are looked at in one go when a page is read without correction.
const CHUNK: usize = 64;

/// A SPI NAND chip.
#[derive(Debug)]
pub struct SpiNand<'p, SPI> {
    spi: SPI,
    part: &'p Part,
    polls: u32,
    /// What the configuration register holds, where that is known.
    configuration: Option<u8>,
}

impl<'p, SPI: SpiDevice> SpiNand<'p, SPI> {
    /// Resets the chip, finds it among the parts by its number, switches its correction on and lifts the protection of
    /// its blocks. The bus is in mode 0, and selects the chip for each transaction.
    pub fn new(spi: SPI, parts: &'p [Part]) -> Result<Self, SetupError<SPI::Error>> {
        let Some(first) = parts.first() else { return Err(SetupError::UnknownPart([0; 3])) };
        let mut nand = Self { spi, part: first, polls: RESET_POLLS, configuration: None };
        nand.send(&[Command::Reset.code()])?;
        if let Err(error) = nand.wait(Command::Reset) {
            return match nand.register(wire::STATUS)? {
                NOBODY => Err(SetupError::UnknownPart([NOBODY; 3])),
                _ => Err(error.into()),
            };
        }
        nand.polls = POLLS;
        let id = nand.read_id()?;
        let Some(part) = parts.iter().find(|part| id.starts_with(part.id)) else {
            return Err(SetupError::UnknownPart(id));
        };
        if !part.is_sound() {
            return Err(SetupError::UnsoundPart(part.name));
        }
        nand.part = part;
        nand.configure(part.configuration)?;
        let configured = nand.register(wire::CONFIGURATION)?;
        if configured & part.configuration != part.configuration {
            return Err(SetupError::Configuration(configured));
        }
        nand.set_register(wire::PROTECTION, 0)?;
        match nand.register(wire::PROTECTION)? {
            0 => Ok(nand),
            protected => Err(SetupError::Protected(protected)),
        }
    }

    /// The same chip, given up after that many polls: fewer for a slow bus.
    #[must_use]
    pub fn with_polls(self, polls: u32) -> Self {
        Self { polls, ..self }
    }

    /// The part that the chip was found to be.
    pub const fn part(&self) -> &'p Part {
        self.part
    }

    /// The bus, to look at.
    pub const fn bus(&self) -> &SPI {
        &self.spi
    }

    /// Gives the bus back.
    pub fn release(self) -> SPI {
        self.spi
    }

    /// The numbers of maker and device.
    pub fn read_id(&mut self) -> Result<[u8; 3], Error<SPI::Error>> {
        let mut id = [0; 3];
        let command = [Command::ReadId.code(), 0];
        self.exchange(&mut [Operation::Write(&command), Operation::Read(&mut id)])?;
        Ok(id)
    }

    /// What the chip says of itself in its ONFI parameter page: to check a description, or to write one. `None` where
    /// no copy of the page is whole.
    pub fn parameter_page(&mut self) -> Result<Option<ParameterPage>, Error<SPI::Error>> {
        let used = self.part.configuration;
        let outcome = self.find_parameter_page(used | wire::OTP_ENABLE);
        self.configure(used)?;
        outcome
    }

    fn find_parameter_page(
        &mut self,
        configuration: u8,
    ) -> Result<Option<ParameterPage>, Error<SPI::Error>> {
        self.configure(configuration)?;
        for row in onfi::ROWS {
            self.load(row)?;
            for copy in 0..onfi::COPIES {
                let mut bytes = [0; onfi::BYTES];
                self.read_cache(copy * onfi::BYTES as u16, &mut bytes)?;
                match ParameterPage::parse(&bytes) {
                    Ok(page) => return Ok(Some(page)),
                    Err(OnfiError::Signature | OnfiError::Check) => {}
                }
            }
        }
        Ok(None)
    }

    // One command each.

    fn exchange(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Error<SPI::Error>> {
        self.spi.transaction(operations).map_err(Error::Bus)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Error<SPI::Error>> {
        self.exchange(&mut [Operation::Write(bytes)])
    }

    fn register(&mut self, address: u8) -> Result<u8, Error<SPI::Error>> {
        let mut value = [0];
        let command = [Command::GetFeature.code(), address];
        self.exchange(&mut [Operation::Write(&command), Operation::Read(&mut value)])?;
        Ok(value[0])
    }

    fn set_register(&mut self, address: u8, value: u8) -> Result<(), Error<SPI::Error>> {
        self.send(&[Command::SetFeature.code(), address, value])
    }

    /// Sets the configuration register, unless it is known to hold that.
    fn configure(&mut self, value: u8) -> Result<(), Error<SPI::Error>> {
        if self.configuration == Some(value) {
            return Ok(());
        }
        self.configuration = None;
        self.set_register(wire::CONFIGURATION, value)?;
        self.configuration = Some(value);
        Ok(())
    }

    /// Waits until the chip is ready. Returns its status.
    fn wait(&mut self, command: Command) -> Result<u8, Error<SPI::Error>> {
        for _ in 0..self.polls {
            let status = self.register(wire::STATUS)?;
            if status & wire::BUSY == 0 {
                return Ok(status);
            }
        }
        Err(Error::NeverReady { command, polls: self.polls })
    }

    /// From the cells to the cache. Returns the status.
    fn load(&mut self, row: u32) -> Result<u8, Error<SPI::Error>> {
        self.send(&wire::with_row(Command::PageRead, row))?;
        self.wait(Command::PageRead)
    }

    fn read_cache(&mut self, column: u16, bytes: &mut [u8]) -> Result<(), Error<SPI::Error>> {
        let head = wire::read_cache(column);
        self.exchange(&mut [Operation::Write(&head), Operation::Read(bytes)])
    }

    /// From the cache to the cells, or an erase. Returns the status.
    fn execute(&mut self, command: Command, row: u32) -> Result<u8, Error<SPI::Error>> {
        self.send(&wire::with_row(command, row))?;
        self.wait(command)
    }

    // Places.

    /// The chip's shape: parts have an SLC region alone.
    const fn shape(&self) -> Result<&'p RegionGeometry, Error<SPI::Error>> {
        match self.part.geometry.slc() {
            Some(shape) => Ok(shape),
            None => Err(Error::OutOfContract),
        }
    }

    /// The number of a block's first page.
    fn block_row(&self, block: Block) -> Result<u32, Error<SPI::Error>> {
        let shape = self.shape()?;
        if block.region() != Region::Slc || block.index() >= shape.blocks.get() {
            return Err(Error::OutOfContract);
        }
        Ok(block.index() * shape.pages_per_block.get())
    }

    fn page_row(&self, page: Page) -> Result<u32, Error<SPI::Error>> {
        if u32::from(page.index().get()) >= self.shape()?.pages_per_block.get() {
            return Err(Error::OutOfContract);
        }
        Ok(self.block_row(page.block())? + u32::from(page.index().get()))
    }

    /// A column of a page in that block.
    fn column(&self, block: Block, at: usize) -> u16 {
        let plane = match self.part.plane_bit {
            Some(bit) => (block.index() as u16 & 1) << bit,
            None => 0,
        };
        at as u16 | plane
    }

    // What operations are made of.

    /// What the correction did in the read whose status this is.
    fn verdict(&mut self, status: u8) -> Result<Option<Corrected>, Error<SPI::Error>> {
        let report = &self.part.ecc;
        let bits = match (report.verdict(status), report.detail) {
            (Some(EccStatus::Clean), _) => 0,
            (Some(EccStatus::Corrected(bits)), _) => u16::from(bits),
            (Some(EccStatus::SeeDetail), Some(detail)) => {
                let value = self.register(detail.register)? >> detail.shift & detail.mask;
                u16::from(value) + u16::from(detail.plus)
            }
            (Some(EccStatus::SeeDetail), None) => u16::from(report.correctable_bits),
            (Some(EccStatus::Uncorrectable) | None, _) => return Ok(None),
        };
        Ok(Some(Corrected::bits(bits)))
    }

    fn read_page(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Option<Corrected>, Error<SPI::Error>> {
        let row = self.page_row(page)?;
        let (page_bytes, spare_bytes) = {
            let shape = self.shape()?;
            (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize())
        };
        let at = at.as_usize();
        if at + data.len() > page_bytes || spare.len() > spare_bytes {
            return Err(Error::OutOfContract);
        }
        self.configure(self.part.configuration)?;
        let status = self.load(row)?;
        let Some(corrected) = self.verdict(status)? else {
            let zeros = self.zeros_if_erased(page.block(), row)?;
            if zeros.is_some() {
                data.fill(0xFF);
                spare.fill(0xFF);
            }
            return Ok(zeros);
        };
        let mut area = [0; SPARE_MAX];
        let area = &mut area[..if spare.is_empty() { 0 } else { self.part.spare_span() }];
        let (data_column, spare_column) =
            (self.column(page.block(), at), self.column(page.block(), page_bytes));
        if at + data.len() == page_bytes && !data.is_empty() {
            // The spare area follows the data: one transaction brings both.
            let head = wire::read_cache(data_column);
            let read = [Operation::Write(&head), Operation::Read(data), Operation::Read(area)];
            self.exchange(&mut { read })?;
        } else {
            if !data.is_empty() {
                self.read_cache(data_column, data)?;
            }
            if !area.is_empty() {
                self.read_cache(spare_column, area)?;
            }
        }
        self.part.gather(area, spare);
        Ok(Some(corrected))
    }

    /// Looks at a page that the correction gave up on, without correction: the number of its zero bits, if these are
    /// so few that an erased page has flipped. A programmed page has more: its correction's own bytes alone do.
    fn zeros_if_erased(
        &mut self,
        block: Block,
        row: u32,
    ) -> Result<Option<Corrected>, Error<SPI::Error>> {
        let bytes = self.shape()?.page_bytes.as_usize() + usize::from(self.part.spare_bytes);
        let most = u32::from(self.part.ecc.correctable_bits);
        self.configure(self.part.configuration & !wire::ECC_ENABLE)?;
        let mut zeros = 0;
        self.load(row)?;
        let mut at = 0;
        while at < bytes && zeros <= most {
            let mut chunk = [0xFF; CHUNK];
            let length = CHUNK.min(bytes - at);
            self.read_cache(self.column(block, at), &mut chunk[..length])?;
            zeros += chunk.iter().map(|byte| byte.count_zeros()).sum::<u32>();
            at += length;
        }
        self.configure(self.part.configuration)?;
        Ok((zeros <= most).then_some(Corrected::bits(zeros as u16)))
    }

    /// Programs a page.
    fn program_page(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<Change, Error<SPI::Error>> {
        let row = self.page_row(page)?;
        let shape = self.shape()?;
        if data.len() != shape.page_bytes.as_usize() || spare.len() != shape.spare_bytes.as_usize()
        {
            return Err(Error::OutOfContract);
        }
        let mut area = [0xFF; SPARE_MAX];
        self.part.scatter(spare, &mut area);
        let area = &area[..self.part.spare_span()];
        self.configure(self.part.configuration)?;
        let head = wire::program_load(self.column(page.block(), 0));
        self.send(&[Command::WriteEnable.code()])?;
        self.exchange(&mut [
            Operation::Write(&head),
            Operation::Write(data),
            Operation::Write(area),
        ])?;
        Ok(Change::told(self.execute(Command::ProgramExecute, row)?, wire::PROGRAM_FAILED))
    }

    fn erase_block(&mut self, block: Block) -> Result<Change, Error<SPI::Error>> {
        let row = self.block_row(block)?;
        self.send(&[Command::WriteEnable.code()])?;
        Ok(Change::told(self.execute(Command::BlockErase, row)?, wire::ERASE_FAILED))
    }

    /// Reads a block's mark, the first spare byte of its first page, without correction: what a bad block holds need
    /// not be correctable.
    fn is_marked(&mut self, block: Block) -> Result<bool, Error<SPI::Error>> {
        let row = self.block_row(block)?;
        let column = self.column(block, self.shape()?.page_bytes.as_usize());
        self.configure(self.part.configuration & !wire::ECC_ENABLE)?;
        self.load(row)?;
        let mut mark = [0xFF];
        self.read_cache(column, &mut mark)?;
        self.configure(self.part.configuration)?;
        Ok(mark[0].count_zeros() >= ZEROS_OF_A_MARK)
    }

    /// Programs a block's mark, and nothing else of its first page. It is done if the mark can be read.
    fn mark(&mut self, block: Block) -> Result<Change, Error<SPI::Error>> {
        let row = self.block_row(block)?;
        let column = self.column(block, self.shape()?.page_bytes.as_usize());
        self.configure(self.part.configuration & !wire::ECC_ENABLE)?;
        self.send(&[Command::WriteEnable.code()])?;
        let head = wire::program_load(column);
        self.exchange(&mut [Operation::Write(&head), Operation::Write(&[0])])?;
        // What the status says does not matter where the mark can be read.
        self.execute(Command::ProgramExecute, row)?;
        Ok(if self.is_marked(block)? { Change::Done } else { Change::Failed })
    }
}

impl<SPI: SpiDevice> NandDevice for SpiNand<'_, SPI> {
    type Error = Error<SPI::Error>;

    fn geometry(&self) -> &Geometry {
        &self.part.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        match self.read_page(page, at, data, spare) {
            Ok(Some(corrected)) => Ok(corrected),
            Ok(None) => Err(ReadError::Uncorrectable),
            Err(error) => Err(ReadError::Driver(error)),
        }
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        match self.program_page(page, data, spare) {
            Ok(Change::Done) => Ok(()),
            Ok(Change::Failed) => Err(ProgramError::Failed),
            Err(error) => Err(ProgramError::Driver(error)),
        }
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Self::Error>> {
        match self.erase_block(block) {
            Ok(Change::Done) => Ok(()),
            Ok(Change::Failed) => Err(EraseError::Failed),
            Err(error) => Err(EraseError::Driver(error)),
        }
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.is_marked(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Self::Error>> {
        match self.mark(block) {
            Ok(Change::Done) => Ok(()),
            Ok(Change::Failed) => Err(MarkError::Failed),
            Err(error) => Err(MarkError::Driver(error)),
        }
    }
}
