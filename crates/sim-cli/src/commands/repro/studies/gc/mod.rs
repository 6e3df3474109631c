//! Schemes of garbage collection: the write amplification of each, by load, spare and block size.
//!
//! # Modules
//!
//! - `grid`: the loads, the disks and the schemes. `runs`: the runs. `page`: the page.

use std::path::{Path, PathBuf};

use sim::Failure;

use super::super::page::Page;
use super::Loads;

mod grid;
mod page;
mod runs;

use grid::Grid;

/// Reads the files of its loads.
pub(in super::super) fn check_files(loads: &Loads<'_>) -> Result<(), Failure> {
    loads.check_files(grid::ALL.loads, loads.requests)
}

/// Does the runs and writes the page. Returns its path.
pub(in super::super) fn make(
    folder: &Path,
    loads: &Loads<'_>,
    jobs: usize,
) -> Result<PathBuf, Failure> {
    of_grid(&grid::ALL, folder, loads, jobs)
}

fn of_grid(grid: &Grid, folder: &Path, loads: &Loads<'_>, jobs: usize) -> Result<PathBuf, Failure> {
    // Checked before the runs, not after them.
    let mut page = Page::new(folder, ("GC.md", "gc"))?;
    let results = runs::all(grid, loads, jobs)?;
    page::write(&mut page, loads, &results)?;
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{Cut, Load, Published};
    use super::grid::{DiskShape, SCHEMES};
    use super::*;

    #[test]
    fn every_scheme_has_its_figure_on_every_disk_that_it_fits() {
        const LOADS: [Load; 1] = [Load {
            name: "zipf",
            stand_in: Some("synth:zipf?reads=0&size=4KiB"),
            capacity: 96 << 20,
            published: Published::NOTHING,
            assumed: "",
        }];
        let shapes =
            &[DiskShape { spare: 0.28, pages: 128 }, DiskShape { spare: 0.03, pages: 512 }];
        let grid = Grid { loads: &LOADS, shapes, requests: 100_000 };
        let folder = tempfile::tempdir().unwrap();
        let loads = Loads { requests: None, seed: 1, folder: None, length: Cut::AsLong };
        let path = of_grid(&grid, folder.path(), &loads, 2).unwrap();
        let page = std::fs::read_to_string(path).unwrap();
        let tables = page.split("## The usual disk").nth(1).expect("the tables");
        let row = |start: &str| tables.lines().find(|line| line.starts_with(start)).expect(start);
        let figures: Vec<f64> =
            row("| zipf |").split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        assert_eq!(figures.len(), SCHEMES.len(), "{page}");
        let most = figures.iter().copied().fold(1.0, f64::max);
        let best = figures.iter().copied().fold(most, f64::min);
        // Who mixes everything copies most, and an oracle whose classes reach far enough least.
        assert!((figures[0] - most).abs() < 1e-9 && figures.last() == Some(&best), "{figures:?}");
        // Two blocks are no spare for any of them.
        assert!(row("| 3.0 %, 512 pages |").contains("| - | -"), "{page}");
        assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        let charts = std::fs::read_dir(folder.path().join("gc")).unwrap().count();
        assert_eq!(charts, page.matches(".svg)").count(), "{page}");
        assert!(folder.path().join("GC.html").exists());
    }
}
