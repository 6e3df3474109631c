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
        self.geometry().contains_block(block) && self.is_bad(block) == Ok(false)
    }

    /// Whether the device has that page.
    pub fn has(&self, page: Page) -> bool {
        self.geometry().contains(page)
    }

    /// Whether a read of the page decides what later reads find: it wears down what a cut or a failure left, or
    /// disturbs bits that decay.
    #[inline]
    pub fn counts_reads(&self, page: Page) -> bool {
        self.faults.bit_errors.is_some() || self.faults.torn.counts_reads(page)
    }

    /// Makes every unstable page uncorrectable, as the contract lets it become at any time. For records without the
    /// reads: nobody knows then how many more of them it would have stood.
    pub fn wear_out(&mut self) {
        self.faults.torn.wear_out();
    }
}
