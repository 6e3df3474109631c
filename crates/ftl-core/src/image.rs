//! How a module saves its state for the next mount, and loads it again.
//!
//! A module's `save` puts its state into a [`Sink`], its `load` takes it from a [`Source`] in the same order; the two
//! are side by side. A `load` trusts nothing: its input may be any bytes at all, and if they are inconsistent
//! it returns `None`. The module is then unusable until it is cleared.

/// Takes a room's state, byte after byte. Numbers are little-endian.
pub trait Sink {
    /// Takes these bytes.
    fn put(&mut self, bytes: &[u8]);

    /// Takes a number of 8 bits.
    fn byte(&mut self, number: u8) {
        self.put(&[number]);
    }

    /// Takes a number of 16 bits.
    fn half(&mut self, number: u16) {
        self.put(&number.to_le_bytes());
    }

    /// Takes a number of 32 bits.
    fn word(&mut self, number: u32) {
        self.put(&number.to_le_bytes());
    }

    /// Takes a number of 64 bits.
    fn long(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }
}

/// Gives a room's state back, as it was put into a [`Sink`]. `None`: there is no more, or it cannot be read.
pub trait Source {
    /// Fills these bytes.
    fn take(&mut self, bytes: &mut [u8]) -> Option<()>;

    /// Gives a number of 8 bits.
    fn byte(&mut self) -> Option<u8> {
        let mut bytes = [0; 1];
        self.take(&mut bytes)?;
        Some(u8::from_le_bytes(bytes))
    }

    /// Gives a number of 16 bits.
    fn half(&mut self) -> Option<u16> {
        let mut bytes = [0; 2];
        self.take(&mut bytes)?;
        Some(u16::from_le_bytes(bytes))
    }

    /// Gives a number of 32 bits.
    fn word(&mut self) -> Option<u32> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Some(u32::from_le_bytes(bytes))
    }

    /// Gives a number of 64 bits.
    fn long(&mut self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.take(&mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }
}

/// `Some` if it holds: for `load`, which asks much and continues only if all of it is so.
#[inline]
pub(crate) fn holds(condition: bool) -> Option<()> {
    condition.then_some(())
}
