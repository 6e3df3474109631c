//! The images that fuzzing starts from must be good ones, or it never comes behind their first check.

use std::path::Path;

use nand_model::Chip;
use nand_model::faults::FaultInjector;

#[test]
fn every_seed_of_the_image_fuzzer_still_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/chip_image");
    for name in ["bytes", "stamps"] {
        let image = std::fs::read(folder.join(name)).expect(name);
        Chip::load(image.as_slice()).unwrap_or_else(|error| panic!("{name}: {error}: {RENEW}"));
    }
    let image = std::fs::read(folder.join("faults")).expect("faults");
    FaultInjector::load(image.as_slice()).unwrap_or_else(|error| panic!("{error}: {RENEW}"));
}

const RENEW: &str = "run `cargo run --manifest-path fuzz/Cargo.toml --example seeds` from the root";
