//! Pages that are kept whole, without the 0xFF at their ends: an FTL's own records fill few bytes of a page, and a long
//! run programs many of them.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::stamp::ERASED;

/// The data of such pages of a region.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// Of a block.
    pages: u16,
    /// By [`Self::key`].
    data: HashMap<u32, Arc<[u8]>>,
}

impl Whole {
    pub(super) fn new(pages: u16) -> Self {
        Self { pages, data: HashMap::new() }
    }

    /// The geometry holds at most 2^32 pages a region.
    #[inline]
    const fn key(&self, block: u32, page: u16) -> u32 {
        block * self.pages as u32 + page as u32
    }

    #[inline(never)]
    pub(super) fn keep(&mut self, block: u32, page: u16, data: &[u8]) {
        self.data.insert(self.key(block, page), Arc::from(without_ones(data)));
    }

    /// Reads data of a page that is kept whole, from byte `at` on.
    pub(crate) fn load(&self, block: u32, page: u16, at: usize, data: &mut [u8]) {
        // A page whose state says whole was put there by the same call that set the state.
        let kept = self.data.get(&self.key(block, page)).and_then(|kept| kept.get(at..));
        let kept = kept.unwrap_or(&[]);
        let (known, rest) = data.split_at_mut(kept.len().min(data.len()));
        known.copy_from_slice(&kept[..known.len()]);
        rest.fill(ERASED);
    }

    /// The block's first pages are erased.
    #[inline(never)]
    pub(super) fn forget(&mut self, block: u32, pages: u16) {
        for page in 0..pages {
            let key = self.key(block, page);
            self.data.remove(&key);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.data.values().map(|data| data.len()).sum()
    }
}

/// What stands before the 0xFF at the end.
fn without_ones(data: &[u8]) -> &[u8] {
    const LINE: usize = 64;
    let (lines, rest) = data.as_chunks::<LINE>();
    let used = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != ERASED);
    let end = match used(rest) {
        Some(last) => lines.len() * LINE + last + 1,
        // Whole lines at a time: records are short, and pages long.
        None => match lines.iter().rposition(|line| *line != [ERASED; LINE]) {
            Some(line) => line * LINE + used(&lines[line]).map_or(0, |last| last + 1),
            None => 0,
        },
    };
    &data[..end]
}
