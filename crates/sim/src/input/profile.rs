//! A workload by the measures of Chang's Figure 7: counts of requests by size, and for each sector how often it was
//! written and read.
//!
//! The *update ratio* of a size is sectors written by writes of that size, over the distinct ones among them. Sectors
//! have 512 bytes here, as in the paper. Memory grows with the addresses touched (6 bytes a sector at most), not with
//! the trace's length.

use super::trace::{Op, Request};
use super::workload::Workload;
use crate::base::{Failure, Observer, show};
use hashbrown::HashMap;
use serde::Serialize;

/// Bytes of a sector, as the paper counts them.
pub const SECTOR: u64 = 512;

/// Classes of sizes and of hit counts: the powers of two that 16 bits hold.
pub const CLASSES: usize = 16;

/// Sectors per chunk: 2 MiB of the disk.
const CHUNK: u64 = 4096;

/// Counts of one kind, for each sector of a chunk. They saturate at 16 bits.
type SectorCounts = [u16; CHUNK as usize];

/// The counts of a chunk of sectors.
struct Written {
    hits: SectorCounts,
    /// Which sizes of writes wrote each sector: one bit per class.
    sizes: SectorCounts,
}

/// The running counts.
#[derive(Default)]
struct Census {
    sizes: [Size; CLASSES],
    written: HashMap<u64, Box<Written>>,
    read: HashMap<u64, Box<SectorCounts>>,
    requests: u64,
}

/// Requests of one class of sizes: larger than half of `sectors_most`, and no larger than it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Size {
    /// The largest size of the class; the last class includes all larger ones.
    pub sectors_most: u64,
    /// Writes of them.
    pub writes: u64,
    /// Reads of them.
    pub reads: u64,
    /// Sectors that these writes wrote, each as often as it was written.
    pub sectors_written: u64,
    /// The distinct ones among them.
    pub sectors_distinct: u64,
    /// The quotient of the two; `None` if nothing was written.
    pub update_ratio: Option<f64>,
}

/// Sectors whose hit count is in one class: at least `times_least`, and less than twice that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// The smallest count of the class; the last class includes all larger ones.
    pub times_least: u64,
    /// Sectors that were written that often.
    pub sectors_written: u64,
    /// Sectors that were read that often.
    pub sectors_read: u64,
}

/// The profile of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Writes.
    pub writes: u64,
    /// Reads.
    pub reads: u64,
    /// Bytes written, repeated writes included.
    pub bytes_written: u64,
    /// Bytes read, repeated reads included.
    pub bytes_read: u64,
    /// Distinct bytes written.
    pub bytes_touched: u64,
    /// By the size of the request.
    pub sizes: [Size; CLASSES],
    /// By how often a sector was touched.
    pub hits: [Hits; CLASSES],
}

impl Profile {
    /// Whether there was neither write nor read.
    pub const fn is_empty(&self) -> bool {
        self.writes == 0 && self.reads == 0
    }

    /// The writes of at most that many sectors, a power of two.
    #[allow(clippy::cast_precision_loss)] // A share is shown with few digits.
    pub fn share_up_to(&self, sectors: u64) -> f64 {
        let small = self.sizes.iter().filter(|size| size.sectors_most <= sectors);
        small.map(|size| size.writes).sum::<u64>() as f64 / self.writes.max(1) as f64
    }
}

/// Checks for a stop after this many requests.
const LOOKED_EVERY: u64 = 4096;

/// Counts the requests of a workload on a disk of that capacity.
pub fn profile(
    workload: &Workload,
    passes: u32,
    capacity: u64,
    observer: &dyn Observer,
) -> Result<Profile, Failure> {
    let (mut census, stop) = (Census::default(), observer.stop());
    for pass in 0..passes {
        let mut stream = workload.open(capacity, observer);
        while let Some(request) = stream.next_request()? {
            census.note(&request);
            if !census.requests.is_multiple_of(LOOKED_EVERY) {
                continue;
            }
            let whole = |here| (f64::from(pass) + here) / f64::from(passes);
            observer.at(stream.fraction().map(whole), census.requests);
            if stop.is_requested() {
                let counted = format!("{} requests were counted", show::count(census.requests));
                return Err(Failure::Interrupted(counted));
            }
        }
    }
    observer.done();
    Ok(census.profile())
}

/// The class whose sizes go up to the next power of two.
fn size_class(sectors: u64) -> usize {
    (sectors.max(1).next_power_of_two().trailing_zeros() as usize).min(CLASSES - 1)
}

impl Census {
    /// Notes a request. Sectors that it covers in part count as whole ones.
    fn note(&mut self, request: &Request) {
        self.requests += 1;
        let first = request.offset / SECTOR;
        let end = request.end().div_ceil(SECTOR);
        match request.op {
            Op::Write if end > first => self.write(first, end),
            Op::Read if end > first => self.read(first, end),
            _ => {}
        }
    }

    fn write(&mut self, first: u64, end: u64) {
        let class = size_class(end - first);
        let size = &mut self.sizes[class];
        size.writes += 1;
        size.sectors_written += end - first;
        let bit = 1_u16 << class;
        for (chunk, from, to) in chunks(first, end) {
            let written = self.written.entry(chunk).or_insert_with(|| {
                Box::new(Written { hits: [0; CHUNK as usize], sizes: [0; CHUNK as usize] })
            });
            for hits in &mut written.hits[from..to] {
                *hits = hits.saturating_add(1);
            }
            for sizes in &mut written.sizes[from..to] {
                size.sectors_distinct += u64::from(*sizes & bit == 0);
                *sizes |= bit;
            }
        }
    }

    fn read(&mut self, first: u64, end: u64) {
        self.sizes[size_class(end - first)].reads += 1;
        for (chunk, from, to) in chunks(first, end) {
            let read = self.read.entry(chunk).or_insert_with(|| Box::new([0; CHUNK as usize]));
            for hits in &mut read[from..to] {
                *hits = hits.saturating_add(1);
            }
        }
    }

    /// The counts.
    #[allow(clippy::cast_precision_loss)] // A ratio is shown with few digits.
    fn profile(mut self) -> Profile {
        let mut most = 1;
        for size in &mut self.sizes {
            size.sectors_most = most;
            most *= 2;
            size.update_ratio = (size.sectors_distinct > 0)
                .then(|| size.sectors_written as f64 / size.sectors_distinct as f64);
        }
        let mut hits = [Hits::default(); CLASSES];
        for (class, hits) in hits.iter_mut().enumerate() {
            hits.times_least = 1 << class;
        }
        let (mut bytes_touched, mut bytes_read) = (0, 0);
        for count in self.written.values().flat_map(|written| written.hits) {
            if let Some(class) = count.checked_ilog2() {
                hits[class as usize].sectors_written += 1;
                bytes_touched += SECTOR;
            }
        }
        for count in self.read.values().flat_map(|read| **read) {
            bytes_read += u64::from(count) * SECTOR;
            if let Some(class) = count.checked_ilog2() {
                hits[class as usize].sectors_read += 1;
            }
        }
        let sum = |figure: fn(&Size) -> u64| self.sizes.iter().map(figure).sum::<u64>();
        Profile {
            writes: sum(|size| size.writes),
            reads: sum(|size| size.reads),
            bytes_written: sum(|size| size.sectors_written) * SECTOR,
            bytes_read,
            bytes_touched,
            sizes: self.sizes,
            hits,
        }
    }
}

/// The chunks of a run of sectors, and which of the sectors of each.
fn chunks(first: u64, end: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    (first / CHUNK..end.div_ceil(CHUNK)).map(move |chunk| {
        let start = chunk * CHUNK;
        let from = first.max(start) - start;
        let to = end.min(start + CHUNK) - start;
        (chunk, from as usize, to as usize)
    })
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // The ratios are of small whole numbers.
mod tests {
    use nand_model::part::Nanos;

    use super::*;

    fn profile(requests: &[(Op, u64, u64)]) -> Profile {
        let mut census = Census::default();
        for (op, first, sectors) in requests {
            let (offset, length) = (first * SECTOR, sectors * SECTOR);
            census.note(&Request::new(Nanos::ZERO, *op, offset, length));
        }
        census.profile()
    }

    #[test]
    fn sizes_fall_into_the_class_of_the_next_power_of_two() {
        for (sectors, class) in [(1, 0), (2, 1), (3, 2), (4, 2), (8, 3), (9, 4), (1 << 20, 15)] {
            assert_eq!(size_class(sectors), class, "{sectors}");
        }
    }

    #[test]
    fn an_update_ratio_counts_writes_of_its_own_size_alone() {
        let profile = profile(&[
            (Op::Write, 0, 8),
            (Op::Write, 0, 8),
            (Op::Write, 4, 8),
            (Op::Write, 0, 128),
            (Op::Read, 0, 128),
        ]);
        let [eight, large] = [3, 7].map(|class: usize| profile.sizes[class]);
        assert_eq!((eight.writes, eight.sectors_written, eight.sectors_distinct), (3, 24, 12));
        assert_eq!((eight.update_ratio, large.update_ratio), (Some(2.0), Some(1.0)));
        assert_eq!((large.writes, large.reads), (1, 1));
        assert_eq!(profile.sizes[0].update_ratio, None);
        assert_eq!(profile.share_up_to(8), 0.75);
    }

    #[test]
    fn hits_are_counted_by_sector_over_chunk_borders() {
        let border = CHUNK - 4;
        let profile = profile(&[
            (Op::Write, border, 8),
            (Op::Write, border, 8),
            (Op::Write, border + 2, 4),
            (Op::Read, border, 8),
            (Op::Trim, 0, 100),
        ]);
        // Four sectors twice, four sectors thrice.
        assert_eq!(profile.hits[1].sectors_written, 8);
        assert_eq!(profile.hits[0].sectors_read, 8);
        assert_eq!(profile.bytes_touched, 8 * SECTOR);
        assert_eq!((profile.bytes_written, profile.bytes_read), (20 * SECTOR, 8 * SECTOR));
    }

    #[test]
    fn what_was_never_written_or_read_is_an_empty_profile() {
        assert!(profile(&[(Op::Trim, 0, 8), (Op::Write, 0, 0)]).is_empty());
    }
}
