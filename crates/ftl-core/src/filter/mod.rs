//! The hot-data filter: is a write hot or cold? It decides by the size of the write.
//!
//! Small writes repeat and large ones do not (Chang §3.2 and Fig. 7b). Where "small" ends depends on the workload:
//! most writes are either small or large, and hardly any are in between. The filter counts writes by size class, finds
//! the two clusters, and calls a write hot if it is no larger than the cluster of the small ones. Limits are in bytes,
//! so the same workload gets the same threshold whatever sector size the FTL maps. Classes are the paper's, powers of
//! two times 512 bytes up to 512 KiB.
//!
//! What the paper leaves open, and what is done here:
//!
//! | case | rule |
//! |---|---|
//! | nothing was counted yet | the threshold is [`FilterConfig::initial`] |
//! | all writes are of one class | all of it is hot, up to [`FilterConfig::largest`] |
//! | no small write was seen | no write seen is hot; the threshold is `initial`, for later ones |
//! | both clusters are above `largest` | the classes up to `largest` are split by themselves |
//! | the clusters are neighbouring classes | one cluster, cut in two: the larger centre |
//! | even the larger cluster is not above `initial` | both are small: the larger centre |
//! | the smaller cluster is under a sixteenth | outliers: the larger centre |
//! | a class's sizes are above its power of two | the class is represented by their mean |
//! | the workload changes | counts are halved each period: the threshold moves within six |
//!
//! The larger centre is never the threshold if it is above [`FilterConfig::largest`]: however rare small writes are
//! among large ones, the threshold is theirs.

mod histogram;
mod image;
mod runs;
mod two_medians;

pub use runs::Runs;

use ftl_iface::{Bytes, SectorCount};

use histogram::{CLASSES, Class, Histogram, Scale};
use two_medians::{Cluster, Modes};

/// Options of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterConfig {
    /// The threshold before anything was seen: a size that file systems write metadata in, such as
    /// 4 KiB.
    pub initial: Bytes,
    /// Never call a larger write hot, whatever the workload looks like. This cap is ours: the paper lets the smaller
    /// heap lie anywhere, and a workload of large writes alone would have one heap, which is hot.
    pub largest: Bytes,
    /// The sectors in which writes are counted.
    pub sector: Bytes,
    /// Writes between two recomputations of the threshold.
    pub period: u32,
}

impl FilterConfig {
    /// The period that the paper proposes (§3.2).
    pub const PERIOD: u32 = 1_000;
}

/// Strays are fewer than one write in this many. The small heaps that the paper shows hold most of all
/// writes (Fig. 7a); a sixteenth is far from that, and still sixty writes in a period.
const STRAYS: u64 = 16;

/// The hot-data filter by size.
#[derive(Clone, Copy, Debug)]
pub struct SizeFilter {
    /// As they were configured, in sectors.
    initial: SectorCount,
    largest: SectorCount,
    period: u32,
    histogram: Histogram,
    /// Writes since the last recomputation.
    seen: u32,
    threshold: SectorCount,
}

impl SizeFilter {
    /// A filter that has seen nothing yet.
    pub const fn new(config: FilterConfig) -> Self {
        let scale = Scale::of(config.sector);
        let (mut initial, largest) = (scale.sectors(config.initial), scale.sectors(config.largest));
        if initial.get() > largest.get() {
            initial = largest;
        }
        let histogram = Histogram::new(scale);
        Self { initial, largest, period: config.period, histogram, seen: 0, threshold: initial }
    }

    /// Counts a write request of that size, hot or cold. Each [`FilterConfig::period`] writes the
    /// threshold is found anew, and what was counted so far fades.
    #[inline]
    pub fn note_write(&mut self, size: SectorCount) {
        if size.is_zero() {
            return;
        }
        self.histogram.note(size);
        self.seen = self.seen.saturating_add(1);
        if self.seen >= self.period {
            self.seen = 0;
            self.recompute();
        }
    }

    /// Whether a write request of that size is likely to carry hot data. Its true size counts, not
    /// its class.
    #[inline]
    pub fn is_hot(&self, size: SectorCount) -> bool {
        size <= self.threshold
    }

    /// The size of the largest write that is called hot. Never above [`FilterConfig::largest`].
    #[inline]
    pub const fn threshold(&self) -> SectorCount {
        self.threshold
    }

    #[cold]
    fn recompute(&mut self) {
        let all = self.histogram.writes();
        let centre = self.small_centre(all).filter(|class| self.may_be_hot(*class));
        // Where even the smaller sizes are mostly large, the few that are not have a heap of their
        // own.
        let centre = centre.or_else(|| self.small_centre(&self.writes_that_may_be_hot()));
        self.threshold = match centre {
            Some(class) => self.size_of(class).min(self.largest),
            None => self.initial,
        };
        self.histogram.fade();
    }

    /// The centre of the small writes among those counted.
    fn small_centre(&self, writes: &[u32; CLASSES]) -> Option<Class> {
        match two_medians::modes(writes) {
            Modes::None => None,
            Modes::One(class) => Some(class),
            Modes::Two { small, large } if self.are_one_heap(&small, &large) => Some(large.centre),
            Modes::Two { small, .. } => Some(small.centre),
        }
    }

    /// Whether a split in two told no small writes from large ones, but cut one heap.
    fn are_one_heap(&self, small: &Cluster, large: &Cluster) -> bool {
        if !self.may_be_hot(large.centre) {
            return false;
        }
        let strays = (small.writes + large.writes) / STRAYS;
        let neighbours = small.centre.steps_to(large.centre) == 1;
        let both_small = self.size_of(large.centre) <= self.initial;
        small.writes < strays || (large.writes >= strays && (neighbours || both_small))
    }

    /// The histogram without the classes that lie above the largest write that may be hot.
    fn writes_that_may_be_hot(&self) -> [u32; CLASSES] {
        let mut writes = *self.histogram.writes();
        for (class, count) in Class::all().zip(&mut writes) {
            if !self.may_be_hot(class) {
                *count = 0;
            }
        }
        writes
    }

    fn may_be_hot(&self, class: Class) -> bool {
        self.histogram.mean(class) <= self.largest
    }

    /// The size that a class stands for: its power of two as in the paper, or more where its writes
    /// are larger. A workload of five-sector writes would else lie above its own threshold.
    fn size_of(&self, class: Class) -> SectorCount {
        self.histogram.mean(class).max(self.histogram.scale().power(class))
    }
}

#[cfg(test)]
mod tests;
