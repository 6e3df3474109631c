//! `tandem profile`: a workload by the measures of Chang's Figure 7.
//!
//! Sizes of writes and reads; the *update ratio* of each size (sectors written by writes of that size, over the
//! distinct ones among them); and how many sectors were written, or read, how often. Sectors have 512 bytes here, as in
//! the paper. Memory grows with the addresses touched (6 bytes a sector at most), not with the trace's length.
//!
//! # Modules
//!
//! - `census`: counts. `report`: text, JSON and charts of the counts.

use std::io::Write;
use std::path::PathBuf;

use sim::input::size;
use sim::input::workload::Workload;
use sim::{Failure, show};

use crate::base::interrupt;
use crate::base::terminal::Terminal;
use crate::flags::workload::WorkloadArgs;

mod census;
mod report;

pub(crate) use census::Profile;
pub(crate) use report::charts;

use census::Census;

/// The arguments of `profile`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    workload: WorkloadArgs,
    /// The disk's size, for synthetic workloads: addresses stay below it
    #[arg(long, default_value = "20GiB", value_parser = size::parse, value_name = "SIZE")]
    capacity: u64,
    /// Write the profile as JSON to this file; `-` is standard output, which then replaces the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the four charts of Figure 7 into this folder
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
}

/// Checks for a stop after this many requests.
const LOOKED_EVERY: u64 = 4096;

/// Counts the requests of a workload on a disk of that capacity.
pub(crate) fn profile(workload: &Workload, passes: u32, capacity: u64) -> Result<Profile, Failure> {
    let mut census = Census::default();
    for _ in 0..passes {
        let mut stream = workload.open(capacity, &Terminal);
        while let Some(request) = stream.next_request()? {
            census.note(&request);
            if census.requests().is_multiple_of(LOOKED_EVERY) && interrupt::is_requested() {
                let counted = format!("{} requests were counted", show::count(census.requests()));
                return Err(Failure::Interrupted(counted));
            }
        }
    }
    Ok(census.profile())
}

/// Profiles a workload.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let workload = args.workload.workload()?;
    let profile = profile(&workload, args.workload.passes, args.capacity)?;
    let trace = show::names(&args.workload.traces);
    if profile.is_empty() {
        return Err(sim::input::trace::TraceError::Empty(trace).into());
    }
    if let Some(folder) = &args.svg {
        let failed = |path: PathBuf| move |reason| Failure::File { path, reason };
        std::fs::create_dir_all(folder).map_err(failed(folder.clone()))?;
        for (name, chart) in charts(&[(&trace, &profile)]) {
            let path = folder.join(name).with_extension("svg");
            std::fs::write(&path, chart).map_err(failed(path))?;
        }
    }
    report::write(&profile, &trace, args.json.as_deref(), out)
}
