//! What wrappers and tests need beyond [`NandDevice`]: cheap copies of a chip, and its true content.

use ftl_iface::{Block, Mode, NandDevice, Page};

/// A device that can be copied at the cost of what the copies write later.
pub trait Fork {
    /// A device in the same state. Both continue by themselves; content is shared until one of them writes to it.
    #[must_use]
    fn fork(&mut self) -> Self;
}

/// A device that knows what its cells were told, whatever faults above it show: what
/// [`FaultInjector`](crate::faults::FaultInjector) builds on.
pub trait Truth: NandDevice {
    /// How often the block was erased.
    fn erase_count(&self, block: Block) -> u32;

    /// Whether the page was programmed after its block's last erase.
    fn is_programmed(&self, page: Page) -> bool;

    /// The mode into which the block was erased last.
    fn mode(&self, block: Block) -> Mode;

    /// Goes through an erase that fails: it takes time and wears the block, and the content stays. A breach where an
    /// erase is one.
    fn attempt_erase(&mut self, block: Block);
}

impl<T: Truth + ?Sized> Truth for &mut T {
    fn erase_count(&self, block: Block) -> u32 {
        (**self).erase_count(block)
    }

    fn is_programmed(&self, page: Page) -> bool {
        (**self).is_programmed(page)
    }

    fn mode(&self, block: Block) -> Mode {
        (**self).mode(block)
    }

    fn attempt_erase(&mut self, block: Block) {
        (**self).attempt_erase(block);
    }
}
