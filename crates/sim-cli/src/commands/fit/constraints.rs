//! The paper's statements about its workloads, and the same measures of another.

use serde::{Deserialize, Serialize};
use sim::Failure;
use sim::engine::result::RunResult;
use sim::engine::systems::Chosen;
use sim::input::profile;
use sim::input::workload::Workload as Requests;

use crate::base::terminal::Terminal;
use crate::commands::repro::paper::{TABLE_3, WITHIN, WRITES, Workload};
use crate::flags::device::DeviceArgs;
use crate::flags::options::{Options, PaceArgs};
use crate::flags::workload::WorkloadArgs;

/// A measure of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measured {
    /// The update ratio of small writes.
    SmallUpdates,
    /// The update ratio of large writes.
    LargeUpdates,
    /// Sectors written 16,384 times in a month.
    Hottest,
    /// Table 3, on C3'.
    N3,
    N4,
    P1,
    P2,
    /// MiB of valid data in the hash table.
    Valid,
    /// Write requests that found no room there, in percent of those in a table of half the size.
    Rejected,
    /// Of the write requests, those that the SLC served on C1, in percent.
    Served,
    /// Of the write requests, those that found no room in the hash table, in percent. Not a constraint, because the
    /// paper's plot has no figures.
    TurnedAway,
    /// Results, which are not constraints, and which no search looks at.
    Rs,
    Es,
    Alpha,
    HybridP2,
}

const COUNT: usize = Measured::HybridP2 as usize + 1;

/// The measures of a workload. If one does not agree, more expensive ones are not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures([Option<f64>; COUNT]);

impl Figures {
    pub(super) const fn get(&self, what: Measured) -> Option<f64> {
        self.0[what as usize]
    }

    const fn set(&mut self, what: Measured, value: f64) {
        self.0[what as usize] = Some(value);
    }
}

/// A statement of the paper.
pub(super) struct Constraint {
    pub(super) what: Measured,
    pub(super) title: &'static str,
    /// Whether it is counted without a simulated disk, on a disk without SLC, or on one with it.
    stage: Stage,
}

/// The input of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Count,
    Conventional,
    Hash,
    Hybrid,
}

pub(super) const CONSTRAINTS: [Constraint; 10] = [
    told(Measured::SmallUpdates, "small writes to a sector of theirs (Fig. 7b)", Stage::Count),
    told(Measured::LargeUpdates, "the same of 128-sector writes (Fig. 7b)", Stage::Count),
    told(Measured::Hottest, "writes to hottest sectors, by class (Fig. 7c)", Stage::Count),
    told(Measured::N3, "n3 on C3' (Table 3)", Stage::Conventional),
    told(Measured::N4, "n4 on C3' (Table 3)", Stage::Conventional),
    told(Measured::P1, "p1 on C3' (Table 3)", Stage::Conventional),
    told(Measured::P2, "p2 on C3' (Table 3)", Stage::Conventional),
    told(Measured::Valid, "MiB of valid data in 32,768 entries (5.4)", Stage::Hash),
    told(Measured::Rejected, "of 100 writes that half as many reject (5.4)", Stage::Hash),
    told(Measured::Served, "% of writes that the SLC serves on C1 (5.3.2)", Stage::Hybrid),
];

const fn told(what: Measured, title: &'static str, stage: Stage) -> Constraint {
    Constraint { what, title, stage }
}

impl Constraint {
    /// The range of agreement. `None`: the paper makes no statement about this workload.
    #[allow(clippy::cast_precision_loss)] // A count of writes.
    pub(super) fn bounds(&self, workload: Workload) -> Option<(f64, f64)> {
        let rows = TABLE_3[0][workload as usize];
        let near = |figure: f64| (figure / WITHIN, figure * WITHIN);
        Some(match self.what {
            // "Very high", and "low": several times as often, and hardly twice.
            Measured::SmallUpdates => (4.0, 1e3),
            Measured::LargeUpdates => (1.0, 3.2),
            // Some sectors are written 16,384 times or more; no more than sixteen times that, because a month has
            // two and a half million requests.
            Measured::Hottest => (16_384.0, 16.0 * 16_384.0),
            Measured::N3 => near(rows.n3),
            Measured::N4 => near(rows.n4),
            Measured::P1 => near(rows.p1),
            Measured::P2 => near(rows.p2),
            // "Usually close to" 32,768 entries, and too many for 16,384, of 2 KiB each: entries of 512 bytes hold less
            // than Table 3 says is valid (`docs/FIT.md`).
            Measured::Valid => (32.0, 64.0),
            // "Decreases significantly."
            Measured::Rejected => (0.0, 50.0),
            Measured::Served if workload == Workload::Ext3 => return None,
            Measured::Served => near(68.0),
            Measured::TurnedAway
            | Measured::Rs
            | Measured::Es
            | Measured::Alpha
            | Measured::HybridP2 => return None,
        })
    }

    /// How far a figure is from agreement, as the logarithm of a factor; zero if it agrees.
    pub(super) fn miss(&self, workload: Workload, figure: f64, run: FitRun) -> f64 {
        let Some((least, most)) = self.bounds(workload) else { return 0.0 };
        let (below, above) = run.slack(self);
        let (least, most) = (least / below, most * above);
        if figure < least {
            libm::log(least / figure.max(least / 1e3))
        } else if figure > most {
            libm::log(figure / most)
        } else {
            0.0
        }
    }
}

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FitRun {
    /// A first look: the disk is not yet in its steady state, so figures need only be near.
    Short,
    /// As long as the paper's month.
    Month,
}

impl FitRun {
    /// The factors by which bounds are wider than the paper's, below and above. From a tenth of a month to a month n3
    /// grows by a seventh to a half, and the other figures change by up to a fifth either way.
    fn slack(self, constraint: &Constraint) -> (f64, f64) {
        match (self, constraint.stage, constraint.what) {
            (Self::Month, ..) | (Self::Short, Stage::Count, _) => (1.0, 1.0),
            (Self::Short, _, Measured::N3) => (1.4, 0.9),
            (Self::Short, ..) => (1.2, 1.2),
        }
    }
}

/// How far a workload is from agreement. Measures not taken count as far off.
pub(super) fn distance(workload: Workload, figures: &Figures, run: FitRun) -> f64 {
    const NOT_TRIED: f64 = 1.0;
    let miss = |constraint: &Constraint| match figures.get(constraint.what) {
        Some(figure) => constraint.miss(workload, figure, run),
        None if constraint.bounds(workload).is_none() => 0.0,
        None => NOT_TRIED,
    };
    CONSTRAINTS.iter().map(miss).sum()
}

fn agrees(workload: Workload, figures: &Figures, stage: Stage, run: FitRun) -> bool {
    let of_stage = CONSTRAINTS.iter().filter(|constraint| constraint.stage <= stage);
    of_stage
        .filter_map(|constraint| Some((constraint, figures.get(constraint.what)?)))
        .all(|(constraint, figure)| constraint.miss(workload, figure, run) <= 0.0)
}

/// A workload at two lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths<'a> {
    /// As long as the paper's month. Figure 7 is of one, and n3 and the rejected writes keep growing for about as long.
    pub(super) month: &'a str,
    /// Shorter: the share of writes that the SLC of C1 serves does not depend on the length.
    pub(super) part: &'a str,
}

/// What is measured of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything.
    All,
    /// The cheapest first, and nothing more once something does not agree; results of a month only.
    UntilItFails(FitRun),
}

/// Measures a workload, the cheapest measures first.
#[allow(clippy::cast_precision_loss)] // Counts of requests.
pub(super) fn measure(
    workload: Workload,
    Lengths { month, part }: Lengths<'_>,
    extent: Extent,
) -> Result<Figures, Failure> {
    let mut figures = Figures::default();
    let ends = |figures: &Figures, stage| match extent {
        Extent::UntilItFails(run) => !agrees(workload, figures, stage, run),
        Extent::All => false,
    };
    count(month, &mut figures)?;
    if ends(&figures, Stage::Count) {
        return Ok(figures);
    }
    let plain = replayed(month, "c3", "conventional")?;
    let factors = plain.factors.unwrap_or_default();
    for (what, figure) in [
        (Measured::N3, factors.n3),
        (Measured::N4, factors.n4),
        (Measured::P1, factors.p1),
        (Measured::P2, factors.p2),
    ] {
        figures.set(what, figure.unwrap_or(0.0));
    }
    if ends(&figures, Stage::Conventional) {
        return Ok(figures);
    }
    hash(month, &mut figures)?;
    if ends(&figures, Stage::Hash) {
        return Ok(figures);
    }
    if workload == Workload::Ntfs {
        let c1 = replayed(part, "c1", "hybrid?entries=half")?;
        let served = c1.log_writes.unwrap_or(0) as f64 / c1.requests.writes as f64;
        figures.set(Measured::Served, served * 100.0);
    }
    if extent != Extent::UntilItFails(FitRun::Short) && !ends(&figures, Stage::Hybrid) {
        let hybrid = replayed(month, "c3", "hybrid?entries=half")?;
        let (ratios, factors) = (hybrid.against(&plain), hybrid.factors.unwrap_or_default());
        for (what, figure) in [
            (Measured::Rs, ratios.rs),
            (Measured::Es, ratios.es),
            (Measured::Alpha, factors.alpha),
            (Measured::HybridP2, factors.p2),
        ] {
            figures.set(what, figure.unwrap_or(0.0));
        }
    }
    Ok(figures)
}

/// The size of hash table that the paper finds large enough.
const ENTRIES: u64 = 32_768;

/// Bytes of an entry's sector.
const ENTRY: f64 = 2048.0;

/// The statements of section 5.4, on C3. An entry is a sector of the device, of 2 KiB.
#[allow(clippy::cast_precision_loss)] // Counts of requests.
fn hash(name: &str, figures: &mut Figures) -> Result<(), Failure> {
    let with = |entries: u64| {
        let run = replayed(name, "c3", &format!("hybrid?entries={entries}"))?;
        let writes = run.requests.writes as f64;
        run.hash
            .map(|hash| (hash, hash.rejected_writes as f64 / writes * 100.0))
            .ok_or_else(|| Failure::Violation("a hybrid disk without a hash table".into()))
    };
    let (recommended, rejected) = with(ENTRIES)?;
    let valid = recommended.valid.unwrap_or(0.0) * ENTRIES as f64 * ENTRY;
    figures.set(Measured::Valid, valid / f64::from(1 << 20));
    figures.set(Measured::TurnedAway, rejected);
    let (_, of_half) = with(ENTRIES / 2)?;
    figures.set(Measured::Rejected, if of_half > 0.0 { rejected / of_half * 100.0 } else { 0.0 });
    Ok(())
}

/// The measures that need no disk.
#[allow(clippy::cast_precision_loss)] // Counts of sectors.
fn count(name: &str, figures: &mut Figures) -> Result<(), Failure> {
    let requests = Requests::synthetic(name)?;
    let profile = profile::profile(&requests, 1, crate::commands::repro::EXPORTED, &Terminal)?;
    let month = WRITES as f64 / profile.writes.max(1) as f64;
    figures.set(Measured::SmallUpdates, profile.sizes[3].update_ratio.unwrap_or(0.0));
    figures.set(Measured::LargeUpdates, profile.sizes[7].update_ratio.unwrap_or(0.0));
    let written = profile.hits.iter().filter(|hits| hits.sectors_written > 0);
    let most = written.map(|hits| hits.times_least).max().unwrap_or(0);
    // Hits are counted in classes that end at twice their beginning: the middle of the last one.
    figures.set(Measured::Hottest, most as f64 * 1.5 * month);
    Ok(())
}

fn replayed(name: &str, device: &str, system: &str) -> Result<RunResult, Failure> {
    let device = DeviceArgs { device: device.into(), capacity: None, slc: None, parallel: false };
    let setup = device.setup()?;
    let options = Options::quiet(WorkloadArgs::of(name), device, PaceArgs::default());
    let system = Chosen::parse(system).map_err(Failure::Arguments)?;
    let outcomes = options.run_all(&setup, &[system], &Terminal)?;
    let outcome = outcomes.into_iter().next();
    outcome
        .map(|outcome| outcome.result)
        .ok_or_else(|| Failure::Violation("a run brought no result".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_the_factor_to_the_nearer_bound() {
        let n3 = &CONSTRAINTS[3];
        let (least, most) = n3.bounds(Workload::Ntfs).unwrap();
        assert!((least * WITHIN - 48.4).abs() < 1e-9 && (most / WITHIN - 48.4).abs() < 1e-9);
        for (figure, factor) in [(48.4, 1.0), (least, 1.0), (most * 2.0, 2.0), (least / 3.0, 3.0)] {
            let miss = n3.miss(Workload::Ntfs, figure, FitRun::Month);
            assert!((miss - libm::log(factor)).abs() < 1e-9, "{figure}: {miss}");
        }
        assert!(CONSTRAINTS.iter().zip(0..).all(|(constraint, at)| constraint.what as usize == at));
    }

    #[test]
    fn the_first_fit_turns_more_writes_away_than_the_papers_hash_table_did() {
        let name = "synth:ntfs-1?requests=3000";
        let lengths = Lengths { month: name, part: name };
        let extent = Extent::UntilItFails(FitRun::Month);
        let figures = measure(Workload::Ntfs, lengths, extent).unwrap();
        assert!(figures.get(Measured::Hottest).is_some());
        assert!(distance(Workload::Ntfs, &figures, FitRun::Month) > 0.0, "{figures:?}");
        assert_eq!(figures.get(Measured::Rs), None, "what does not agree is not compared");
    }
}
