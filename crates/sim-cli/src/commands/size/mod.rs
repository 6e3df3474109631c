//! `tandem size`: what a configuration needs of a device and its firmware: RAM by table, code, the worst request,
//! mounts.
//!
//! RAM and worst cases are computed by the formulas that firmware is built with; mounts are run on the model, one
//! operation after the other. The code size was measured in `firmware/`, and is the same for every device.

mod mounts;

use std::io::Write;
use std::path::{Path, PathBuf};

use ftl_core::config::{LogRegion, PairedPages};
use ftl_core::paged::{PagedPlan, PagedWorstCase};
use ftl_core::{Config, PlanRow, RamPlan};
use ftl_core::{Operations, WorstCase};
use ftl_iface::{Bytes, Corrected, Region, SectorCount};
use nand_model::part::{Nanos, Part};
use serde::Deserialize;

use crate::base::files;
use crate::flags::device::DeviceArgs;
use crate::output::table::{Edge, Table};
use sim::engine::systems::{Blueprint, Chosen, Store, USUAL};
use sim::{Failure, show};

/// The arguments of `size`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The FTL: paged, hybrid (with a log), or conventional (without)
    #[arg(long, default_value = USUAL, value_parser = Chosen::parse, value_name = "SYSTEM")]
    system: Chosen,
    /// A TOML file with changes to the configuration of `hybrid` or `conventional`: `tandem size --config list` lists
    /// the keys
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Code and constants in bytes, by build, on a Cortex-M4F and on RISC-V: the table of `docs/FIRMWARE.md`.
const CODE: [(&str, u32, u32); 12] = [
    ("log and chains, opt-level = \"z\"", 75_672 + 736, 93_838 + 1_120),
    ("log and chains, opt-level = \"s\"", 91_110 + 736, 110_904 + 1_216),
    ("log and chains, opt-level = 3", 151_682 + 760, 146_352 + 4_416),
    ("chains alone, opt-level = \"z\"", 49_876 + 728, 62_480 + 1_112),
    ("chains alone, opt-level = \"s\"", 58_374 + 736, 71_644 + 1_200),
    ("chains alone, opt-level = 3", 100_564 + 752, 94_220 + 4_392),
    ("chains, the least, opt-level = \"z\"", 40_572 + 728, 50_976 + 1_112),
    ("chains, the least, opt-level = \"s\"", 47_150 + 736, 58_020 + 1_192),
    ("chains, the least, opt-level = 3", 79_778 + 752, 75_192 + 4_320),
    ("page store, opt-level = \"z\"", 50_232 + 884, 62_800 + 1_236),
    ("page store, opt-level = \"s\"", 57_620 + 740, 70_336 + 1_092),
    ("page store, opt-level = 3", 95_002 + 640, 98_150 + 1_932),
];

/// The longest file of a configuration.
const LONGEST: u64 = 64 << 10;

/// The keys of a configuration file. The names are those of [`Config`]; missing keys keep the system's values.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Keys {
    sector_bytes: Option<u32>,
    capacity_bytes: Option<u64>,
    log_blocks: Option<u16>,
    index_entries: Option<u32>,
    index_probes: Option<u8>,
    window_max: Option<u16>,
    chain_log_blocks_max: Option<u8>,
    mapping_cache_entries: Option<u16>,
    chain_sketch_halves: Option<u8>,
    free_blocks_low: Option<u16>,
    copies_per_page: Option<u8>,
    guard_paired_pages: Option<bool>,
    refresh_log_bits: Option<u16>,
    refresh_chain_bits: Option<u16>,
}

/// The keys, as `--config list` prints them.
const KEYS: &str = "\
# For --system hybrid or conventional. Each key may be left out. Their meaning is that of ftl_core::Config.
sector_bytes = 2048           # the unit in which the FTL maps
capacity_bytes = 100000000    # what the host may use
log_blocks = 64               # of a device of one region: its first blocks become the log; 0: no log
index_entries = 4096          # buckets of the log's hash table
index_probes = 8              # buckets looked at for a sector
window_max = 60               # blocks between the log's tail and its head
chain_log_blocks_max = 4      # log blocks of a chain before it is folded
mapping_cache_entries = 16    # chains whose map is kept in RAM
chain_sketch_halves = 1       # 16 bits of RAM a chain, so many times
free_blocks_low = 8           # folding begins at so few free blocks
copies_per_page = 4           # steps of housekeeping a page that is written
guard_paired_pages = true     # copy what a power cut may ruin
refresh_log_bits = 1          # corrected bits from which a page is refreshed
refresh_chain_bits = 3
";

impl Keys {
    fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |reason: &dyn std::fmt::Display| {
            Failure::Arguments(format!("{}: {reason}", path.display()))
        };
        let text = files::text(path, LONGEST).map_err(|reason| wrong(&reason))?;
        files::keys(&text).map_err(|reason| wrong(&reason))
    }

    fn apply(&self, config: &mut Config) -> Result<(), Failure> {
        if let Some(bytes) = self.sector_bytes {
            config.sector_bytes = Bytes::new(bytes);
        }
        if let Some(bytes) = self.capacity_bytes {
            let sectors = bytes / u64::from(config.sector_bytes.get().max(1));
            let too_large = || Failure::Arguments("capacity_bytes: larger than any device".into());
            config.capacity = Some(SectorCount::new(sectors.try_into().map_err(|_| too_large())?));
        }
        if let Some(blocks) = self.log_blocks {
            config.log = match (config.log, blocks) {
                (_, 0) => LogRegion::None,
                (LogRegion::SlcRegion, _) => {
                    let reason = "log_blocks: on this device the SLC region is the log; set its size with --slc";
                    return Err(Failure::Arguments(reason.into()));
                }
                (_, blocks) => LogRegion::FirstBlocks(blocks),
            };
        }
        put(self.chain_log_blocks_max, &mut config.chain_log_blocks_max);
        put(self.mapping_cache_entries, &mut config.mapping_cache_entries);
        put(self.chain_sketch_halves, &mut config.chain_sketch_halves);
        put(self.free_blocks_low, &mut config.free_blocks_low);
        put(self.copies_per_page, &mut config.copies_per_page);
        put(self.index_probes, &mut config.index.probes);
        put(self.index_entries.map(Some), &mut config.index.entries);
        put(self.window_max.map(Some), &mut config.window_max);
        put(self.refresh_log_bits.map(Corrected::bits), &mut config.refresh.log);
        put(self.refresh_chain_bits.map(Corrected::bits), &mut config.refresh.chain);
        let guard = |guard| if guard { PairedPages::Guard } else { PairedPages::Accept };
        put(self.guard_paired_pages.map(guard), &mut config.paired_pages);
        Ok(())
    }
}

fn put<T>(said: Option<T>, place: &mut T) {
    if let Some(value) = said {
        *place = value;
    }
}

/// Writes the tables.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    if args.config.as_ref().is_some_and(|path| path.as_os_str() == "list") {
        return Ok(out.write_all(KEYS.as_bytes())?);
    }
    let Blueprint { part, store } = args.system.blueprint(&args.device.setup()?)?;
    let heading = format!("{} on {}: {}\n", args.system.name, part.name, part.title);
    let mut config = match store {
        Store::Chains(chains) => chains.0,
        Store::Pages(_) if args.config.is_some() => {
            let reason = "--config: its keys are for --system hybrid; here use --system 'paged?entries=4096'";
            return Err(Failure::Arguments(reason.into()));
        }
        Store::Pages(pages) => {
            writeln!(out, "{heading}")?;
            return of_pages(&part, &pages.1, out);
        }
    };
    if let Some(path) = &args.config {
        Keys::read(path)?.apply(&mut config)?;
    }
    let unfit = |error: ftl_core::ShapeError| Failure::Unfit(error.to_string());
    let plan = RamPlan::new(&part.geometry, &config).map_err(unfit)?;
    writeln!(out, "{heading}")?;
    ram(plan.rows(), plan.total_bytes(), out)?;
    code(out)?;
    let bound = WorstCase::new(plan.shape(), &config);
    let (one, many) = (SectorCount::new(1), many(config.sector_bytes));
    let bounds = Bounds {
        many,
        read: bound.read(one),
        write: bound.write(one),
        write_many: bound.write(many),
        trim: bound.trim(one),
        maintain: bound.maintain(1),
        settled: Some(("after a power cut", bound.settle())),
    };
    worst(&part, config.sector_bytes, bounds, out)?;
    mounts::of_chains(&part, &plan, &config, out)
}

/// Writes the tables of the page store.
fn of_pages(part: &Part, plan: &PagedPlan, out: &mut dyn Write) -> Result<(), Failure> {
    ram(plan.rows(), plan.total_bytes(), out)?;
    code(out)?;
    let bound = PagedWorstCase::new(plan.shape());
    let sector_bytes = plan.shape().sector_bytes;
    let (one, many) = (SectorCount::new(1), many(sector_bytes));
    let bounds = Bounds {
        many,
        read: bound.read(one),
        write: bound.write(one),
        write_many: bound.write(many),
        trim: bound.trim(one),
        maintain: bound.maintain(1),
        settled: None,
    };
    worst(part, sector_bytes, bounds, out)?;
    writeln!(
        out,
        "  A write that finds an area without free blocks waits\n  longer, until some are freed."
    )?;
    mounts::of_pages(part, plan, out)
}

fn ram(
    rows: impl Iterator<Item = PlanRow>,
    bytes: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut table = Table::new([("RAM", Edge::Left), ("bytes", Edge::Right)]);
    for row in rows.filter(|row| row.elements > 0) {
        table.row([row.name.to_owned(), show::count((row.elements * row.element_bytes) as u64)]);
    }
    table.row(["all".into(), show::count(bytes as u64)]);
    Ok(table.write(out)?)
}

fn code(out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out)?;
    let mut table = Table::new([
        ("code and constants, bytes", Edge::Left),
        ("Cortex-M4F", Edge::Right),
        ("RISC-V", Edge::Right),
    ]);
    for (build, arm, riscv) in CODE {
        table.row([build.to_owned(), show::count(arm), show::count(riscv)]);
    }
    Ok(table.write(out)?)
}

/// The name and the bound of the work that a mount leaves to the first request, if there is any.
type Settled = Option<(&'static str, Operations)>;

/// Bounds of an FTL's work.
#[derive(Clone, Copy)]
struct Bounds {
    many: SectorCount,
    read: Operations,
    write: Operations,
    write_many: Operations,
    trim: Operations,
    maintain: Operations,
    settled: Settled,
}

/// As many sectors as 64 KiB have.
fn many(sector: Bytes) -> SectorCount {
    SectorCount::new((65_536 / sector.get()).max(1))
}

fn worst(part: &Part, sector: Bytes, bounds: Bounds, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out)?;
    let Bounds { many, read, write, write_many, trim, maintain, settled } = bounds;
    let sector = u64::from(sector.get());
    let heads = ["at most", "reads", "programs", "erases", "time"];
    let edges = [Edge::Left, Edge::Right, Edge::Right, Edge::Right, Edge::Right];
    let mut table = Table::new(heads.into_iter().zip(edges));
    let rows = [
        ("read of a sector".to_owned(), read),
        ("write of a sector".into(), write),
        (format!("write of {}", show::size(u64::from(many.get()) * sector)), write_many),
        ("trim of a sector".into(), trim),
        ("maintain, one page".into(), maintain),
    ];
    let settled = settled.map(|(name, cost)| (name.to_owned(), cost));
    for (name, cost) in rows.into_iter().chain(settled) {
        let Operations { reads, programs, erases } = cost;
        let time = match longest(part, cost) {
            Nanos::ZERO => "-".into(),
            time => show::time(time.as_micros_f64()),
        };
        let [reads, programs, erases] = [reads, programs, erases].map(show::count);
        table.row([name, reads, programs, erases, time]);
    }
    table.write(out)?;
    writeln!(out, "\n  The times count programs and erases only.")?;
    writeln!(out, "  Bounds on reads add up scans that never occur together.")?;
    Ok(())
}

/// The time of the programs and erases, each at its slowest. Reads are left out, because their bounds add up cases that
/// never coincide.
fn longest(part: &Part, cost: Operations) -> Nanos {
    let regions = Region::ALL.into_iter().filter_map(|region| {
        let (shape, figures) = (part.geometry.region(region)?, part.region(region)?);
        let bus = figures.timing.transfer(shape.page_bytes + shape.spare_bytes);
        let timing = figures.timing;
        Some((timing.program + bus) * cost.programs + timing.erase * cost.erases)
    });
    regions.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_listed_is_read_and_no_other() {
        let keys: Keys = toml::from_str(KEYS).expect("the list is a configuration");
        let mut config = Config::one_region(10);
        keys.apply(&mut config).expect("a configuration");
        assert_eq!((config.log, config.mapping_cache_entries), (LogRegion::FirstBlocks(64), 16));
        assert_eq!(config.refresh.chain, Corrected::bits(3));
        assert!(toml::from_str::<Keys>("sector = 2048").is_err());
        assert!(keys.apply(&mut Config::HYBRID.clone()).is_err(), "its SLC region is the log");
    }

    #[test]
    fn the_slowest_region_makes_the_time() {
        let part = nand_model::datasheet::builtin("tiny").unwrap();
        let cost = Operations { reads: 1, programs: 1, erases: 1 };
        assert_eq!(longest(&part, cost), Nanos::from_micros(800 + 1500));
    }

    #[test]
    fn of_the_page_store_the_same_is_told() {
        let device = DeviceArgs { device: "c3".into(), capacity: None, slc: None, parallel: false };
        let system = Chosen::parse("paged").unwrap();
        let mut args = Args { system, config: None, device };
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let told = String::from_utf8(out).unwrap();
        for part in [
            "paged on c3",
            "directory of map pages",
            "all  ",
            "at most",
            "without free",
            "a clean stop",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        args.config = Some("keys.toml".into());
        let refused = run(&args, &mut Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("for --system hybrid"), "{refused}");
    }
}
