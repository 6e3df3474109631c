//! The exact optimum of Chang's two-means clustering (§3.2, Algorithm 1).
//!
//! A histogram over classes is split behind some class `p` into a small and a large part, with centres `i` and `j`. We
//! look for the split that minimises `Σ_{k≤p} c[k]·|k−i| + Σ_{k>p} c[k]·|k−j|`. The paper alternates between improving
//! the centres and improving the split, and stops at the first split that neither step improves. Started at zero with
//! 68 writes of 8 sectors and 32 of 128, it returns one sector. With eleven classes there are ten splits, and for each
//! the best centres are the weighted medians of its parts; so all are tried.

use core::ops::Range;

use super::histogram::{CLASSES, Class};

/// One part of a split histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// Its median: of two that serve equally, the smaller.
    pub(super) centre: Class,
    /// How many writes it has.
    pub(super) writes: u64,
    /// How many classes its writes lie from the centre, all together.
    cost: u64,
}

/// What a histogram shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modes {
    /// Nothing was counted.
    None,
    /// Everything counted is of one class.
    One(Class),
    /// The best split into two parts.
    Two {
        /// The part of the smaller sizes.
        small: Cluster,
        /// The part of the larger sizes.
        large: Cluster,
    },
}

/// Finds the best split. Of several equally good ones it is that with the smallest centres: what
/// wrongly enters the SLC is written twice, what wrongly stays out is written once, but slowly.
///
/// A histogram with two or more classes always splits into two parts that hold writes, since moving
/// its smallest class into a part of its own saves at least one step.
pub(super) fn modes(writes: &[u32; CLASSES]) -> Modes {
    let mut best: Option<(Cluster, Cluster)> = None;
    for end in 1..CLASSES {
        let (Some(small), Some(large)) = (part(writes, 0..end), part(writes, end..CLASSES)) else {
            continue;
        };
        // Both medians only rise with the split, so the first of equal splits has the smallest
        // centres.
        if best.is_none_or(|(low, high)| small.cost + large.cost < low.cost + high.cost) {
            best = Some((small, large));
        }
    }
    match best {
        Some((small, large)) => Modes::Two { small, large },
        None => part(writes, 0..CLASSES).map_or(Modes::None, |only| Modes::One(only.centre)),
    }
}

/// The centre, weight and cost of those classes, or `None` if they hold no writes. No sum can
/// overflow: eleven counts of 32 bits, each times ten steps at most.
#[inline(never)]
fn part(writes: &[u32; CLASSES], of: Range<usize>) -> Option<Cluster> {
    let counts = Class::all().zip(writes).filter(|(class, _)| of.contains(&class.index()));
    let writes: u64 = counts.clone().map(|(_, count)| u64::from(*count)).sum();
    let mut passed = 0;
    let (centre, _) = counts.clone().find(|(_, count)| {
        passed += u64::from(**count);
        passed > 0 && passed * 2 >= writes
    })?;
    let cost =
        counts.map(|(class, count)| u64::from(*count) * u64::from(class.steps_to(centre))).sum();
    Some(Cluster { centre, writes, cost })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The objective as the paper means it.
    fn cost(c: &[u32; CLASSES], i: usize, j: usize, p: usize) -> u64 {
        let side = |k: usize| if k <= p { i } else { j };
        (0..CLASSES).map(|k| u64::from(c[k]) * side(k).abs_diff(k) as u64).sum()
    }

    /// Algorithm 1 as it is printed: from zero, the centres and the split in turn until nothing
    /// improves.
    fn printed(c: &[u32; CLASSES]) -> usize {
        let mut p = 0;
        loop {
            let centres = (0..CLASSES).flat_map(|i| (i..CLASSES).map(move |j| (i, j)));
            let (i, j) = centres.min_by_key(|(i, j)| cost(c, *i, *j, p)).unwrap();
            let before = cost(c, i, j, p);
            p = (0..CLASSES).min_by_key(|p| cost(c, i, j, *p)).unwrap();
            if cost(c, i, j, p) == before {
                return i;
            }
        }
    }

    fn counts<const N: usize>(of: [(usize, u32); N]) -> [u32; CLASSES] {
        let mut counts = [0; CLASSES];
        for (class, count) in of {
            counts[class] = count;
        }
        counts
    }

    fn exponent(class: Class) -> u32 {
        Class::all().position(|other| other == class).unwrap() as u32
    }

    /// The centres found, as exponents.
    fn centres(c: &[u32; CLASSES]) -> (u32, u32) {
        match modes(c) {
            Modes::Two { small, large } => (exponent(small.centre), exponent(large.centre)),
            other => panic!("{c:?} splits, yet gives {other:?}"),
        }
    }

    #[test]
    fn the_printed_algorithm_is_caught_at_one_sector_and_the_exact_one_is_not() {
        let workload = counts([(3, 68), (7, 32)]);
        assert_eq!(printed(&workload), 0);
        assert_eq!(centres(&workload), (3, 7));
    }

    #[test]
    fn an_empty_histogram_has_no_mode_and_a_single_class_is_one() {
        assert_eq!(modes(&counts([])), Modes::None);
        for class in Class::all() {
            assert_eq!(modes(&counts([(exponent(class) as usize, 7)])), Modes::One(class));
        }
    }

    #[test]
    fn adjacent_classes_are_two_parts() {
        assert_eq!(centres(&counts([(4, 1), (5, 1000)])), (4, 5));
    }

    #[test]
    fn of_equally_good_splits_the_one_with_the_smallest_centres_is_taken() {
        // {3 | 5, 7} and {3, 5 | 7} both cost 100; so does each class between the two of a pair as
        // their centre.
        assert_eq!(centres(&counts([(3, 50), (5, 50), (7, 50)])), (3, 5));
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        assert_eq!(centres(&[u32::MAX; CLASSES]), (2, 7));
    }

    proptest! {
        #[test]
        fn no_split_and_no_centres_are_better_and_no_equal_ones_smaller(
            c in prop::array::uniform11(prop_oneof![Just(0_u32), 0_u32..8, any::<u32>()])
        ) {
            let used = c.iter().filter(|count| **count > 0).count();
            prop_assume!(used >= 2);
            let (small, large) = centres(&c);
            let all = (0..CLASSES).flat_map(|i| {
                (i..CLASSES).flat_map(move |j| (0..CLASSES).map(move |p| (i, j, p)))
            });
            let least = all.clone().map(|(i, j, p)| cost(&c, i, j, p)).min().unwrap();
            // Among the optimal centres, of parts that both hold writes, ours are the smallest in
            // both places.
            let holds = |p: usize| c[..=p].iter().any(|n| *n > 0) && c[p + 1..].iter().any(|n| *n > 0);
            let optimal = all.filter(|(i, j, p)| holds(*p) && cost(&c, *i, *j, *p) == least);
            let smallest = optimal.map(|(i, j, _)| (i as u32, j as u32)).min();
            prop_assert_eq!(smallest, Some((small, large)));
        }

        #[test]
        fn the_printed_algorithm_is_never_better(
            c in prop::array::uniform11(0_u32..100)
        ) {
            prop_assume!(c.iter().filter(|count| **count > 0).count() >= 2);
            let best = |i: usize| {
                let rest = (i..CLASSES).flat_map(|j| (0..CLASSES).map(move |p| (j, p)));
                rest.map(|(j, p)| cost(&c, i, j, p)).min().unwrap()
            };
            prop_assert!(best(centres(&c).0 as usize) <= best(printed(&c)));
        }
    }
}
