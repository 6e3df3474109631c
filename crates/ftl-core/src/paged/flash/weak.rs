//! Weak blocks, which are emptied as a whole, and weak headers.

use ftl_iface::Corrected;

use crate::flash::Noted;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::config::RefreshLimits;
use crate::paged::plan::shape::Area;

/// The unit of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weak {
    /// Both headers.
    Headers,
    /// The valid data of a block.
    Block(BlockNumber),
}

/// The queue of refreshes.
#[derive(Debug)]
pub struct WeakOnes {
    limits: RefreshLimits,
    /// The waiting ones.
    pub noted: Noted<Weak>,
}

impl WeakOnes {
    /// Creates an empty queue. Pages are weak from these limits on.
    pub const fn new(limits: RefreshLimits) -> Self {
        Self { limits, noted: Noted::NONE }
    }

    /// Notes corrected bits, and adds a refresh if they reach the limit.
    #[cold]
    #[inline(never)]
    pub fn note_corrected(&mut self, weak: Weak, area: Area, corrected: Corrected) {
        self.noted.most = self.noted.most.max(corrected);
        let limit = match area {
            Area::Fast => self.limits.fast,
            Area::Main => self.limits.main,
        };
        if limit != Corrected::NONE && corrected >= limit {
            self.note(weak);
        }
    }

    /// Adds a refresh.
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, weak: Weak) {
        self.noted.note(weak, |noted| *noted == weak);
    }

    /// Removes a refresh that is done or not needed.
    #[inline]
    pub fn forget(&mut self, weak: Weak) {
        if self.noted.waits() {
            self.noted.forget(|noted| *noted == weak);
        }
    }
}
