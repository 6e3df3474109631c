//! The paper's Markov-Chain-based Analytical Model (MCAM), in its steady state, and the search for sizes of groups.
//!
//! Data that is written now moves down the chain of groups while it stays valid. A group of `s` blocks into which `r`
//! blocks go for each block that the host writes keeps data for `s / r` of the host's blocks. So the sizes of the
//! groups say at what age data leaves each of them, and the distribution of intervals says how much of it is valid
//! then, which is what goes on to the next group. The last group has the rest of the blocks, and what it collects it
//! keeps:
//!
//! ```text
//!   host ──▶ hot: what is replaced within its time
//!        └─▶ group 1 ──▶ group 2 ──▶ … ──▶ last group ─┐
//!                                              ▲───────┘
//! ```
//!
//! What the last group copies is as if it went on to further groups, which all keep data for the same time; data that
//! nobody replaces is copied once each time. The paper takes a closed form for two kinds of data written at random
//! instead; ours needs no split of the data in two.

use super::intervals::{A_BLOCK, Uid};

/// The most groups with a size of their own, besides the hot one.
pub(super) const SIZED: usize = 7;

/// A group is added if it lowers the amplification by so much.
const WORTHWHILE: f64 = 0.005;

/// The largest hot group that is considered, in blocks.
const HOTTEST: u32 = 30;

/// The part of the blocks that the groups have, and the data in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Full blocks.
    pub(super) blocks: u32,
    /// Valid units, in blocks.
    pub(super) data: f64,
}

/// Sizes of groups in blocks: the hot one first, then the chain without its last group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sizes {
    pub(super) hot: u32,
    pub(super) chain: Vec<u32>,
    /// By group of the chain: the valid share of what it collects, as predicted.
    pub(super) valid: Vec<f64>,
    /// Units programmed for each that the host writes, as predicted.
    pub(super) amplification: f64,
}

/// The model of a load on a disk.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub(super) uid: &'a Uid,
    pub(super) space: Space,
}

/// The age in buckets.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Limited by the caller.
fn bucket(age: f64) -> usize {
    (age * f64::from(A_BLOCK)) as usize
}

impl Model<'_> {
    /// The sizes that the model finds best; `None` if it cannot say.
    pub(super) fn best(&self) -> Option<Sizes> {
        let mut best = self.best_hot(&[])?;
        while best.chain.len() < SIZED {
            let tried = self.sizes().filter_map(|size| {
                let chain = [&best.chain[..], &[size]].concat();
                self.predict(best.hot, &chain)
            });
            let longer = tried.min_by(by_amplification);
            let better =
                |longer: &Sizes| longer.amplification < best.amplification * (1.0 - WORTHWHILE);
            let Some(longer) = longer.filter(better) else { break };
            best = longer;
        }
        self.best_hot(&best.chain)
    }

    /// The best size of the hot group before that chain.
    fn best_hot(&self, chain: &[u32]) -> Option<Sizes> {
        (0..=HOTTEST).filter_map(|hot| self.predict(hot, chain)).min_by(by_amplification)
    }

    /// The sizes to try: each small one, and of the large ones one in every few per cent.
    fn sizes(&self) -> impl Iterator<Item = u32> + use<> {
        let blocks = self.space.blocks;
        std::iter::successors(Some(1), |size: &u32| Some(size + (size / 20).max(1)))
            .take_while(move |size| *size < blocks)
    }

    /// The age up to which a hot group of so many blocks has its data, in buckets: what is younger fills it.
    fn hot_age(&self, hot: u32) -> Option<usize> {
        let size = |age: &usize| {
            #[allow(clippy::cast_precision_loss)] // A bucket's number.
            let blocks = *age as f64 / f64::from(A_BLOCK);
            blocks * (1.0 - self.uid.valid_at(*age))
        };
        (0..self.uid.longest()).take_while(|age| size(age) <= f64::from(hot)).last()
    }

    /// What groups of these sizes amplify.
    fn predict(&self, hot: u32, chain: &[u32]) -> Option<Sizes> {
        let young = if hot == 0 { 0 } else { self.hot_age(hot)? };
        let rate = |age: f64| self.uid.valid_at(bucket(age).max(young));
        let (mut age, mut copies, mut valid) = (0.0, 0.0, Vec::new());
        for size in chain {
            let entering = rate(age);
            age += f64::from(*size) / entering.max(1e-9);
            if bucket(age) >= self.uid.longest() {
                return None;
            }
            copies += rate(age);
            valid.push(rate(age) / entering.max(1e-9));
        }
        let left = self.space.blocks.checked_sub(hot + chain.iter().sum::<u32>())?;
        let younger = self.uid.held_below(bucket(age).max(young)) / f64::from(A_BLOCK);
        let replaced = self.uid.held_below(self.uid.longest()) / f64::from(A_BLOCK);
        let idle = (self.space.data - replaced).max(0.0);
        let in_last = replaced - younger;
        copies += last_group(f64::from(left) - idle, in_last, idle, |later| rate(age + later))?;
        Some(Sizes { hot, chain: chain.to_vec(), valid, amplification: 1.0 + copies })
    }
}

/// What the last group copies for each write of the host, if it has so many blocks for so much data, besides those for
/// idle data. `rate` is what is valid after so long in that group.
fn last_group(blocks: f64, data: f64, idle: f64, rate: impl Fn(f64) -> f64) -> Option<f64> {
    /// More copies of the same data than that, and the model is none.
    const TIMES: u32 = 400;
    if blocks <= data || data <= 0.0 {
        return None;
    }
    let copies = |stay: f64| {
        let passes = (1..TIMES).map(|pass| rate(stay * f64::from(pass)));
        passes.take_while(|rate| *rate > 0.0).sum::<f64>()
    };
    // The longer data stays, the more blocks that takes.
    let (mut low, mut high) = (0.0, blocks / rate(0.0).max(1e-9));
    for _ in 0..30 {
        let stay = f64::midpoint(low, high);
        if stay * (rate(0.0) + copies(stay)) > blocks {
            high = stay;
        } else {
            low = stay;
        }
    }
    Some(copies(low) + idle / low.max(1e-9))
}

fn by_amplification(one: &Sizes, other: &Sizes) -> std::cmp::Ordering {
    one.amplification.total_cmp(&other.amplification)
}

#[cfg(test)]
mod tests {
    use super::super::intervals::Intervals;
    use super::*;
    use crate::kit::Unit;

    #[test]
    fn a_last_group_copies_the_less_the_more_blocks_it_has() {
        // What is written at equal intervals of 100 blocks: in 150 blocks it is dead before it is collected.
        let periodic = |age: f64| if age < 100.0 { 1.0 } else { 0.0 };
        let copies = |blocks, idle| last_group(blocks, 100.0, idle, periodic).unwrap();
        assert!(copies(150.0, 0.0) < 1e-9);
        // In 120 blocks it is copied once on its way: two stays of 60 take 120.
        assert!((copies(120.0, 0.0) - 1.0).abs() < 1e-9);
        // Idle data is copied every 60 blocks, too.
        assert!((copies(120.0, 90.0) - 2.5).abs() < 1e-6, "{}", copies(120.0, 90.0));
        assert_eq!(last_group(90.0, 100.0, 0.0, periodic), None);
    }

    /// Half of the writes go to a 40th of a disk of 1,000 blocks, the others anywhere.
    fn skewed() -> Uid {
        const BLOCKS: u32 = 1_000;
        let units = BLOCKS * 16;
        let mut intervals = Intervals::new(units, 16);
        let mut dice = crate::kit::Dice::new(3);
        let mut now = 0;
        let mut write = |intervals: &mut Intervals, count: u32| {
            for _ in 0..count {
                now += 1;
                let range = if dice.below(2) == 0 { units / 40 } else { units };
                intervals.note(Unit(dice.below(range)), now);
            }
        };
        write(&mut intervals, 4 * units);
        intervals.take();
        write(&mut intervals, 2 * units);
        intervals.take()
    }

    #[test]
    fn a_skewed_load_is_given_groups_that_lower_its_amplification() {
        let uid = skewed();
        let space = Space { blocks: 1_100, data: 1_000.0 };
        let model = Model { uid: &uid, space };
        let alone = model.predict(0, &[]).unwrap();
        let best = model.best().unwrap();
        assert!(!best.chain.is_empty(), "{best:?}");
        assert!(best.amplification < 0.9 * alone.amplification, "{best:?} for {alone:?}");
        assert!(best.hot + best.chain.iter().sum::<u32>() < 1_100, "{best:?}");
        assert!(best.valid.iter().all(|share| (0.0..=1.0).contains(share)), "{best:?}");
    }

    #[test]
    fn a_disk_without_spare_blocks_has_no_model() {
        let uid = skewed();
        let space = Space { blocks: 900, data: 1_000.0 };
        assert_eq!(Model { uid: &uid, space }.best(), None);
    }
}
