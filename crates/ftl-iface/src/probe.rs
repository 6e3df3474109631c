//! Probes: observers of an FTL, for statistics, progress, plots, tracing.
//!
//! A [`Probe`] sees every page operation with its cause, and every decision. [`NoProbe`] ignores them all
//! and costs nothing; [`Counters`] counts operations by region and cause, and what Chang's analysis needs. It is
//! here, below every FTL, so that all of them are measured alike.

use crate::address::Region;
use crate::units::SectorCount;

/// The cause of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The host asked for it.
    Host,
    /// Garbage collection: reclaiming the log's tail, or folding a chain, to free blocks.
    Gc,
    /// Moving cold data onto a worn block.
    WearLeveling,
    /// Reading tags to find out which page of a chain of blocks holds which sector.
    Scan,
    /// Pages of a map that is kept on flash.
    Map,
    /// Moving data from the log to the chains.
    WriteBack,
    /// Headers, summaries, trims.
    Meta,
    /// Mounting, and proving what a mount found.
    Mount,
    /// Backing up paired pages, which the next program could corrupt.
    Backup,
    /// Reading pages to find weak ones, whose error counts have risen.
    Scrub,
}

impl Cause {
    /// All causes, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Host,
        Self::Gc,
        Self::WearLeveling,
        Self::Scan,
        Self::Map,
        Self::WriteBack,
        Self::Meta,
        Self::Mount,
        Self::Backup,
        Self::Scrub,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gc => "gc",
            Self::WearLeveling => "wear_leveling",
            Self::Scan => "scan",
            Self::Map => "map",
            Self::WriteBack => "write_back",
            Self::Meta => "meta",
            Self::Mount => "mount",
            Self::Backup => "backup",
            Self::Scrub => "scrub",
        }
    }
}

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// A page, or part of it, is read.
    Read,
    /// A page is programmed.
    Program,
    /// A block is erased.
    Erase,
}

impl Verb {
    /// All verbs, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Read, Self::Program, Self::Erase];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
        }
    }
}

/// The number of operations of a part of the hardware, by kind and cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations([[u64; Cause::ALL.len()]; Verb::ALL.len()]);

impl Operations {
    /// No operations yet.
    pub const NONE: Self = Self([[0; Cause::ALL.len()]; Verb::ALL.len()]);

    /// Counts one.
    #[inline]
    pub fn count(&mut self, verb: Verb, cause: Cause) {
        self.count_many(verb, cause, 1);
    }

    /// Counts that many.
    #[inline]
    pub fn count_many(&mut self, verb: Verb, cause: Cause, many: u64) {
        self.0[verb as usize][cause as usize] += many;
    }

    /// The number of operations of that kind and cause.
    #[inline]
    pub const fn get(&self, verb: Verb, cause: Cause) -> u64 {
        self.0[verb as usize][cause as usize]
    }

    /// The number of operations of that kind, whatever the cause.
    pub fn total(&self, verb: Verb) -> u64 {
        self.0[verb as usize].iter().sum()
    }

    /// The operations since `before`, an earlier state of the same count.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut since = *self;
        for (verb, earlier) in since.0.iter_mut().zip(&before.0) {
            for (count, earlier) in verb.iter_mut().zip(earlier) {
                *count -= earlier;
            }
        }
        since
    }
}

/// Why a hot write did not go to the fast area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Its hash table has no free entry.
    Index,
    /// It has no free page.
    Space,
    /// It wears too fast.
    Throttle,
}

/// A decision of the FTL, beside the operations that follow from it. The fast area is the small one, the log of a
/// hybrid FTL; the main area is the rest, its chains of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A host write went to the fast area.
    ToFast {
        /// How many sectors it has.
        sectors: SectorCount,
    },
    /// The rest of a host write went to the fast area, after whole pages of it went to the main one.
    RestToFast {
        /// How many sectors.
        sectors: SectorCount,
    },
    /// Sectors of a host write went to the main area.
    ToMain {
        /// How many.
        sectors: SectorCount,
    },
    /// A hot write went to the main area.
    Rejected(Rejection),
    /// A page was to be written to a chain: was the chain's map cached?
    Lookup {
        /// Whether the mapping cache had it.
        cached: bool,
    },
    /// A chain was scanned because its map was not cached.
    Scanned {
        /// Pages read for it.
        pages: u32,
    },
    /// The log's tail block was reclaimed.
    Reclaimed {
        /// Sectors in it that were still valid.
        valid: u32,
        /// Of those, how many were copied to the head.
        kept: u32,
    },
    /// A chain was folded into a new data block.
    Folded {
        /// The cause.
        cause: Cause,
        /// Blocks erased by it.
        erased: u32,
    },
    /// A log block in order became the data block.
    Switched {
        /// Blocks erased by it.
        erased: u32,
    },
}

/// An observer of the FTL. Every method has a default that does nothing.
pub trait Probe {
    /// An operation was done, or attempted.
    #[inline]
    fn operation(&mut self, region: Region, verb: Verb, cause: Cause) {
        let _ = (region, verb, cause);
    }

    /// The FTL made a decision.
    #[inline]
    fn event(&mut self, event: Event) {
        let _ = event;
    }
}

/// A probe that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {}

impl<P: Probe> Probe for &mut P {
    #[inline]
    fn operation(&mut self, region: Region, verb: Verb, cause: Cause) {
        (**self).operation(region, verb, cause);
    }

    #[inline]
    fn event(&mut self, event: Event) {
        (**self).event(event);
    }
}

/// Counts operations by region, verb and cause, and the events of the paper's analysis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// By region.
    operations: [Operations; 2],
    /// Sectors of host writes that went to the fast area.
    pub fast_sectors: u64,
    /// Host writes that went to the fast area.
    pub fast_writes: u64,
    /// Sectors of host writes that went to the main area.
    pub main_sectors: u64,
    /// Hot writes that found no free entry in the hash table.
    pub rejected_by_index: u64,
    /// Hot writes that found the fast area full.
    pub rejected_by_space: u64,
    /// Hot writes that the throttle rejected.
    pub rejected_by_throttle: u64,
    /// Page writes to chains.
    pub lookups: u64,
    /// Of those, how many found no cached map.
    pub misses: u64,
    /// Scans of chains.
    pub scans: u64,
    /// Pages read by them.
    pub scanned_pages: u64,
    /// Tail blocks reclaimed.
    pub reclaims: u64,
    /// Valid sectors found in them.
    pub reclaimed_valid: u64,
    /// Of those, copied to the head.
    pub reclaimed_kept: u64,
    /// Folds for garbage collection.
    pub folds: u64,
    /// Blocks that they erased.
    pub fold_erases: u64,
    /// Folds for wear leveling.
    pub wear_folds: u64,
    /// Switches.
    pub switches: u64,
}

/// A quotient of two counts, left undivided so that no floating point is needed here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// The numerator.
    pub part: u64,
    /// The denominator; zero when nothing was counted yet.
    pub whole: u64,
}

/// The factors of the paper's analysis (section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    /// The share of user data written to the fast area.
    pub alpha: Ratio,
    /// Valid sectors per tail block.
    pub n1: Ratio,
    /// Of those, copied to the head.
    pub n2: Ratio,
    /// Pages read per scan.
    pub n3: Ratio,
    /// Blocks erased per fold.
    pub n4: Ratio,
    /// Page writes to chains that found no cached map.
    pub p1: Ratio,
    /// Page writes to chains that needed a fold.
    pub p2: Ratio,
}

impl Counters {
    /// The number of operations of that kind and cause in that region.
    pub fn operations(&self, region: Region, verb: Verb, cause: Cause) -> u64 {
        self.region(region).get(verb, cause)
    }

    /// The number of operations of that kind in that region, whatever the cause.
    pub fn total(&self, region: Region, verb: Verb) -> u64 {
        self.region(region).total(verb)
    }

    /// The operations of that region.
    pub const fn region(&self, region: Region) -> &Operations {
        match region {
            Region::Slc => &self.operations[0],
            Region::Mlc => &self.operations[1],
        }
    }

    /// The factors of the paper's analysis.
    pub fn factors(&self) -> Factors {
        let ratio = |part, whole| Ratio { part, whole };
        Factors {
            alpha: ratio(self.fast_sectors, self.fast_sectors + self.main_sectors),
            n1: ratio(self.reclaimed_valid, self.reclaims),
            n2: ratio(self.reclaimed_kept, self.reclaims),
            n3: ratio(self.scanned_pages, self.scans),
            n4: ratio(self.fold_erases, self.folds),
            p1: ratio(self.misses, self.lookups),
            p2: ratio(self.folds, self.lookups),
        }
    }
}

impl Probe for Counters {
    #[inline]
    fn operation(&mut self, region: Region, verb: Verb, cause: Cause) {
        self.operations[region as usize].count(verb, cause);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::ToFast { sectors } => {
                self.fast_sectors += u64::from(sectors.get());
                self.fast_writes += 1;
            }
            Event::RestToFast { sectors } => self.fast_sectors += u64::from(sectors.get()),
            Event::ToMain { sectors } => self.main_sectors += u64::from(sectors.get()),
            Event::Rejected(Rejection::Index) => self.rejected_by_index += 1,
            Event::Rejected(Rejection::Space) => self.rejected_by_space += 1,
            Event::Rejected(Rejection::Throttle) => self.rejected_by_throttle += 1,
            Event::Lookup { cached } => {
                self.lookups += 1;
                self.misses += u64::from(!cached);
            }
            Event::Scanned { pages } => {
                self.scans += 1;
                self.scanned_pages += u64::from(pages);
            }
            Event::Reclaimed { valid, kept } => {
                self.reclaims += 1;
                self.reclaimed_valid += u64::from(valid);
                self.reclaimed_kept += u64::from(kept);
            }
            Event::Folded { cause: Cause::WearLeveling, .. } => self.wear_folds += 1,
            Event::Folded { erased, .. } => {
                self.folds += 1;
                self.fold_erases += u64::from(erased);
            }
            Event::Switched { .. } => self.switches += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_by_region_verb_and_cause() {
        let mut counters = Counters::default();
        counters.operation(Region::Mlc, Verb::Program, Cause::Gc);
        let before = *counters.region(Region::Mlc);
        counters.operation(Region::Mlc, Verb::Program, Cause::Gc);
        counters.operation(Region::Mlc, Verb::Program, Cause::Host);
        counters.operation(Region::Slc, Verb::Erase, Cause::Host);
        assert_eq!(counters.operations(Region::Mlc, Verb::Program, Cause::Gc), 2);
        assert_eq!(counters.total(Region::Mlc, Verb::Program), 3);
        assert_eq!(counters.total(Region::Slc, Verb::Program), 0);
        let since = counters.region(Region::Mlc).since(&before);
        assert_eq!(since.get(Verb::Program, Cause::Gc), 1);
        assert_eq!(since.total(Verb::Program), 2);
    }

    #[test]
    fn every_cause_and_verb_has_its_number_and_a_name_of_its_own() {
        for (at, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, at);
            assert!(Cause::ALL[..at].iter().all(|other| other.name() != cause.name()));
        }
        for (at, verb) in Verb::ALL.into_iter().enumerate() {
            assert_eq!(verb as usize, at);
        }
    }
}
