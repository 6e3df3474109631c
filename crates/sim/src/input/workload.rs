//! The workload of a replay: files, standard input and synthetic workloads, one after the other.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nand_model::part::Nanos;
use tempfile::NamedTempFile;

use crate::base::{Failure, interrupt, notes, show};
use crate::input::synth::{Generator, Synth};
use crate::input::trace::fit::{Fit, FitChoice, Packing, Survey};
use crate::input::trace::formats::{As, Columns, Format};
use crate::input::trace::names::Files;
use crate::input::trace::reader::Reader;
use crate::input::trace::volumes::Volumes;
use crate::input::trace::{
    AddressSpace, LASTS_MOST, Op, Position, Request, TraceError, formats, names,
};
use crate::input::{spec, synth};

/// Which requests, and how they are read: flags that every replaying command has.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkloadArgs {
    /// Files (plain, .gz, .zst, .bz2, .xz, a tar of one; `-` is standard input), folders and patterns of files, or
    /// synthetic workloads (`synth:zipf?requests=1000&seed=1`), replayed in this order; the per-processor files of one
    /// blktrace count as one trace
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<String>,
    /// The files' format; by default it is detected from their content
    #[arg(long, value_parser = formats::by_name(), value_name = "FORMAT")]
    pub(crate) format: Option<&'static Format>,
    /// The columns of a text file, counted from 0: time=0:us,op=2,offset=3:sectors,length=4
    #[arg(long, value_parser = Columns::parse, value_name = "COLUMNS", conflicts_with = "format")]
    pub(crate) columns: Option<Columns>,
    /// Skip and count lines that do not match the format
    #[arg(long)]
    pub(crate) lenient: bool,
    /// What to do with addresses beyond the end of the device [default: auto of a comparison of files, else an error]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) fit: Option<FitChoice>,
    /// Replay everything this many times
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) passes: u32,
    /// Replay everything until the write amplification is stable: five rounds within 10 % of their mean, and without a
    /// slope of more (as SNIA's performance test has it). The figures are of these five; it ends after 25 rounds
    #[arg(long, conflicts_with = "passes")]
    pub(crate) steady: bool,
    /// Replay only the first requests, this many in each pass
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) first: Option<u64>,
}

/// One source of a workload.
#[derive(Debug)]
enum Origin {
    File(Files),
    /// Its temporary copy, if it must be read more than once.
    Stdin(Option<NamedTempFile>),
    Synth(Synth),
}

/// The whole workload.
#[derive(Debug)]
pub(crate) struct Workload {
    sources: Vec<Origin>,
    format: Option<As>,
    lenient: bool,
    /// The maximum number of requests.
    first: u64,
}

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// Whether that is not a file, but with the prefix would be a synthetic workload.
fn is_synth(name: &str) -> bool {
    synth::names().any(|known| known == spec::base(name)) && !Path::new(name).exists()
}

impl Workload {
    /// The named workload. Standard input is copied if it must be read more than once.
    pub(crate) fn new(args: &WorkloadArgs) -> Result<Self, Failure> {
        let again = args.passes > 1
            || args.steady
            || matches!(args.fit, Some(FitChoice::Pack | FitChoice::Auto));
        let mut sources = Vec::new();
        let mut files = Vec::new();
        for name in &args.traces {
            let other = match name.as_str() {
                "-" if again => Origin::Stdin(Some(keep_stdin()?)),
                "-" => Origin::Stdin(None),
                name if name.starts_with(synth::PREFIX) => {
                    Origin::Synth(Synth::parse(name).map_err(Failure::Arguments)?)
                }
                name if is_synth(name) => {
                    let reason = format!(
                        "there is no file `{name}`: did you mean the synthetic workload `{}{name}`?",
                        synth::PREFIX
                    );
                    return Err(Failure::Arguments(reason));
                }
                name => {
                    files.extend(names::expand(name).map_err(Failure::Arguments)?);
                    continue;
                }
            };
            sources
                .extend(names::grouped(std::mem::take(&mut files)).into_iter().map(Origin::File));
            sources.push(other);
        }
        sources.extend(names::grouped(files).into_iter().map(Origin::File));
        if sources.iter().filter(|source| matches!(source, Origin::Stdin(_))).count() > 1 {
            let reason = "standard input can be read once: name `-` once, and say --passes";
            return Err(Failure::Arguments(reason.into()));
        }
        let columns = args.columns.clone().map(As::Columns);
        let format = columns.or(args.format.map(As::Format));
        let first = args.first.unwrap_or(u64::MAX);
        Ok(Self { sources, format, lenient: args.lenient, first })
    }

    /// The seed of the synthetic workload; `None` if there is none or several differ.
    pub(crate) fn seed(&self) -> Option<u64> {
        let mut seeds = self.sources.iter().filter_map(|source| match source {
            Origin::Synth(synth) => Some(synth.seed),
            _ => None,
        });
        let first = seeds.next()?;
        seeds.all(|seed| seed == first).then_some(first)
    }

    /// The requests, on a device of that capacity.
    pub(crate) fn open(&self, capacity: u64) -> Stream<'_> {
        let lengths = self.sources.iter().map(Origin::length).collect();
        Stream {
            workload: self,
            capacity,
            lengths,
            left: self.first,
            next: 0,
            now: None,
            from: Nanos::ZERO,
            latest: Nanos::ZERO,
            skipped: 0,
            volumes: Volumes::default(),
        }
    }

    /// How addresses are fitted into a device with that room, whose pages are at most `grain` bytes.
    pub(crate) fn fit(
        &self,
        choice: Option<FitChoice>,
        space: AddressSpace,
        grain: u64,
    ) -> Result<Fit, Failure> {
        match choice {
            None => Ok(Fit::AsIs),
            Some(FitChoice::Wrap) => Ok(Fit::Wrap),
            Some(FitChoice::Pack) => {
                let (survey, _) = self.survey(space, grain)?;
                Ok(Fit::Pack(packed(survey, space)?))
            }
            // They are made for the device.
            Some(FitChoice::Auto) if self.is_synthetic() => Ok(Fit::AsIs),
            Some(FitChoice::Auto) => {
                let (survey, end) = self.survey(space, grain)?;
                if end <= space.capacity {
                    return Ok(Fit::AsIs);
                }
                let packing = packed(survey, space)?;
                notes::tell(&format!(
                    "the trace's addresses reach {}, beyond the {} of the device: the {} that it touches are moved \
                     together, as with --fit pack; --fit wrap begins again at 0 instead",
                    show::about(end),
                    show::size(space.capacity),
                    show::about(packing.touched())
                ));
                Ok(Fit::Pack(packing))
            }
        }
    }

    fn is_synthetic(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Origin::Synth(_)))
    }

    /// What the trace touches, and the end of its last request but trims.
    fn survey(&self, space: AddressSpace, grain: u64) -> Result<(Survey, u64), Failure> {
        let mut survey = Survey::new(grain);
        let mut stream = self.open(space.capacity);
        let mut end = 0;
        while let Some(request) = stream.next_request()? {
            survey.add(&request);
            if request.op != Op::Flush {
                end = end.max(request.end());
            }
            if interrupt::is_requested() {
                let before = "the trace was being read for the first time";
                return Err(Failure::Interrupted(before.into()));
            }
        }
        Ok((survey, end))
    }

    /// Whether it is read from standard input, which comes once.
    pub(crate) fn is_from_stdin(names: &[String]) -> bool {
        names.iter().any(|name| name == "-")
    }
}

/// What the trace touches, moved together.
fn packed(survey: Survey, space: AddressSpace) -> Result<Packing, Failure> {
    let packing = survey.pack();
    let touched = packing.touched();
    if touched > space.capacity {
        return Err(TraceError::TooMuchTouched { touched, space }.into());
    }
    Ok(packing)
}

fn keep_stdin() -> Result<NamedTempFile, TraceError> {
    let not_kept = |reason| TraceError::NotKept { folder: std::env::temp_dir(), reason };
    let mut file = NamedTempFile::new().map_err(not_kept)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(not_kept)?;
    file.flush().map_err(not_kept)?;
    Ok(file)
}

impl Origin {
    /// Its length in bytes or requests; `None` if that is not known before the end.
    fn length(&self) -> Option<u64> {
        let of_file = |path: &Path| std::fs::metadata(path).ok().map(|data| data.len());
        match self {
            Self::File(files) => files.paths.iter().map(|path| of_file(path)).sum(),
            Self::Stdin(kept) => of_file(kept.as_ref()?.path()),
            Self::Synth(synth) => Some(synth.requests),
        }
    }
}

/// A source that is being read.
enum Open {
    Reader(Box<Reader>),
    Generator(Box<Generator>),
}

impl Open {
    /// A file whose format is known now. Returns a note if the choice of format was not obvious.
    fn reader(reader: Reader) -> Self {
        if let Some(taken) = reader.taken() {
            notes::tell(&format!("{}: {taken}", reader.name()));
        }
        Self::Reader(Box::new(reader))
    }
}

/// The requests of a workload, one by one.
pub(crate) struct Stream<'a> {
    workload: &'a Workload,
    capacity: u64,
    lengths: Vec<Option<u64>>,
    /// Requests until it ends.
    left: u64,
    /// The next source to open.
    next: usize,
    now: Option<Open>,
    /// The start time of the present source: each begins where the one before ended.
    from: Nanos,
    latest: Nanos,
    skipped: u64,
    volumes: Volumes,
}

impl Stream<'_> {
    /// The next request, or `None` after the last.
    #[inline]
    pub(crate) fn next_request(&mut self) -> Result<Option<Request>, Failure> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            let request = match &mut self.now {
                Some(Open::Reader(reader)) => reader.next_request()?.map(|request| {
                    if reader.has_volumes() { self.volumes.place(request) } else { request }
                }),
                Some(Open::Generator(generator)) => generator.next(),
                None => None,
            };
            if let Some(mut request) = request {
                request.time = Nanos::new(request.time.get().saturating_add(self.from.get()));
                if request.time > LASTS_MOST {
                    return Err(self.too_late());
                }
                self.latest = self.latest.max(request.time);
                self.left -= 1;
                return Ok(Some(request));
            }
            self.close();
            if !self.open_next()? {
                return Ok(None);
            }
        }
    }

    #[cold]
    pub(crate) fn too_late(&self) -> Failure {
        let (name, place) = self.place();
        TraceError::TooLate { name, place }.into()
    }

    fn close(&mut self) {
        if let Some(Open::Reader(reader)) = self.now.take() {
            self.skipped += reader.skipped();
            if reader.empty() > 0 {
                notes::tell(&format!(
                    "{}: {} requests of length zero were passed over",
                    reader.name(),
                    show::count(reader.empty())
                ));
            }
        }
        self.from = self.latest;
    }

    /// Out of line, because an opened source needs much stack.
    #[cold]
    #[inline(never)]
    fn open_next(&mut self) -> Result<bool, Failure> {
        let Some(source) = self.workload.sources.get(self.next) else {
            return Ok(false);
        };
        let (format, lenient) = (self.workload.format.as_ref(), self.workload.lenient);
        let open = |paths: &[PathBuf], name: &str| Reader::open(paths, name, format, lenient);
        self.now = Some(match source {
            Origin::File(files) => Open::reader(open(&files.paths, &files.name)?),
            Origin::Stdin(Some(kept)) => Open::reader(open(&[kept.path().into()], STDIN)?),
            Origin::Stdin(None) => Open::reader(Reader::new(io::stdin(), STDIN, format, lenient)?),
            Origin::Synth(synth) => {
                let requests = synth.requests(self.capacity).map_err(Failure::Arguments)?;
                Open::Generator(Box::new(requests))
            }
        });
        self.next += 1;
        Ok(true)
    }

    /// The origin of the last request: the source's name, and the position in it.
    pub(crate) fn place(&self) -> (String, Position) {
        match (&self.now, self.next.checked_sub(1).map(|at| &self.workload.sources[at])) {
            (Some(Open::Reader(reader)), _) => (reader.name().into(), reader.place()),
            (Some(Open::Generator(generator)), Some(Origin::Synth(synth))) => {
                (synth.name.clone(), Position::Request(generator.made()))
            }
            _ => (String::new(), Position::Request(0)),
        }
    }

    /// The overall progress, from 0 to 1; `None` if that is not known.
    #[allow(clippy::cast_precision_loss)] // A progress bar shows three digits.
    pub(crate) fn fraction(&self) -> Option<f64> {
        let done = match &self.now {
            Some(Open::Reader(reader)) => reader.position(),
            Some(Open::Generator(generator)) => generator.made(),
            None => 0,
        };
        let at = self.next.saturating_sub(1);
        let here = (*self.lengths.get(at)?)?.max(1);
        let sources = self.lengths.len() as f64;
        let read = (at as f64 + (done as f64 / here as f64).min(1.0)) / sources;
        let first = self.workload.first;
        let asked = if first == u64::MAX { 0.0 } else { (first - self.left) as f64 / first as f64 };
        Some(read.max(asked))
    }

    /// Bad lines skipped so far.
    pub(crate) fn skipped(&self) -> u64 {
        let here = match &self.now {
            Some(Open::Reader(reader)) => reader.skipped(),
            _ => 0,
        };
        self.skipped + here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(traces: &[&str]) -> WorkloadArgs {
        let traces = traces.iter().map(|name| (*name).to_owned()).collect();
        WorkloadArgs {
            traces,
            format: None,
            columns: None,
            lenient: false,
            fit: None,
            passes: 1,
            first: None,
            steady: false,
        }
    }

    #[test]
    fn a_workload_ends_after_its_first_requests_where_that_is_asked_for() {
        let names = ["synth:uniform?requests=3", "synth:sequential?requests=3"];
        let workload = Workload::new(&WorkloadArgs { first: Some(4), ..args(&names) }).unwrap();
        let mut stream = workload.open(1 << 30);
        assert!((0..4).all(|_| stream.next_request().unwrap().is_some()));
        assert_eq!((stream.next_request().unwrap(), stream.fraction()), (None, Some(1.0)));
    }

    #[test]
    fn sources_follow_each_other_in_order_and_in_time() {
        let first = "synth:sequential?requests=2&interval_us=5";
        let workload = Workload::new(&args(&[first, "synth:uniform?requests=2"])).unwrap();
        let mut stream = workload.open(1 << 30);
        let mut times = Vec::new();
        while let Some(request) = stream.next_request().unwrap() {
            times.push(request.time.get() / 1_000);
        }
        assert_eq!(times, [0, 5, 5, 1_005]);
    }

    #[test]
    fn a_stream_knows_how_far_it_is() {
        let workload = Workload::new(&args(&["synth:uniform?requests=4"])).unwrap();
        let mut stream = workload.open(1 << 30);
        stream.next_request().unwrap();
        assert_eq!(stream.fraction(), Some(0.25));
        assert_eq!(stream.place(), ("synth:uniform?requests=4".into(), Position::Request(1)));
    }

    #[test]
    fn a_seed_is_told_where_there_is_one() {
        let seed = |names: &[&str]| Workload::new(&args(names)).unwrap().seed();
        assert_eq!(seed(&["synth:uniform?seed=7"]), Some(7));
        assert_eq!(seed(&["synth:uniform?seed=7", "synth:zipf?seed=8"]), None);
        assert_eq!(seed(&["x.csv"]), None);
    }
}
