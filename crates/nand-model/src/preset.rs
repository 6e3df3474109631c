//! Preset blocks: blocks that start programmed, whose content is computed by a formula and not stored.
//!
//! A simulation often begins with a device that is already full. Programming millions of pages first would
//! take longer than many a run, and more memory than everything the run changes. A preset block stores
//! nothing until it is erased and programmed again; a read of it evaluates the formula.

use std::fmt::Debug;

use ftl_iface::{Block, Page, Region};

use crate::stamp::Stamp;

/// What the pages of preset blocks hold.
pub trait Preset: Debug + Send + Sync {
    /// Writes the spare bytes of a page that a chip in stamp mode keeps: every byte of the slice.
    fn spare(&self, page: Page, spare: &mut [u8]);

    /// The stamp of a sector of a page, counted from zero within it: at most [`Stamp::MAX`].
    fn stamp(&self, page: Page, sector: u32) -> Stamp;

    /// Both at once: the spare bytes that are kept, and whole sectors from that one on, of which only the stamps are
    /// written. It need not be rewritten: it makes one call of many.
    #[inline]
    fn page(
        &self,
        page: Page,
        spare: &mut [u8],
        first: u32,
        sector_bytes: usize,
        mut data: &mut [u8],
    ) {
        self.spare(page, spare);
        let mut number = first;
        while let Some((sector, rest)) = data.split_at_mut_checked(sector_bytes) {
            self.stamp(page, number).write_to(sector);
            (data, number) = (rest, number + 1);
        }
    }
}

/// Why blocks cannot be preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// Formulas give stamps, and the chip keeps bytes.
    #[error("a formula tells stamps, and this chip keeps every byte: make it in stamp mode")]
    Bytes,
    /// The device has no such block.
    #[error("the {0} region ends before the last block to preset: name blocks that it has")]
    OutOfRange(Region),
    /// The block is programmed or marked bad.
    #[error("{0} is programmed or bad: preset erased blocks")]
    InUse(Block),
    /// Another formula gives this region's blocks.
    #[error("the {0} region has a formula: preset all of its blocks with one")]
    Another(Region),
}
