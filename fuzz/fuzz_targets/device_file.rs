//! Any text as a device file: it is refused with a reason, or describes a device that can be used.

#![no_main]

use ftl_iface::{PageIndex, Region};
use libfuzzer_sys::fuzz_target;
use nand_model::datasheet::DatasheetError;
use nand_model::part::Part;

fuzz_target!(|text: &str| {
    match Part::parse(text, "fuzzed.toml") {
        Ok(part) => try_part(&part),
        Err(DatasheetError::Invalid(fault)) => assert!(!fault.reason.is_empty()),
        Err(other) => panic!("a text cannot fail by {other}"),
    }
});

/// Asks a part for what every user of it computes.
fn try_part(part: &Part) {
    assert!(part.cost_dollars().is_finite());
    assert!(part.layout.dies() > 0);
    for region in Region::ALL {
        let Some(shape) = part.geometry.region(region) else {
            assert!(part.region(region).is_none());
            continue;
        };
        assert!(shape.capacity_bytes() >= u64::from(part.sector_bytes.get()));
        for index in [0, 1, shape.pages_per_block.get() as u16 - 1] {
            let page = PageIndex::new(index);
            let partners = shape.pairing.endangered(page, shape.pages_per_block).count();
            assert!(partners < shape.cell.bits() as usize);
        }
    }
    let _ = part.clone().with_slc_bytes(1 << 20);
}
