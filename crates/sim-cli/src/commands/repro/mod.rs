//! `tandem repro`: the tables and figures of papers, their values beside ours.
//!
//! The result is a page of Markdown with charts as SVG beside it. Plots of the paper have no figures; the values in its
//! text are shown beside ours.
//!
//! # Modules
//!
//! - `paper`: the paper's values. `formula`: its closed formula. `run`: a run. `runs`: the runs of all figures, each
//!   done once. `kept`: results of earlier runs. `page`: the page.
//! - `open`: what the paper leaves open. `freedoms`: how much that changes the figures. `density`: Figure 8b.
//! - `fit`: Figure 7, and how well the workloads fit. `factors`: Table 3. `traffic`: Figure 9. `slc_sizes`: Figures 8
//!   and 12b, Table 4. `hashing`: Figure 11. `places`: Figures 10 and 12a.
//! - `verdict`: whether the paper reproduces. `studies`: the other papers.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use clap::ValueEnum;
use sim::{Failure, show};

use crate::base::interrupt;
use crate::flags::numbers;

mod density;
mod factors;
mod fit;
mod formula;
mod freedoms;
mod hashing;
mod kept;
mod open;
mod page;
pub(crate) mod paper;
mod places;
mod run;
mod runs;
mod slc_sizes;
mod studies;
mod traffic;
mod verdict;

use kept::Folder;
use page::Page;
pub(crate) use run::EXPORTED;
use run::{Length, Run};
use runs::Results;

/// The arguments of `repro`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The paper
    #[arg(value_enum, value_name = "PAPER")]
    paper: Paper,
    /// Which tables and figures of Chang's paper to make; by default all
    #[arg(value_enum, value_name = "FIGURE")]
    figures: Vec<Figure>,
    /// Where to write the page and its charts
    #[arg(long, default_value = "repro", value_name = "FOLDER")]
    out: PathBuf,
    /// Requests of each run [default: 1000000; hong-shin 100000, ahdm 200000, ko 40000, gc 2100000; pslc has its own]
    #[arg(long, value_parser = numbers::some::<u64>, value_name = "N")]
    requests: Option<u64>,
    /// A folder with the papers' traces under their own names (`hm_0.csv.gz`), to replay instead of synthetic ones
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Run as long as the paper did: Chang's month ten times; for the others, the whole files of --traces
    #[arg(long)]
    full: bool,
    /// Replay Chang's workloads this many times; the paper uses 10 [default: 1]
    #[arg(long, value_parser = numbers::some::<u32>, value_name = "N")]
    passes: Option<u32>,
    /// Keep the results of Chang's runs in this folder and skip those already there, so that a stopped run can resume
    #[arg(long, value_name = "FOLDER")]
    runs: Option<PathBuf>,
    /// The seed of the requests
    #[arg(long, default_value_t = 1, value_parser = numbers::any::<u64>, value_name = "S")]
    seed: u64,
    /// Runs in parallel; by default one for each core
    #[arg(long, value_name = "N", value_parser = numbers::any::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
}

/// Papers whose figures can be reproduced.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Paper {
    /// L.-P. Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", 2010
    Chang,
    /// Batni and Safaei, "A New Multi-Tiered Solid State Disk Using SLC/MLC Combined Flash Memory"
    Ahdm,
    /// Hong and Shin, "NAND Flash-based Disk Cache Using SLC/MLC Combined Flash Memory", 2010
    HongShin,
    /// Kinoshita, Matsui and Takeuchi, "Maximizing Performance/cost of SSD Composed of […] SCMs", 2018
    Kinoshita,
    /// Ko, Suh, Park and Chung, "FTL for the effective use of SLC NAND flash memory in hybrid […] devices", 2011
    Ko,
    /// No paper: what today's disks do with blocks in SLC mode, and four of their fill curves
    Pslc,
    /// Several papers: write amplification of schemes of garbage collection (--traces traces/own adds real traces)
    Gc,
    /// All of them
    All,
}

/// Tables and figures of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// The factors of the analysis, and the closed formula
    Table3,
    /// Profiles of the workloads, and their fit
    Fig7,
    /// Speed-up by size of the SLC
    Fig8,
    /// Speed-up by Kgil's density control, by size of the extra MLC
    Fig8b,
    /// Traffic by cause
    Fig9,
    /// Where writes reach the MLC
    Fig10,
    /// The hash table: probes, probing, size
    Fig11,
    /// Wear by block, and of SLC against MLC
    Fig12,
    /// Energy and price
    Table4,
    /// How much the figures depend on what the paper leaves open
    Freedoms,
}

impl Figure {
    /// Its runs.
    fn runs(self) -> Vec<Run> {
        match self {
            Self::Table3 => factors::runs(),
            Self::Fig7 => fit::runs(),
            Self::Fig8 => slc_sizes::speed_runs(),
            Self::Fig8b => density::runs(),
            Self::Fig9 => traffic::runs(),
            Self::Fig10 => places::scatter_runs(),
            Self::Fig11 => hashing::runs(),
            Self::Fig12 => [places::wear_runs(), slc_sizes::wear_runs()].concat(),
            Self::Table4 => slc_sizes::energy_runs(),
            Self::Freedoms => freedoms::runs(),
        }
    }

    /// Adds it to the page.
    fn write(self, page: &mut Page, results: &Results) -> Result<(), Failure> {
        match self {
            Self::Table3 => factors::write(page, results),
            Self::Fig7 => fit::write(page, results),
            Self::Fig8 => slc_sizes::speed(page, results),
            Self::Fig8b => density::write(page, results),
            Self::Fig9 => traffic::write(page, results),
            Self::Fig10 => places::scatter(page, results),
            Self::Fig11 => hashing::write(page, results),
            Self::Fig12 => {
                places::wear(page, results)?;
                slc_sizes::wear(page, results)
            }
            Self::Table4 => slc_sizes::energy(page, results),
            Self::Freedoms => freedoms::write(page, results),
        }
    }
}

/// Papers whose figures compare systems on some loads.
static ALL: [studies::Study; 4] =
    [studies::AHDM, studies::HONG_SHIN, studies::KINOSHITA, studies::KO];

/// Reproduces the figures.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let studies = match args.paper {
        Paper::Chang | Paper::Gc | Paper::Pslc => &[][..],
        Paper::Ahdm => &[studies::AHDM],
        Paper::HongShin => &[studies::HONG_SHIN],
        Paper::Kinoshita => &[studies::KINOSHITA],
        Paper::Ko => &[studies::KO],
        Paper::All => &ALL,
    };
    let is_chang = matches!(args.paper, Paper::Chang | Paper::All);
    if !args.figures.is_empty() && !matches!(args.paper, Paper::Chang) {
        let reason = "figures can be chosen of Chang's paper alone: the others come as a whole";
        return Err(Failure::Arguments(reason.into()));
    }
    if args.full && args.traces.is_none() && !matches!(args.paper, Paper::Chang) {
        let reason =
            "--full: the loads of this paper are made up, unless --traces names a folder with them";
        return Err(Failure::Arguments(reason.into()));
    }
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok());
    let jobs = jobs.map_or(1, NonZeroUsize::get);
    let folder = args.traces.as_deref();
    if let Some(folder) = folder
        && let Err(reason) = std::fs::read_dir(folder)
    {
        let folder = folder.display();
        return Err(Failure::Arguments(format!("--traces {folder} cannot be read: {reason}")));
    }
    let length = if args.full { studies::Cut::Full } else { studies::Cut::AsLong };
    let loads = studies::Loads { requests: args.requests, seed: args.seed, folder, length };
    let has_gc = matches!(args.paper, Paper::Gc | Paper::All);
    studies.iter().try_for_each(|study| study.check_files(&loads))?;
    if has_gc {
        studies::gc::check_files(&loads)?;
    }
    for study in studies {
        let path = study.make(&args.out.join("repro"), &loads, jobs)?;
        writeln!(out, "{} has the figures", path.display())?;
    }
    if matches!(args.paper, Paper::Pslc | Paper::All) {
        let path = studies::pslc::make(&args.out.join("repro"), jobs)?;
        writeln!(out, "{} has the figures", path.display())?;
    }
    if has_gc {
        let path = studies::gc::make(&args.out.join("repro"), &loads, jobs)?;
        writeln!(out, "{} has the figures", path.display())?;
    }
    if is_chang { chang(args, jobs, out) } else { Ok(()) }
}

/// The default number of requests of a run of Chang's.
const REQUESTS: u64 = 1_000_000;

/// The paper's length: a month, and the passes over it.
const FULL: (u64, u32) = (paper::MONTH, 10);

/// The length of Chang's runs.
fn length(args: &Args) -> Length {
    let (requests, passes) = if args.full { FULL } else { (REQUESTS, 1) };
    Length {
        is_whole: args.full,
        requests: args.requests.unwrap_or(requests),
        seed: args.seed,
        passes: args.passes.unwrap_or(passes),
    }
}

/// Reproduces Chang's figures.
fn chang(args: &Args, jobs: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let figures = if args.figures.is_empty() { Figure::value_variants() } else { &args.figures };
    // Checked before the runs, not after them.
    let mut page = Page::new(&args.out, ("REPRO.md", "repro"))?;
    let length = length(args);
    let kept = args.runs.as_deref().map(Folder::new).transpose()?;
    let wanted = figures.iter().flat_map(|figure| figure.runs()).collect();
    let results = runs::run_all(wanted, length, jobs, kept.as_ref())?;
    introduce(&mut page, length);
    let is_complete = Figure::value_variants().iter().all(|figure| figures.contains(figure));
    if is_complete {
        verdict::write(&mut page, &results)?;
    }
    open::write(&mut page);
    for figure in Figure::value_variants().iter().filter(|figure| figures.contains(figure)) {
        figure.write(&mut page, &results)?;
    }
    let path = page.finish()?;
    Ok(writeln!(out, "{} has the figures", path.display())?)
}

fn introduce(page: &mut Page, length: Length) {
    page.title("Chang's figures, reproduced");
    let Length { requests, seed, passes, is_whole } = length;
    let full = if is_whole { "--full " } else { "" };
    page.say(&format!(
        "L.-P. Chang, \"A Hybrid Approach to NAND-Flash-Based Solid-State Disks\", IEEE Transactions on \
         Computers 59(10), 2010: its tables and figures, the paper's value beside ours. Made by `tandem repro \
         chang {full}--requests {requests} --passes {passes} --seed {seed}`: {} requests, passes: {passes}, closed \
         loop, one operation after the other. The paper replays a month (1,534,627 writes and its reads) 10 times.",
        show::count(requests),
    ));
    page.say(
        "**What is reproduced, and what is not.** The traces of the paper were never published. The workloads \
         `ntfs` and `ext3` agree, over one pass of a month and within [stated bounds](FIT.md), with what the paper \
         says about its traces: Figure 7, the *conventional* disk's rows of Table 3, how much valid data the hash \
         table holds and how many writes it rejects (section 5.4), and what share of all write requests C1's SLC \
         serves (5.3.2, NTFS alone). RS, ES and the hybrid rows of Table 3 played no part in the fit: they are \
         results, and differ from the paper's where they do. [FIT.md](FIT.md) also tells what the length of the \
         runs changes.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_runs_and_finds_them() {
        for figure in Figure::value_variants() {
            let runs = figure.runs();
            for run in &runs {
                assert!(runs.contains(&runs::base_of(run)), "{figure:?}: {run:?} has no base");
            }
        }
    }

    #[test]
    fn figures_are_made_and_written_with_their_charts() {
        let folder = tempfile::tempdir().unwrap();
        let args = Args {
            paper: Paper::Chang,
            figures: vec![Figure::Table3, Figure::Fig7, Figure::Fig9, Figure::Fig10],
            out: folder.path().into(),
            requests: Some(3000),
            traces: None,
            full: false,
            passes: None,
            runs: None,
            seed: 1,
            jobs: NonZeroUsize::new(2),
        };
        run(&args, &mut Vec::new()).unwrap();
        let page = std::fs::read_to_string(folder.path().join("REPRO.md")).unwrap();
        for told in ["Table 3", "Figure 7", "Figure 9", "Figure 10", "closed formula", "12.58"] {
            assert!(page.contains(told), "{told}: {page}");
        }
        let charts = page.matches("](repro/").count();
        assert_eq!(std::fs::read_dir(folder.path().join("repro")).unwrap().count(), charts);
        assert!(charts >= 9, "{charts}");
        assert!(!page.contains("NaN"), "{page}");
    }

    #[test]
    fn a_folder_that_cannot_be_is_told_before_anything_runs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let args = Args {
            paper: Paper::Chang,
            figures: vec![Figure::Fig7],
            out: file.path().join("below"),
            requests: Some(u64::MAX),
            traces: None,
            full: false,
            passes: None,
            runs: None,
            seed: 1,
            jobs: None,
        };
        let failure = run(&args, &mut Vec::new()).unwrap_err();
        assert!(failure.to_string().contains("cannot be written"), "{failure}");
    }
}
