//! A run's result: the content of its JSON, under stable names.
//!
//! The schema gets a new number when a name or a meaning changes; names may be added. A figure without measurements
//! (such as the mean of no reads) is `null`.

use std::collections::BTreeMap;

use ftl_iface::{Bytes, Cause, Operations, Region, SectorCount, Verb};
use serde::{Deserialize, Serialize};

mod rounds;

pub use rounds::{Round, Steady};

/// The schema's number.
pub const SCHEMA: u32 = 2;

/// The bytes that a host writes each day, for lifetimes, unless told otherwise: 20 GB, as makers of client disks
/// assume.
pub const BYTES_A_DAY: u64 = 20_000_000_000;

/// The life in years of blocks of which that share was worn, while a host wrote that many bytes, if it writes that many
/// a day.
#[allow(clippy::cast_precision_loss)] // Years are shown with two digits.
pub fn lifetime_years(worn: f64, bytes: u64, a_day: u64) -> Option<f64> {
    const DAYS: f64 = 365.25;
    let days = bytes as f64 / a_day as f64 / worn;
    (worn > 0.0 && bytes > 0).then_some(days / DAYS)
}

/// One run of one system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The system, as it was named.
    pub system: String,
    /// The device's name.
    pub device: String,
    /// Bytes of SLC that the system uses.
    pub slc_bytes: u64,
    /// Whether the device's channels, dies and planes worked at the same time.
    pub parallel: bool,
    /// Whether requests were issued when they arrived, not when the previous one was answered.
    pub open_loop: bool,
    /// Outstanding requests, if they were not issued as they arrived.
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// The trace, as it was named; several are separated by spaces.
    pub trace: String,
    /// How often it was replayed.
    pub passes: u32,
    /// How its addresses were fitted into the device: as-is, wrap or pack.
    #[serde(default)]
    pub fit: String,
    /// What was written before: nothing, in-order or random.
    #[serde(default)]
    pub fill: String,
    /// The rounds until the device was steady, if that was asked for; all other figures are of the last five.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// The seed of a synthetic workload.
    pub seed: Option<u64>,
    /// Whether the run was stopped before its end. All figures are of the part that ran.
    pub partial: bool,
    /// Bad lines that were skipped.
    pub skipped_lines: u64,
    /// Bytes that the host wrote.
    #[serde(default)]
    pub bytes_written: u64,
    /// Bytes of the disk that were written at least once, to the byte. A trim takes nothing off.
    #[serde(default)]
    pub bytes_touched: u64,
    /// The bytes that the trace reads and writes, in whole pages: the capacity that `--fit pack` needs.
    #[serde(default)]
    pub bytes_packed: u64,
    /// The bytes that a host writes each day, for lifetimes.
    #[serde(default = "a_day")]
    pub bytes_a_day: u64,
    /// The requests.
    pub requests: Requests,
    /// Response times of all requests, in microseconds.
    pub response_us: Times,
    /// Response times of reads.
    pub read_us: Times,
    /// Response times of writes.
    pub write_us: Times,
    /// The device's time from the first request to the last answer, in microseconds.
    #[serde(default)]
    pub elapsed_us: f64,
    /// Response times of trims.
    #[serde(default)]
    pub trim_us: Times,
    /// The response times by cause.
    pub response_by_cause_us: ByRequest,
    /// Operations and wear of the SLC region; zeros if there is none.
    pub slc: RegionResult,
    /// Operations and wear of the MLC region; zeros if there is none.
    pub mlc: RegionResult,
    /// Every memory of the system, by name; the regions of a NAND device are `slc` and `mlc`.
    #[serde(default)]
    pub parts: BTreeMap<String, PartResult>,
    /// Bytes programmed per byte that the host wrote.
    pub write_amplification: Option<f64>,
    /// The same without the first write of each address, which counts as one program: of a trace that fills the disk
    /// first, the load alone.
    #[serde(default)]
    pub rewrite_amplification: Option<f64>,
    /// How often the memory that keeps the data was programmed over, its blocks in SLC mode, too; `None` without flash.
    #[serde(default)]
    pub times_over: Option<f64>,
    /// The energy of every part; for flash, voltage times current times time of every operation.
    pub energy_mj: f64,
    /// The price of every part that the system uses.
    pub cost_usd: f64,
    /// Whose prices these are, and of which year. Prices of two sources are not divided by each other.
    #[serde(default)]
    pub price_source: String,
    /// The RAM of the FTL.
    pub ram_bytes: u64,
    /// The factors of Chang's analysis (section 4.1).
    pub factors: Option<Factors>,
    /// Its folds and switches.
    #[serde(default)]
    pub folding: Option<Folding>,
    /// The hot-data filter, at the end.
    pub filter: Option<Filter>,
    /// Write requests that the log took; `None` without a log.
    #[serde(default)]
    pub log_writes: Option<u64>,
    /// The throttle.
    pub throttle: Option<Throttle>,
    /// The hash table of the log.
    pub hash: Option<Hash>,
    /// Figures specific to the system, by name.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
    /// Figures of a disk that real hosts used; `None` for a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedResult>,
    /// Sectors that were read and held the data last written.
    pub verified_reads: u64,
    /// Seconds that the replay took in this process, without the device's preparation.
    pub wall_s: f64,
    /// Processor time that the system took for the requests, in seconds, without reading the trace and without waiting.
    pub busy_s: f64,
    /// Requests per second of `busy_s`.
    pub requests_per_s: f64,
    /// Page and block operations per second of `busy_s`.
    pub nand_ops_per_s: f64,
}

/// Figures that only a disk used by real hosts has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedResult {
    /// How often power failed.
    pub power_cuts: u64,
    /// RS: how many times as fast as the conventional system it was, which got the same requests.
    pub rs: Option<f64>,
}

/// The default of [`RunResult::bytes_a_day`].
const fn a_day() -> u64 {
    BYTES_A_DAY
}

/// Results of earlier versions had one outstanding request.
const fn one() -> u32 {
    1
}

/// The requests. Sectors are those of the FTL, counted if the host touches them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Sectors that reads touched.
    pub sectors_read: u64,
    /// Sectors that writes touched.
    pub sectors_written: u64,
}

impl Requests {
    /// All requests.
    pub const fn total(&self) -> u64 {
        self.reads + self.writes + self.trims + self.flushes
    }
}

/// Response times, in microseconds. Total, mean and maximum are exact; the others are from a histogram, exact to four
/// digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Their sum.
    pub total: f64,
    /// Their mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
    /// The 99.9th percentile.
    pub p999: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

/// Response times by cause, for each kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByRequest {
    /// Those of reads.
    pub reads: ByCause,
    /// Those of writes, including the reads of sectors that they cover in part.
    pub writes: ByCause,
    /// Those of trims.
    pub trims: ByCause,
    /// Those of flushes.
    pub flushes: ByCause,
}

impl ByRequest {
    /// Those of all requests.
    pub fn all(&self) -> ByCause {
        let mut all = ByCause::default();
        for kind in [&self.reads, &self.writes, &self.trims, &self.flushes] {
            all.waiting += kind.waiting;
            all.host += kind.host;
            all.reclaim += kind.reclaim;
            all.fold += kind.fold;
            all.write_back += kind.write_back;
            all.wear_leveling += kind.wear_leveling;
            all.scan += kind.scan;
            all.map += kind.map;
            all.meta += kind.meta;
        }
        all
    }
}

/// Response times by cause, in microseconds. The parts add up to the total. If operations overlap, an operation's
/// waiting time counts to its own cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByCause {
    /// Waiting for the requests before, where several are outstanding or come as they were recorded.
    pub waiting: f64,
    /// Pages that the host read or wrote.
    pub host: f64,
    /// Reclaiming the log, or the blocks of a page map: reads, copies, erases; also what folds read from the log.
    pub reclaim: f64,
    /// Folding chains, and erasing the blocks that this frees.
    pub fold: f64,
    /// Moving data from the log to the chains, without the folds that this causes.
    pub write_back: f64,
    /// Leveling wear.
    pub wear_leveling: f64,
    /// Address translation by tags: finding where in a chain sectors are.
    pub scan: f64,
    /// Reading and programming pages of a map.
    #[serde(default)]
    pub map: f64,
    /// Headers, summaries, trims; proving after a mount what the log holds.
    pub meta: f64,
}

impl ByCause {
    /// The parts with their names, in the order of the JSON.
    pub const fn parts(&self) -> [(&'static str, f64); 9] {
        [
            ("waiting", self.waiting),
            ("host", self.host),
            ("reclaim", self.reclaim),
            ("fold", self.fold),
            ("write-back", self.write_back),
            ("wear leveling", self.wear_leveling),
            ("scan", self.scan),
            ("map", self.map),
            ("meta", self.meta),
        ]
    }
}

/// Operations and wear of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionResult {
    /// Blocks erased.
    pub erases: u64,
    /// The spread of erases over the blocks.
    pub erase_count: Spread,
    /// Years until its blocks reach their rated erases, if the host continues as in this run, wear is even, and
    /// `bytes_a_day` are written. Blocks count in which programming began, because a run may begin with erased blocks
    /// and end with others. Cycles in SLC mode count by the endurance of that mode. `None` if nothing was programmed.
    #[serde(default)]
    pub lifetime_years: Option<f64>,
    /// Page operations, by cause.
    pub pages: Pages,
}

/// Operations and wear of a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartResult {
    /// Its size in bytes.
    pub bytes: u64,
    /// The bytes of its pages that were programmed when the run began.
    #[serde(default)]
    pub programmed_before: u64,
    /// Cycles, spread over its blocks.
    pub wear: Spread,
    /// Its operations, by the name of the cause; causes without operations are omitted.
    pub operations: BTreeMap<String, ByVerb>,
}

/// Operations of a memory for one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByVerb {
    /// Pages read, whole or in part.
    pub read: u64,
    /// Pages programmed.
    pub program: u64,
    /// Blocks erased.
    pub erase: u64,
}

impl PartResult {
    /// Its page operations, by cause.
    pub fn pages(&self) -> Pages {
        let done = |cause: Cause| Some((cause, *self.operations.get(cause.name())?));
        Pages::sum(Cause::ALL.into_iter().filter_map(done))
    }

    /// Its blocks that were erased.
    pub fn erases(&self) -> u64 {
        self.operations.values().map(|done| done.erase).sum()
    }

    /// A memory of that size, of which so many bytes were programmed before, with the cycles of its blocks and their
    /// operations.
    pub fn new(
        bytes: u64,
        programmed_before: u64,
        cycles: &[u32],
        operations: &Operations,
    ) -> Self {
        let by_cause = Cause::ALL.into_iter().filter_map(|cause| {
            let [read, program, erase] = Verb::ALL.map(|verb| operations.get(verb, cause));
            let done = ByVerb { read, program, erase };
            (done != ByVerb::default()).then(|| (cause.name().to_owned(), done))
        });
        let operations = by_cause.collect();
        Self { bytes, programmed_before, wear: Spread::of(cycles), operations }
    }
}

/// A spread over blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The minimum.
    pub min: u32,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: u32,
    /// The standard deviation.
    pub stddev: f64,
}

impl Spread {
    /// The spread of these blocks' cycles.
    #[allow(clippy::cast_precision_loss)] // A device has fewer blocks than 2^32.
    pub fn of(counts: &[u32]) -> Self {
        if counts.is_empty() {
            return Self::default();
        }
        let blocks = counts.len() as f64;
        let mean = counts.iter().map(|count| f64::from(*count)).sum::<f64>() / blocks;
        let variance = counts.iter().map(|count| (f64::from(*count) - mean).powi(2)).sum::<f64>();
        Self {
            min: counts.iter().copied().min().unwrap_or(0),
            mean,
            max: counts.iter().copied().max().unwrap_or(0),
            stddev: (variance / blocks).sqrt(),
        }
    }
}

/// Page operations of a region, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// For the host.
    pub host_read: u64,
    /// For the host.
    pub host_program: u64,
    /// To make room: reclaiming the log, moving its data to the chains, folding.
    pub gc_read: u64,
    /// To make room.
    pub gc_program: u64,
    /// To level wear.
    pub wl_read: u64,
    /// To level wear.
    pub wl_program: u64,
    /// To find out by tags where sectors are.
    pub scan_read: u64,
    /// Pages of a map.
    #[serde(default)]
    pub map_read: u64,
    /// Pages of a map.
    #[serde(default)]
    pub map_program: u64,
    /// Headers, summaries, trims.
    pub meta_read: u64,
    /// Headers, summaries, trims.
    pub meta_program: u64,
}

impl Pages {
    /// Pages programmed.
    pub const fn programs(&self) -> u64 {
        self.host_program + self.gc_program + self.wl_program + self.map_program + self.meta_program
    }

    /// Pages read.
    pub const fn reads(&self) -> u64 {
        let translation = self.scan_read + self.map_read;
        self.host_read + self.gc_read + self.wl_read + translation + self.meta_read
    }

    /// Operations under the names of the result. Moving data from the fast part to the large one counts as making room
    /// in the fast one, like the rest of its garbage collection; reads of a mount count as meta.
    pub fn of(operations: &Operations) -> Self {
        let done = Cause::ALL.map(|cause| {
            let [read, program, erase] = Verb::ALL.map(|verb| operations.get(verb, cause));
            (cause, ByVerb { read, program, erase })
        });
        Self::sum(done.into_iter())
    }

    fn sum(done: impl Iterator<Item = (Cause, ByVerb)>) -> Self {
        let mut pages = Self::default();
        for (cause, done) in done {
            let (read, program) = match cause {
                Cause::Host => (&mut pages.host_read, &mut pages.host_program),
                Cause::Gc | Cause::WriteBack => (&mut pages.gc_read, &mut pages.gc_program),
                Cause::WearLeveling => (&mut pages.wl_read, &mut pages.wl_program),
                // A scan programs nothing.
                Cause::Scan => (&mut pages.scan_read, &mut pages.meta_program),
                Cause::Map => (&mut pages.map_read, &mut pages.map_program),
                Cause::Meta | Cause::Mount | Cause::Backup | Cause::Scrub => {
                    (&mut pages.meta_read, &mut pages.meta_program)
                }
            };
            *read += done.read;
            *program += done.program;
        }
        pages
    }
}

/// The factors of Chang's analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// The log's share of the user data written.
    pub alpha: Option<f64>,
    /// Valid sectors in a tail block of the log.
    pub n1: Option<f64>,
    /// Of those, copied to the head.
    pub n2: Option<f64>,
    /// Pages read in a scan of a chain.
    pub n3: Option<f64>,
    /// Blocks erased by a fold.
    pub n4: Option<f64>,
    /// Share of page writes to chains whose map was not cached.
    pub p1: Option<f64>,
    /// Folds per page write to chains.
    pub p2: Option<f64>,
}

/// Folds, and switches, in which a log block in order becomes the data block and frees the old one. Whether a switch is
/// a fold decides on n4 and p2: both ways are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Folding {
    /// Folds.
    pub folds: u64,
    /// Switches.
    pub switches: u64,
    /// Blocks erased by a fold or a switch. The paper's n4, below two in places, can only be this.
    pub n4_with_switches: Option<f64>,
    /// Folds and switches per page write to chains.
    pub p2_with_switches: Option<f64>,
}

/// The hot-data filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// The largest write that counts as hot.
    pub threshold_sectors: u32,
    /// The same in bytes.
    #[serde(default)]
    pub threshold_bytes: u64,
}

impl Filter {
    /// One with that threshold.
    pub fn of(threshold: SectorCount, sector: Bytes) -> Self {
        let threshold_bytes = u64::from(threshold.get()) * u64::from(sector.get());
        Self { threshold_sectors: threshold.get(), threshold_bytes }
    }
}

/// The throttle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// Share of the writes that arrived while it was active.
    pub active_share: Option<f64>,
    /// Hot writes that it rejected.
    pub rejected_writes: u64,
    /// Blocks that the log may span, at the end.
    pub k: u32,
}

/// The hash table of the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hash {
    /// Hot writes that found no room in it.
    pub rejected_writes: u64,
    /// Share of its entries in use, at the end.
    pub load: Option<f64>,
    /// Share of its entries for data in the log (real entries), at the end; the other used entries are virtual.
    #[serde(default)]
    pub valid: Option<f64>,
    /// Entries that a search visits until it finds a sector, at the end.
    pub probes_mean: Option<f64>,
}

/// A system compared with the first of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ratios {
    /// Response time of the first by that of this one: how many times as fast.
    pub rs: Option<f64>,
    /// Energy of this one by that of the first.
    pub es: Option<f64>,
    /// Price of this one by that of the first; `None` if the prices are of different sources.
    pub ec: Option<f64>,
    /// Mean erases of an SLC block by those of an MLC block, in this one.
    pub bw: Option<f64>,
}

impl RunResult {
    /// The mean response time of a flush, in microseconds.
    #[allow(clippy::cast_precision_loss)] // Counts are far below 2^53.
    pub fn flush_mean_us(&self) -> Option<f64> {
        let total: f64 =
            self.response_by_cause_us.flushes.parts().iter().map(|(_, time)| time).sum();
        (self.requests.flushes > 0).then(|| total / self.requests.flushes as f64)
    }

    /// The life until the first memory is worn, in years; `None` if nothing was written.
    pub fn life(&self) -> Option<f64> {
        let lives = Region::ALL.iter().filter_map(|region| self.region(*region).lifetime_years);
        lives.min_by(f64::total_cmp)
    }

    /// Operations of the region.
    pub const fn region(&self, region: Region) -> &RegionResult {
        match region {
            Region::Slc => &self.slc,
            Region::Mlc => &self.mlc,
        }
    }

    /// This run compared with the first of a comparison.
    pub fn against(&self, first: &Self) -> Ratios {
        let by = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        Ratios {
            rs: by(first.response_us.total, self.response_us.total),
            es: by(self.energy_mj, first.energy_mj),
            ec: by(self.cost_usd, first.cost_usd)
                .filter(|_| self.price_source == first.price_source),
            bw: by(self.slc.erase_count.mean, self.mlc.erase_count.mean)
                .filter(|_| self.slc_bytes > 0),
        }
    }
}

/// A quotient of two counts; `None` if the divisor is zero.
#[allow(clippy::cast_precision_loss)] // Counts beyond 2^53 would lose less than the last digit shown.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_what_is_left_by_what_a_day_takes() {
        // 20 GB take a tenth of an erase of each block: 5,000 cycles last 50,000 days.
        let worn = 0.1 / 5_000.0;
        let years = lifetime_years(worn, BYTES_A_DAY, BYTES_A_DAY).unwrap();
        assert!((years - 50_000.0 / 365.25).abs() < 1e-9, "{years}");
        assert_eq!(lifetime_years(0.0, 1, 1), None);
        let twice = lifetime_years(worn, BYTES_A_DAY, 2 * BYTES_A_DAY).unwrap();
        assert!((2.0 * twice - years).abs() < 1e-9, "{twice}");
    }

    #[test]
    fn a_quotient_of_nothing_is_none() {
        assert_eq!(ratio(3, 4), Some(0.75));
        assert_eq!(ratio(0, 0), None);
    }

    #[test]
    fn every_operation_stands_under_one_name() {
        let mut operations = Operations::default();
        for cause in Cause::ALL {
            operations.count(Verb::Read, cause);
            operations.count(Verb::Program, cause);
        }
        operations.count(Verb::Program, Cause::WriteBack);
        let pages = Pages::of(&operations);
        assert_eq!((pages.reads(), pages.programs()), (10, 11));
        assert_eq!((pages.gc_read, pages.gc_program, pages.host_program), (2, 3, 1));
        let part = PartResult::new(7, 0, &[1, 3], &operations);
        assert_eq!((part.wear.mean, part.operations.len()), (2.0, Cause::ALL.len()));
        assert_eq!(part.operations["write_back"], ByVerb { read: 1, program: 2, erase: 0 });
    }

    #[test]
    fn a_spread_is_that_of_all_blocks() {
        let spread = Spread::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        let expected = Spread { min: 2, mean: 5.0, max: 9, stddev: 2.0 };
        assert_eq!(spread, expected);
    }
}
