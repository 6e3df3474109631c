//! Which requests, and how they are read.

use sim::Failure;
use sim::input::trace::fit::FitChoice;
use sim::input::trace::formats::{As, Columns, Format};
use sim::input::workload::{Reading, Reads, Workload};

use super::{choices, numbers};

/// Which requests, and how they are read: flags that every replaying command has.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkloadArgs {
    /// Files (plain, .gz, .zst, .bz2, .xz, a tar of one; `-` is standard input), folders and patterns of files, or
    /// synthetic workloads (`synth:zipf?requests=1000&seed=1`), replayed in this order; the per-processor files of one
    /// blktrace count as one trace
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<String>,
    /// The files' format; by default it is detected from their content
    #[arg(long, value_parser = choices::formats(), value_name = "FORMAT")]
    pub(crate) format: Option<&'static Format>,
    /// The columns of a text file, counted from 0: time=0:us,op=2,offset=3:sectors,length=4
    #[arg(long, value_parser = Columns::parse, value_name = "COLUMNS", conflicts_with = "format")]
    pub(crate) columns: Option<Columns>,
    /// Skip and count lines that do not match the format
    #[arg(long)]
    pub(crate) lenient: bool,
    /// What to do with addresses beyond the end of the device [default: auto of a comparison of files, else an error]
    #[arg(long, value_parser = choices::fits(), value_name = "HOW")]
    pub(crate) fit: Option<FitChoice>,
    /// Replay everything this many times
    #[arg(long, default_value_t = 1, value_parser = numbers::some::<u32>, value_name = "N")]
    pub(crate) passes: u32,
    /// Replay everything until the write amplification is stable: five rounds within 10 % of their mean, and without a
    /// slope of more (as SNIA's performance test has it), and no page left that was free at the start. The figures are
    /// of the five; it ends after 25 rounds
    #[arg(long, conflicts_with = "passes")]
    pub(crate) steady: bool,
    /// Replay only the first requests, this many in each pass
    #[arg(long, value_parser = numbers::some::<u64>, value_name = "N")]
    pub(crate) first: Option<u64>,
    /// Its name in results, if that is not the traces' names.
    #[arg(skip)]
    pub(crate) called: Option<String>,
}

impl WorkloadArgs {
    /// One trace, or synthetic workload, replayed once as it is.
    pub(crate) fn of(trace: impl Into<String>) -> Self {
        Self {
            traces: vec![trace.into()],
            format: None,
            columns: None,
            lenient: false,
            fit: None,
            passes: 1,
            steady: false,
            first: None,
            called: None,
        }
    }

    /// The workload that these flags select. Standard input is copied if it must be read more than once.
    pub(crate) fn workload(&self) -> Result<Workload, Failure> {
        let again = self.passes > 1
            || self.steady
            || matches!(self.fit, Some(FitChoice::Pack | FitChoice::Auto));
        let reads = if again { Reads::Often } else { Reads::Once };
        let format = self.columns.clone().map(As::Columns).or(self.format.map(As::Format));
        let reading = Reading { format, lenient: self.lenient };
        let workload = Workload::named(&self.traces, reading, reads)?;
        let workload = workload.first(self.first.unwrap_or(u64::MAX));
        Ok(match &self.called {
            Some(name) => workload.called(name),
            None => workload,
        })
    }

    /// Whether it is read from standard input, which comes once.
    pub(crate) fn is_from_stdin(&self) -> bool {
        self.traces.iter().any(|name| name == "-")
    }
}
