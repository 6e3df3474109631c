//! The sectors of which the table has the dirty entries: all, unless a mount found more than the table takes.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::store::PageFtl;
use super::under_way::{Suspect, What};
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Whether dirty entries are not in the table yet.
    pub(crate) fn has_rest(&self) -> bool {
        self.part.end < self.shape.end()
    }

    /// Empties the table, for the entries of this part.
    pub(crate) fn empty_table(&mut self, from: Sector, end: Sector) {
        self.table.clear();
        self.map.note_all_clean();
        (self.part.from, self.part.end) = (from, end);
    }

    /// Makes space in a full table: the leaf with the highest entries is left to the rest, or the highest entry, if all
    /// are of one leaf.
    pub(crate) fn leave_to_rest(&mut self) {
        let lowest = self.table.entries().next().map(|dirty| dirty.sector);
        let highest = self.table.last().map(|dirty| dirty.sector);
        let (Some(lowest), Some(highest)) = (lowest, highest) else {
            self.part.end = self.part.from;
            return;
        };
        let (leaf, _) = self.shape.leaf_of(highest);
        let end = if self.shape.leaf_of(lowest).0 < leaf {
            self.map.note_clean(leaf);
            self.shape.sectors_of(leaf).0
        } else {
            highest
        };
        let count = highest.get() - end.get() + 1;
        self.table.remove_run(end, SectorCount::new(count));
        self.part.end = end;
    }

    /// Whether the table takes another entry in a mount: it leaves space for the page that is to be repeated.
    pub(crate) fn has_space(&self) -> bool {
        let to_come = match self.suspect {
            Some(Suspect { what: What::Sectors, spot, .. }) => {
                u32::from(self.shape.area_at(spot.block).slots)
            }
            _ => 0,
        };
        self.table.vacant() > to_come
    }
}
