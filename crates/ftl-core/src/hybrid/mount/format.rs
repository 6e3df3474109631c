//! Format: erases every block and writes the header.

use ftl_iface::NandDevice;

use super::error::MountError;
use crate::config::Config;
use crate::hybrid::address::{ChainBlock, LogBlock};
use crate::hybrid::flash::{Erasure, Programmed, Spot};
use crate::hybrid::ram::Ram;
use crate::hybrid::shape::{HEADER_BLOCKS, RESCUE};
use crate::hybrid::state::Ftl;
use crate::layout::FormatKey;
use crate::probe::Probe;

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Formats a device and mounts it. Everything on it is lost.
    ///
    /// `key` separates this format from pages of earlier ones: use a new one at each format (from a serial number, a
    /// clock, noise).
    pub fn format(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        key: u32,
        probe: P,
    ) -> Result<Self, MountError<D::Error>> {
        let mut ftl = Self::assemble(device, config, ram, probe)?;
        ftl.retire_bad_blocks()?;
        ftl.holds_capacity()?;
        ftl.erase_headers()?;
        for block in RESCUE {
            if !ftl.flash.is_bad(Spot::meta(block, 0))? {
                ftl.discard(Spot::meta(block, 0))?;
            }
        }
        ftl.flash.erase_places()?;
        ftl.erase_log()?;
        for number in 0..ftl.shape.chain.blocks {
            let block = ChainBlock::new(number);
            if !ftl.wear.is_retired(block) {
                match ftl.erase_or_lose(Spot::chain(block, 0))? {
                    Erasure::Done => {
                        ftl.wear.restore(block, 1);
                        ftl.mlc.chains.give_free(block);
                    }
                    Erasure::Failed => ftl.lose_chain_block(block),
                }
            }
        }
        ftl.holds_capacity()?;
        ftl.flash.know_all_stamps();
        let key = FormatKey::new(key);
        ftl.flash.set_key(key);
        let header = ftl.header();
        // The header is last, so that an interrupted format does not look like a complete one.
        let mut headers = 0;
        for number in 0..HEADER_BLOCKS {
            if let Some(block) = ftl.good_meta_block(number)? {
                let programmed = ftl.flash.program_header(Spot::meta(block, 0), &header)?;
                headers += u16::from(programmed == Programmed::Done);
            }
        }
        if headers == 0 {
            return Err(MountError::BlockFailed);
        }
        Ok(ftl)
    }

    /// Erases the headers of before first: from then on the device is not formatted.
    fn erase_headers(&mut self) -> Result<(), MountError<D::Error>> {
        for block in 0..HEADER_BLOCKS {
            let spot = Spot::meta(block, 0);
            if !self.flash.is_bad(spot)? {
                self.discard(spot)?;
                // A block that takes no mark may keep its header, which would count if the other one is lost.
                if self.flash.failed.is_unmarked(spot) {
                    return Err(MountError::BlockFailed);
                }
            }
        }
        Ok(self.flash.erase_other_headers()?)
    }

    fn erase_log(&mut self) -> Result<(), MountError<D::Error>> {
        let blocks = self.log.as_ref().map_or(0, |log| log.area().short_blocks());
        for number in 0..blocks {
            let block = LogBlock::new(number);
            let bad = self.log.as_ref().is_none_or(|log| log.ring().is_bad(block));
            if !bad
                && self.erase_or_lose(Spot::log(block, 0))? == Erasure::Failed
                && let Some(log) = self.log.as_mut()
            {
                log.ring_mut().retire(block);
            }
        }
        Ok(())
    }
}
