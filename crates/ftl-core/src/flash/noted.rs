//! Weak pages: those that needed many corrections when they were read, noted so that they are refreshed in time.
//!
//! The list is in RAM only, and short. A forgotten page is found again, by a request or by a scrub.

use ftl_iface::Corrected;
use heapless::Vec;

/// The length of the list.
const NOTED_MAX: usize = 8;

/// Weak places: pages, or blocks, as an FTL refreshes them.
#[derive(Debug)]
pub struct Noted<S> {
    /// The one that has waited longest comes first.
    waiting: Vec<S, NOTED_MAX, u8>,
    /// The most bits that the device had to correct in a read since the mount.
    pub most: Corrected,
    /// How often something was refreshed since the mount.
    pub refreshed: u32,
}

impl<S: Copy + PartialEq> Noted<S> {
    /// None is known.
    pub const NONE: Self = Self { waiting: Vec::new(), most: Corrected::NONE, refreshed: 0 };

    /// Whether the list is not empty.
    #[inline]
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The place that has waited longest.
    pub fn next(&self) -> Option<S> {
        self.waiting.first().copied()
    }

    /// Notes a place, unless one in the list covers it.
    pub fn note(&mut self, place: S, stands_for_it: impl Fn(&S) -> bool) {
        if !self.waiting.iter().any(stands_for_it) {
            // Where there is no room, a later read finds the place again.
            let _ = self.waiting.push(place);
        }
    }

    /// Forgets places that were refreshed, or need not be.
    pub fn forget(&mut self, which: impl Fn(&S) -> bool) {
        self.waiting.retain(|noted| !which(noted));
    }

    /// Counts a refresh.
    pub const fn count_refreshed(&mut self) {
        self.refreshed = self.refreshed.saturating_add(1);
    }
}
