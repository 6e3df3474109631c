//! Counts of writes by size, in eleven classes; old writes lose weight.

use core::num::NonZeroU32;

use crate::quotient::ceil;
use ftl_iface::{Bytes, SectorCount};

/// How many classes there are: 2^0 to 2^10 times 512 bytes, as in Chang §3.2.
pub(super) const CLASSES: usize = 11;

/// The smallest class, in bytes: what the paper calls a sector, whatever the FTL maps in.
const SMALLEST: Bytes = Bytes::new(512);

/// A class of sizes: those that lie nearest to the same power of two times 512 bytes.
///
/// A size halfway between two powers (3, 6, 12, …) belongs to the larger one. The threshold of a
/// class is at least its power, so the tie decides whether such sizes lie under their own
/// threshold; and they are common, since a 4-KiB write that is not aligned to 2-KiB sectors covers
/// three of them. Sizes beyond 512 KiB belong to the last class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class(u8);

impl Class {
    const LAST: u8 = CLASSES as u8 - 1;

    /// The class of that many sectors. A size of zero, which is no write, falls into the first.
    #[inline]
    fn of(sectors: u32, scale: Scale) -> Self {
        let size = sectors.max(1);
        // The logarithm, of which the smallest builds would keep the panic: the size is one at least.
        let floor = u32::BITS - 1 - size.leading_zeros();
        // The bit below the topmost is set from halfway to the next power on. Doubled first,
        // because 1 has no such bit.
        let halfway = ((size << 1) >> floor) & 1;
        let class = floor + halfway + u32::from(scale.0);
        Self(class.min(Self::LAST.into()) as u8)
    }

    /// Every class, the smallest first.
    pub(super) fn all() -> impl Iterator<Item = Self> + Clone {
        (0..=Self::LAST).map(Self)
    }

    /// How many classes further up or down the other one lies.
    pub(super) const fn steps_to(self, other: Self) -> u32 {
        self.0.abs_diff(other.0) as u32
    }

    /// Its number.
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How long a sector is, as a power of two times 512 bytes: what lies between the sizes of classes and those of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale(u8);

impl Scale {
    /// That of a sector, which is a power of two of 512 bytes or more.
    pub(super) const fn of(sector: Bytes) -> Self {
        match (sector.get() / SMALLEST.get()).checked_ilog2() {
            Some(power) => Self(power as u8),
            None => Self(0),
        }
    }

    /// The class of a write.
    #[inline]
    pub(super) fn class(self, size: SectorCount) -> Class {
        Class::of(size.get(), self)
    }

    /// The power of two that a class is named after, in sectors; one where it is less.
    pub(super) const fn power(self, class: Class) -> SectorCount {
        let sectors = (1_u32 << class.0).wrapping_shr(self.0 as u32);
        SectorCount::new(if sectors == 0 { 1 } else { sectors })
    }

    /// So many bytes in sectors. One that is cut counts: a write of that many bytes covers it.
    pub(super) const fn sectors(self, bytes: Bytes) -> SectorCount {
        let sector = SMALLEST.get().wrapping_shl(self.0 as u32);
        SectorCount::new(ceil(bytes.get(), sector))
    }
}

/// What was written lately, by class: how many writes, and how many sectors they had together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Histogram {
    scale: Scale,
    writes: [u32; CLASSES],
    sectors: [u32; CLASSES],
}

impl Histogram {
    /// The histogram of a device that was not yet written to.
    pub(super) const fn new(scale: Scale) -> Self {
        Self { scale, writes: [0; CLASSES], sectors: [0; CLASSES] }
    }

    /// How long its sectors are.
    pub(super) const fn scale(&self) -> Scale {
        self.scale
    }

    /// Counts a write. Both counts stop at their largest value rather than wrap: at 1,024 sectors a
    /// write and halved each period, a period would have to exceed two million writes for that.
    #[inline]
    pub(super) fn note(&mut self, size: SectorCount) {
        let class = self.scale.class(size).index();
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
            return self.scale.power(class);
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

    const PLAIN: Scale = Scale::of(SMALLEST);

    fn class_of(size: u32) -> Class {
        PLAIN.class(SectorCount::new(size))
    }

    fn power_of(size: u32) -> u32 {
        PLAIN.power(class_of(size)).get()
    }

    fn filled(sizes: &[u32]) -> Histogram {
        let mut histogram = Histogram::new(PLAIN);
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
            let distance = |class: Class| PLAIN.power(class).get().abs_diff(size);
            let nearest = Class::all().map(distance).min();
            assert_eq!(nearest, Some(power_of(size).abs_diff(size)), "{size} sectors");
        }
    }

    #[test]
    fn a_size_in_bytes_is_of_one_class_whatever_the_sectors() {
        for sector in [512, 1024, 2048, 4096, 8192, 16_384] {
            let scale = Scale::of(Bytes::new(sector));
            for bytes in [16_384, 24_576, 32_768, 49_152, 65_536, 524_288, 786_432, 1 << 30] {
                let class = scale.class(scale.sectors(Bytes::new(bytes)));
                assert_eq!(class, class_of(bytes / 512), "{bytes} bytes in sectors of {sector}");
                assert_eq!(scale.power(class).get() * sector, power_of(bytes / 512) * 512);
            }
        }
        let large = Scale::of(Bytes::new(16_384));
        assert_eq!(large.sectors(Bytes::new(4096)).get(), 1, "a cut sector counts");
        assert_eq!(large.power(class_of(8)).get(), 1);
        assert_eq!(large.class(SectorCount::new(u32::MAX)), class_of(1024));
    }

    #[test]
    fn sizes_beyond_the_last_class_count_in_it_and_zero_counts_in_the_first() {
        assert_eq!([0, 767, 768, 1025, u32::MAX].map(power_of), [1, 512, 1024, 1024, 1024]);
    }

    #[test]
    fn a_class_knows_the_mean_of_its_sizes_and_an_empty_one_its_power() {
        let histogram = filled(&[5, 5, 4, 200]);
        assert_eq!(histogram.mean(class_of(4)).get(), 5);
        assert_eq!(histogram.mean(class_of(200)).get(), 200);
        assert_eq!(histogram.mean(class_of(64)).get(), 64);
    }

    #[test]
    fn counts_fade_to_nothing_and_the_mean_stays_until_then() {
        let five = SectorCount::new(5);
        let mut histogram = filled(&[5; 1001]);
        for left in [500, 250, 125, 62, 31, 15, 7, 3, 1] {
            histogram.fade();
            assert_eq!(histogram.writes().iter().sum::<u32>(), left);
            assert_eq!(histogram.mean(class_of(5)), five, "with {left} writes left");
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
