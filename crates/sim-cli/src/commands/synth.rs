//! `tandem synth`: writes a synthetic workload as a trace, in our own format.

use std::fs::File;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use sim::input::size;
use sim::input::synth::{Generator, Synth};
use sim::input::trace::output::{self, Output};
use sim::{Failure, Observer, show};

use crate::base::{files, interrupt};
use crate::flags::numbers;
use crate::output::progress::Bar;

/// The arguments of `synth`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The workload: ntfs, ext3, zipf, uniform or sequential, with optional parameters: `zipf?skew=1.2&reads=30`
    #[arg(value_name = "WORKLOAD")]
    workload: String,
    /// The number of requests
    #[arg(long, value_parser = numbers::some::<u64>, value_name = "N")]
    requests: Option<u64>,
    /// The seed: another seed gives other requests
    #[arg(long, value_parser = numbers::any::<u64>, value_name = "S")]
    seed: Option<u64>,
    /// The disk's size: addresses stay below it
    #[arg(long, default_value = "20GiB", value_parser = size::parse, value_name = "SIZE")]
    capacity: u64,
    /// The output file; a name ending in .gz or .zst compresses it, `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Checks for a stop after this many requests.
const LOOKED_EVERY: u64 = 4096;

/// Writes the requests.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let mut name = args.workload.clone();
    for (parameter, value) in [("requests", args.requests), ("seed", args.seed)] {
        if let Some(value) = value {
            let mark = if name.contains('?') { "&" } else { "?" };
            name.extend([mark, parameter, "=", &value.to_string()]);
        }
    }
    let synth = Synth::parse(&name).map_err(Failure::Arguments)?;
    let requests = synth.requests(args.capacity).map_err(Failure::Arguments)?;
    let bar = Bar::new();
    let observer: &dyn Observer = &bar;
    if args.output.as_os_str() == "-" {
        // On a terminal the requests are what is seen.
        let observer = if stdout().is_terminal() { &() } else { observer };
        return write_all(requests, observer, out);
    }
    files::check(&args.output)?;
    files::replace_with(&args.output, |file| pack(requests, observer, &args.output, file)).map_err(
        |failure| match failure {
            Failure::Interrupted(made) => {
                let path = args.output.display();
                Failure::Interrupted(format!("{made}, and {path} was not written"))
            }
            other => other,
        },
    )
}

/// Writes the requests in the compression that the name asks for.
fn pack(
    requests: Generator,
    observer: &dyn Observer,
    path: &Path,
    file: &mut File,
) -> Result<(), Failure> {
    let mut packed = Output::over(file.try_clone()?, path)?;
    write_all(requests, observer, &mut packed)?;
    Ok(packed.finish()?)
}

/// Writes one line per request. A stop ends it after a whole line.
#[allow(clippy::cast_precision_loss)] // A bar has a thousand steps.
fn write_all(
    requests: Generator,
    observer: &dyn Observer,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let fields = requests.fields();
    let all = requests.total();
    output::begin(fields, out)?;
    for (number, request) in (0_u64..).zip(requests) {
        if number.is_multiple_of(LOOKED_EVERY) {
            observer.at(Some(number as f64 / all as f64), number);
            if interrupt::is_requested() {
                observer.done();
                out.flush()?;
                let made = show::count(number);
                return Err(Failure::Interrupted(format!("{made} requests were made")));
            }
        }
        output::put(&request, fields, out)?;
    }
    observer.done();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::input::trace::reader::Reader;

    fn args(workload: &str, output: &Path) -> Args {
        let (requests, seed) = (Some(300), Some(5));
        let (workload, output) = (workload.into(), output.into());
        Args { workload, requests, seed, capacity: 1 << 30, output }
    }

    #[test]
    fn what_is_written_reads_as_what_was_made_plain_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let kinds = ["ntfs", "ext3", "zipf?reads=30&interval_us=7", "uniform", "sequential"];
        for kind in kinds.into_iter().chain(["writers?speed=2"]) {
            for file in ["a.csv", "a.csv.gz", "a.csv.zst"] {
                let path = folder.path().join(file);
                run(&args(kind, &path), &mut Vec::new()).unwrap();
                let mut reader = Reader::open(&[path], file, None, false).unwrap();
                let mark = if kind.contains('?') { '&' } else { '?' };
                let name = format!("{kind}{mark}requests=300&seed=5");
                let made = Synth::parse(&name).unwrap().requests(1 << 30).unwrap();
                for request in made {
                    assert_eq!(reader.next_request().unwrap(), Some(request), "{kind} {file}");
                }
                assert_eq!(reader.next_request().unwrap(), None);
            }
        }
    }

    #[test]
    fn standard_output_is_a_file_like_any_other() {
        let mut out = Vec::new();
        run(&args("sequential?reads=0", Path::new("-")), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("time_us,op,offset,length\n0,W,0,4096\n1000,W,4096,4096\n"));
        assert_eq!(text.lines().count(), 301);
    }

    #[test]
    fn a_file_that_cannot_be_is_told_with_its_name() {
        let failure = run(&args("ntfs", Path::new("/no/such/a.csv")), &mut Vec::new());
        assert!(failure.unwrap_err().to_string().contains("/no/such/a.csv cannot be written"));
    }
}
