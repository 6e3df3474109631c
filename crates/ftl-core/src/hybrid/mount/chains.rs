//! The blocks of the chains, from the last page of each.
//!
//! The last page of a data block names its owner and the time of its completion. The other blocks (free ones, log
//! blocks, an interrupted fold) are set aside: `ftl::settle` examines them, and puts the chains in order.

use ftl_iface::NandDevice;

use super::error::MountError;
use crate::hybrid::address::ChainBlock;
use crate::hybrid::flash::{Seen, Spot};
use crate::hybrid::state::Ftl;
use crate::layout::Kind;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    pub(super) fn mount_chains(&mut self) -> Result<(), MountError<D::Error>> {
        let last = self.shape.chain.pages - 1;
        for number in 0..self.shape.chain.blocks {
            let block = ChainBlock::new(number);
            let spot = Spot::chain(block, last);
            if self.flash.is_bad(spot)? {
                continue;
            }
            let found = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(page) => self.mlc.owner(&page).map(|owner| (page.tag(), owner)),
                Seen::Erased | Seen::Unreadable => None,
            };
            match found {
                Some((tag, logical)) => {
                    self.meet(spot, &tag);
                    if !matches!(tag.kind, Kind::Data | Kind::ChainInPlace) {
                        // A log block that is full and in order. Its first page records its wear.
                        self.mlc.chains.give_stale(block);
                        continue;
                    }
                    self.wear.restore(block, tag.note);
                    self.mlc.chains.push_first(logical, block);
                    self.mlc.chains.set_has_data(logical, true);
                }
                None => self.mlc.chains.give_stale(block),
            }
        }
        Ok(())
    }
}
