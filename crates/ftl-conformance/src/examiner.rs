//! The checks that need no loss of power.

use ftl_iface::{
    Block, Bytes, EraseError, Geometry, MarkError, NandDevice, Page, PageIndex, ProgramError,
    ReadError, Region, RegionGeometry,
};

use crate::breach::{Breach, Location, Observed, Stopped};
use crate::clause::Clause;
use crate::pattern::Fill;

/// The fewest blocks that show whether one disturbs another.
pub const BLOCKS_MIN: usize = 2;

/// The bytes of memory that an examination needs, for pages of that size with that many spare bytes.
pub const fn memory_bytes(page_bytes: usize, spare_bytes: usize) -> usize {
    page_bytes + spare_bytes
}

/// Rounds of content: each fills pages otherwise than all others, so that old content is told from new.
const FULL: Fill = Fill::Round(1);
const GAPPED: Fill = Fill::Round(2);
pub(crate) const KEPT: Fill = Fill::Round(3);

/// Examines a device on the blocks that were lent, with a page of lent memory.
#[derive(Debug)]
pub struct Examiner<'l, D> {
    pub(crate) device: D,
    pub(crate) blocks: &'l [Block],
    geometry: Geometry,
    /// The shapes of both regions; of one that is missing, no block was lent.
    slc: RegionGeometry,
    mlc: RegionGeometry,
    data: &'l mut [u8],
    spare: &'l mut [u8],
}

/// What an examination ends with.
pub(crate) type Checked<E> = Result<(), Stopped<E>>;

/// What a single read showed.
pub(crate) enum ReadResult<E> {
    AsExpected,
    Otherwise(Observed),
    Failed(E),
}

pub(crate) fn breach<E>(clause: Clause, place: Location, found: Observed) -> Checked<E> {
    Err(Stopped::Breach(Breach { clause, place, found }))
}

/// The first bytes of memory that was found to have as many.
fn first(memory: &mut [u8], bytes: usize) -> &mut [u8] {
    memory.get_mut(..bytes).unwrap_or_default()
}

/// What an examination ends with if the program of that page does not succeed.
fn failed<E>(page: Page, error: ProgramError<E>) -> Stopped<E> {
    match error {
        ProgramError::Failed => Stopped::BlockFailed(page.block()),
        ProgramError::Driver(error) => Stopped::Driver { place: Location::Page(page), error },
    }
}

impl<'l, D: NandDevice> Examiner<'l, D> {
    /// An examiner of that device, which may use those blocks as it likes and no others. The blocks may lie in both
    /// regions; the memory holds at least [`memory_bytes`] for the larger page.
    pub fn new(
        device: D,
        blocks: &'l [Block],
        memory: &'l mut [u8],
    ) -> Result<Self, Stopped<D::Error>> {
        let geometry = *device.geometry();
        if blocks.len() < BLOCKS_MIN {
            return Err(Stopped::TooFewBlocks { needed: BLOCKS_MIN });
        }
        let (mut page_bytes, mut spare_bytes) = (0, 0);
        for (at, block) in blocks.iter().enumerate() {
            if blocks.iter().take(at).any(|earlier| earlier == block) {
                return Err(Stopped::LentTwice(*block));
            }
            let Some(shape) = geometry.region(block.region()) else {
                return Err(Stopped::NoSuchBlock(*block));
            };
            if !geometry.contains_block(*block) {
                return Err(Stopped::NoSuchBlock(*block));
            }
            page_bytes = page_bytes.max(shape.page_bytes.as_usize());
            spare_bytes = spare_bytes.max(shape.spare_bytes.as_usize());
        }
        let needed = memory_bytes(page_bytes, spare_bytes);
        let Some(memory) = memory.get_mut(..needed) else {
            return Err(Stopped::TooLittleMemory { needed });
        };
        let Some((data, spare)) = memory.split_at_mut_checked(page_bytes) else {
            return Err(Stopped::TooLittleMemory { needed });
        };
        let [slc, mlc] = [geometry.slc(), geometry.mlc()].map(Option::<&_>::copied);
        let (Some(slc), Some(mlc)) = (slc.or(mlc), mlc.or(slc)) else {
            return Err(Stopped::TooFewBlocks { needed: BLOCKS_MIN });
        };
        Ok(Self { device, blocks, geometry, slc, mlc, data, spare })
    }

    /// Checks every clause that shows while power holds and costs no block. Each lent block is erased a few times and
    /// left erased.
    pub fn examine(&mut self) -> Checked<D::Error> {
        for block in self.blocks {
            self.expect_bad(*block, false, Clause::UnmarkedIsNotBad)?;
        }
        self.erase_all()?;
        self.fill_all(FULL, self.blocks)?;
        self.expect_all(FULL, self.blocks, Clause::ProgramsChangeTheirPageAlone)?;
        self.read_parts()?;
        self.expect_all(FULL, self.blocks, Clause::ReadsChangeNothing)?;
        self.erase_one_by_one()?;
        self.read_again()?;
        self.leave_pages_out()?;
        self.extreme_content()?;
        self.erase_all()?;
        if *self.device.geometry() != self.geometry {
            return breach(Clause::GeometryStays, Location::Device, Observed::OtherGeometry);
        }
        Ok(())
    }

    /// Checks what a bad-block mark does. **The last of the lent blocks is marked bad for good.**
    ///
    /// A mark that the device says did not take is allowed, and then shows nothing.
    pub fn examine_marks(&mut self) -> Checked<D::Error> {
        let Some((victim, others)) = self.blocks.split_last() else { return Ok(()) };
        self.erase_all()?;
        self.fill_all(FULL, self.blocks)?;
        match self.device.mark_bad(*victim) {
            Ok(()) => self.expect_bad(*victim, true, Clause::MarkedIsBad)?,
            Err(MarkError::Failed) => {}
            Err(MarkError::Driver(error)) => {
                return Err(Stopped::Driver { place: Location::Block(*victim), error });
            }
        }
        for block in others {
            self.expect_bad(*block, false, Clause::MarksChangeTheirBlockAlone)?;
        }
        self.expect_all(FULL, others, Clause::MarksChangeTheirBlockAlone)?;
        for page in pages(*victim, self.shape(*victim)) {
            let shape = *self.shape(*victim);
            let data = first(self.data, shape.page_bytes.as_usize());
            let read = self.device.read(page, Bytes::ZERO, data, &mut []);
            if let Err(ReadError::Driver(_)) = read {
                return breach(
                    Clause::BadBlocksCanBeRead,
                    Location::Page(page),
                    Observed::DriverFailed,
                );
            }
        }
        Ok(())
    }

    /// Parts of pages, from everywhere to everywhere that a driver may treat in its own way.
    fn read_parts(&mut self) -> Checked<D::Error> {
        for block in self.blocks {
            let shape = *self.shape(*block);
            let (bytes, spare) = (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
            for page in pages(*block, &shape).take(2) {
                for (at, length) in [
                    (0, 1),
                    (1, 2),
                    (bytes - 1, 1),
                    (bytes / 2, bytes / 2),
                    (bytes / 4, bytes / 2),
                    (0, bytes),
                ] {
                    for spare in [0, spare] {
                        let seen = self.compare(page, FULL, at, length, spare);
                        Self::judge(seen, page, Clause::PartsReadAlike)?;
                    }
                }
                for spare in [1, spare / 2, spare].into_iter().filter(|count| *count <= spare) {
                    let seen = self.compare(page, FULL, 0, 0, spare);
                    Self::judge(seen, page, Clause::SpareReadsAlone)?;
                }
            }
        }
        Ok(())
    }

    /// Erases the blocks one after the other, and looks at all of them each time.
    fn erase_one_by_one(&mut self) -> Checked<D::Error> {
        let blocks = self.blocks;
        for (erased, block) in blocks.iter().enumerate() {
            self.erase(*block)?;
            let gone = blocks.get(..erased).unwrap_or_default();
            let left = blocks.get(erased + 1..).unwrap_or_default();
            self.expect_all(Fill::Ones, &[*block], Clause::ErasedReadsAsOnes)?;
            self.expect_all(Fill::Ones, gone, Clause::ErasesChangeTheirBlockAlone)?;
            self.expect_all(FULL, left, Clause::ErasesChangeTheirBlockAlone)?;
        }
        Ok(())
    }

    /// Reads a page, changes what it holds or what another one does, and reads it again: a driver that keeps the page
    /// that it read last, or leaves it in the chip's cache register, must know when that is stale.
    fn read_again(&mut self) -> Checked<D::Error> {
        let Some((block, other)) = self.blocks.first().zip(self.blocks.last()) else {
            return Ok(());
        };
        let [first, second] = [0, 1].map(|index| block.page(PageIndex::new(index)));
        self.expect(first, Fill::Ones, Clause::ErasedReadsAsOnes)?;
        self.program_and_read(first, FULL)?;
        if self.shape(*block).pages_per_block.get() > 1 {
            self.program(second, FULL).map_err(|error| failed(second, error))?;
            self.expect(first, FULL, Clause::ProgramsChangeTheirPageAlone)?;
        }
        self.erase(*other)?;
        self.expect(first, FULL, Clause::ErasesChangeTheirBlockAlone)?;
        self.erase(*block)?;
        self.expect(first, Fill::Ones, Clause::ErasedReadsAsOnes)
    }

    /// Programs every third page and the last one.
    fn leave_pages_out(&mut self) -> Checked<D::Error> {
        for block in self.blocks {
            let shape = *self.shape(*block);
            let last = shape.pages_per_block.get() - 1;
            let taken =
                |page: Page| page.index().get() % 3 == 1 || u32::from(page.index().get()) == last;
            for page in pages(*block, &shape).filter(|page| taken(*page)) {
                self.program_and_read(page, GAPPED)?;
            }
            for page in pages(*block, &shape) {
                let fill = if taken(page) { GAPPED } else { Fill::Ones };
                self.expect(page, fill, Clause::PagesMayBeLeftOut)?;
            }
        }
        Ok(())
    }

    /// Pages of zeros alone and of 0xFF alone: content that an error correction may take for something else.
    fn extreme_content(&mut self) -> Checked<D::Error> {
        let Some(block) = self.blocks.first().copied() else { return Ok(()) };
        let shape = *self.shape(block);
        self.erase(block)?;
        for (page, fill) in pages(block, &shape).zip([Fill::Zeros, Fill::Ones, Fill::Zeros]) {
            self.program_and_read(page, fill)?;
        }
        for (page, fill) in pages(block, &shape).zip([Fill::Zeros, Fill::Ones, Fill::Zeros]) {
            self.expect(page, fill, Clause::ProgramsChangeTheirPageAlone)?;
        }
        Ok(())
    }

    // What checks are made of.

    /// Erases every lent block, and sees that each reads as erased.
    pub(crate) fn erase_all(&mut self) -> Checked<D::Error> {
        let blocks = self.blocks;
        blocks.iter().try_for_each(|block| self.erase(*block))?;
        self.expect_all(Fill::Ones, blocks, Clause::ErasedReadsAsOnes)
    }

    /// Programs every page of the blocks, page by page across all of them, so that a driver which mixes blocks up
    /// is found out.
    pub(crate) fn fill_all(&mut self, fill: Fill, blocks: &[Block]) -> Checked<D::Error> {
        let most = blocks.iter().map(|block| self.shape(*block).pages_per_block.get()).max();
        for index in 0..most.unwrap_or(0) {
            for block in blocks {
                if index < self.shape(*block).pages_per_block.get() {
                    self.program_and_read(block.page(PageIndex::new(index as u16)), fill)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn expect_all(
        &mut self,
        fill: Fill,
        blocks: &[Block],
        clause: Clause,
    ) -> Checked<D::Error> {
        for block in blocks {
            let shape = *self.shape(*block);
            pages(*block, &shape).try_for_each(|page| self.expect(page, fill, clause))?;
        }
        Ok(())
    }

    pub(crate) fn expect(&mut self, page: Page, fill: Fill, clause: Clause) -> Checked<D::Error> {
        let seen = self.look(page, fill);
        Self::judge(seen, page, clause)
    }

    /// Whether the whole page, spare bytes and all, holds that.
    pub(crate) fn look(&mut self, page: Page, fill: Fill) -> ReadResult<D::Error> {
        let shape = self.shape(page.block());
        let (bytes, spare) = (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
        self.compare(page, fill, 0, bytes, spare)
    }

    fn judge(seen: ReadResult<D::Error>, page: Page, clause: Clause) -> Checked<D::Error> {
        match seen {
            ReadResult::AsExpected => Ok(()),
            ReadResult::Otherwise(found) => breach(clause, Location::Page(page), found),
            ReadResult::Failed(error) => {
                Err(Stopped::Driver { place: Location::Page(page), error })
            }
        }
    }

    fn program_and_read(&mut self, page: Page, fill: Fill) -> Checked<D::Error> {
        self.program(page, fill).map_err(|error| failed(page, error))?;
        let seen = self.look(page, fill);
        let clause = match seen {
            ReadResult::Otherwise(Observed::SpareByte { .. }) => Clause::SpareReadsBack,
            _ => Clause::DataReadBack,
        };
        Self::judge(seen, page, clause)
    }

    pub(crate) fn program(&mut self, page: Page, fill: Fill) -> Result<(), ProgramError<D::Error>> {
        let shape = *self.shape(page.block());
        let (bytes, spare) = (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
        let (data, spare) = (first(self.data, bytes), first(self.spare, spare));
        fill.fill(page, 0, data);
        fill.fill(page, bytes, spare);
        self.device.program(page, data, spare)
    }

    pub(crate) fn erase(&mut self, block: Block) -> Checked<D::Error> {
        match self.device.erase(block) {
            Ok(()) => Ok(()),
            Err(EraseError::Failed) => Err(Stopped::BlockFailed(block)),
            Err(EraseError::Driver(error)) => {
                Err(Stopped::Driver { place: Location::Block(block), error })
            }
        }
    }

    pub(crate) fn expect_bad(
        &mut self,
        block: Block,
        bad: bool,
        clause: Clause,
    ) -> Checked<D::Error> {
        match self.device.is_bad(block) {
            Ok(found) if found == bad => Ok(()),
            Ok(true) => breach(clause, Location::Block(block), Observed::Bad),
            Ok(false) => breach(clause, Location::Block(block), Observed::NotBad),
            Err(error) => Err(Stopped::Driver { place: Location::Block(block), error }),
        }
    }

    /// Reads a part of a page into memory that holds something else, and compares it byte by byte.
    fn compare(
        &mut self,
        page: Page,
        fill: Fill,
        at: usize,
        length: usize,
        spare: usize,
    ) -> ReadResult<D::Error> {
        let page_bytes = self.shape(page.block()).page_bytes.as_usize();
        let (data, spare) = (first(self.data, length), first(self.spare, spare));
        // A byte that the driver leaves alone must not look like what was promised.
        let fill_inverse = |buffer: &mut [u8], from| {
            fill.fill(page, from, buffer);
            for byte in buffer.iter_mut() {
                *byte = !*byte;
            }
        };
        fill_inverse(data, at);
        fill_inverse(spare, page_bytes);
        match self.device.read(page, Bytes::new(at as u32), data, spare) {
            Ok(_) => {}
            Err(ReadError::Uncorrectable) => return ReadResult::Otherwise(Observed::Uncorrectable),
            Err(ReadError::Driver(error)) => return ReadResult::Failed(error),
        }
        let wrong = fill.find(page, at, length, |offset, expected| {
            let (at, found) = ((at + offset) as u32, data.get(offset).copied()?);
            (found != expected).then_some(Observed::DataByte { at, expected, found })
        });
        let wrong = wrong.or_else(|| {
            fill.find(page, page_bytes, spare.len(), |offset, expected| {
                let (at, found) = (offset as u32, spare.get(offset).copied()?);
                (found != expected).then_some(Observed::SpareByte { at, expected, found })
            })
        });
        wrong.map_or(ReadResult::AsExpected, ReadResult::Otherwise)
    }

    /// The shape of a lent block, which lies within the geometry.
    pub(crate) const fn shape(&self, block: Block) -> &RegionGeometry {
        match block.region() {
            Region::Slc => &self.slc,
            Region::Mlc => &self.mlc,
        }
    }
}

/// The pages of a block, in rising order.
pub(crate) fn pages(
    block: Block,
    shape: &RegionGeometry,
) -> impl DoubleEndedIterator<Item = Page> + use<> {
    (0..shape.pages_per_block.get()).map(move |index| block.page(PageIndex::new(index as u16)))
}
