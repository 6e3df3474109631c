//! The rules worked out by hand, and that advice is consistent under any sequence of calls.

use proptest::prelude::*;

use super::*;
use crate::table::{number, short, word};

/// The threshold of the paper's experiments.
pub(super) const TH: u16 = 16;

/// Memory for a pool.
pub(super) struct Memory {
    counts: Vec<u16>,
    pools: Vec<u8>,
    blocks: BlockCount,
}

impl Memory {
    pub(super) fn new(blocks: u16) -> Self {
        let blocks = BlockCount::new(blocks.into());
        // Memory with old content.
        let counts = vec![0xABCD; DualPool::counts_for(blocks)];
        Self { counts, pools: vec![0x5A; DualPool::bytes_for(blocks)], blocks }
    }

    pub(super) fn pool(&mut self, threshold: u16) -> DualPool<'_> {
        DualPool::new(&mut self.counts, &mut self.pools, self.blocks, threshold, true)
    }
}

pub(super) fn block(short: u16) -> ChainBlock {
    ChainBlock::new(number(short))
}

/// Erases a block that often, and returns all advice given.
fn erase(pool: &mut DualPool<'_>, number: u16, times: u32) -> Vec<(u32, u16)> {
    let advice = (1..=times).map(|time| (time, pool.note_erase(block(number))));
    advice.filter_map(|(time, cold)| Some((time, short(cold?.get())))).collect()
}

#[test]
fn a_cold_block_is_proposed_once_the_hot_one_is_ahead_by_more_than_the_threshold() {
    // Eight blocks: the hand visits all of them at each erase.
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    // All are hot at first, and (c) makes blocks cold at 2·TH + 1.
    assert_eq!(erase(&mut pool, 0, 32), []);
    assert!((1..8).all(|number| pool.is_hot(block(number))));
    assert_eq!(pool.note_erase(block(0)), Some(block(1)));
    assert!((1..8).all(|number| pool.is_cold(block(number))));
    // Meanwhile the hand looks for the next cold block.
    assert_eq!(erase(&mut pool, 4, 1), []);
    assert!(pool.coldest.is_some_and(|next| next != block(1)));
    pool.swapped(block(1), block(0));
    assert!(pool.is_hot(block(1)) && pool.is_cold(block(0)));
    // Now there are cold blocks, and (a) needs TH + 1.
    assert_eq!(erase(&mut pool, 1, 17), [(17, 2)]);
}

#[test]
fn a_hot_block_joins_the_cold_pool_only_beyond_twice_the_threshold() {
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    erase(&mut pool, 5, 1);
    erase(&mut pool, 0, 33);
    assert!(pool.is_hot(block(5)), "33 - 1 is 2·TH");
    assert!(pool.is_cold(block(6)), "33 - 0 is more");
    erase(&mut pool, 0, 1);
    assert!(pool.is_cold(block(5)));
}

#[test]
fn a_cold_block_that_wakes_up_joins_the_hot_pool_one_step_beyond_the_threshold() {
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    erase(&mut pool, 0, 33);
    pool.swapped(block(1), block(0));
    // 1 is hot with an effective count of 0. A step is TH / 4 = 4 erases: five steps are more than TH.
    assert_eq!(erase(&mut pool, 3, 19), []);
    assert!(pool.is_cold(block(3)));
    assert_eq!(pool.note_erase(block(3)), Some(block(2)));
    assert!(pool.is_hot(block(3)));
}

#[test]
fn a_cold_block_wakes_up_although_no_block_is_hot() {
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    erase(&mut pool, 0, 33);
    pool.retire(block(0));
    pool.declined();
    pool.retire(block(1));
    // A sweep that still lowers by what the one before found, then the five steps.
    assert_eq!(erase(&mut pool, 2, 1), []);
    assert_eq!(erase(&mut pool, 3, 19), []);
    assert!(pool.is_cold(block(3)));
    pool.note_erase(block(3));
    assert!(pool.is_hot(block(3)));
}

#[test]
fn a_cold_block_that_is_erased_no_oftener_than_the_hot_ones_stays_cold() {
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    assert_eq!(erase(&mut pool, 0, 33).len(), 1);
    // The advice stays pending, so no other is given meanwhile. Only 0 is hot.
    for erases in 1..=32 {
        pool.note_erase(block(0));
        pool.note_erase(block(3));
        assert!(pool.is_cold(block(3)), "after {erases}");
    }
    // In the end its erase count decides: 2·TH and one above the least worn cold block.
    pool.note_erase(block(3));
    assert!(pool.is_hot(block(3)));
}

#[test]
fn a_declined_block_is_not_cold_and_another_is_proposed() {
    let mut memory = Memory::new(16);
    let mut pool = memory.pool(TH);
    let advice = erase(&mut pool, 0, 40);
    let [(_, first)] = advice[..] else { panic!("{advice:?}") };
    pool.declined();
    assert!(pool.is_hot(block(first)));
    let second = pool.note_erase(block(0)).expect("another cold block");
    assert_ne!(second, block(first));
}

#[test]
fn a_retired_block_is_neither_proposed_nor_a_place_for_data_nor_part_of_the_spread() {
    let mut memory = Memory::new(8);
    let mut pool = memory.pool(TH);
    for number in 1..7 {
        pool.retire(block(number));
    }
    assert_eq!(erase(&mut pool, 3, 100), []);
    assert_eq!(erase(&mut pool, 0, 33), [(33, 7)]);
    pool.retire(block(7));
    pool.declined();
    assert_eq!(erase(&mut pool, 0, 200), []);
    assert_eq!(pool.spread(), Some(Spread { least: 233, most: 233 }));
    assert_eq!((pool.erase_count(block(3)), pool.total_erases()), (100, 333));
    pool.retire(block(0));
    assert_eq!(pool.spread(), None);
}

#[test]
fn a_pool_that_is_not_enabled_counts_and_says_nothing() {
    let mut memory = Memory::new(8);
    let blocks = memory.blocks;
    let mut pool = DualPool::new(&mut memory.counts, &mut memory.pools, blocks, TH, false);
    assert_eq!(erase(&mut pool, 0, 500), []);
    assert_eq!(pool.spread(), Some(Spread { least: 0, most: 500 }));
    assert!((0..8).all(|number| pool.is_hot(block(number))));
}

#[test]
fn thresholds_that_no_step_divides_are_kept_within_one_step() {
    for threshold in 0..100_u16 {
        let mut memory = Memory::new(8);
        let mut pool = memory.pool(threshold);
        let threshold = u32::from(threshold.max(1));
        erase(&mut pool, 0, 2 * threshold + 1);
        pool.swapped(block(1), block(0));
        // A sweep that still lowers by what the one before found.
        pool.note_erase(block(5));
        assert!(pool.is_cold(block(3)), "threshold {threshold}");
        let until_hot = (1..1000).find(|_| {
            pool.note_erase(block(3));
            pool.is_hot(block(3))
        });
        let erases = until_hot.expect("it wakes up");
        let step = pool.step.get();
        let range = threshold.saturating_sub(step) + 1..=threshold + step;
        assert!(range.contains(&erases), "threshold {threshold}: {erases}");
    }
}

#[test]
fn counts_restored_from_flash_are_as_they_were_however_large() {
    for around in [0, 1000, 65_500, 80_000, 1_000_000] {
        let mut memory = Memory::new(300);
        let mut pool = memory.pool(TH);
        let count = |number: u16| around + u32::from(number) * 7 % 300;
        (0..300).for_each(|number| pool.restore(block(number), count(number)));
        assert!((0..300).all(|number| pool.erase_count(block(number)) == count(number)));
        assert_eq!(pool.total_erases(), (0..300).map(|number| u64::from(count(number))).sum());
        pool.note_erase(block(7));
        assert_eq!(pool.erase_count(block(7)), count(7) + 1);
    }
}

#[test]
fn the_base_rises_with_the_least_worn_block_and_no_oftener_than_stated() {
    const ROUNDS: u32 = 200_000;
    let mut memory = Memory::new(9);
    let mut pool = memory.pool(TH);
    let (mut bases, mut base) = (0, 0);
    for _ in 0..ROUNDS {
        for number in 0..9 {
            assert_eq!(pool.note_erase(block(number)), None);
            if pool.base != base {
                (bases, base) = (bases + 1, pool.base);
            }
            assert!(pool.is_hot(block(number)), "the frontier falls with the counts");
        }
    }
    assert!((0..9).all(|number| pool.erase_count(block(number)) == ROUNDS));
    assert!(bases > 0 && bases <= ROUNDS >> 14, "the base rose {bases} times");
}

#[test]
fn a_count_at_the_end_of_its_range_stays_there() {
    let mut memory = Memory::new(8);
    let blocks = memory.blocks;
    let mut pool = DualPool::new(&mut memory.counts, &mut memory.pools, blocks, TH, false);
    assert_eq!(erase(&mut pool, 0, 70_000), []);
    assert_eq!((pool.erase_count(block(0)), pool.total_erases()), (65_535, 70_000));
}

#[test]
fn each_erase_visits_the_same_few_blocks_and_a_sweep_ends_in_time() {
    for blocks in [1, 7, 8, 9, 1000, 8192, 8193, 43_008, u16::MAX] {
        let mut memory = Memory::new(blocks);
        let mut pool = memory.pool(TH);
        let visits = short(pool.sweep.stride).min(blocks);
        assert!(visits <= 64);
        let mut visited = 0;
        for erases in 1..=word(ERASES_A_SWEEP) {
            let hand = pool.sweep.hand;
            pool.note_erase(block(0));
            let moved =
                (word(pool.sweep.hand) + u32::from(blocks) - word(hand)) % u32::from(blocks);
            assert_eq!(moved, u32::from(visits) % u32::from(blocks));
            visited = erases * u32::from(visits);
        }
        assert!(visited >= u32::from(blocks), "{visited} visits of {blocks} blocks");
    }
}

proptest! {
    #[test]
    fn advice_always_keeps_to_its_word(
        blocks in 1_u16..80,
        threshold in 0_u16..40,
        steps in prop::collection::vec((0_u16..80, 0_u8..40, 1_u32..30), 1..200),
    ) {
        let mut memory = Memory::new(blocks);
        let mut pool = memory.pool(threshold);
        let mut truth = vec![0_u32; usize::from(blocks)];
        let mut retired = vec![false; usize::from(blocks)];
        let mut pending: Option<(u16, u16)> = None;
        for (number, kind, times) in steps {
            let number = number % blocks;
            match (kind, pending) {
                (0, _) => {
                    pool.retire(block(number));
                    retired[usize::from(number)] = true;
                }
                (1..=5, Some((cold, hot))) => {
                    pool.swapped(block(cold), block(hot));
                    pending = None;
                }
                (6..=8, Some(_)) => {
                    pool.declined();
                    pending = None;
                }
                _ => for _ in 0..times {
                    truth[usize::from(number)] += 1;
                    let Some(cold) = pool.note_erase(block(number)).map(|cold| short(cold.get())) else {
                        continue;
                    };
                    prop_assert_eq!(pending, None, "advice on top of advice");
                    prop_assert!(cold != number && !retired[usize::from(cold)]);
                    prop_assert!(!retired[usize::from(number)]);
                    let ahead = truth[usize::from(number)] - truth[usize::from(cold)];
                    prop_assert!(ahead > u32::from(threshold.max(1)));
                    pending = Some((cold, number));
                },
            }
            for at in 0..blocks {
                prop_assert_eq!(pool.erase_count(block(at)), truth[usize::from(at)]);
                prop_assert_eq!(pool.is_retired(block(at)), retired[usize::from(at)]);
            }
        }
    }
}
