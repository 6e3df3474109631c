//! Taking a block out of use for good.

use ftl_iface::NandDevice;

use super::failed::{Entered, listed_max};
use super::headers::Mended;
use super::{Flash, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Takes a block out of use for good: by a mark, or by listing it. Returns the fault to pass on.
    #[cold]
    #[inline(never)]
    pub(super) fn retire(&mut self, spot: Spot) -> Fault<D::Error> {
        if let Err(fault) = self.alive() {
            return fault;
        }
        self.failed.forget_failing(spot);
        self.weak.forget_block(spot);
        self.failed.retired = self.failed.retired.saturating_add(1);
        match self.door.mark_bad(self.block(spot)) {
            Ok(Marked::Done) => return Fault::BlockFailed,
            Ok(Marked::Failed) => {}
            Err(fault) => return fault,
        }
        match self.list_unmarked(spot) {
            Ok(Entered::Listed) => Fault::BlockFailed,
            Ok(Entered::NoRoom) => {
                self.failed.leave_unnoted();
                // A mount takes it for good, and must not find there what failed.
                match self.door.erase(self.block(spot), Cause::Meta) {
                    Ok(_) => Fault::ReadOnly,
                    Err(fault) => fault,
                }
            }
            Err(fault) => fault,
        }
    }

    /// Lists a block that cannot be marked.
    fn list_unmarked(&mut self, spot: Spot) -> Result<Entered, Fault<D::Error>> {
        let listed = self.failed.list(spot, listed_max(&self.meta));
        if spot.is_header() {
            // A mount sees by itself that it is no header any more.
            return Ok(Entered::Listed);
        }
        if listed == Entered::NoRoom {
            return Ok(Entered::NoRoom);
        }
        let header = match self.header_in(0)? {
            None => self.header_in(1)?,
            found => found,
        };
        // A device that is being formatted has no header yet; the list will be written with it.
        let Some(header) = header else { return Ok(Entered::Listed) };
        for _ in 0..HEADER_BLOCKS {
            let Mended::Done = self.mend_header(&header)? else { break };
        }
        self.spoiled = true;
        self.find_listed()
    }
}
