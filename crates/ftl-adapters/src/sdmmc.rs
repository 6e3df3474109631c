//! `embedded-sdmmc`: FAT volumes on an FTL instead of an SD card.

use core::cell::{RefCell, RefMut};
use core::fmt;

use embedded_sdmmc::{Block, BlockCount, BlockDevice, BlockIdx};
use ftl_iface::BlockStore;

use crate::bytes::{ByteStore, Error};

/// Why blocks could not be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdmmcError<E> {
    /// The store failed.
    Store(Error<E>),
    /// A call came while another was under way.
    Reentered,
}

impl<E: fmt::Debug> fmt::Display for SdmmcError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Reentered => {
                f.write_str("the store is in use by another call: wait until it returns")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for SdmmcError<E> {}

/// A store as the block device that `embedded-sdmmc` keeps its FAT volumes on.
///
/// Its methods take `&self`, so that the store is in a `RefCell`.
#[derive(Debug)]
pub struct SdmmcBlocks<'b, S> {
    bytes: RefCell<ByteStore<'b, S>>,
}

impl<'b, S: BlockStore> SdmmcBlocks<'b, S> {
    /// The store, as blocks of 512 bytes.
    pub const fn new(bytes: ByteStore<'b, S>) -> Self {
        Self { bytes: RefCell::new(bytes) }
    }

    /// Gives the store back.
    pub fn into_inner(self) -> ByteStore<'b, S> {
        self.bytes.into_inner()
    }

    /// The store, to see what was paid.
    pub fn bytes(&mut self) -> &mut ByteStore<'b, S> {
        self.bytes.get_mut()
    }

    fn enter(&self) -> Result<RefMut<'_, ByteStore<'b, S>>, SdmmcError<S::Error>> {
        self.bytes.try_borrow_mut().map_err(|_| SdmmcError::Reentered)
    }
}

impl<S: BlockStore> BlockDevice for SdmmcBlocks<'_, S>
where
    S::Error: 'static,
{
    type Error = SdmmcError<S::Error>;

    fn read(&self, blocks: &mut [Block], start: BlockIdx) -> Result<(), Self::Error> {
        let mut bytes = self.enter()?;
        for (at, block) in (0..).zip(blocks) {
            let offset = start.into_bytes() + at * u64::from(Block::LEN_U32);
            bytes.read_bytes(offset, &mut block.contents).map_err(SdmmcError::Store)?;
        }
        Ok(())
    }

    fn write(&self, blocks: &[Block], start: BlockIdx) -> Result<(), Self::Error> {
        let mut bytes = self.enter()?;
        for (at, block) in (0..).zip(blocks) {
            let offset = start.into_bytes() + at * u64::from(Block::LEN_U32);
            bytes.write_bytes(offset, &block.contents).map_err(SdmmcError::Store)?;
        }
        Ok(())
    }

    fn num_blocks(&self) -> Result<BlockCount, Self::Error> {
        let blocks = self.enter()?.capacity_bytes() / u64::from(Block::LEN_U32);
        Ok(BlockCount(u32::try_from(blocks).unwrap_or(u32::MAX)))
    }
}
