//! Trims. A trim is a page in the chain that it concerns: it has its place in the chain's order like a write, so
//! no older copy, in the chain or in the log, can come back.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::Content;
use crate::hybrid::mlc::Append;
use crate::hybrid::mlc::maps::MapEntry;
use crate::hybrid::state::Ftl;
use crate::layout::{Slot, Slots, Trim};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Trims sectors of one logical block. If it is all of them, the blocks before the trim are freed at once.
    pub(crate) fn trim_run(
        &mut self,
        logical: LogicalBlock,
        trim: Trim,
    ) -> Result<(), Fault<D::Error>> {
        let map = loop {
            let map = self.chain_with_room(logical)?;
            let end = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?;
            let wear = self.wear.erase_count(end.block);
            self.flash.put_trim(trim);
            let slots = [Slot::Hole(trim.first)];
            let slots = Slots::Listed(&slots);
            let write = Append { end, content: Content::Buffer, slots, wear, trims: Some(trim) };
            match self.mlc.append(&mut self.flash, logical, map, write, Cause::Meta) {
                Ok(_) => break map,
                Err(Fault::BlockFailed) => {
                    self.secure_failed(Content::Buffer, slots, 1)?;
                    self.leave_last_log(logical, map)?;
                }
                Err(fault) => return Err(fault),
            }
        };
        self.release_failed()?;
        let (_, offset) = self.mlc.locate(trim.first);
        for (at, sector) in trim.first.run(trim.count).enumerate() {
            let offset = offset + at as u32;
            self.mlc.maps.set(map, offset, MapEntry::Trimmed);
            self.mlc.sketches.add(logical, offset);
            self.mlc.fold.touch(logical, offset);
            if let Some(log) = self.log.as_mut() {
                log.index.remove(sector);
            }
        }
        if trim.count.get() == self.mlc.sectors_per_block().get() {
            if self.mlc.fold.is_of(logical) {
                self.give_up_fold()?;
            }
            let (old, count) = self.mlc.chains.keep_last(logical, false);
            self.free_blocks(old, count, Cause::Gc)?;
        }
        Ok(())
    }
}
