//! Weak pages: how many corrected bits make a page weak, and which refresh covers which pages.

use ftl_iface::{Corrected, NandDevice};

use super::{Flash, Purpose, Seen, Spot};
use crate::config::Refresh;
use crate::error::Fault;
use crate::flash::Noted;
use crate::hybrid::shape::Area;
use crate::probe::{Cause, Probe};

/// Weak pages that must be refreshed.
#[derive(Debug)]
pub struct Weak {
    limits: Refresh,
    /// The pages that wait.
    pub noted: Noted<Spot>,
}

impl Weak {
    /// No weak page yet. Pages are weak from these limits on; without a log the meta area uses the limit of the chains.
    pub const fn new(limits: Refresh, log: Option<&Area>) -> Self {
        let first = match log {
            Some(_) => limits.log,
            None => limits.chain,
        };
        Self { limits: Refresh { log: first, ..limits }, noted: Noted::NONE }
    }

    /// Whether any page waits.
    #[inline]
    pub fn waits(&self) -> bool {
        self.noted.waits()
    }

    /// The page that has waited longest.
    pub fn next(&self) -> Option<Spot> {
        self.noted.next()
    }

    /// Notes that bits of a page had to be corrected.
    #[cold]
    #[inline(never)]
    pub(super) fn note_corrected(&mut self, spot: Spot, corrected: Corrected) {
        self.noted.most = self.noted.most.max(corrected);
        let limit =
            if spot.purpose == Purpose::Chain { self.limits.chain } else { self.limits.log };
        if limit != Corrected::NONE && corrected >= limit {
            self.note(spot);
        }
    }

    /// Notes a page. One page of a chain block represents the block, which is refreshed as a whole.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, spot: Spot) {
        self.noted.note(spot, |noted| match spot.purpose {
            Purpose::Log => *noted == spot,
            Purpose::Meta | Purpose::Chain => noted.start() == spot.start(),
        });
    }

    /// Forgets a page that was refreshed, or need not be.
    pub fn forget(&mut self, spot: Spot) {
        self.noted.forget(|noted| *noted == spot);
    }

    /// Forgets the pages of a block that was erased.
    #[cold]
    pub fn forget_block(&mut self, spot: Spot) {
        self.noted.forget(|noted| noted.start() == spot.start());
    }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Reads a whole page, to find out whether it is weak.
    pub fn examine(&mut self, spot: Spot) -> Result<Seen<'_>, Fault<D::Error>> {
        let slots = self.slots_of(spot);
        let read = self.fetch_unguarded(spot, 0, (0, slots), Cause::Scrub);
        self.seen(spot, read)
    }
}
