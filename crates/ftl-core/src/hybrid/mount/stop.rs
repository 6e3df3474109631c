//! A clean stop: what lets the next mount be quick.

use ftl_iface::{NandDevice, StoreWriteError};

use super::checkpoint::Stopped;
use crate::hybrid::mechanisms::Mechanisms;
use crate::hybrid::state::Ftl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe, M: Mechanisms> Ftl<'_, D, P, M> {
    /// Writes down what the next mount needs to be quick: call it before the power is switched off. It costs at most
    /// the rest of a fold, the erases of a place of checkpoints and as many programs as the place has pages.
    ///
    /// Nothing depends on it: a mount without it scans, and finds the same. The FTL can be used on; then the
    /// checkpoint is void, and the next stop writes another. What it returns says whether one stands: a host that must
    /// start quickly can tell its user that the next start is a slow one, and why.
    pub fn stop(&mut self) -> Result<Stopped, StoreWriteError<D::Error>> {
        self.flash.alive()?;
        self.ensure_settled()?;
        let outcome = self.write_checkpoint();
        self.mlc.maps.end_request();
        Ok(outcome?)
    }
}
