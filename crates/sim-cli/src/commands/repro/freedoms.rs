//! The choices of the baseline: how much the details of block chains that the paper leaves open change its figures.

use std::fmt;

use sim::engine::result::Factors;
use sim::{Failure, show};

use super::page::Page;
use super::paper::{TABLE_3, WITHIN, Workload};
use super::runs::{IN_MANY_RUNS, Results, Run, SLC};

/// A changed choice, and its parameters.
struct Variation {
    title: &'static str,
    parameters: &'static str,
}

const fn variation(title: &'static str, parameters: &'static str) -> Variation {
    Variation { title, parameters }
}

/// The victims as the paper describes them.
const LEAST_USED: &str = "sketch=4&victims=least-used";

/// The same with ours, for a fair comparison.
const SKETCHED: &str = "sketch=4";

const VARIATIONS: [Variation; 12] = [
    variation("as taken", ""),
    variation("a whole fold in one request", "copies=255"),
    variation("one copy for a page written", "copies=1"),
    variation("sketches of chains", SKETCHED),
    variation("sketches, and victims by utilization", LEAST_USED),
    variation("12 maps in the cache", "cache=12"),
    variation("192 maps in the cache", "cache=192"),
    variation("1 log block a chain", "chain=1"),
    variation("2 log blocks a chain", "chain=2"),
    variation("8 log blocks a chain", "chain=8"),
    variation("folding begins at 2 free blocks", "low=2"),
    variation("folding begins at 64 free blocks", "low=64"),
];

/// The conventional disk and the hybrid one, both with that choice.
fn disks(parameters: &str) -> [Run; 2] {
    let with = |run: Run| {
        let mark = if run.system.contains('?') { '&' } else { '?' };
        let system = match parameters {
            "" => run.system,
            _ => format!("{}{mark}{parameters}", run.system),
        };
        Run { system, one_in: IN_MANY_RUNS, ..run }
    };
    [Run::conventional(Workload::Ntfs, "c3"), Run::hybrid(Workload::Ntfs, "c3", SLC)].map(with)
}

pub(super) fn runs() -> Vec<Run> {
    VARIATIONS.iter().flat_map(|variation| disks(variation.parameters)).collect()
}

/// Mean response times of both disks in microseconds, and how many times as fast the hybrid one is.
fn measured(results: &Results, parameters: &str) -> Result<([f64; 2], f64, Factors), Failure> {
    let [plain, hybrid] = disks(parameters);
    let (plain, hybrid) = (results.result(&plain)?, results.result(&hybrid)?);
    let means = [plain, hybrid].map(|run| run.response_us.mean.unwrap_or(f64::NAN));
    let factors = plain.factors.unwrap_or_default();
    Ok((means, hybrid.against(plain).rs.unwrap_or(f64::NAN), factors))
}

/// The least and the largest of some ratios.
#[derive(Clone, Copy, Debug)]
pub(super) struct RatioRange {
    least: f64,
    most: f64,
}

impl RatioRange {
    const NONE: Self = Self { least: f64::INFINITY, most: f64::NEG_INFINITY };

    fn with(self, ratio: f64) -> Self {
        Self { least: self.least.min(ratio), most: self.most.max(ratio) }
    }
}

impl fmt::Display for RatioRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most } = self;
        if least <= most {
            write!(out, "from {least:.2} to {most:.2}")
        } else {
            write!(out, "none")
        }
    }
}

/// How far RS moves with the freedoms that leave the factors of C3' near the paper's.
pub(super) fn range_that_fits(results: &Results) -> Result<RatioRange, Failure> {
    let mut fitting = RatioRange::NONE;
    for variation in &VARIATIONS {
        let (_, rs, factors) = measured(results, variation.parameters)?;
        if agrees(&factors) {
            fitting = fitting.with(rs);
        }
    }
    Ok(fitting)
}

/// Whether the factors of C3' are near the paper's.
fn agrees(factors: &Factors) -> bool {
    let paper = TABLE_3[0][Workload::Ntfs as usize];
    let pairs = [
        (factors.n3, paper.n3),
        (factors.n4, paper.n4),
        (factors.p1, paper.p1),
        (factors.p2, paper.p2),
    ];
    let is_near = |ours: f64, paper: f64| ours <= paper * WITHIN && ours >= paper / WITHIN;
    pairs.into_iter().all(|(ours, paper)| ours.is_some_and(|ours| is_near(ours, paper)))
}

pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("The baseline's freedoms");
    page.say(&format!(
        "NTFS on C3' and C3, 256 MiB of SLC; one choice is changed at a time, on both disks. The factors are those \
         of C3'; the workload was fitted to them with the choices as taken.{}",
        results.length.of_many_runs(),
    ));
    let heads = ["", "C3', µs a request", "C3, µs a request", "RS", "n3", "n4", "p1", "p2"];
    let mut rows = vec![heads.map(String::from)];
    let mut all = RatioRange::NONE;
    for variation in &VARIATIONS {
        let ([plain, hybrid], rs, factors) = measured(results, variation.parameters)?;
        all = all.with(rs);
        let shown = |figure: Option<f64>, digits: usize| {
            show::maybe(figure, |figure| format!("{figure:.digits$}"))
        };
        rows.push([
            variation.title.into(),
            format!("{plain:.0}"),
            format!("{hybrid:.0}"),
            format!("{rs:.2}"),
            shown(factors.n3, 1),
            shown(factors.n4, 2),
            shown(factors.p1, 3),
            shown(factors.p2, 3),
        ]);
    }
    page.table(&rows);
    let fitting = range_that_fits(results)?;
    let ([plain, hybrid], _, _) = measured(results, SKETCHED)?;
    let ([of_plain, of_hybrid], _, _) = measured(results, LEAST_USED)?;
    page.say(&format!(
        "These choices alone give RS {all}, and those that leave the factors of C3' within 15 % of the paper's, \
         {fitting}. Victims by utilization, the least used of four idle chains, make C3' {:.3} times as fast as \
         victims by age with the same sketches, and C3 {:.3} times; they need the sketches, eight bytes of RAM for \
         each logical block, and the default goes by age, which needs a bit.",
        plain / of_plain,
        hybrid / of_hybrid,
    ));
    Ok(())
}
