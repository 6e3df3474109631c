//! The invariants of the hash table, one function each.

use core::fmt;

use ftl_iface::Sector;

use super::{EMPTY, Index};

/// A violated invariant: the FTL has a defect, or its memory was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexFault {
    /// An entry is in a cell outside its sector's window, or its sector is beyond the store.
    OutsideWindow {
        /// The cell.
        cell: usize,
    },
    /// A sector has two entries.
    Twice(Sector),
    /// A real entry names a slot that the log does not have.
    NoSuchSlot(Sector),
    /// A count is not the number of entries there are.
    Miscounted {
        /// Real entries in the table.
        reals: u32,
        /// Virtual entries in the table.
        virtuals: u32,
    },
}

impl fmt::Display for IndexFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideWindow { cell } => {
                write!(f, "the entry in cell {cell} of the index is outside its window")
            }
            Self::Twice(sector) => write!(f, "{sector} has two entries in the index"),
            Self::NoSuchSlot(sector) => {
                write!(f, "the index names a slot for {sector} that the log does not have")
            }
            Self::Miscounted { reals, virtuals } => write!(
                f,
                "the index holds {reals} real and {virtuals} virtual entries, but its counters differ"
            ),
        }
    }
}

impl core::error::Error for IndexFault {}

impl Index<'_> {
    /// Checks every invariant of the index. Its time grows with the number of entries and of probes.
    pub fn check(&self) -> Result<(), IndexFault> {
        self.entries_stand_in_their_windows()?;
        self.no_sector_stands_twice()?;
        self.slots_lie_in_the_log()?;
        self.counts_are_those_of_the_table()
    }

    fn entries_stand_in_their_windows(&self) -> Result<(), IndexFault> {
        for (cell, word) in self.occupied() {
            let home = self.home_at(cell, word);
            let displacement = word & self.displacement_mask;
            let reaches = home.cell < self.shape.prime().get()
                && displacement < u32::from(self.shape.probes())
                && self.shape.reach(home.cell, displacement) as usize == cell;
            let stored = home.key >> (self.shape.displacement_bits() + 1);
            if !reaches || stored == 0 || self.sector_of(cell, word) >= self.shape.sectors().get() {
                return Err(IndexFault::OutsideWindow { cell });
            }
        }
        Ok(())
    }

    fn no_sector_stands_twice(&self) -> Result<(), IndexFault> {
        for (cell, word) in self.occupied() {
            let home = self.home_at(cell, word);
            let matches = self.shape.window(home.cell).filter(|(displacement, cell)| {
                self.word(*cell) & self.any_mask() == home.key | displacement
            });
            if matches.count() > 1 {
                return Err(IndexFault::Twice(Sector::new(self.sector_of(cell, word))));
            }
        }
        Ok(())
    }

    fn slots_lie_in_the_log(&self) -> Result<(), IndexFault> {
        for (cell, word) in self.occupied() {
            if !self.is_virtual(word) && self.place_at(cell, word) >= self.shape.slots() {
                return Err(IndexFault::NoSuchSlot(Sector::new(self.sector_of(cell, word))));
            }
        }
        Ok(())
    }

    fn counts_are_those_of_the_table(&self) -> Result<(), IndexFault> {
        let virtuals = self.occupied().filter(|(_, word)| self.is_virtual(*word)).count() as u32;
        let reals = self.occupied().count() as u32 - virtuals;
        if (reals, virtuals) == (self.reals, self.virtuals) {
            Ok(())
        } else {
            Err(IndexFault::Miscounted { reals, virtuals })
        }
    }

    fn occupied(&self) -> impl Iterator<Item = (usize, u32)> {
        self.low.iter().copied().enumerate().filter(|(_, word)| *word != EMPTY)
    }
}
