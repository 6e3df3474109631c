//! Making a device ours: every block is erased, the header is written.

use ftl_iface::NandDevice;

use super::MountError;
use crate::address::{ChainBlock, LogBlock};
use crate::config::Config;
use crate::flash::Spot;
use crate::ftl::Ftl;
use crate::layout::FormatKey;
use crate::probe::{Cause, Probe};
use crate::ram::Ram;
use crate::shape::{HEADER_BLOCKS, RESCUE_BLOCKS};

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Formats a device and mounts it. Everything on it is lost.
    ///
    /// `key` marks the pages of this life of the device; draw it anew each time (a serial number, a clock, noise), so
    /// that pages of an earlier life are told from new ones.
    pub fn format(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        key: u32,
        probe: P,
    ) -> Result<Self, MountError<D::Error>> {
        let mut ftl = Self::assemble(device, config, ram, probe)?;
        ftl.retire_bad_blocks()?;
        let mut headers = 0;
        for number in 0..HEADER_BLOCKS {
            if let Some(block) = ftl.good_meta_block(number)? {
                ftl.flash.erase(Spot::meta(block, 0), Cause::Meta)?;
                headers += 1;
            }
        }
        if headers == 0 {
            return Err(MountError::BlockFailed);
        }
        for block in HEADER_BLOCKS..HEADER_BLOCKS + RESCUE_BLOCKS {
            if !ftl.flash.is_bad(Spot::meta(block, 0))? {
                ftl.flash.erase(Spot::meta(block, 0), Cause::Meta)?;
            }
        }
        ftl.flash.erase_places()?;
        if let Some(log) = &mut ftl.log {
            for number in 0..log.part().blocks {
                let block = LogBlock::new(number);
                if !log.ring().is_bad(block) {
                    ftl.flash.erase(Spot::log(block, 0), Cause::Meta)?;
                }
            }
        }
        for number in 0..ftl.shape.chain.blocks {
            let block = ChainBlock::new(number);
            if !ftl.flash.is_bad(Spot::chain(block, 0))? {
                ftl.flash.erase(Spot::chain(block, 0), Cause::Meta)?;
                ftl.wear.restore(block, 1);
                ftl.mlc.chains.give_free(block);
            }
        }
        let key = FormatKey::new(key);
        ftl.flash.set_key(key);
        let header = ftl.header();
        // The header comes last: a format cut short leaves no device that could be taken for a whole one.
        for number in 0..HEADER_BLOCKS {
            if let Some(block) = ftl.good_meta_block(number)? {
                ftl.flash.program_header(Spot::meta(block, 0), &header)?;
            }
        }
        Ok(ftl)
    }
}
