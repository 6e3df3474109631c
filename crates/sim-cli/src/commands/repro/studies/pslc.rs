//! Today's SSDs: the drop in write speed when a cache of blocks in SLC mode is full.

use std::num::NonZeroU32;

use nand_model::Time;
use sim::Failure;
use sim::engine::result::RunResult;

use super::super::page::Page;
use super::{Load, On, Published, Study, StudyResults, Trial};
use crate::flags::options::PaceArgs;
use crate::output::plot::{Axis, Chart, Shape};

pub(in super::super) const PSLC: Study = Study {
    page: ("pslc.md", "pslc"),
    loads: &LOADS,
    device: On::Builtin("tlc-pslc", Time::Overlapped),
    trials,
    pace: PaceArgs { open_loop: false, queue_depth: DEPTH },
    requests: 3_200,
    write,
};

const DEPTH: NonZeroU32 = NonZeroU32::new(4).expect("more than none");

const LOADS: [Load; 1] = [Load {
    name: "one long copy",
    stand_in: Some("synth:sequential?size=256KiB"),
    capacity: 32 << 30,
    published: Published::NOTHING,
    assumed: "all, as there is no paper: a file that is larger than the cache",
}];

/// The disk has a twentieth of its blocks to spare, which limits the static cache.
const SYSTEMS: [(&str, &str); 4] = [
    ("cache of 1 %, and a quarter of what is free", "pslc"),
    ("cache of 2 %", "pslc?static=20&dynamic=0"),
    ("cache of 3 %", "pslc?static=30&dynamic=0"),
    ("no cache", "page-mlc"),
];

/// Windows of the run, for each of which the speed is shown.
const WINDOWS: u64 = 8;

fn trials() -> Vec<Trial> {
    in_windows(WINDOWS)
}

fn in_windows(count: u64) -> Vec<Trial> {
    let windows = |(_, system)| {
        (1..=count).map(move |part| Trial { part: (part, count), ..Trial::of(system) })
    };
    SYSTEMS.into_iter().flat_map(windows).collect()
}

/// Bytes written and microseconds elapsed at the end of a window.
#[allow(clippy::cast_precision_loss)] // Figures show few digits.
fn end(run: &RunResult) -> (f64, f64) {
    (run.bytes_written as f64, run.elapsed_us)
}

/// For each window, the megabytes written at its end, and the megabytes per second within it.
fn speeds(ends: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let begins = [(0.0, 0.0)].iter().chain(ends);
    let windows = begins.zip(ends).filter(|(begin, end)| end.1 > begin.1);
    windows.map(|(begin, end)| (end.0 / 1e6, (end.0 - begin.0) / (end.1 - begin.1))).collect()
}

fn write(page: &mut Page, brought: &StudyResults) -> Result<(), Failure> {
    page.title("The cliff of a pseudo-SLC cache");
    page.say(
        "This is no paper's figure, but what today's disks do. All writes enter blocks in SLC mode; when these are \
         full, each write waits until one has been emptied into TLC. Made by `tandem repro pslc` on 32 GiB of \
         `tlc-pslc`, full of data, its cache empty at first; channels, dies and planes work at the same time, four \
         requests of 256 KiB under way.",
    );
    page.heading("Speed of one long copy, by how much was written");
    let heads = ["", "first window", "last window", "the cliff: after", "last by first"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("MB/s").from(0.0);
    let mut chart =
        Chart::new("Speed of one long copy", Axis::linear("MB written").from(0.0), axis);
    for runs in &brought.results {
        for ((name, _), runs) in SYSTEMS.iter().zip(runs.chunks(runs.len() / SYSTEMS.len())) {
            let points = speeds(&runs.iter().map(end).collect::<Vec<_>>());
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let fallen = points.iter().find(|point| point.1 < 0.75 * first.1);
            rows.push([
                (*name).into(),
                format!("{:.0} MB/s", first.1),
                format!("{:.0} MB/s", last.1),
                fallen.map_or("none".into(), |point| format!("{:.0} MB", point.0)),
                format!("{:.0} %", 100.0 * last.1 / first.1),
            ]);
            chart = chart.with(*name, Shape::Line, points);
        }
    }
    page.table(&rows);
    page.chart("cliff", "Speed of one long copy", &chart.svg())?;
    page.say(
        "Once the cache is full, every byte is programmed twice, in SLC mode and in TLC, and read in between, so a \
         disk without a cache is faster. Where the host is idle (`--open-loop`), the cache is emptied meanwhile \
         and the next copy is fast again. The papers' designs differ in what they let into the SLC: a copy like \
         this one never enters it in `hybrid` or `ko`.",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Cut, Loads};
    use super::*;

    const SHORT_COPY: [Load; 1] = [Load { capacity: 8 << 30, ..LOADS[0] }];

    #[test]
    fn speed_is_told_window_by_window() {
        let ends = [(4e6, 2e4), (8e6, 4e4), (10e6, 10e4)];
        let speeds = speeds(&ends);
        assert_eq!(speeds.iter().map(|speed| speed.0).collect::<Vec<_>>(), [4.0, 8.0, 10.0]);
        assert!((speeds[0].1 - 200.0).abs() < 1e-6 && (speeds[2].1 - 100.0 / 3.0).abs() < 1e-6);
    }

    #[test]
    fn windows_end_where_the_next_begins_and_the_last_with_the_run() {
        let trials = trials();
        assert_eq!(trials.len(), SYSTEMS.len() * WINDOWS as usize);
        assert_eq!(trials[WINDOWS as usize - 1].part, (WINDOWS, WINDOWS));
        assert!(
            trials.iter().all(|trial| sim::engine::systems::Chosen::parse(&trial.system).is_ok())
        );
    }

    #[test]
    fn the_page_has_a_cliff_where_there_is_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        let loads = Loads { requests: Some(500), seed: 1, folder: None, length: Cut::AsLong };
        // Fewer runs, and a smaller disk, because each fills the disk first.
        let study = Study { trials: || in_windows(4), loads: &SHORT_COPY, ..PSLC };
        let page = study.make(folder.path(), &loads, 2).unwrap();
        let page = std::fs::read_to_string(page).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("MB/s"));
        let rows: Vec<Vec<&str>> =
            rows.map(|row| row.split('|').map(str::trim).collect()).collect();
        let number = |cell: &str| cell.split(' ').next().unwrap().parse::<f64>().expect(cell);
        let [cached @ .., bare] = &rows[..] else { panic!("{page}") };
        assert_eq!(cached.len(), 3, "{page}");
        for row in cached {
            // Fast as long as there is room, and then slower than a disk without a cache.
            assert!(number(row[2]) > 1.5 * number(bare[2]), "{row:?}");
            assert!(number(row[3]) < number(bare[3]) && number(row[5]) < 50.0, "{row:?}");
        }
        // The larger the cache, the later it is full.
        let cliffs: Vec<f64> = cached.iter().map(|row| number(row[4])).collect();
        assert!(cliffs.is_sorted() && cliffs[0] < cliffs[2], "{cliffs:?}");
        assert_eq!((bare[4], bare[5]), ("none", "100 %"), "{page}");
        let chart = std::fs::read_to_string(folder.path().join("pslc/cliff.svg")).unwrap();
        assert!(SYSTEMS.iter().all(|(name, _)| chart.contains(name)), "{chart}");
    }
}
