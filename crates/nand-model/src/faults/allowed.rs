//! What may be done to a place, and which reads change something: for those who record operations and repeat them, on a
//! chip from a file that nobody vouches for.

use ftl_iface::{Block, NandDevice, Page};

use super::FaultInjector;
use crate::Chip;

impl FaultInjector<Chip> {
    /// Whether the chip takes a program of the page. One that breaks its rules would be a panic.
    pub fn takes_program(&mut self, page: Page) -> bool {
        let block = page.block();
        self.takes_erase(block)
            && !self.faults.torn.is_unerased(block)
            && self.has(page)
            && page.index().get() >= self.inner.next_page(block)
    }

    /// Whether the chip takes an erase of the block.
    pub fn takes_erase(&mut self, block: Block) -> bool {
        let shape = self.geometry().region(block.region());
        let exists = shape.is_some_and(|shape| block.index() < shape.blocks.get());
        exists && self.is_bad(block) == Ok(false)
    }

    /// Whether the device has that page.
    pub fn has(&self, page: Page) -> bool {
        self.geometry().region(page.region()).is_some_and(|shape| {
            page.block().index() < shape.blocks.get()
                && u32::from(page.index().get()) < shape.pages_per_block.get()
        })
    }

    /// Whether a read of the page decides what later reads find: it wears down what a cut or a failure left, or
    /// disturbs bits that decay.
    #[inline]
    pub fn counts_reads(&self, page: Page) -> bool {
        self.faults.bit_errors.is_some() || self.faults.torn.counts_reads(page)
    }

    /// Makes pages that read well so often uncorrectable: the contract lets them be that at any time. For records that
    /// lack the reads, after which it is not known how many are left.
    pub fn wear_out(&mut self) {
        self.faults.torn.wear_out();
    }
}
