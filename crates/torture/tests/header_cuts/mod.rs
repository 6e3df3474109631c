//! Both headers of a device while they are rewritten: one is always left.

mod hybrid;
mod paged;
mod twice;

use ftl_core::config::LogRegion;
use hybrid::Hybrid;
use paged::Store;
use twice::{only_header, pairs_of_cuts};

/// Of each name.
const DEVICES: u64 = 40;

/// Returns the number of pairs of cuts in the page store's headers, or what went wrong.
pub(crate) fn of_page_store() -> Result<u32, String> {
    [("tiny-slc", 72), ("tiny-mlc", 120), ("tiny", 112)]
        .into_iter()
        .map(|(name, sectors)| pairs_of_cuts(name, DEVICES, &Store::new(name, sectors)))
        .sum()
}

/// Returns the same of the hybrid's.
pub(crate) fn of_hybrid() -> Result<u32, String> {
    let first = LogRegion::FirstBlocks(6);
    [("tiny-slc", first), ("tiny-mlc", first), ("tiny", LogRegion::SlcRegion)]
        .into_iter()
        .map(|(name, log)| pairs_of_cuts(name, DEVICES, &Hybrid::new(name, log)))
        .sum()
}

/// Returns what went wrong where a page store has one header block.
pub(crate) fn of_an_only_header() -> Result<(), String> {
    let store = Store::new("tiny-slc", 72);
    (0..DEVICES).try_for_each(|seed| only_header("tiny-slc", seed, &store))
}
