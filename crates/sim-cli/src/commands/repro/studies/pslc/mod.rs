//! The cache of blocks in SLC mode, as disks are sold with it: the fill curves of four drives, published and ours, what
//! the cache is at other fill levels, how it recovers, and what it is on a full disk.
//!
//! # Modules
//!
//! - `drives`: the drives, and what is published of them. `copy`: a copy and its run. `simulated`: a drive in the
//!   simulator, and its host. `full_disk`: copies onto a full disk. `tasks`: all runs. `curve`: speeds and phases, from
//!   response times. `page`: the page.

use std::path::{Path, PathBuf};

use sim::Failure;

use super::super::page::Page;
use copy::DriveScale;
use drives::{DRIVES, SoldDrive};

mod copy;
mod curve;
mod drives;
mod full_disk;
mod page;
mod simulated;
mod tasks;

/// Does the runs and writes the page. Returns its path.
pub(in super::super) fn make(folder: &Path, jobs: usize) -> Result<PathBuf, Failure> {
    of_drives(&DRIVES, DriveScale::SOLD, folder, jobs)
}

fn of_drives(
    drives: &[SoldDrive],
    shape: DriveScale,
    folder: &Path,
    jobs: usize,
) -> Result<PathBuf, Failure> {
    // Checked before the runs, not after them.
    let mut page = Page::new(folder, ("pslc.md", "pslc"))?;
    let results = tasks::run(drives, shape, jobs)?;
    page::write(&mut page, drives, &results)?;
    page.finish()
}

#[cfg(test)]
mod tests;
