//! How many writes of which size: eleven classes, in which old writes fade.

use core::num::NonZeroU32;

use ftl_iface::SectorCount;

/// How many classes there are: 2^0 to 2^10 sectors, as in Chang §3.2.
pub(super) const CLASSES: usize = 11;

/// A class of sizes: those that lie nearest to the same power of two.
///
/// A size halfway between two powers (3, 6, 12, …) belongs to the larger one. The threshold of a
/// class is at least its power, so the tie decides whether such sizes lie under their own
/// threshold; and they are common, since a 4-KiB write that is not aligned to 2-KiB sectors covers
/// three of them. Sizes beyond 1,024 sectors belong to the last class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class(u8);

impl Class {
    const LAST: u8 = CLASSES as u8 - 1;

    /// The class of a size. A size of zero, which is no write, falls into the first.
    #[inline]
    pub(super) fn of(size: SectorCount) -> Self {
        let size = size.get().clamp(1, Self(Self::LAST).power().get());
        let floor = size.ilog2();
        // The bit below the topmost is set from halfway to the next power on. Doubled first,
        // because 1 has no such bit.
        let halfway = ((size << 1) >> floor) & 1;
        Self((floor + halfway) as u8)
    }

    /// Every class, the smallest first.
    pub(super) fn all() -> impl Iterator<Item = Self> + Clone {
        (0..=Self::LAST).map(Self)
    }

    /// The power of two that the class is named after.
    pub(super) const fn power(self) -> SectorCount {
        SectorCount::new(1 << self.0)
    }

    /// How many classes further up or down the other one lies.
    pub(super) const fn steps_to(self, other: Self) -> u32 {
        self.0.abs_diff(other.0) as u32
    }

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What was written lately, by class: how many writes, and how many sectors they had together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Histogram {
    writes: [u32; CLASSES],
    sectors: [u32; CLASSES],
}

impl Histogram {
    /// The histogram of a device that was not yet written to.
    pub(super) const fn new() -> Self {
        Self { writes: [0; CLASSES], sectors: [0; CLASSES] }
    }

    /// Counts a write. Both counts stop at their largest value rather than wrap: at 1,024 sectors a
    /// write and halved each period, a period would have to exceed two million writes for that.
    #[inline]
    pub(super) fn note(&mut self, size: SectorCount) {
        let class = Class::of(size).index();
        if let Some(writes) = self.writes.get_mut(class) {
            *writes = writes.saturating_add(1);
        }
        if let Some(sectors) = self.sectors.get_mut(class) {
            *sectors = sectors.saturating_add(size.get());
        }
    }

    /// The writes of each class.
    pub(super) const fn writes(&self) -> &[u32; CLASSES] {
        &self.writes
    }

    /// Writes and sectors of each class, the smallest first.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, u32)> {
        self.writes.iter().copied().zip(self.sectors)
    }

    /// The same, to be set.
    pub(super) fn counts_mut(&mut self) -> impl Iterator<Item = (&mut u32, &mut u32)> {
        self.writes.iter_mut().zip(&mut self.sectors)
    }

    /// The mean size of the writes in a class, rounded to whole sectors; its power where nothing
    /// was counted.
    pub(super) fn mean(&self, class: Class) -> SectorCount {
        let writes = self.writes.get(class.index()).copied().and_then(NonZeroU32::new);
        let (Some(writes), Some(sectors)) = (writes, self.sectors.get(class.index())) else {
            return class.power();
        };
        SectorCount::new(sectors.saturating_add(writes.get() / 2) / writes)
    }

    /// Halves every count, so that a write weighs half as much as one of the next period.
    pub(super) fn fade(&mut self) {
        for class in Class::all() {
            let mean = self.mean(class).get();
            let index = class.index();
            let (Some(writes), Some(sectors)) =
                (self.writes.get_mut(index), self.sectors.get_mut(index))
            else {
                continue;
            };
            // An odd write leaves together with its mean, so that few writes keep the mean of many,
            // and the last one leaves nothing behind.
            if *writes % 2 == 1 {
                *sectors = sectors.saturating_sub(mean);
            }
            *writes /= 2;
            *sectors /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_of(size: u32) -> u32 {
        Class::of(SectorCount::new(size)).power().get()
    }

    fn filled(sizes: &[u32]) -> Histogram {
        let mut histogram = Histogram::new();
        for size in sizes {
            histogram.note(SectorCount::new(*size));
        }
        histogram
    }

    #[test]
    fn a_size_belongs_to_the_nearest_power_and_halfway_to_the_larger() {
        for (size, power) in [(1, 1), (2, 2), (3, 4), (4, 4), (5, 4), (6, 8), (11, 8), (12, 16)] {
            assert_eq!(power_of(size), power, "{size} sectors");
        }
        for size in 1..=1024_u32 {
            let distance = |class: Class| class.power().get().abs_diff(size);
            let nearest = Class::all().map(distance).min();
            assert_eq!(nearest, Some(power_of(size).abs_diff(size)), "{size} sectors");
        }
    }

    #[test]
    fn sizes_beyond_the_last_class_count_in_it_and_zero_counts_in_the_first() {
        assert_eq!([0, 767, 768, 1025, u32::MAX].map(power_of), [1, 512, 1024, 1024, 1024]);
    }

    #[test]
    fn a_class_knows_the_mean_of_its_sizes_and_an_empty_one_its_power() {
        let histogram = filled(&[5, 5, 4, 200]);
        assert_eq!(histogram.mean(Class::of(SectorCount::new(4))).get(), 5);
        assert_eq!(histogram.mean(Class::of(SectorCount::new(200))).get(), 200);
        assert_eq!(histogram.mean(Class::of(SectorCount::new(64))).get(), 64);
    }

    #[test]
    fn counts_fade_to_nothing_and_the_mean_stays_until_then() {
        let five = SectorCount::new(5);
        let mut histogram = filled(&[5; 1001]);
        for left in [500, 250, 125, 62, 31, 15, 7, 3, 1] {
            histogram.fade();
            assert_eq!(histogram.writes().iter().sum::<u32>(), left);
            assert_eq!(histogram.mean(Class::of(five)), five, "with {left} writes left");
        }
        histogram.fade();
        assert_eq!((histogram.writes, histogram.sectors), ([0; CLASSES], [0; CLASSES]));
    }

    #[test]
    fn counts_stop_at_their_largest_value() {
        let mut histogram = filled(&[u32::MAX, u32::MAX]);
        histogram.writes = [u32::MAX; CLASSES];
        histogram.note(SectorCount::new(1));
        assert_eq!(histogram.writes, [u32::MAX; CLASSES]);
        assert_eq!(histogram.sectors.last(), Some(&u32::MAX));
        histogram.fade();
    }
}
