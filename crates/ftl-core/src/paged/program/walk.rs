//! The walk over all tables that a mount needs, part by part in the space that anchors have left.

use ftl_iface::{NandDevice, Sector};

use crate::paged::plan::address::{BlockNumber, Leaf, Spot};
use crate::paged::rules;
use crate::paged::tables::dirty::Dirty;
use crate::paged::tables::records::{Record, Run, Site, Walk};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Open;
use crate::probe::Probe;

/// Whether a page is in an open block, and not told yet.
fn is_untold(opens: &[Option<Open>], spot: Spot) -> bool {
    opens.iter().flatten().any(|open| open.block == spot.block && open.told <= spot.page)
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Fills the remaining space with the next part of the walk: the address of each map page, then all dirty entries,
    /// then the state of each block.
    pub(super) fn walk_on(&mut self, site: Site) {
        let mut walk = self.anchors.walk;
        let rests = walk.begun.is_none() && self.anchors.base.is_some();
        if rests && site.number < self.anchors.rests_to {
            return;
        }
        let begun = walk.begun.unwrap_or(site);
        walk.begun = Some(begun);
        // What the walk passed over because it is not told yet has to be told before the walk is complete.
        let has_ended = walk.block == self.shape.blocks();
        let waits = self.anchors.leaves_untold();
        let completes = rules::completes_walk(has_ended, waits);
        let mut room = self.anchors.room();
        while room > 0 {
            if walk.leaf < self.shape.leaves {
                let leaf = Leaf::new(walk.leaf);
                if let Some(page) = self.map.number(leaf)
                    && rules::may_walk(waits && is_untold(&self.opens, self.shape.map_spot(page)))
                {
                    self.anchors.record(Record::Stands(leaf.get(), page));
                    room -= 1;
                }
                walk.leaf += 1;
            } else if walk.sector < self.shape.end() {
                walk.sector = self.walk_entries(walk.sector);
                room = self.anchors.room();
            } else if walk.block < self.shape.blocks() {
                self.record_block(BlockNumber::new(walk.block));
                room -= 1;
                walk.block += 1;
            } else if !completes {
                break;
            } else {
                // After a walk, the next anchors hold only changes: twice as many as the walk took, but at most an
                // eighth of what the ring holds. So few more do not make a mount long.
                let ring =
                    u32::from(self.shape.anchor_blocks()) * u32::from(self.shape.map_area().pages);
                let took = site.number - begun.number + 1;
                self.anchors.rests_to = site.number + (2 * took).min(ring / 8);
                self.anchors.base = Some(begun);
                walk = Walk::default();
                break;
            }
        }
        self.anchors.walk = walk;
    }

    /// Records dirty entries from a sector on, while there is space. Returns the first sector that was not reached.
    ///
    /// What is written meanwhile to sectors before that is recorded when it is written.
    fn walk_entries(&mut self, from: Sector) -> Sector {
        let Self { table, anchors, opens, shape, .. } = self;
        let waits = anchors.leaves_untold();
        let mut run: Option<Run> = None;
        for Dirty { sector, entry, .. } in table.entries_from(from) {
            if !rules::may_walk(waits && is_untold(opens, shape.spot(entry.place).0)) {
                continue;
            }
            if let Some(longer) = run.and_then(|run| run.with(sector, entry.place)) {
                run = Some(longer);
                continue;
            }
            if let Some(run) = run {
                anchors.record(run.record());
            }
            if anchors.room() == 0 {
                return sector;
            }
            run = Some(Run::of(sector, entry.place));
        }
        if let Some(run) = run {
            anchors.record(run.record());
        }
        shape.end()
    }
}
