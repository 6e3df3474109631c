//! Weak blocks, which are emptied as a whole, and weak headers.

use ftl_iface::Corrected;

use super::address::BlockNumber;
use super::config::RefreshLimits;
use super::shape::Area;
use crate::weak::Noted;

/// What is rewritten at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weak {
    /// Both headers.
    Headers,
    /// What is in use of a block.
    Block(BlockNumber),
}

/// What waits to be rewritten.
#[derive(Debug)]
pub struct WeakOnes {
    limits: RefreshLimits,
    /// Those that wait.
    pub noted: Noted<Weak>,
}

impl WeakOnes {
    /// None is known. Pages are weak from these limits on.
    pub const fn new(limits: RefreshLimits) -> Self {
        Self { limits, noted: Noted::NONE }
    }

    /// Notes that bits had to be corrected.
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

    /// Notes what is to be rewritten.
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, weak: Weak) {
        self.noted.note(weak, |noted| *noted == weak);
    }

    /// Forgets what was rewritten, or need not be.
    #[inline]
    pub fn forget(&mut self, weak: Weak) {
        if self.noted.waits() {
            self.noted.forget(|noted| *noted == weak);
        }
    }
}
