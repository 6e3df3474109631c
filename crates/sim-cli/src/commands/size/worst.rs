//! What a request costs at most, and the longest that was seen.

use std::io::Write;

use ftl_core::Operations;
use ftl_iface::{Bytes, Region};
use nand_model::part::{Nanos, Part};
use sim::{Failure, show};

use super::seen::{Seen, many};
use crate::output::table::{Edge, Table, write_sentence};

/// Bounds of an FTL's work.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) read: Operations,
    pub(super) write: Operations,
    pub(super) write_many: Operations,
    pub(super) trim: Operations,
    pub(super) maintain: Operations,
}

/// Reads of a bound that need not be compared with anything: they take no time that counts.
const FEW_READS: u64 = 64;

/// Where a bound's reads take more than so many times its programs and erases, it is far above what happens.
const OF_USE: u64 = 4;

/// What the columns on the right tell.
const AT_MOST: &str = "Reads, programs, erases: no request needs more. At most: their time, as the device file has \
    it; datasheets also give slower ones.";

/// What the star tells.
const STAR: &str = "*: most of it are reads, each part of the request at its worst: enough for a watchdog, far above \
    what happens.";

/// Writes the table.
pub(super) fn write(
    part: &Part,
    sector: Bytes,
    bounds: &Bounds,
    seen: &Seen,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out)?;
    let heads = ["a request", "longest seen", "reads", "programs", "erases", "at most"];
    let edges = [Edge::Left, Edge::Right, Edge::Right, Edge::Right, Edge::Right, Edge::Right];
    let mut table = Table::new(heads.into_iter().zip(edges));
    let bytes = show::size(u64::from(many(sector).get()) * u64::from(sector.get()));
    let rows = [
        ("read of a sector".to_owned(), seen.read, bounds.read),
        ("write of a sector".into(), seen.write, bounds.write),
        (format!("write of {bytes}"), seen.write_many, bounds.write_many),
        ("trim of a sector".into(), seen.trim, bounds.trim),
        ("maintain, one page".into(), seen.maintain, bounds.maintain),
    ];
    for (name, longest, bound) in rows {
        let star = if is_close(part, bound) { "" } else { " *" };
        let at_most = format!("{}{star}", shown(longest_of(part, bound)));
        let [reads, programs, erases] =
            [bound.reads, bound.programs, bound.erases].map(show::count);
        table.row([name, shown(longest), reads, programs, erases, at_most]);
    }
    table.write(out)?;
    writeln!(out)?;
    let before = if seen.filled { "a full device" } else { "a device that is not full" };
    for sentence in [
        format!(
            "Longest seen: of {} writes of a sector at random on {before}, then {} of each other request.",
            show::count(seen.sectors),
            show::count(seen.others)
        ),
        AT_MOST.into(),
        STAR.into(),
    ] {
        write_sentence(&sentence, out)?;
    }
    Ok(())
}

fn shown(time: Nanos) -> String {
    show::time(time.as_micros_f64())
}

/// Whether a bound is near what can happen: its reads are not most of it.
fn is_close(part: &Part, cost: Operations) -> bool {
    let changes = longest_of(part, Operations { reads: 0, ..cost });
    let reads = longest_of(part, Operations { programs: 0, erases: 0, ..cost });
    cost.reads <= FEW_READS || reads <= changes * OF_USE
}

/// The time of these operations, each at its slowest.
fn longest_of(part: &Part, cost: Operations) -> Nanos {
    let regions = Region::ALL.into_iter().filter_map(|region| {
        let (shape, figures) = (part.geometry.region(region)?, part.region(region)?);
        let timing = figures.timing;
        let bus = timing.transfer(shape.page_bytes + shape.spare_bytes);
        let pages = (timing.program + bus) * cost.programs + (timing.read + bus) * cost.reads;
        Some(pages + timing.erase * cost.erases)
    });
    regions.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_region_makes_the_time_and_reads_count() {
        let part = nand_model::datasheet::builtin("tiny").unwrap();
        let changes = Operations { reads: 0, programs: 1, erases: 1 };
        assert_eq!(longest_of(&part, changes), Nanos::from_micros(800 + 1500));
        let all = Operations { reads: 2, ..changes };
        assert_eq!(longest_of(&part, all), Nanos::from_micros(2 * 60 + 800 + 1500));
    }

    #[test]
    fn a_bound_of_more_reads_than_anything_else_is_marked() {
        let part = nand_model::datasheet::builtin("tiny").unwrap();
        let cost = |reads| Operations { reads, programs: 10, erases: 1 };
        assert!(is_close(&part, cost(100)) && !is_close(&part, cost(3_011_532)));
        let read = |reads| Operations { reads, programs: 0, erases: 0 };
        assert!(is_close(&part, read(2)) && !is_close(&part, read(42_369)));
    }
}
