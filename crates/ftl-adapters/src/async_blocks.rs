//! `block-device-driver`: asynchronous blocks of 512 bytes.
//!
//! The store below blocks, so that these futures are ready when they are first polled: nothing is left half done when
//! one is dropped.

use aligned::Aligned;
use block_device_driver::{BlockDevice, blocks_to_slice, blocks_to_slice_mut};
use ftl_iface::BlockStore;

use crate::bytes::{ByteStore, Error};

/// What file systems call a block.
const BLOCK: usize = 512;

impl<S: BlockStore> BlockDevice<BLOCK> for ByteStore<'_, S> {
    type Error = Error<S::Error>;
    /// Word by word, as DMA and processors like it.
    type Align = aligned::A4;

    async fn read(
        &mut self,
        block_address: u32,
        data: &mut [Aligned<Self::Align, [u8; BLOCK]>],
    ) -> Result<(), Self::Error> {
        self.read_bytes(u64::from(block_address) * BLOCK as u64, blocks_to_slice_mut(data))
    }

    async fn write(
        &mut self,
        block_address: u32,
        data: &[Aligned<Self::Align, [u8; BLOCK]>],
    ) -> Result<(), Self::Error> {
        self.write_bytes(u64::from(block_address) * BLOCK as u64, blocks_to_slice(data))
    }

    async fn size(&mut self) -> Result<u64, Self::Error> {
        Ok(self.capacity_bytes())
    }
}
