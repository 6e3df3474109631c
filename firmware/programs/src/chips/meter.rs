//! What passes to a chip: operations, and the instructions that the chip itself takes for them.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, NandDevice, Page, ProgramError, ReadError, forward_nand,
};

use crate::board::{Moment, Span};

/// What a chip was asked, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Pages read, tags alone included.
    pub reads: u32,
    /// Pages programmed.
    pub programs: u32,
    /// Blocks erased.
    pub erases: u32,
    /// The time spent in the chip. A caller takes it off what it has counted.
    pub spent: Span,
}

impl Asked {
    /// What was asked since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            reads: self.reads - earlier.reads,
            programs: self.programs - earlier.programs,
            erases: self.erases - earlier.erases,
            spent: self.spent.without(earlier.spent),
        }
    }
}

/// A chip over a chip, which counts.
#[derive(Debug)]
pub struct Meter<D> {
    inner: D,
    asked: Asked,
}

impl<D> Meter<D> {
    /// Counts what passes to that chip, from zero on.
    pub fn new(inner: D) -> Self {
        Self { inner, asked: Asked::default() }
    }

    /// The chip below.
    pub fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    /// What was asked so far.
    pub fn asked(&self) -> Asked {
        self.asked
    }
}

// A driver lies behind a call, too. What the call and the looks at the clock take, some ten instructions an operation,
// counts as the FTL's.
impl<D: NandDevice> NandDevice for Meter<D> {
    type Error = D::Error;

    forward_nand!(self => self.inner; geometry is_bad mark_bad);

    #[inline(never)]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        let start = Moment::now();
        let outcome = self.inner.read(page, at, data, spare);
        self.asked.reads += 1;
        self.asked.spent.add(start, Moment::now());
        outcome
    }

    #[inline(never)]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        let start = Moment::now();
        let outcome = self.inner.program(page, data, spare);
        self.asked.programs += 1;
        self.asked.spent.add(start, Moment::now());
        outcome
    }

    #[inline(never)]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Self::Error>> {
        let start = Moment::now();
        let outcome = self.inner.erase(block);
        self.asked.erases += 1;
        self.asked.spent.add(start, Moment::now());
        outcome
    }
}
