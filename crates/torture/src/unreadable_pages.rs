//! Pages of host data that a fault has made unreadable, and what the FTL cannot know about them.

use std::ops::Range;

use ftl_core::probe::Cause;
use ftl_iface::{Block, NandDevice, Page, PageIndex};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Stamp, Truth as _};

use crate::on_flash::{RecordedBy, UnreadablePage};
use crate::truth::{Truth, Unreadables};

/// The chip, with its faults.
pub(crate) type Device = FaultInjector<Chip>;

/// All unreadable pages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnreadablePages {
    pages: Vec<UnreadablePage>,
    /// Sectors of map pages that were lost since the truth was told.
    ranges: Vec<Range<u32>>,
    /// Pages that failed to program. They may read well, and record nothing that an FTL may trust.
    failed: Vec<Page>,
    changes: u64,
}

impl UnreadablePages {
    pub(crate) const NONE: Self =
        Self { pages: Vec::new(), ranges: Vec::new(), failed: Vec::new(), changes: 0 };

    /// Notes that the map page of these sectors is lost.
    pub(crate) fn note_range(&mut self, sectors: Range<u32>) {
        self.ranges.push(sectors);
    }

    /// Takes the sectors whose map pages were lost since it was called last.
    pub(crate) fn take_ranges(&mut self) -> Vec<Range<u32>> {
        std::mem::take(&mut self.ranges)
    }

    /// Notes that a page is made unreadable.
    pub(crate) fn note(&mut self, lost: UnreadablePage) {
        self.changes += 1;
        self.pages.push(lost);
    }

    /// Notes that the FTL found a page unreadable, with that cause. If nothing was programmed to its block since,
    /// except what may have corrupted it, or if its block's last page is missing, nothing else may record its content.
    pub(crate) fn meet(&mut self, device: &Device, page: Page, cause: Cause) {
        let chip = device.inner();
        let met = self.pages.iter_mut().filter(|lost| lost.page == Some(page));
        for lost in met {
            let Some(shape) = chip.geometry().region(page.region()) else { continue };
            let end = shape.pages_per_block.get() as u16;
            let lines = shape.pairing.word_lines(shape.pages_per_block).get() as u16;
            let summary = page.block().page(shape.pairing.nth_first_page(lines.saturating_sub(1)));
            // A page in flight that reads as erased shows nobody that it was begun.
            let good = |at: &u16| device.is_intact(page.block().page(PageIndex::new(*at)));
            let last = (0..chip.next_page(page.block())).rev().find(good).unwrap_or(0);
            let is_endangered = |later: u16| {
                let later = PageIndex::new(later);
                let mut victims = shape.pairing.endangered(later, shape.pages_per_block);
                victims.any(|index| index == page.index())
            };
            let untold = match lost.told {
                RecordedBy::LastPage => !device.is_intact(summary),
                RecordedBy::NextPage => {
                    let later = page.index().get() + 1..=last;
                    let mut later = later.map(|at| page.block().page(PageIndex::new(at)));
                    let next = later.find(|later| device.inner().is_programmed(*later));
                    let records = |next| device.is_intact(next) && !self.failed.contains(&next);
                    !next.is_some_and(records) || (last..end).any(is_endangered)
                }
                RecordedBy::ItsPlace => false,
                RecordedBy::ItsEntry => cause == Cause::Mount,
            };
            self.changes += u64::from(untold && !lost.untold);
            lost.untold |= untold;
        }
    }

    /// Notes that a page fails to program.
    pub(crate) fn fail(&mut self, page: Page) {
        self.failed.push(page);
    }

    /// Drops the addresses of pages whose block is erased.
    pub(crate) fn erased(&mut self, block: Block) {
        self.failed.retain(|page| page.block() != block);
        for lost in &mut self.pages {
            lost.page = lost.page.filter(|page| page.block() != block);
        }
    }

    /// A number that grows with all that the truth is to be told.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Reports the possible consequences to the truth.
    pub(crate) fn tell(&self, truth: &mut Truth) {
        // Only an FTL that has several copies at a time, and no map of them on flash, may be in doubt which is newer.
        const MAPPED: RecordedBy = RecordedBy::ItsEntry;
        let contents = |wanted: fn(&&UnreadablePage) -> bool| -> Vec<Stamp> {
            let lost = self.pages.iter().filter(wanted);
            lost.flat_map(|page| page.contents.iter().copied()).collect()
        };
        let pages = || self.pages.iter();
        let untold = pages().filter(|page| page.untold);
        truth.mark_unreadable(Unreadables {
            contents: contents(|_| true),
            untold: contents(|page| page.untold),
            open: contents(|page| page.untold && page.told != MAPPED),
            dead: contents(|page| page.page.is_some() && page.told != MAPPED),
            places: pages().flat_map(|page| page.places.iter().copied()).collect(),
            marks: untold.flat_map(|page| page.marks.iter().copied()).collect(),
        });
    }
}
