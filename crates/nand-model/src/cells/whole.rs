//! Pages that are stored whole, without the 0xFF at their ends: an FTL's own records fill few bytes of a page, and a
//! long run programs many of them. Long pages are stored as runs: an FTL's map pages hold addresses, most of them
//! consecutive.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::stamp::ERASED;

/// The data of such pages of a region.
#[derive(Clone, Debug)]
pub(crate) struct WholePages {
    /// Of a block.
    pages: u16,
    /// By [`Self::key`].
    data: HashMap<u32, PageBytes>,
}

/// What is kept of a page.
#[derive(Clone, Debug)]
enum PageBytes {
    /// Its bytes.
    Bytes(Arc<[u8]>),
    /// All its words, as runs.
    Runs(Arc<[Run]>),
}

/// Words in a row, each so much more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    step: u32,
    words: u32,
}

/// From that many bytes on a page is long: to look for runs takes time, and short pages take little memory.
const LONG: usize = 8 << 10;

/// Runs must take no more than this part of the page's bytes.
const WORTH_IT: usize = 2;

impl WholePages {
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
        let runs = if data.len() < LONG { None } else { runs(data) };
        let bytes = || PageBytes::Bytes(Arc::from(without_ones(data)));
        let kept = runs.map_or_else(bytes, |runs| PageBytes::Runs(runs.into()));
        self.data.insert(self.key(block, page), kept);
    }

    /// Reads data of a page that is kept whole, from byte `at` on.
    pub(crate) fn load(&self, block: u32, page: u16, at: usize, data: &mut [u8]) {
        // A page whose state says whole was put there by the same call that set the state.
        let kept = match self.data.get(&self.key(block, page)) {
            Some(PageBytes::Bytes(kept)) => kept.get(at..),
            Some(PageBytes::Runs(runs)) => return load_runs(runs, at, data),
            None => None,
        };
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
        let bytes = |kept: &PageBytes| match kept {
            PageBytes::Bytes(bytes) => bytes.len(),
            PageBytes::Runs(runs) => size_of_val(&**runs),
        };
        self.data.values().map(bytes).sum()
    }
}

/// The bytes before the 0xFF at the end.
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

/// The words of a page as runs, if they take little enough.
fn runs(data: &[u8]) -> Option<Vec<Run>> {
    let (words, []) = data.as_chunks::<4>() else { return None };
    let most = data.len() / WORTH_IT / size_of::<Run>();
    let mut runs = Vec::new();
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word)).peekable();
    while let Some(first) = words.next() {
        if runs.len() == most {
            return None;
        }
        let step = words.peek().map_or(0, |next| next.wrapping_sub(first));
        let (mut last, mut count) = (first, 1);
        while let Some(next) = words.next_if_eq(&last.wrapping_add(step)) {
            (last, count) = (next, count + 1);
        }
        runs.push(Run { first, step, words: count });
    }
    Some(runs)
}

/// Reads what runs say, from byte `at` on, where a word begins: of such pages only whole sectors are read.
fn load_runs(runs: &[Run], at: usize, data: &mut [u8]) {
    let mut passed = (at / 4) as u32;
    let mut left = data.chunks_mut(4);
    for run in runs {
        let skipped = passed.min(run.words);
        passed -= skipped;
        let mut word = run.first.wrapping_add(run.step.wrapping_mul(skipped));
        for bytes in left.by_ref().take((run.words - skipped) as usize) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            word = word.wrapping_add(run.step);
        }
    }
    left.for_each(|bytes| bytes.fill(ERASED));
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 2 * LONG;

    /// A page with a head, places in a row, and those that were written since.
    fn map_page(written: usize) -> Vec<u8> {
        let mut words: Vec<u32> = (0..PAGE as u32 / 4).map(|at| 100_000 + at).collect();
        words[..3].copy_from_slice(&[0xDEAD_BEEF, 7, 0]);
        let (count, last) = (words.len(), words.len() - 9);
        words[last..].fill(u32::MAX);
        for at in 0..written {
            words[3 + at * 37 % (count - 12)] = 7_000_000 + 1_000 * at as u32;
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn read(whole: &WholePages, at: usize, length: usize) -> Vec<u8> {
        let mut data = vec![0x55; length];
        whole.load(2, 1, at, &mut data);
        data
    }

    #[test]
    fn a_long_page_comes_back_from_runs_and_takes_less() {
        for written in [0, 1, 40, 4_000] {
            let (page, mut whole) = (map_page(written), WholePages::new(4));
            whole.keep(2, 1, &page);
            assert_eq!(read(&whole, 0, PAGE), page, "{written}");
            assert_eq!(read(&whole, 4096, 512), page[4096..4608], "{written}");
            assert_eq!(read(&whole, PAGE - 512, 512), page[PAGE - 512..], "{written}");
            let bytes = whole.memory_bytes();
            assert!(
                if written < 100 { bytes < 2_000 } else { bytes <= PAGE },
                "{written}: {bytes}"
            );
            whole.forget(2, 4);
            assert_eq!((whole.memory_bytes(), read(&whole, 0, 8)), (0, vec![ERASED; 8]));
        }
    }
}
