//! Pages that are stored whole, without the 0xFF at their ends: an FTL's own records fill few bytes of a page, and a
//! long run programs many of them. Long pages are stored as runs: an FTL's map pages hold addresses, most of them
//! consecutive.
//!
//! Those of a block lie one behind the other in memory of that block, which an erase leaves to the block that is
//! programmed next: a page costs no allocation. Forks share that memory until one of them programs the block.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::stamp::ERASED;

/// The data of such pages of a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholePages {
    /// By block.
    blocks: HashMap<u32, Arc<BlockPages>>,
    /// Memory of erased blocks.
    unused: Vec<Arc<BlockPages>>,
    /// The runs of the page that is being kept.
    runs: Vec<[u8; RUN]>,
}

/// What is kept of a block.
#[derive(Clone, Debug, Default)]
struct BlockPages {
    /// As they were programmed: their numbers rise.
    pages: Vec<KeptPage>,
    bytes: Vec<u8>,
}

/// A page. Its bytes begin where those of the page before end.
#[derive(Clone, Copy, Debug)]
struct KeptPage {
    number: u16,
    kept_as: KeptAs,
    end: usize,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug)]
enum KeptAs {
    /// Those of the page.
    Bytes,
    /// All its words, as runs.
    Runs,
}

/// Words in a row, each so much more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    step: u32,
    words: u32,
}

/// Bytes of a run.
const RUN: usize = 12;

/// From that many bytes on a page is long: to look for runs takes time, and short pages take little memory.
const LONG: usize = 8 << 10;

/// Runs must take no more than this part of the page's bytes.
const WORTH_IT: usize = 2;

/// The memory of a full block may be larger than what it holds by this part: the next block may hold somewhat more.
const ROOM: usize = 16;

impl WholePages {
    #[inline(never)]
    pub(super) fn keep(&mut self, block: u32, page: u16, data: &[u8]) {
        let Self { blocks, unused, runs } = self;
        let entry = blocks.entry(block);
        let of_block = entry.or_insert_with(|| unused.pop().unwrap_or_default());
        let of_block = Arc::make_mut(of_block);
        let runs = if data.len() < LONG { None } else { find_runs(data, runs) };
        match runs {
            Some(runs) => of_block.push(page, KeptAs::Runs, runs.as_flattened()),
            None => of_block.push(page, KeptAs::Bytes, without_ones(data)),
        }
    }

    /// The block is full: no page of it will need the room behind the last one.
    #[inline(never)]
    pub(super) fn fill(&mut self, block: u32) {
        if let Some(of_block) = self.blocks.get_mut(&block).and_then(Arc::get_mut) {
            of_block.give_back();
        }
    }

    /// Reads data of a page that is kept whole, from byte `at` on.
    pub(crate) fn load(&self, block: u32, page: u16, at: usize, data: &mut [u8]) {
        // A page whose state says whole was put there by the same call that set the state.
        let kept = match self.blocks.get(&block).and_then(|of_block| of_block.page(page)) {
            Some((KeptAs::Bytes, kept)) => kept.get(at..),
            Some((KeptAs::Runs, runs)) => return load_runs(runs.as_chunks().0, at, data),
            None => None,
        };
        let kept = kept.unwrap_or(&[]);
        let (known, rest) = data.split_at_mut(kept.len().min(data.len()));
        known.copy_from_slice(&kept[..known.len()]);
        rest.fill(ERASED);
    }

    /// The block is erased.
    #[inline(never)]
    pub(super) fn forget(&mut self, block: u32) {
        let Some(mut of_block) = self.blocks.remove(&block) else { return };
        if let Some(own) = Arc::get_mut(&mut of_block) {
            own.pages.clear();
            own.bytes.clear();
            self.unused.push(of_block);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let blocks = self.blocks.values().chain(&self.unused);
        blocks.map(|of_block| of_block.memory_bytes()).sum()
    }
}

impl BlockPages {
    fn push(&mut self, number: u16, kept_as: KeptAs, kept: &[u8]) {
        self.bytes.extend_from_slice(kept);
        self.pages.push(KeptPage { number, kept_as, end: self.bytes.len() });
    }

    fn give_back(&mut self) {
        if self.bytes.capacity() > self.bytes.len() + self.bytes.len() / ROOM {
            self.bytes.shrink_to_fit();
        }
    }

    fn page(&self, number: u16) -> Option<(KeptAs, &[u8])> {
        // Mostly all pages of a block are kept, or none.
        let at = usize::from(number.checked_sub(self.pages.first()?.number)?);
        let at = match self.pages.get(at) {
            Some(page) if page.number == number => at,
            _ => self.pages.binary_search_by_key(&number, |page| page.number).ok()?,
        };
        let start = at.checked_sub(1).map_or(0, |before| self.pages[before].end);
        let KeptPage { kept_as, end, .. } = self.pages[at];
        Some((kept_as, &self.bytes[start..end]))
    }

    const fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.pages.capacity() * size_of::<KeptPage>()
    }
}

impl Run {
    fn to_bytes(self) -> [u8; RUN] {
        let mut bytes = [0; RUN];
        let words = [self.first, self.step, self.words];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; RUN]) -> Self {
        let words = bytes.as_chunks().0;
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_le_bytes(*word));
        Self { first: word(0), step: word(1), words: word(2) }
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

/// The words of a page as runs, put there, if they take little enough.
fn find_runs<'r>(data: &[u8], runs: &'r mut Vec<[u8; RUN]>) -> Option<&'r [[u8; RUN]]> {
    let (words, []) = data.as_chunks::<4>() else { return None };
    let most = data.len() / WORTH_IT / RUN;
    runs.clear();
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
        runs.push(Run { first, step, words: count }.to_bytes());
    }
    Some(runs)
}

/// Reads what runs say, from byte `at` on, where a word begins: of such pages only whole sectors are read.
fn load_runs(runs: &[[u8; RUN]], at: usize, data: &mut [u8]) {
    let mut passed = (at / 4) as u32;
    let mut left = data.chunks_mut(4);
    for run in runs.iter().map(Run::from_bytes) {
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
            let (page, mut whole) = (map_page(written), WholePages::default());
            whole.keep(2, 1, &page);
            assert_eq!(read(&whole, 0, PAGE), page, "{written}");
            assert_eq!(read(&whole, 4096, 512), page[4096..4608], "{written}");
            assert_eq!(read(&whole, PAGE - 512, 512), page[PAGE - 512..], "{written}");
            let bytes = whole.memory_bytes();
            assert!(
                if written < 100 {
                    bytes < 2_000
                } else {
                    bytes <= PAGE + 4 * size_of::<KeptPage>()
                },
                "{written}: {bytes}"
            );
            whole.forget(2);
            assert_eq!(read(&whole, 0, 8), vec![ERASED; 8]);
        }
    }

    #[test]
    fn an_erased_block_leaves_its_memory_to_the_next() {
        let mut whole = WholePages::default();
        let fill = |whole: &mut WholePages, block| {
            (0..8).for_each(|page| whole.keep(block, page, &[block as u8; 512]));
            whole.fill(block);
        };
        (0..100).for_each(|block| fill(&mut whole, block));
        let all = whole.memory_bytes();
        assert!(all <= 100 * 8 * (512 * 17 / 16 + size_of::<KeptPage>()), "{all}");
        (0..100).for_each(|block| whole.forget(block));
        (0..100).rev().for_each(|block| fill(&mut whole, block));
        assert_eq!(whole.memory_bytes(), all);
        assert_eq!(read(&whole, 500, 20), [vec![2; 12], vec![ERASED; 8]].concat());
    }

    #[test]
    fn a_block_with_little_in_it_gives_back_the_memory_of_the_one_before() {
        let mut whole = WholePages::default();
        (0..8).for_each(|page| whole.keep(0, page, &[7; 512]));
        whole.forget(0);
        whole.keep(2, 1, &[9; 100]);
        assert!(whole.memory_bytes() >= 8 * 512);
        whole.fill(2);
        assert!(whole.memory_bytes() < 512, "{}", whole.memory_bytes());
        assert_eq!(read(&whole, 0, 100), vec![9; 100]);
    }

    #[test]
    fn pages_are_found_between_others_that_are_not_kept() {
        let mut whole = WholePages::default();
        (1..9).step_by(3).for_each(|page| whole.keep(2, page, &[page as u8; 16]));
        let mut data = [0; 16];
        for page in 0..9 {
            whole.load(2, page, 0, &mut data);
            let kept = if page % 3 == 1 { page as u8 } else { ERASED };
            assert_eq!(data, [kept; 16], "page {page}");
        }
    }

    #[test]
    fn a_copy_goes_its_own_way() {
        let mut whole = WholePages::default();
        whole.keep(2, 0, &[1; 64]);
        let mut copy = whole.clone();
        whole.keep(2, 1, &[2; 64]);
        copy.keep(2, 1, &[3; 64]);
        assert_eq!((read(&whole, 0, 64), read(&copy, 0, 64)), (vec![2; 64], vec![3; 64]));
        copy.forget(2);
        copy.keep(2, 0, &[4; 64]);
        assert_eq!((read(&whole, 0, 64), read(&copy, 0, 64)), (vec![2; 64], vec![ERASED; 64]));
    }
}
