//! The two headers. Each is repaired or refreshed while the other one stays.

use ftl_iface::NandDevice;

use super::{Flash, Programmed, Seals, Spot};
use crate::error::Fault;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::Header;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites a header that is missing, because the other may be torn, too, or one whose list is too short.
    pub fn mend_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        for block in 0..HEADER_BLOCKS {
            let spot = Spot::meta(block, 0);
            if self.is_bad(spot)? {
                continue;
            }
            if self.header_at(spot)? == Some(*header) {
                let other = Spot::meta(HEADER_BLOCKS - 1 - block, 0);
                let list = self.read_list(block)?;
                if list.ended && list.count >= self.failed.unmarked_count()
                    || self.is_bad(other)?
                    || self.header_at(other)? != Some(*header)
                {
                    continue;
                }
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(spot)?;
            }
        }
        Ok(())
    }

    /// Rewrites the headers, because one of them is weak: first the one in doubt, and each only while the other is
    /// intact. If that is missing it is repaired first, and this one when it is read again.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals()?;
        }
        for block in self.headers_by_doubt()? {
            let other = HEADER_BLOCKS - 1 - block;
            if self.is_bad(Spot::meta(block, 0))? || self.is_bad(Spot::meta(other, 0))? {
                break;
            }
            let stands = self.header_at(Spot::meta(other, 0))? == Some(*header);
            if !stands || self.read_list(other)?.count < self.failed.unmarked_count() {
                self.mend_headers(header)?;
                break;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(Spot::meta(block, 0))?;
            }
        }
        // Rewriting one reads the other and may note it as weak again, endlessly.
        for block in 0..HEADER_BLOCKS {
            self.weak.forget_block(Spot::meta(block, 0));
        }
        Ok(())
    }
}
