//! Any bytes as a chip image: they are refused with a reason, or are a chip that works and saves what it loaded.

#![no_main]

use ftl_iface::{Block, Bytes, Mode, PageIndex, Region};
use libfuzzer_sys::fuzz_target;
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Truth};

fuzz_target!(|image: &[u8]| {
    // Hardly any bytes pass the check sums, but the code before these must hold.
    let _ = Chip::load(image);
    let _ = FaultInjector::load(image);
    // With checks that fit, as of one who wants to do harm.
    let image = with_checks(image);
    if let Ok(chip) = Chip::load(image.as_slice()) {
        try_chip(chip, |chip| saved(|to| chip.save(to)), |image| Chip::load(image).ok());
    }
    if let Ok(chip) = FaultInjector::load(image.as_slice()) {
        try_chip(chip, |chip| saved(|to| chip.save(to)), |image| FaultInjector::load(image).ok());
    }
});

/// Writes the check at the image's end, and the one behind the faults, over what is there.
fn with_checks(image: &[u8]) -> Vec<u8> {
    /// Magic, version and length of the first part.
    const HEAD: usize = 8 + 2 + 4;
    let mut image = image.to_vec();
    let mut chip_starts = 0;
    if image.starts_with(b"TNDMFLTS") && image.len() >= HEAD {
        let length = u32::from_le_bytes(image[HEAD - 4..HEAD].try_into().expect("four bytes"));
        let end = HEAD.saturating_add(length as usize);
        if end.saturating_add(4) <= image.len() {
            let check = crc32fast::hash(&image[..end]);
            image[end..end + 4].copy_from_slice(&check.to_le_bytes());
            chip_starts = end + 4;
        }
    }
    if let Some(end) = image.len().checked_sub(4).filter(|end| *end >= chip_starts) {
        let check = crc32fast::hash(&image[chip_starts..end]);
        image[end..].copy_from_slice(&check.to_le_bytes());
    }
    image
}

fn saved<E: std::fmt::Debug>(save: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Vec<u8> {
    let mut image = Vec::new();
    save(&mut image).expect("what was loaded can be saved");
    image
}

/// Saves, loads and saves the chip again, then uses it.
fn try_chip<D: Truth>(
    mut chip: D,
    save: impl Fn(&D) -> Vec<u8>,
    load: impl Fn(&[u8]) -> Option<D>,
) {
    let first = save(&chip);
    let again = load(&first).expect("what was saved can be loaded");
    assert!(save(&again) == first, "an image changes by being loaded");
    for region in Region::ALL {
        let Some(shape) = chip.geometry().region(region).copied() else { continue };
        let block = Block::new(region, 0);
        let _ = chip.is_bad(block);
        let mut spare = vec![0; shape.spare_bytes.as_usize().min(4)];
        let pages = match chip.mode(block) {
            Mode::Full => shape.pages_per_block,
            Mode::Slc => chip.slc_mode_pages(region).expect("a block in SLC mode has pages in it"),
        };
        let last = (pages.get() as u16).saturating_sub(1);
        for index in [0, last] {
            let _ = chip.read(block.page(PageIndex::new(index)), Bytes::ZERO, &mut [], &mut spare);
        }
        if matches!(chip.is_bad(block), Ok(false)) {
            let _ = chip.erase(block);
        }
    }
}
