//! Where a write goes: hot or cold, and may it enter the log?

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::config::{FilterChoice, RunEnds};
use crate::hybrid::slc::Log;
use crate::hybrid::state::Ftl;
use crate::probe::{Event, Probe, Rejection};
use crate::quotient;

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// To the log's head, if its sectors find entries in the hash table.
    Log {
        /// How many of its pages that takes.
        pages: u32,
    },
    /// To the chains.
    Chains,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Decides where a write goes.
    #[inline]
    pub(crate) fn route(&mut self, first: Sector, count: SectorCount) -> Route {
        self.filter.note_write(count);
        self.throttle.note_request();
        let follow = self.config.run_ends == RunEnds::Follow;
        let route = if follow && self.runs.continues(first) {
            Route::Chains
        } else {
            self.route_by_size(first, count)
        };
        if follow && route == Route::Chains {
            self.runs.note(first, count);
        }
        route
    }

    #[inline(always)]
    fn route_by_size(&mut self, first: Sector, count: SectorCount) -> Route {
        let Some(log) = self.log.as_mut() else {
            return Route::Chains;
        };
        let hot = self.config.filter == FilterChoice::AcceptAll || self.filter.is_hot(count);
        // A request of half the log's size would evict its own first sectors.
        let pages = quotient::ceil(count.get(), log.area().slots.into());
        if !hot
            || !log.ring().turns()
            || pages * 2 > log.pages().saturating_sub(u32::from(log.data_pages()))
        {
            return Route::Chains;
        }
        let window = log.window();
        let unknown =
            |log: &Log<'_>| first.run(count).any(|sector| log.index.get(sector, window).is_none());
        if self.throttle.is_closed() || (self.throttle.is_active() && unknown(log)) {
            // Unknown sectors leave virtual entries, so that their next writes are accepted.
            for sector in first.run(count) {
                log.index.insert_virtual(sector, window);
            }
            self.flash.tell(Event::Rejected(Rejection::Throttle));
            return Route::Chains;
        }
        Route::Log { pages }
    }
}
