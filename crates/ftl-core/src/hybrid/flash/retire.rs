//! Taking a block out of use for good.

use ftl_iface::NandDevice;

use super::failed::Entered;
use super::{Flash, Programmed, Purpose, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::probe::Probe;

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
                Fault::ReadOnly
            }
            Err(fault) => fault,
        }
    }

    /// Lists a block that cannot be marked.
    fn list_unmarked(&mut self, spot: Spot) -> Result<Entered, Fault<D::Error>> {
        let listed = self.failed.list(spot);
        if spot.purpose == Purpose::Meta && spot.short_block() < HEADER_BLOCKS {
            // A mount sees by itself that it is no header any more.
            return Ok(Entered::Listed);
        }
        if listed == Entered::NoRoom {
            return Ok(Entered::NoRoom);
        }
        // A device that is being formatted has no header yet; the list will be written with it.
        let mut known = false;
        let mut written = false;
        for block in self.headers_by_doubt()? {
            let header = self.header_in(HEADER_BLOCKS - 1 - block)?;
            known |= header.is_some();
            if let Some(header) = header {
                written |= self.rewrite_header(block, &header)? == Programmed::Done;
            }
        }
        self.spoiled = true;
        Ok(if written || !known { Entered::Listed } else { Entered::NoRoom })
    }
}
