//! Every byte of RAM for three devices, as listed in `docs/RAM.md`, and the limits that they must keep.
//!
//! `UPDATE_EXPECT=1 cargo test -p ftl-core ram_plan::` rewrites the tables of the page.

use std::fmt::Write as _;

use expect_test::expect_file;
use ftl_core::config::IndexConfig;
use ftl_core::probe::NoProbe;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{Bytes, SectorCount};
use nand_model::Chip;
use nand_model::datasheet::builtin;

/// A device of `docs/RAM.md`.
struct Planned {
    name: &'static str,
    config: Config,
    /// The most that plan and FTL may take together, if a limit is promised.
    limit: Option<usize>,
}

/// The devices, and the configurations that the page states.
const DEVICES: [Planned; 3] = [
    Planned {
        name: "tiny",
        config: Config {
            sector_bytes: Bytes::new(1024),
            capacity: Some(SectorCount::new(320)),
            mapping_cache_entries: 4,
            ..Config::HYBRID
        },
        limit: None,
    },
    Planned { name: "spi-nand-1g", config: Config::one_region(64), limit: Some(24 << 10) },
    Planned {
        name: "c3",
        config: Config {
            // 20 GiB of 2-KiB sectors.
            capacity: Some(SectorCount::new(10 << 20)),
            index: IndexConfig { entries: Some(32_768), ..Config::HYBRID.index },
            ..Config::HYBRID
        },
        limit: Some(470_000),
    },
];

/// Memory that is not lent: the FTL with a pointer to its driver.
const FTL_BYTES: usize = size_of::<Ftl<'static, &'static mut Chip, NoProbe>>() - WIDENED_BY;
#[cfg(feature = "wide")]
use ftl_core::hybrid::ram::WIDENED_BY;
#[cfg(not(feature = "wide"))]
const WIDENED_BY: usize = 0;

fn plan(device: &Planned) -> RamPlan {
    let part = builtin(device.name).expect("a device that is built in");
    RamPlan::new(&part.geometry, &device.config).expect("the configuration fits the device")
}

fn table(plan: &RamPlan) -> String {
    let mut text =
        String::from("| table | elements | bytes each | bytes |\n|---|---:|---:|---:|\n");
    let mut line = |name: &str, elements: usize, each: usize| {
        let bytes = elements * each;
        writeln!(text, "| {name} | {elements} | {each} | {bytes} |").expect("a string takes all");
    };
    for row in plan.rows() {
        line(row.name, row.elements, row.element_bytes);
    }
    line("the `Ftl` itself", 1, FTL_BYTES);
    let total = plan.total_bytes() + FTL_BYTES;
    writeln!(text, "| **total** | | | **{total}** |").expect("a string takes all");
    text
}

/// Returns the page with a device's table between its marks.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let (before, rest) = page.split_once(&open).expect("the mark before the table");
    let (_, after) = rest.split_once(&close).expect("the mark after the table");
    format!("{before}{open}{table}{close}{after}")
}

#[test]
fn the_page_lists_every_byte() {
    let file = expect_file!["../../../docs/RAM.md"];
    let mut page = file.data();
    for device in &DEVICES {
        page = with_table(&page, device.name, &table(&plan(device)));
    }
    if cfg!(target_pointer_width = "64") {
        file.assert_eq(&page);
    }
}

#[test]
fn the_rows_of_a_plan_add_up_to_what_is_lent() {
    for device in &DEVICES {
        let plan = plan(device);
        let rows: usize = plan.rows().map(|row| row.elements * row.element_bytes).sum();
        assert_eq!(rows, plan.total_bytes(), "{}", device.name);
        let lent = plan.halves() * 2 + plan.words() * 4 + plan.bytes();
        assert_eq!(rows, lent, "{}", device.name);
    }
}

#[test]
fn promised_limits_are_kept_with_everything_counted() {
    for device in &DEVICES {
        let total = plan(device).total_bytes() + FTL_BYTES;
        let limit = device.limit.unwrap_or(usize::MAX);
        assert!(total <= limit, "{} takes {total} bytes, and may take {limit}", device.name);
    }
}

#[test]
fn page_buffer_and_spare_areas_are_part_of_the_plan() {
    for device in &DEVICES {
        let part = builtin(device.name).expect("a device that is built in");
        let regions = [part.geometry.slc(), part.geometry.mlc()];
        let page = regions.iter().flatten().map(|region| region.page_bytes.as_usize()).max();
        let plan = plan(device);
        let row = plan.rows().find(|row| row.name == "page buffer").expect("a page buffer");
        assert_eq!(Some(row.elements * row.element_bytes), page, "{}", device.name);
    }
}
