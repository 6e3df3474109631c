use super::copy::Level;
use super::curve::{self, CurveStep};
use super::drives::Phase;
use super::*;

#[test]
fn the_speed_of_a_step_is_what_was_written_in_it_by_its_time() {
    let step = |written, took| CurveStep { written, took };
    let steps = [step(4e9, 1e6), step(6e9, 2e6), step(10e9, 1e6), step(12e9, 2e6), step(14e9, 2e6)];
    assert_eq!(curve::speeds(&steps[..2]), [(4.0, 4.0), (6.0, 1.0)]);
    // A step alone does not end it.
    for (speed, bytes) in [(3.0, 10e9), (5.0, 0.0), (0.5, 14e9)] {
        let until = curve::until(&steps, speed);
        assert!((until - bytes).abs() < 1.0, "{speed}: {until}");
    }
}

#[test]
fn a_step_in_two_phases_is_shared_out_by_its_speed() {
    let points = [(10.0, 4.0), (20.0, 4.1), (30.0, 2.0), (40.0, 1.0), (50.0, 1.05)];
    let phases = curve::phases(&points);
    let speeds: Vec<f64> = phases.iter().map(|phase| phase.speed).collect();
    assert!((speeds[0] - 4.05).abs() < 1e-9 && (speeds[1] - 1.025).abs() < 1e-9, "{phases:?}");
    // Ten at a mean of two: two thirds of them at 4.05, and the rest at one.
    assert!(matches!(phases[0].until, Some(until) if (26.0..27.0).contains(&until)), "{phases:?}");
    assert_eq!((phases.len(), phases[1].until), (2, None));
    let alone = curve::phases(&[(10.0, 4.0), (20.0, 2.0), (30.0, 2.0)]);
    assert_eq!(alone[0], Phase { speed: 4.0, until: Some(10.0) });
}

#[test]
fn a_step_takes_as_long_as_its_requests_by_how_many_are_under_way() {
    let steps = curve::steps(&[3.0; 80], 100, 4);
    assert_eq!(steps, [3_200.0, 6_400.0].map(|written| CurveStep { written, took: 24.0 }));
}

/// The promise of the page: each phase, and where it ends, within 15 % of what is published.
#[test]
fn four_published_fill_curves_come_out() {
    const LEVELS: [Level; 2] =
        [Level { name: "empty", percent: 0 }, Level { name: "nearly full", percent: 90 }];
    let shape = DriveScale { smaller: 4, copied: 1_600, levels: &LEVELS, ..DriveScale::SOLD };
    let results = tasks::run(&DRIVES, shape, 2).unwrap();
    for (drive, fill) in DRIVES.iter().zip(&results.fills) {
        let phases = page::phases(fill, &results);
        let near = |ours: f64, published: f64, what: &str| {
            let off = ours / published - 1.0;
            assert!(off.abs() < 0.15, "{}: {what} {ours} for {published}: {phases:?}", drive.name);
        };
        assert_eq!(phases.len(), drive.phases.len(), "{}: {phases:?}", drive.name);
        for (ours, published) in phases.iter().zip(drive.phases) {
            near(ours.speed, published.speed, "a speed of");
            if let (Some(ours), Some(published)) = (ours.until, published.until) {
                near(ours, published, "an end at");
            }
        }
        near(fill.mean, drive.mean, "a mean of");
    }
    for levels in &results.levels {
        let [empty, full] = &levels[..] else { panic!("two levels") };
        assert!(full.cached < 0.3 * empty.cached, "{} {}", empty.cached, full.cached);
        for at in levels {
            // The longer the pause, the more of the cache is back.
            assert!(at.again.is_sorted(), "{:?}", at.again);
        }
        assert!(empty.again[0] < 0.2 * empty.cached && empty.again[2] > empty.again[0]);
    }
    let speed = |at: usize| {
        let speeds = curve::speeds(&results.full_disk[at].steps);
        (speeds[1].1, speeds.last().unwrap().1)
    };
    let [past, folded, larger, none] = [0, 1, 2, 3].map(speed);
    assert!(past.0 > 1.5 * none.0 && folded.0 > 1.5 * none.0 && larger.0 > 1.5 * none.0);
    assert!(folded.1 < 0.8 * none.1 && past.1 > 0.9 * none.1, "{past:?} {folded:?} {none:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut page = Page::new(folder.path(), ("pslc.md", "pslc")).unwrap();
    page::write(&mut page, &DRIVES, &results).unwrap();
    let page = std::fs::read_to_string(page.finish().unwrap()).unwrap();
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    let charts = std::fs::read_dir(folder.path().join("pslc")).unwrap().count();
    assert_eq!((charts, page.matches(".svg)").count()), (5, 5), "{page}");
}
