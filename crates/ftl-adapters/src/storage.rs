//! `embedded-storage`: bytes at any offset.

use embedded_storage::{ReadStorage, Storage};
use ftl_iface::BlockStore;

use crate::bytes::{ByteStore, Error};

impl<S: BlockStore> ReadStorage for ByteStore<'_, S> {
    type Error = Error<S::Error>;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.read_bytes(offset.into(), bytes)
    }

    /// The size in bytes, or the largest number where that is smaller. Offsets end at 4 GiB in any case.
    fn capacity(&self) -> usize {
        usize::try_from(self.capacity_bytes()).unwrap_or(usize::MAX)
    }
}

impl<S: BlockStore> Storage for ByteStore<'_, S> {
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.write_bytes(offset.into(), bytes)
    }
}
