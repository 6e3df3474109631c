//! A clean stop: the tables in RAM are written to flash.

use ftl_iface::{NandDevice, StoreWriteError};

use crate::error::Fault;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

/// What a mount has to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMount {
    /// The last anchors, and what was programmed since.
    Quick,
    /// Every block: there are no anchors, or not enough of them yet.
    EveryBlock,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Flushes all dirty entries and ends the walk, so that the next mount has little to read; whether that worked out,
    /// [`next_mount`](Self::next_mount) tells. The device stays usable.
    ///
    /// A device that is read-only, or becomes so, says [`StoreWriteError::ReadOnly`]: it needs no stop.
    pub fn stop(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.flash.alive()?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let stopped =
            self.flush_all().and_then(|()| self.prove_rewrite()).and_then(|()| self.end_walk());
        Ok(self.noted(stopped)?)
    }

    /// Returns what the next mount will have to read, if power fails now or the device was stopped.
    pub const fn next_mount(&self) -> NextMount {
        let by_anchor = self.settled && !self.read_only && self.anchors.base.is_some();
        if by_anchor && !self.anchors.due { NextMount::Quick } else { NextMount::EveryBlock }
    }

    /// Writes all dirty entries back.
    fn flush_all(&mut self) -> Result<(), Fault<D::Error>> {
        let mut last = None;
        for leaf in self.map.leaves() {
            if self.map.dirty(leaf) > 0 {
                self.make_room()?;
                self.write_leaf(leaf)?;
                last = Some(leaf);
            }
        }
        while !self.table.is_empty() {
            self.make_room()?;
            self.flush_fullest()?;
        }
        if self.epoch.horizon == self.flash.stamp() || last.is_none() {
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
