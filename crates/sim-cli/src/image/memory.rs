//! A file in memory, for tests and fuzzers.

use std::cell::{Cell, RefCell};
use std::io;

use super::store::{Extent, Store};

/// The file. What is behind its bytes, up to its length, are zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(super) bytes: RefCell<Vec<u8>>,
    length: Cell<u64>,
}

impl Store for Memory {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length.get())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.bytes.borrow_mut().truncate(usize::try_from(length).unwrap_or(usize::MAX));
        self.length.set(length);
        Ok(())
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.length.get().saturating_sub(at);
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let held = self.bytes.borrow();
        let known = held.get(at as usize..).unwrap_or(&[]);
        let known = &known[..known.len().min(count)];
        bytes[..known.len()].copy_from_slice(known);
        bytes[known.len()..count].fill(0);
        Ok(count)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.bytes.borrow_mut();
        let end = at as usize + bytes.len();
        if held.len() < end {
            held.resize(end, 0);
        }
        held[at as usize..end].copy_from_slice(bytes);
        self.length.set(self.length.get().max(end as u64));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        let mut held = self.bytes.borrow_mut();
        let end = held.len().min(extent.end() as usize);
        let start = end.min(extent.at as usize);
        held[start..end].fill(0);
        Ok(())
    }

    fn next_data(&self, at: u64) -> io::Result<u64> {
        let end = self.bytes.borrow().len() as u64;
        Ok(if at < end { at } else { self.length.get() })
    }
}
