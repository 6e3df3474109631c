//! The arguments of a sweep.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::flags::numbers;

/// The arguments of `sweep`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: lists of devices, SLC sizes, systems, traces and seeds, as TOML
    #[arg(value_name = "PLAN.toml")]
    pub(super) plan: PathBuf,
    /// The folder for the results; created if missing
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Runs in parallel; by default one for each core. A run of a 20-GiB device takes up to 150 MB of memory
    #[arg(long, value_name = "N", value_parser = numbers::any::<NonZeroUsize>)]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Do only every N-th run, beginning with the I-th; other machines do the others
    #[arg(long, value_parser = Shard::parse, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
    /// Run nothing; only make the tables from existing results
    #[arg(long, conflicts_with_all = ["shard", "on"])]
    pub(super) collect: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
}

/// The share of the runs that this process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// From 1 to `of`.
    pub(super) number: usize,
    pub(super) of: usize,
}

impl Shard {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let possible = numbers.filter(|shard| (1..=shard.of).contains(&shard.number));
        possible.ok_or_else(|| "write I/N with I from 1 to N, as in 2/8".into())
    }

    pub(super) const fn has(self, run: usize) -> bool {
        run % self.of == self.number - 1
    }
}

/// Where a sweep runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Where {
    /// In an array of Slurm jobs
    Slurm,
}

/// The options for a cluster.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ClusterArgs {
    /// Submit the runs to a cluster and return; all its nodes must see the folder
    #[arg(long, value_enum, value_name = "CLUSTER", conflicts_with = "shard")]
    pub(super) on: Option<Where>,
    /// Print the job scripts, and submit nothing
    #[arg(long, requires = "on")]
    pub(super) dry_run: bool,
    /// The partition, if not the cluster's default
    #[arg(long, requires = "on", value_name = "NAME")]
    pub(super) partition: Option<String>,
    /// Tasks of the array, each a shard of the plan; by default one for each run, at most 1000
    #[arg(long, requires = "on", value_name = "N", value_parser = numbers::some::<u32>)]
    pub(super) tasks: Option<u32>,
    /// Another option for sbatch, such as --sbatch=--time=2:00:00; several may be given
    #[arg(long, requires = "on", value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) sbatch: Vec<String>,
}
