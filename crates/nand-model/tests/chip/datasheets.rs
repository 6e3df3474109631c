//! The built-in devices say what their sources say, and a wrong file is told where and why.

use std::path::{Path, PathBuf};

use ftl_iface::{Bytes, Cell, PageIndex, Pairing, Region};
use nand_model::datasheet::{self, DatasheetError, Fault};
use nand_model::part::{Layout, Nanos, Part, RegionPart, Stripe};

fn builtin(name: &str) -> Part {
    datasheet::builtin(name).unwrap_or_else(|error| panic!("{error}"))
}

fn devices_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../devices")
}

// The built-in devices.

#[test]
fn every_builtin_device_loads_and_bears_its_files_name() {
    for name in datasheet::builtin_names() {
        let part = builtin(name);
        assert_eq!(part.name, name);
        assert!(!part.title.is_empty());
        for region in Region::ALL {
            assert_eq!(part.geometry.region(region).is_some(), part.region(region).is_some());
        }
    }
}

#[test]
fn every_file_of_the_devices_folder_is_built_in() {
    let mut files: Vec<String> = std::fs::read_dir(devices_folder())
        .expect("the folder `devices` at the workspace root")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let mut names: Vec<&str> = datasheet::builtin_names().collect();
    names.sort_unstable();
    assert_eq!(files, names);
}

#[test]
fn every_figure_of_a_device_file_stands_beside_its_source() {
    // The devices of test suites have no source but themselves.
    for name in datasheet::builtin_names().filter(|name| !name.starts_with("tiny")) {
        let path = devices_folder().join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut cited_by_section, mut cited_by_line_above) = (false, false);
        for line in text.lines() {
            let cited = line.contains('#');
            if line.starts_with('[') {
                cited_by_section = cited;
            } else if line.contains(" = ") && !DESCRIPTIVE.iter().any(|key| line.starts_with(key)) {
                assert!(cited || cited_by_line_above || cited_by_section, "{name}: {line}");
            }
            cited_by_line_above = cited;
        }
    }
}

/// Keys that are no figures.
const DESCRIPTIVE: [&str; 4] = ["name", "title", "cell", "price_source"];

/// What a table of a paper says of a region.
#[derive(Clone, Copy)]
struct Figures {
    page: u32,
    block_kib: u64,
    endurance: u32,
    /// Of a read, a program and an erase.
    micros: [u64; 3],
}

fn assert_figures(part: &Part, region: Region, figures: Figures) {
    let Figures { page, block_kib, endurance, micros: [read, program, erase] } = figures;
    let shape = part.geometry.region(region).unwrap();
    let told: &RegionPart = part.region(region).unwrap();
    let what = format!("{} {region}", part.name);
    assert_eq!(shape.page_bytes, Bytes::new(page), "{what}");
    assert_eq!(shape.block_bytes(), block_kib << 10, "{what}");
    assert_eq!(told.endurance, endurance, "{what}");
    assert_eq!(told.timing.read, Nanos::from_micros(read), "{what}");
    assert_eq!(told.timing.program, Nanos::from_micros(program), "{what}");
    assert_eq!(told.timing.erase, Nanos::from_micros(erase), "{what}");
    assert_eq!(told.timing.bus_picos_per_byte, 0, "{what}: the paper adds no transfer");
}

const SLC: Figures =
    Figures { page: 2048, block_kib: 128, endurance: 100_000, micros: [25, 200, 1_500] };
const MLC_MICROS: [u64; 3] = [60, 800, 1_500];

#[test]
fn c1_c2_and_c3_are_table_2_figure_by_figure() {
    for (name, page, block_kib, endurance) in
        [("c1", 2048, 128, 10_000), ("c2", 4096, 512, 10_000), ("c3", 4096, 512, 5_000)]
    {
        let part = builtin(name);
        assert_figures(&part, Region::Slc, SLC);
        let figures = Figures { page, block_kib, endurance, micros: MLC_MICROS };
        assert_figures(&part, Region::Mlc, figures);
        assert_eq!(part.geometry.slc().unwrap().capacity_bytes(), 256 << 20);
        assert_eq!(part.geometry.mlc().unwrap().capacity_bytes(), 21 << 30);
        assert_eq!(part.exported_bytes, 20 << 30);
        assert_eq!(part.sector_bytes, Bytes::new(2048));
        assert_eq!(part.layout, Layout::SINGLE);
    }
}

#[test]
fn the_k9_chips_are_table_1_figure_by_figure() {
    let slc = builtin("k9f2g08u0a");
    assert_figures(&slc, Region::Slc, SLC);
    assert_eq!(slc.geometry.slc().unwrap().spare_bytes, Bytes::new(64));
    assert_eq!(slc.geometry.slc().unwrap().capacity_bytes(), 256 << 20);
    let mlc = builtin("k9gag08u0m");
    let figures = Figures { page: 4096, block_kib: 512, endurance: 5_000, micros: MLC_MICROS };
    assert_figures(&mlc, Region::Mlc, figures);
    assert_eq!(mlc.geometry.mlc().unwrap().spare_bytes, Bytes::new(128));
    assert_eq!(mlc.geometry.mlc().unwrap().capacity_bytes(), 2 << 30);
    for (part, price) in [(&slc, 11.05), (&mlc, 3.22)] {
        let region = part.slc.as_ref().or(part.mlc.as_ref()).unwrap();
        assert!((region.dollars_per_gib - price).abs() < 1e-9);
        assert_eq!(part.power.supply_millivolts, 3_300);
        assert_eq!(part.power.active_microamps, 15_000);
        assert_eq!(part.power.standby_microamps, 10);
    }
}

#[test]
fn table_4s_extra_costs_follow_from_the_prices() {
    let conventional = builtin("c3").with_slc_bytes(0).unwrap().cost_dollars();
    for (mib, percent) in
        [(32, "100.5"), (64, "101.0"), (128, "102.0"), (256, "104.1"), (512, "108.2")]
    {
        let hybrid = builtin("c3").with_slc_bytes(mib << 20).unwrap().cost_dollars();
        assert_eq!(format!("{:.1}", hybrid / conventional * 100.0), percent, "{mib} MiB");
    }
}

#[test]
fn the_regions_of_tiny_differ_in_all_four_figures_of_their_shape() {
    let tiny = builtin("tiny");
    let (slc, mlc) = (tiny.geometry.slc().unwrap(), tiny.geometry.mlc().unwrap());
    assert_ne!(slc.blocks, mlc.blocks);
    assert_ne!(slc.pages_per_block, mlc.pages_per_block);
    assert_ne!(slc.page_bytes, mlc.page_bytes);
    assert_ne!(slc.spare_bytes, mlc.spare_bytes);
}

#[test]
fn the_builtin_devices_cover_every_kind_of_region() {
    assert!(builtin("tiny-slc").geometry.mlc().is_none());
    assert!(builtin("tiny-mlc").geometry.slc().is_none());
    let tlc = *builtin("tiny-tlc").geometry.mlc().unwrap();
    assert_eq!(tlc.cell, Cell::Tlc);
    let endangered: Vec<u16> = tlc
        .pairing
        .endangered(PageIndex::new(5), tlc.pages_per_block)
        .map(PageIndex::get)
        .collect();
    assert_eq!(endangered, [3, 4]);
    assert!(builtin("spi-nand-1g").slc.unwrap().timing.bus_picos_per_byte > 0);
    assert!(builtin("tlc-pslc").mlc.unwrap().timing.bus_picos_per_byte > 0);
}

#[test]
fn the_spi_nand_holds_a_gigabit() {
    let slc = *builtin("spi-nand-1g").geometry.slc().unwrap();
    assert_eq!(slc.capacity_bytes() * 8, 1 << 30);
    assert_eq!((slc.blocks.get(), slc.pages_per_block.get()), (1024, 64));
}

#[test]
fn a_name_that_is_not_known_is_answered_with_those_that_are() {
    let message = datasheet::open("c4").unwrap_err().to_string();
    assert!(message.contains("`c4`"), "{message}");
    for name in datasheet::builtin_names() {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_file_of_the_users_is_named_by_its_path() {
    let path = devices_folder().join("c2.toml");
    assert_eq!(datasheet::open(path.to_str().unwrap()).unwrap(), builtin("c2"));
    let missing = datasheet::open("./no-such-device.toml").unwrap_err();
    assert!(matches!(missing, DatasheetError::Unreadable { .. }), "{missing}");
    assert!(missing.to_string().contains("no-such-device.toml"), "{missing}");
}

// Files that are wrong.

const GOOD: &str = include_str!("../../devices/tiny-tlc.toml");

/// The fault found in the good file after `from` was once replaced by `to`.
fn fault_after(from: &str, to: &str) -> Fault {
    assert!(GOOD.contains(from), "the good file has no `{from}`");
    fault_in(&GOOD.replacen(from, to, 1))
}

fn fault_in(text: &str) -> Fault {
    match Part::parse(text, "bad.toml") {
        Err(DatasheetError::Invalid(fault)) => fault,
        other => panic!("no fault was found: {other:?}"),
    }
}

/// Asserts where the fault is and that its reason says `telling`.
#[track_caller]
fn assert_fault(fault: &Fault, key: &str, telling: &str) {
    assert_eq!(fault.key, key, "{fault}");
    assert!(fault.reason.contains(telling), "{fault}");
    assert!(fault.line.is_some() || key.is_empty(), "{fault}");
}

#[test]
fn a_fault_names_file_line_key_reason_and_remedy() {
    let fault = fault_after("page = \"1KiB\"", "page = \"1000B\"");
    let line = GOOD.lines().position(|line| line.starts_with("page = ")).unwrap() + 1;
    assert_eq!(
        fault.to_string(),
        format!(
            "bad.toml, line {line}, slc.page: the SLC region has pages of 1000 bytes: give a \
             power of two from 512 up"
        )
    );
}

#[test]
fn a_region_without_blocks_is_refused() {
    assert_fault(&fault_after("blocks = 12", "blocks = 0"), "slc.blocks", "from 1 to");
}

#[test]
fn a_pairing_scheme_that_is_not_known_is_refused() {
    let fault = fault_after("pairing = \"adjacent3\"", "pairing = \"zigzag\"");
    assert_fault(&fault, "mlc.pairing", "\"distance6\"");
}

#[test]
fn tlc_without_pairing_is_refused() {
    let fault = fault_after("pairing = \"adjacent3\"", "pairing = \"none\"");
    assert_fault(&fault, "mlc.pairing", "name the scheme");
    let fault = fault_after("pairing = \"adjacent3\"\n", "");
    assert_fault(&fault, "mlc", "pairing");
}

#[test]
fn a_scheme_of_two_bits_does_not_fit_cells_of_three() {
    let fault = fault_after("pairing = \"adjacent3\"", "pairing = \"distance3\"");
    assert_fault(&fault, "mlc.pairing", "cells of 2 bits");
}

#[test]
fn slc_with_pairing_is_refused() {
    let fault = fault_after("pairing = \"none\"", "pairing = \"distance3\"");
    assert_fault(&fault, "slc.pairing", "must be \"none\"");
}

#[test]
fn a_page_of_no_power_of_two_is_refused() {
    assert_fault(&fault_after("page = \"2KiB\"", "page = \"3KiB\""), "mlc.page", "power of two");
    assert_fault(&fault_after("page = \"2KiB\"", "page = \"256B\""), "mlc.page", "from 512 up");
    assert_fault(&fault_after("page = \"2KiB\"", "page = \"2MiB\""), "mlc.page", "1MiB");
}

#[test]
fn a_file_without_regions_is_refused() {
    let head: String = GOOD.split_once("[slc]").unwrap().0.into();
    assert_fault(&fault_in(&head), "", "no region");
}

#[test]
fn a_negative_figure_is_refused() {
    assert_fault(&fault_after("blocks = 12", "blocks = -8"), "slc.blocks", "`-8`");
    assert_fault(&fault_after("read = \"25us\"", "read = \"-25us\""), "slc.read", "25us");
    let price = "dollars_per_gib = 11.05";
    let fault = fault_after(price, "dollars_per_gib = -11.05");
    assert_fault(&fault, "slc.dollars_per_gib", "from 0");
    assert_fault(&fault_after(price, "dollars_per_gib = nan"), "slc.dollars_per_gib", "from 0");
}

#[test]
fn a_source_of_prices_says_something() {
    let source = "price_source = \"Chang, Table 1 (2010)\"";
    for nothing in ["\"\"", "\" \"", "\"two\\nlines\""] {
        let fault = fault_after(source, &format!("price_source = {nothing}"));
        assert_fault(&fault, "price_source", "whose the prices are");
    }
    let without = Part::parse(&GOOD.replace(source, ""), "a file").unwrap();
    assert_eq!(without.price_source, None);
}

#[test]
fn a_huge_figure_is_refused() {
    let huge = "99999999999";
    let fault = fault_after("blocks = 12", &format!("blocks = {huge}"));
    assert_fault(&fault, "slc.blocks", huge);
    let fault = fault_after("erase = \"1.5ms\"", &format!("erase = \"{huge}s\""));
    assert_fault(&fault, "slc.erase", "at most 3600s");
    let fault = fault_after("blocks = 12", "blocks = 4294967295");
    assert_fault(&fault, "slc.blocks", "fewer blocks");
    let fault = fault_after("pages_per_block = 12", "pages_per_block = 65536");
    assert_fault(&fault, "slc.pages_per_block", "1 to 65535");
    let fault = fault_after("exported = \"480KiB\"", "exported = \"480GiB\"");
    assert_fault(&fault, "exported", "within");
    let fault = fault_after("ecc_bits = 1", "ecc_bits = 65536");
    assert_fault(&fault, "slc.ecc_bits", "65535");
    let layout = "[layout]\nchannels = 4096\ndies_per_channel = 1\nplanes_per_die = 1\n\n[slc]";
    assert_fault(&fault_after("[slc]", layout), "layout.channels", "more than 256");
}

#[test]
fn a_figure_of_the_wrong_type_or_without_its_unit_is_refused() {
    let fault = fault_after("read = \"25us\"", "read = 25");
    assert_fault(&fault, "slc.read", "a time with its unit, such as \"25us\"");
    assert_fault(&fault_after("read = \"25us\"", "read = \"25\""), "slc.read", "ns, us, ms, s");
    assert_fault(&fault_after("blocks = 12", "blocks = \"8\""), "slc.blocks", "whole number");
    assert_fault(&fault_after("sector = \"1KiB\"", "sector = \"1kB\""), "sector", "KiB");
}

#[test]
fn an_unknown_or_a_missing_key_is_refused() {
    let fault = fault_after("read = \"25us\"", "read = \"25us\"\nreed = \"25us\"");
    assert_fault(
        &fault,
        "slc.reed",
        "unknown field `reed`: did you mean `read`? Else one of `cell`",
    );
    let fault = fault_after("endurance = 100000\n", "");
    assert_fault(&fault, "slc", "missing field `endurance`");
    let fault = fault_in("name = \"x\"\ntitle = \"y\"\n");
    assert_eq!((fault.key.as_str(), fault.reason.as_str()), ("", "missing field `exported`"));
    let fault = fault_after("cell = \"tlc\"\n", "");
    assert_fault(&fault, "mlc.cell", "\"mlc\" or \"tlc\"");
}

#[test]
fn a_region_of_the_wrong_cell_is_refused() {
    let fault = fault_after("cell = \"tlc\"", "cell = \"slc\"");
    assert_fault(&fault, "mlc.cell", "SLC region");
    let fault = fault_after("blocks = 12", "cell = \"mlc\"\nblocks = 12");
    assert_fault(&fault, "slc.cell", "MLC region");
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let fault = fault_after("sector = \"1KiB\"", "sector = \"2KiB\"");
    assert_fault(&fault, "sector", "smallest page");
    let fault = fault_after("factory_bad_blocks_max = 2", "factory_bad_blocks_max = 12");
    assert_fault(&fault, "slc.factory_bad_blocks_max", "less than `blocks`");
    let fault = fault_after("ecc_codeword = \"512B\"", "ecc_codeword = \"768B\"");
    assert_fault(&fault, "slc.ecc_codeword", "divisor");
    let fault = fault_after("spare = \"32B\"", "spare = \"2KiB\"");
    assert_fault(&fault, "slc.spare", "larger than the page");
    let fault = fault_after("program = \"200us\"", "program = \"0us\"");
    assert_fault(&fault, "slc.program", "more than 0");
    let fault = fault_after("exported = \"480KiB\"", "exported = \"1000B\"");
    assert_fault(&fault, "exported", "whole number of sectors");
    let fault = fault_after("name = \"tiny-tlc\"", "name = \"Tiny TLC\"");
    assert_fault(&fault, "name", "lower-case");
}

#[test]
fn broken_toml_is_refused_with_its_line() {
    let fault = fault_in("name = \"x\"\ntitle = \n");
    assert_eq!(fault.line, Some(2), "{fault}");
    assert!(matches!(fault_in("").key.as_str(), ""));
}

#[test]
fn a_region_may_have_dies_of_its_own() {
    let shared = "[layout]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 1\n\n[slc]";
    let own = "[slc.layout]\nchannels = 1\ndies_per_channel = 1\nplanes_per_die = 4\nstripe = \"die\"\n\n[mlc]";
    let text = GOOD.replacen("[slc]", shared, 1).replacen("[mlc]", own, 1);
    let part = Part::parse(&text, "own.toml").unwrap();
    let layout = Layout { planes_per_die: 4, stripe: Stripe::Die, ..Layout::SINGLE };
    assert_eq!(part.layout_of(Region::Slc), layout);
    assert_eq!(part.layout_of(Region::Mlc), part.layout);
    assert_eq!((part.layout.dies(), part.dies()), (4, 5));
    // 12 pages go evenly over four planes, and not over eight; the MLC has no such need.
    let fault = fault_in(&text.replacen("planes_per_die = 4", "planes_per_die = 8", 1));
    assert_fault(&fault, "slc.pages_per_block", "8 planes");
    let fault = fault_in(&text.replacen("planes_per_die = 4", "planes_per_die = 65", 1));
    assert_fault(&fault, "slc.layout.planes_per_die", "more than 64");
    let fault = fault_in(&text.replacen("planes_per_die = 4\n", "", 1));
    assert_fault(&fault, "slc.layout", "missing field `planes_per_die`");
}

#[test]
fn the_device_of_ko_has_the_paper_s_planes_and_ways() {
    let ko = builtin("ko");
    let four = Layout { planes_per_die: 4, ..Layout::SINGLE };
    assert_eq!(ko.layout_of(Region::Slc), four);
    assert_eq!(ko.layout_of(Region::Mlc), Layout { dies_per_channel: 2, ..four });
    let blocks = |region| ko.geometry.region(region).unwrap().blocks.get();
    assert_eq!([Region::Slc, Region::Mlc].map(blocks), [1_024, 8_192]);
}

// Pairing tables.

#[test]
fn a_pairing_table_of_the_parts_own_is_followed() {
    let text = GOOD.replacen("\"adjacent3\"", "[0, 1, 0, 1, 1, 0]", 1);
    let part = Part::parse(&text, "own.toml").unwrap();
    let mlc = part.geometry.mlc().unwrap();
    let endangered: Vec<u16> = mlc
        .pairing
        .endangered(PageIndex::new(5), mlc.pages_per_block)
        .map(PageIndex::get)
        .collect();
    assert_eq!(endangered, [0, 2]);
}

#[test]
fn a_scheme_is_told_by_the_name_that_files_give_it() {
    let cells =
        [("adjacent2", "mlc"), ("adjacent3", "tlc"), ("distance3", "mlc"), ("distance6", "mlc")];
    for (name, cell) in cells {
        let text = GOOD.replacen("\"adjacent3\"", &format!("\"{name}\""), 1);
        let text = text.replacen("\"tlc\"", &format!("\"{cell}\""), 1);
        let part = Part::parse(&text, "named.toml").unwrap();
        let scheme = part.geometry.mlc().unwrap().pairing;
        assert_eq!(datasheet::pairing_name(scheme), Some(name));
    }
    assert_eq!(datasheet::pairing_name(Pairing::None), Some("none"));
    assert_eq!(datasheet::pairing_name(Pairing::Table(&[0, 0])), None);
}

#[test]
fn a_pairing_table_is_kept_once_however_often_its_file_is_read() {
    let text = GOOD.replacen("\"adjacent3\"", "[7, 8, 9, 7, 8, 9]", 1);
    let table = || match Part::parse(&text, "own.toml").unwrap().geometry.mlc().unwrap().pairing {
        Pairing::Table(table) => table,
        other => panic!("{other:?}"),
    };
    assert!(std::ptr::eq(table(), table()));
}

#[test]
fn an_impossible_pairing_table_is_refused() {
    let with = |table: &str| fault_after("\"adjacent3\"", table);
    assert_fault(&with("[0, 0, 0, 0]"), "mlc.pairing", "word line 0 is given one page too many");
    let long = format!("[{}]", (0..25).map(|line| line.to_string()).collect::<Vec<_>>().join(","));
    assert_fault(&with(&long), "mlc.pairing", "lists 25 pages");
    assert_fault(&with("[0, 70000]"), "mlc.pairing[1]", "70000");
    assert_fault(&with("[]"), "mlc.pairing", "no page its word line");
}
