//! `tandem profile`: a workload by the measures of Chang's Figure 7.
//!
//! [`profile`] counts; `report` writes text, JSON and charts of the counts.

use std::io::Write;
use std::path::PathBuf;

use sim::input::profile::profile;
use sim::input::size;
use sim::{Failure, show};

use crate::base::interrupt;
use crate::flags::workload::WorkloadArgs;
use crate::output::progress::Bar;

mod report;

pub(crate) use report::charts;

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

/// Profiles a workload.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let workload = args.workload.workload()?;
    let profile = profile(&workload, args.workload.passes, args.capacity, &Bar::new())?;
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
