//! Mounting a device by reading its tags.

use ftl_iface::NandDevice;

use super::checkpoint::Checkpoint;
use super::error::MountError;
use super::log::ChainOrder;
use crate::config::Config;
use crate::error::Fault;
use crate::flash::Holder;
use crate::hybrid::flash::Listing;
use crate::hybrid::identity::OtherSetting;
use crate::hybrid::ram::Ram;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::hybrid::slc::Mapped;
use crate::hybrid::state::{Ftl, Unsettled};
use crate::layout::{Header, HeaderError};
use crate::probe::Probe;

impl<'ram, D: NandDevice, P: Probe> Ftl<'ram, D, P> {
    /// Mounts a formatted device. After a clean [`stop`](Self::stop) it reads what that wrote, and writes nothing.
    /// Otherwise it reads one page of each block, and the head of the log; it writes nothing. The first request, or
    /// [`settle`](Self::settle), repairs what a power cut may have touched.
    pub fn mount(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        probe: P,
    ) -> Result<Self, MountError<D::Error>> {
        let mut ftl = Self::assemble(device, config, ram, probe)?;
        let header = ftl.find_header()?;
        if let Some(other) = OtherSetting::of(&header, &ftl.header()) {
            return Err(MountError::OtherConfig(other));
        }
        ftl.flash.set_key(header.key);
        ftl.flash.optional = header.optional;
        let headers = ftl.flash.read_lists()?;
        if ftl.mount_checkpoint()? == Checkpoint::Loaded {
            ftl.flash.know_all_stamps();
            if headers == Listing::Lacking {
                ftl.flash.note_headers();
            }
            return Ok(ftl);
        }
        ftl.retire_bad_blocks()?;
        ftl.unsettled = Some(Unsettled::default());
        ftl.mount_chains()?;
        let mapped = match ftl.log.as_ref() {
            Some(_) => ftl.mount_log(ChainOrder::Unknown)?,
            None => Mapped::Fully,
        };
        if let Some(state) = &mut ftl.unsettled {
            state.log = mapped;
        }
        Ok(ftl)
    }

    /// Reads the header from the first of its blocks that holds one.
    fn find_header(&mut self) -> Result<Header, MountError<D::Error>> {
        let mut worst = MountError::NotFormatted;
        for number in 0..HEADER_BLOCKS {
            let Some(block) = self.good_meta_block(number)? else {
                continue;
            };
            match self.flash.read_header(block) {
                Ok(Ok(header)) => return Ok(header),
                Ok(Err(HeaderError::Foreign)) => {}
                Ok(Err(HeaderError::OfPageStore)) => worst = MountError::OfPageStore,
                Ok(Err(HeaderError::Version(other))) => worst = MountError::Version(other),
                Ok(Err(HeaderError::Damaged)) | Err(Fault::Uncorrectable) => {
                    // What another release or FTL has written says more than a page that cannot be read.
                    if matches!(worst, MountError::NotFormatted) {
                        worst = MountError::DamagedHeader;
                    }
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        let is_nobodys = matches!(worst, MountError::NotFormatted | MountError::DamagedHeader);
        if is_nobodys && self.flash.look_for(Header::PAGE_STORE)? == Holder::ThatFtl {
            return Err(MountError::OfPageStore);
        }
        Err(worst)
    }
}
