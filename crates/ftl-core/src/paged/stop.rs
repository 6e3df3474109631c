//! A clean stop: the tables in RAM are written to flash.

use ftl_iface::{NandDevice, StoreWriteError};

use super::store::PageFtl;
use crate::error::Fault;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Flushes all dirty entries and ends the walk, so that the next mount has little to read. The device stays usable.
    pub fn stop(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.door.alive()?;
        self.settle_if_possible()?;
        if self.read_only {
            return Ok(());
        }
        let flushed = self.flush_all().and_then(|()| self.end_walk());
        match self.noted(flushed) {
            Err(Fault::ReadOnly) => Ok(()),
            flushed => Ok(flushed?),
        }
    }

    /// Writes all dirty entries back.
    fn flush_all(&mut self) -> Result<(), Fault<D::Error>> {
        let mut last = None;
        for cell in 0..self.table.cells() {
            if let Some((sector, _)) = self.table.entry_at(cell) {
                self.make_room()?;
                let (leaf, _) = self.shape.leaf_of(sector);
                self.write_leaf(leaf)?;
                last = Some(leaf);
            }
        }
        while !self.table.is_empty() {
            self.make_room()?;
            self.flush_fullest()?;
        }
        if self.epoch.horizon == self.door.stamp() || last.is_none() {
            return Ok(());
        }
        self.begin_epoch();
        self.begin_epoch();
        // One more map page stores the new horizon.
        self.make_room()?;
        match last {
            Some(leaf) => self.write_leaf(leaf),
            None => Ok(()),
        }
    }
}
