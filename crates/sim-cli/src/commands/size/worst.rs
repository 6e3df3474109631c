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

/// A bound of more than so many times the longest request is of no use, unless it is short.
const OF_USE: u64 = 100;

/// A bound this short is of use, whatever was seen.
const SHORT: Nanos = Nanos::from_micros(100_000);

/// What stands in place of a bound of no use.
const NONE: &str = "none *";

/// What the columns on the right tell.
const AT_MOST: &str = "Reads, programs, erases: no request needs more. At most: their time, as the device file has it; \
    datasheets also give slower ones.";

/// What the star tells.
const STAR: &str = "*: There is no useful bound. The one that can be computed has every part of the request at its \
    worst and is more than 100 times what was measured: take the longest seen, and a margin.";

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
    let of_use = rows.each_ref().map(|(_, longest, bound)| is_of_use(part, *longest, *bound));
    for ((name, longest, bound), of_use) in rows.into_iter().zip(of_use) {
        let cells = if of_use {
            let counts = [bound.reads, bound.programs, bound.erases].map(show::count);
            let [reads, programs, erases] = counts;
            [reads, programs, erases, shown(longest_of(part, bound))]
        } else {
            ["-", "-", "-", NONE].map(String::from)
        };
        let [reads, programs, erases, at_most] = cells;
        // Idle work that had nothing to do.
        let longest = if longest == Nanos::ZERO { "-".into() } else { shown(longest) };
        table.row([name, longest, reads, programs, erases, at_most]);
    }
    table.write(out)?;
    writeln!(out)?;
    let before = if seen.filled { "a full device" } else { "a device that is not full" };
    let longest = format!(
        "Longest seen: of {} writes of a sector at random on {before}, then {} of each other request.",
        show::count(seen.sectors),
        show::count(seen.others)
    );
    let some = of_use.contains(&true).then_some(AT_MOST);
    let none = of_use.contains(&false).then_some(STAR);
    for sentence in [Some(&*longest), some, none].into_iter().flatten() {
        write_sentence(sentence, out)?;
    }
    Ok(())
}

fn shown(time: Nanos) -> String {
    show::time(time.as_micros_f64())
}

/// Whether a bound tells somebody who plans more than what was seen does.
fn is_of_use(part: &Part, longest: Nanos, bound: Operations) -> bool {
    let bound = longest_of(part, bound);
    bound <= SHORT || bound <= longest * OF_USE
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
    fn a_bound_far_above_what_was_seen_is_of_no_use_unless_it_is_short() {
        let part = nand_model::datasheet::builtin("tiny").unwrap();
        let reads = |reads| Operations { reads, programs: 0, erases: 0 };
        let of_use = |micros, cost| is_of_use(&part, Nanos::from_micros(micros), reads(cost));
        // A read takes 60 us: these take 120 ms, less than 100 ms and more, and three minutes.
        assert!(of_use(1_200, 2_000) && !of_use(1_199, 2_000));
        assert!(of_use(0, 1_666) && !of_use(0, 1_667));
        assert!(!of_use(16_120, 3_011_532));
    }

    #[test]
    fn in_place_of_a_bound_of_no_use_what_was_seen_and_a_sentence_stand() {
        let part = nand_model::datasheet::builtin("tiny").unwrap();
        let small = Operations { reads: 2, programs: 0, erases: 0 };
        let large = Operations { reads: 714_714, programs: 3_057, erases: 92 };
        let seen = Seen { write_many: Nanos::from_micros(16_120), ..Seen::default() };
        let told = |write_many| {
            let bounds =
                Bounds { read: small, write: small, write_many, trim: small, maintain: small };
            let mut out = Vec::new();
            write(&part, Bytes::new(512), &bounds, &seen, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let without = told(large);
        let row = without.lines().find(|line| line.contains("64KiB")).unwrap();
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            "write of 64KiB 16.12 ms - - - none *"
        );
        assert!(without.contains("There is no useful bound.") && !without.contains("714,714"));
        let with = told(small);
        assert!(!with.contains('*') && with.contains("no request needs more"), "{with}");
    }
}
