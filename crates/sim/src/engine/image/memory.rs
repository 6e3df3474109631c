//! A file in memory, for tests and fuzzers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::store::{Extent, FileStore};

/// The file. Pages that it does not have are zeros.
#[derive(Clone, Debug, Default)]
pub struct MemoryFile {
    pages: RefCell<BTreeMap<u64, Vec<u8>>>,
    length: Cell<u64>,
}

const PAGE: u64 = 4096;

/// The parts of pages that an extent has: the page, where in it, and where in the extent.
fn parts(extent: Extent) -> impl Iterator<Item = (u64, Range<usize>, Range<usize>)> {
    let pages = extent.at / PAGE..extent.end().div_ceil(PAGE);
    pages.map(move |page| {
        let start = extent.at.max(page * PAGE);
        let end = extent.end().min((page + 1).saturating_mul(PAGE));
        let within = |from: u64| (start - from) as usize..(end - from) as usize;
        (page, within(page * PAGE), within(extent.at))
    })
}

impl MemoryFile {
    /// Its bytes up to the last that is no zero.
    #[cfg(test)]
    pub(super) fn data(&self) -> Vec<u8> {
        let last = self.pages.borrow().last_key_value().map_or(0, |(page, _)| (page + 1) * PAGE);
        let mut bytes = vec![0; last.min(self.length.get()) as usize];
        let _ = self.read_at(0, &mut bytes);
        let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        bytes.truncate(end);
        bytes
    }
}

impl FileStore for MemoryFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length.get())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.clear(Extent { at: length, bytes: self.length.get().saturating_sub(length) })?;
        self.length.set(length);
        Ok(())
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.length.get().saturating_sub(at);
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let pages = self.pages.borrow();
        for (page, there, here) in parts(Extent { at, bytes: count as u64 }) {
            match pages.get(&page) {
                Some(page) => bytes[here].copy_from_slice(&page[there]),
                None => bytes[here].fill(0),
            }
        }
        Ok(count)
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut pages = self.pages.borrow_mut();
        let extent = Extent { at, bytes: bytes.len() as u64 };
        for (page, there, here) in parts(extent) {
            let page = pages.entry(page).or_insert_with(|| vec![0; PAGE as usize]);
            page[there].copy_from_slice(&bytes[here]);
        }
        self.length.set(self.length.get().max(extent.end()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_name(&self) -> io::Result<()> {
        Ok(())
    }

    fn clear(&self, extent: Extent) -> io::Result<()> {
        let mut pages = self.pages.borrow_mut();
        let all = extent.at.div_ceil(PAGE)..extent.end() / PAGE;
        if !all.is_empty() {
            pages.retain(|page, _| !all.contains(page));
        }
        let ends = [extent.at / PAGE, extent.end() / PAGE];
        for (page, there, _) in ends.into_iter().flat_map(|page| {
            let page = Extent { at: page * PAGE, bytes: PAGE };
            let (at, end) = (extent.at.max(page.at), extent.end().min(page.end()));
            parts(Extent { at, bytes: end.saturating_sub(at) })
        }) {
            if let Some(page) = pages.get_mut(&page) {
                page[there].fill(0);
            }
        }
        Ok(())
    }

    fn give_back(&self, extent: Extent) {
        let _ = self.clear(extent);
    }

    fn next_data(&self, at: u64) -> io::Result<u64> {
        let next = self.pages.borrow().range(at / PAGE..).next().map(|(page, _)| page * PAGE);
        Ok(next.map_or(self.length.get(), |next| next.max(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cleared_is_zeros() {
        let (memory, mut dice) = (MemoryFile::default(), fastrand::Rng::with_seed(1));
        let mut like = Vec::new();
        for round in 0..2_000_u32 {
            let (at, count) = (dice.usize(..20_000), dice.usize(..9_000));
            let end = at + count;
            match dice.u8(..4) {
                0 => {
                    memory.set_length(end as u64).unwrap();
                    like.resize(end, 0);
                }
                1 if end <= like.len() => {
                    memory.clear(Extent { at: at as u64, bytes: count as u64 }).unwrap();
                    like[at..end].fill(0);
                }
                _ => {
                    let bytes = vec![round as u8 | 1; count];
                    memory.write_at(at as u64, &bytes).unwrap();
                    like.resize(like.len().max(end), 0);
                    like[at..end].copy_from_slice(&bytes);
                }
            }
            let mut read = vec![7; like.len() + 10];
            assert_eq!(memory.read_at(0, &mut read).unwrap(), like.len());
            assert!(read[..like.len()] == like, "round {round}");
            let next = memory.next_data(at as u64).unwrap() as usize;
            assert!(like.iter().take(next).skip(at).all(|byte| *byte == 0));
        }
    }
}
