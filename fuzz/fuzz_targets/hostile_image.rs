//! A used device whose pages were moved, altered or forged with checks that fit: a mount may refuse it, but neither
//! panics, nor runs in circles, nor reads what is not there.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use torture::hostile::{self, Image};
use torture::script::Script;
use torture::{FtlName, Setup};

fuzz_target!(|bytes: &[u8]| {
    static IMAGES: OnceLock<Vec<(Setup, Image)>> = OnceLock::new();
    let images = IMAGES.get_or_init(|| {
        let setups = FtlName::ALL
            .into_iter()
            .flat_map(|ftl| Setup::all_of(ftl).expect("the small devices are possible"));
        let with_image = |setup: Setup| {
            let image = Image::used(&setup).expect("a device can be used");
            (setup, image)
        };
        setups.map(with_image).collect()
    });
    let mut source = Script::new(bytes);
    let (setup, image) = &images[source.below(images.len() as u32) as usize];
    let mut altered = image.clone();
    altered.alter(&mut source);
    let chip = altered.chip(setup).expect("an image is a chip");
    if let Err(breach) = hostile::visit(setup, chip) {
        panic!("{breach}");
    }
});
