//! What a power cut or a failure left in the cells instead of what was meant to be there.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use ftl_iface::{Block, Bytes, Page, PageCount, PageIndex};

use super::dice::{Subject, dice};
use crate::power::PageFate;
use crate::stamp::ERASED;

/// What is left of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Remains {
    /// It reads as if it had never been programmed, though it was.
    Erased,
    /// The error correction gives up.
    Uncorrectable,
    /// It reads as bytes that were never written, and the error correction does not notice: the worst that a contract
    /// without promises allows.
    Garbage,
    /// It reads well so often, and is uncorrectable from then on.
    Unstable {
        /// Reads that still go well.
        reads: u32,
    },
    /// It reads well until power is lost, and is uncorrectable from then on.
    Fading,
}

/// Reads that a fading page goes through well, as a seed draws them: those of a mount or two, of a proof, of a host.
const READS: [u32; 8] = [1, 1, 2, 3, 4, 6, 10, 20];

impl Remains {
    /// What a program leaves that was under way when power failed; nothing worth noting where it completed.
    pub(super) const fn of_a_torn_program(fate: PageFate) -> Option<Self> {
        match fate {
            PageFate::Complete => None,
            // A page in flight was never programmed before: as it was is erased.
            PageFate::Untouched | PageFate::ReadsErased => Some(Self::Erased),
            PageFate::Uncorrectable => Some(Self::Uncorrectable),
            PageFate::Unstable { reads } => Some(Self::Unstable { reads }),
            PageFate::Fading => Some(Self::Fading),
        }
    }

    /// What a failed program leaves: anything, its content included, for good or for a while.
    pub(super) fn of_a_failed_program(seed: u64, page: Page, cycles: u32) -> Option<Self> {
        let detail = u64::from(page.index().get());
        let mut dice = dice(seed, Subject::FailedProgram, page.block(), cycles, detail);
        match dice.u32(0..6) {
            4 | 5 => Some(Self::for_a_while(&mut dice)),
            throw => Self::anything(throw),
        }
    }

    /// Its content, for a while: that many reads, or until power is lost.
    fn for_a_while(dice: &mut Rng) -> Self {
        match READS.get(dice.usize(0..READS.len() + 3)) {
            Some(reads) => Self::Unstable { reads: *reads },
            None => Self::Fading,
        }
    }

    /// As before, or one of three.
    const fn anything(throw: u32) -> Option<Self> {
        match throw {
            0 => None,
            1 => Some(Self::Erased),
            2 => Some(Self::Garbage),
            _ => Some(Self::Uncorrectable),
        }
    }

    /// Puts into the caller's buffers what is read instead of the truth.
    pub(super) fn show(self, seed: u64, page: Page, at: Bytes, data: &mut [u8], spare: &mut [u8]) {
        match self {
            Self::Unstable { .. } | Self::Fading => {}
            Self::Erased => {
                data.fill(ERASED);
                spare.fill(ERASED);
            }
            Self::Garbage | Self::Uncorrectable => {
                let detail = u64::from(page.index().get());
                let garbage = |part| dice(seed, Subject::Garbage, page.block(), part, detail);
                garbage(at.get()).fill(data);
                // No read starts there, so that data and spare bytes differ.
                garbage(u32::MAX).fill(spare);
            }
        }
    }
}

/// Whether a failed erase leaves pages that read well for a while, and not only such as read as anything.
pub(super) fn fades(seed: u64, block: Block, cycles: u32) -> bool {
    dice(seed, Subject::FailedErase, block, cycles, 0).bool()
}

/// The overlay: pages that read as something else, and blocks that must be erased again.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Torn {
    pages: BTreeMap<Page, Remains>,
    unerased: BTreeSet<Block>,
}

impl Torn {
    /// What is left of the page, if it is not the truth. Counts the reads of an unstable one.
    #[inline]
    pub(super) fn read(&mut self, page: Page) -> Option<Remains> {
        if self.pages.is_empty() {
            return None;
        }
        let remains = self.pages.get_mut(&page)?;
        match remains {
            Remains::Unstable { reads: 0 } => *remains = Remains::Uncorrectable,
            Remains::Unstable { reads } => *reads -= 1,
            _ => {}
        }
        Some(*remains)
    }

    /// Whether a read of the page wears it down.
    #[inline]
    pub(super) fn counts_reads(&self, page: Page) -> bool {
        !self.pages.is_empty() && matches!(self.pages.get(&page), Some(Remains::Unstable { .. }))
    }

    /// Unstable pages are uncorrectable from now on.
    pub(super) fn wear_out(&mut self) {
        for remains in self.pages.values_mut() {
            if matches!(remains, Remains::Unstable { .. }) {
                *remains = Remains::Uncorrectable;
            }
        }
    }

    /// Whether something is left of the page that is not the truth.
    #[inline]
    pub(super) fn touches(&self, page: Page) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&page)
    }

    /// Whether the block's last erase did not complete.
    #[inline]
    pub(super) fn is_unerased(&self, block: Block) -> bool {
        !self.unerased.is_empty() && self.unerased.contains(&block)
    }

    pub(super) fn leave(&mut self, page: Page, remains: Option<Remains>) {
        if let Some(remains) = remains {
            self.pages.insert(page, remains);
        }
    }

    pub(super) fn lift(&mut self, page: Page) {
        self.pages.remove(&page);
    }

    /// A completed erase: nothing is left of what was there before.
    pub(super) fn erased(&mut self, block: Block) {
        self.unerased.remove(&block);
        if !self.pages.is_empty() {
            let last = block.page(PageIndex::new(u16::MAX));
            while let Some((page, _)) =
                self.pages.range(block.page(PageIndex::new(0))..=last).next()
            {
                let page = *page;
                self.pages.remove(&page);
            }
        }
    }

    /// Nothing may be programmed to the block until an erase completes.
    pub(super) fn erase_again(&mut self, block: Block) {
        self.unerased.insert(block);
    }

    /// An erase that stopped halfway: each page as it was, or anything.
    pub(super) fn half_erased(&mut self, seed: u64, block: Block, cycles: u32, pages: PageCount) {
        let mut dice = self.half_erase(seed, block, cycles);
        for index in 0..pages.get() as u16 {
            self.leave(block.page(PageIndex::new(index)), Remains::anything(dice.u32(0..4)));
        }
    }

    /// An erase that stopped halfway, and left some pages as they were for a while.
    pub(super) fn faded(&mut self, seed: u64, block: Block, cycles: u32, pages: PageCount) {
        let mut dice = self.half_erase(seed, block, cycles);
        for page in (0..pages.get() as u16).map(|index| block.page(PageIndex::new(index))) {
            let remains = match dice.u32(0..8) {
                0..3 => None,
                3 => Some(Remains::Erased),
                4 => Some(Remains::Uncorrectable),
                // What was anything before does not read well again.
                _ if self.pages.contains_key(&page) => None,
                _ => Some(Remains::for_a_while(&mut dice)),
            };
            self.leave(page, remains);
        }
    }

    /// The dice of an erase that stopped halfway. Two of them in a row are two throws.
    fn half_erase(&mut self, seed: u64, block: Block, cycles: u32) -> Rng {
        self.erase_again(block);
        dice(seed, Subject::HalfErased, block, cycles, self.pages.len() as u64)
    }

    /// Power is lost: what was fading is gone.
    pub(super) fn power_off(&mut self) {
        for remains in self.pages.values_mut().filter(|remains| **remains == Remains::Fading) {
            *remains = Remains::Uncorrectable;
        }
    }
}
