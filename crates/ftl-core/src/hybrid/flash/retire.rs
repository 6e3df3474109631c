//! Taking a block out of use for good.

use ftl_iface::NandDevice;

use super::failed::{Entered, listed_max};
use super::header::Mended;
use super::{Flash, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::rules;
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
        let failed_page = self.failed.failed_page(spot);
        let entered = match self.mark(spot) {
            Ok(Marked::Done) => return Fault::BlockFailed,
            Ok(Marked::Failed) => self.list_unmarked(spot),
            Err(fault) => return fault,
        };
        match entered {
            Ok(Entered::Listed) => Fault::BlockFailed,
            Ok(Entered::NoRoom) => {
                self.failed.leave_unnoted();
                self.clear_unnoted(spot, failed_page)
            }
            Err(fault) => fault,
        }
    }

    fn mark(&mut self, spot: Spot) -> Result<Marked, Fault<D::Error>> {
        self.failed.forget_failing(spot);
        self.weak.forget_block(spot);
        self.failed.retired = self.failed.retired.saturating_add(1);
        self.door.mark_bad(self.block(spot))
    }

    /// Erases a block that is neither marked nor listed: a mount takes it for good, and should not find what failed.
    fn clear_unnoted(&mut self, spot: Spot, failed_page: Option<u16>) -> Fault<D::Error> {
        if rules::may_look_finished(failed_page, self.area(spot.purpose).pages) {
            return Fault::ReadOnly;
        }
        match self.door.erase(self.block(spot), Cause::Meta) {
            Ok(_) => Fault::ReadOnly,
            Err(fault) => fault,
        }
    }

    /// Lists a block that cannot be marked.
    fn list_unmarked(&mut self, spot: Spot) -> Result<Entered, Fault<D::Error>> {
        let listed = self.failed.list(spot, listed_max(&self.meta));
        if spot.is_header() {
            // A mount tries it again.
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
            match self.mend_header(&header)? {
                Mended::Done => {}
                Mended::Failed(header) => {
                    if self.mark(header)? == Marked::Failed {
                        let _ = self.failed.list(header, listed_max(&self.meta));
                    }
                    break;
                }
                Mended::Nothing => break,
            }
        }
        self.spoiled = true;
        self.find_listed()
    }
}
