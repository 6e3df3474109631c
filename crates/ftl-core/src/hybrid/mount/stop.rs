//! A clean stop, which makes the next mount quick.

use ftl_iface::{NandDevice, StoreWriteError};

use super::checkpoint::Stopped;
use super::settle::Settled;
use crate::hybrid::state::Ftl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Writes a checkpoint, so that the next mount is quick: call it before power-off. It costs at most the rest of a
    /// fold, the erases of a checkpoint location and a program for each of its pages.
    ///
    /// Nothing depends on it: a mount without it scans, and finds the same. The FTL can still be used afterwards; then
    /// the checkpoint is void, and the next stop writes another. The result says whether a checkpoint was written: a
    /// host that must start quickly can report that the next start will be slow.
    pub fn stop(&mut self) -> Result<Stopped, StoreWriteError<D::Error>> {
        self.flash.alive()?;
        let outcome = match self.ensure_settled()? {
            Settled::Fully => self.write_checkpoint(),
            Settled::ButForCopies => Ok(Stopped::NoCheckpoint),
        };
        self.mlc.maps.end_request();
        Ok(outcome?)
    }
}
