//! A plan: from TOML to its runs.

use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::fs;
use std::num::NonZeroU32;
use std::ops::Range;
use std::path::Path;

use nand_model::datasheet;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::names;
use super::run::Run;
use crate::base::{Failure, files, show};
use crate::engine::replay::{Options, Pace, Passes};
use crate::engine::systems::Chosen;
use crate::input::device::{DeviceChoice, Fill, Setup};
use crate::input::synth::Synth;
use crate::input::trace::fit::FitChoice;
use crate::input::trace::formats::{self, As};
use crate::input::trace::names as trace_names;
use crate::input::workload::Reading;
use crate::input::{size, synth};

/// The keys of a plan. Every list multiplies the runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools)] // They are flags of the command line.
struct Sheet {
    devices: Vec<Spanned<String>>,
    capacity: Option<Spanned<String>>,
    #[serde(default)]
    slc: Vec<Spanned<String>>,
    systems: Vec<Spanned<String>>,
    traces: Vec<Spanned<Value>>,
    #[serde(default)]
    seeds: Vec<Spanned<u64>>,
    passes: Option<Spanned<u32>>,
    format: Option<Spanned<String>>,
    columns: Option<Spanned<String>>,
    fit: Option<Spanned<String>>,
    #[serde(default)]
    lenient: bool,
    #[serde(default)]
    steady: bool,
    fill: Option<Spanned<String>>,
    #[serde(default)]
    open_loop: bool,
    queue_depth: Option<Spanned<u32>>,
    bytes_a_day: Option<Spanned<String>>,
    #[serde(default)]
    parallel: bool,
}

/// Bytes of the longest plan.
const LONGEST: u64 = 1 << 20;

/// The most runs of a plan: at a minute each, they take months.
const RUNS: u64 = 100_000;

/// The content of a plan.
#[derive(Debug)]
pub struct Plan {
    /// The file's name without its ending.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its runs, in the order of devices, traces, SLC sizes, systems.
    pub runs: Vec<Run>,
    /// Whether it has sizes of the SLC.
    pub asks_sizes: bool,
}

/// A trace of a plan: a file, several in a row, or a synthetic workload.
#[derive(Clone, Debug)]
struct Trace {
    /// Its name in the plan.
    name: String,
    workload: String,
    /// Its path or workload.
    paths: Vec<String>,
    /// A fingerprint of its content.
    content: String,
}

/// A plan's text, to locate errors.
struct PlanText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl PlanText<'_> {
    fn wrong(&self, at: Option<Range<usize>>, key: &str, reason: impl Display) -> Failure {
        let at = at.filter(|_| !self.text.is_empty());
        let line = at.and_then(|at| Some(self.text.get(..at.start)?.matches('\n').count() + 1));
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        let key = if key.is_empty() { String::new() } else { format!(", {key}") };
        Failure::Arguments(format!("{}{line}{key}: {reason}", self.path.display()))
    }

    /// Reads each value of a list.
    fn each<T, R>(
        &self,
        key: &str,
        values: &[Spanned<T>],
        read: impl Fn(&T) -> Result<R, String>,
    ) -> Result<Vec<R>, Failure> {
        let read = values.iter().map(|value| {
            read(value.get_ref()).map_err(|reason| self.wrong(Some(value.span()), key, reason))
        });
        read.collect()
    }

    /// Reads a value, if there is one.
    fn maybe<T, R>(
        &self,
        key: &str,
        value: Option<&Spanned<T>>,
        read: impl Fn(&T) -> Result<R, String>,
    ) -> Result<Option<R>, Failure> {
        let read = value.map(|value| {
            read(value.get_ref()).map_err(|reason| self.wrong(Some(value.span()), key, reason))
        });
        read.transpose()
    }

    fn nothing_empty(&self, sheet: &Sheet) -> Result<(), Failure> {
        let lists = [
            ("devices", sheet.devices.is_empty()),
            ("systems", sheet.systems.is_empty()),
            ("traces", sheet.traces.is_empty()),
        ];
        match lists.iter().find(|(_, is_empty)| *is_empty) {
            Some((key, _)) => Err(self.wrong(None, key, "the list is empty: name at least one")),
            None => Ok(()),
        }
    }
}

impl Plan {
    /// The name of the system that ratios refer to.
    pub fn first(&self) -> String {
        let Some(first) = self.runs.first() else { return String::new() };
        let without = if first.slc == Some(0) { " without SLC" } else { "" };
        format!("{}{without}", first.system.name)
    }

    /// Reads a plan and everything it names, except the content of traces.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let text = files::text(path, LONGEST).map_err(|reason| {
            Failure::Arguments(format!(
                "{}: the plan cannot be read ({reason}): check the path",
                path.display()
            ))
        })?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        let plan = Self::read(&PlanText { path, text: &text }, &text)?;
        Ok(Self { name, text, ..plan })
    }

    /// The plan of a table that is in no file: its paths are those of the present folder.
    pub fn of_table(text: &str) -> Result<Self, Failure> {
        // Without its text no line of it is told, which nobody wrote.
        Self::read(&PlanText { path: Path::new("the plan"), text: "" }, text)
    }

    fn read(source: &PlanText<'_>, text: &str) -> Result<Self, Failure> {
        let sheet: Sheet = toml::from_str(text).map_err(|error| {
            let reason = datasheet::in_plain_words(error.message());
            source.wrong(error.span(), "", reason)
        })?;
        source.nothing_empty(&sheet)?;
        let runs = runs(source, &sheet)?;
        let asks_sizes = !sheet.slc.is_empty();
        Ok(Self { name: String::new(), text: text.into(), runs, asks_sizes })
    }
}

fn runs(source: &PlanText<'_>, sheet: &Sheet) -> Result<Vec<Run>, Failure> {
    let folder = source.path.parent().unwrap_or(Path::new(""));
    let sizes = SlcSizes::read(source, sheet)?;
    let systems = source.each("systems", &sheet.systems, |text| Chosen::parse(text))?;
    let traces = traces(source, sheet, folder)?;
    not_too_many(source, [sheet.devices.len(), traces.len(), sizes.slc.len(), systems.len()])?;
    let common = Common::read(source, sheet, systems)?;
    let mut runs = Runs::default();
    for device in &sheet.devices {
        let path = device_path(device.get_ref(), folder);
        let setups = sizes.setups(source, sheet, device, &path)?;
        for trace in &traces {
            common.on_trace(device.get_ref(), trace, &setups, &mut runs);
        }
    }
    Ok(runs.list)
}

/// What all runs share.
struct Common {
    systems: Vec<Chosen>,
    reading: Reading,
    options: Options,
    fill: Fill,
}

impl Common {
    fn read(source: &PlanText<'_>, sheet: &Sheet, systems: Vec<Chosen>) -> Result<Self, Failure> {
        let fill = source.maybe("fill", sheet.fill.as_ref(), |name| Fill::parse(name))?;
        let reading = reading(source, sheet)?;
        Ok(Self {
            systems,
            reading,
            options: options(source, sheet)?,
            fill: fill.unwrap_or_default(),
        })
    }

    /// Adds the runs of all systems on a trace, at all SLC sizes of a device.
    fn on_trace(&self, device: &str, trace: &Trace, setups: &[AtSize], runs: &mut Runs) {
        // Without SLC, the first system is what all others are compared with.
        let mut without = None;
        for sized in setups {
            // The first system's run, wherever it is.
            let mut baseline = without;
            for system in &self.systems {
                let run = self.run(device, trace, sized, system);
                let is_without = run.slc == Some(0);
                let place = runs.add(run, baseline);
                let first = *baseline.get_or_insert(place);
                if is_without && first == place {
                    without = Some(place);
                }
            }
        }
    }

    fn run(&self, device: &str, trace: &Trace, (slc, setup): &AtSize, system: &Chosen) -> Run {
        let run = Run {
            id: String::new(),
            device: device.to_owned(),
            slc: slc.filter(|_| system.uses_slc()),
            trace: trace.name.clone(),
            workload: trace.workload.clone(),
            system: system.clone(),
            setup: Setup { fill: self.fill, ..setup.clone() },
            options: self.options,
            paths: trace.paths.clone(),
            reading: self.reading.clone(),
            baseline: 0,
        };
        Run { id: names::id(&run, &trace.content), ..run }
    }
}

/// Checks that that many devices, traces, SLC sizes and systems do not make too many runs.
fn not_too_many(source: &PlanText<'_>, lists: [usize; 4]) -> Result<(), Failure> {
    let asked = lists.iter().map(|length| *length as u64).fold(1, u64::saturating_mul);
    if asked <= RUNS {
        return Ok(());
    }
    let [devices, traces, sizes, systems] = lists;
    let reason = format!(
        "{devices} devices, {traces} traces and seeds, {sizes} SLC sizes and {systems} systems make {} runs, and a \
         plan has {} at most: shorten a list, or part it into plans",
        show::count(asked),
        show::count(RUNS)
    );
    Err(source.wrong(None, "", reason))
}

/// A device at an SLC size of the plan.
type AtSize = (Option<u64>, Setup);

/// The SLC sizes of the plan.
struct SlcSizes {
    capacity: Option<u64>,
    /// Each with its place in the plan; `None` for the device's own size.
    slc: Vec<(usize, Option<u64>)>,
}

impl SlcSizes {
    fn read(source: &PlanText<'_>, sheet: &Sheet) -> Result<Self, Failure> {
        let capacity =
            source.maybe("capacity", sheet.capacity.as_ref(), |text| size::parse(text))?;
        let sizes = source.each("slc", &sheet.slc, |text| size::parse(text).map(Some))?;
        let mut slc = if sizes.is_empty() { vec![None] } else { sizes };
        // Other sizes are compared with none.
        let mut slc: Vec<(usize, Option<u64>)> = slc.drain(..).enumerate().collect();
        slc.sort_by_key(|(_, size)| *size != Some(0));
        Ok(Self { capacity, slc })
    }

    /// The device at each SLC size.
    fn setups(
        &self,
        source: &PlanText<'_>,
        sheet: &Sheet,
        device: &Spanned<String>,
        path: &str,
    ) -> Result<Vec<AtSize>, Failure> {
        let (capacity, parallel) = (self.capacity, sheet.parallel);
        let mut setups = Vec::new();
        for (at, slc) in &self.slc {
            let choice = DeviceChoice { device: path.into(), capacity, slc: *slc, parallel };
            let setup = choice.setup().map_err(|error| {
                // If the device cannot have such an SLC, the error refers to the size.
                let size = sheet.slc.get(*at).filter(|_| matches!(error, Failure::SlcSize(_)));
                let (span, key) =
                    size.map_or((device.span(), "devices"), |size| (size.span(), "slc"));
                source.wrong(Some(span), key, error)
            })?;
            setups.push((*slc, setup));
        }
        Ok(setups)
    }
}

/// When requests are issued.
fn pace(source: &PlanText<'_>, sheet: &Sheet) -> Result<Pace, Failure> {
    let depth = |depth: &u32| {
        if sheet.open_loop {
            return Err("requests come when they arrive: leave out open-loop, or this".into());
        }
        NonZeroU32::new(*depth).ok_or_else(|| "give at least 1".to_owned())
    };
    let queue_depth = source.maybe("queue-depth", sheet.queue_depth.as_ref(), depth)?;
    let queue_depth = queue_depth.unwrap_or(NonZeroU32::MIN);
    Ok(Pace { open_loop: sheet.open_loop, queue_depth })
}

/// Runs, each once.
#[derive(Default)]
struct Runs {
    list: Vec<Run>,
    places: HashMap<String, usize>,
}

impl Runs {
    /// Adds a run, unless it exists, and returns its index: a system that does not use the SLC is the same at every
    /// size, and runs once.
    fn add(&mut self, run: Run, baseline: Option<usize>) -> usize {
        let next = self.list.len();
        let at = *self.places.entry(run.id.clone()).or_insert(next);
        if at == next {
            self.list.push(Run { baseline: baseline.unwrap_or(at), ..run });
        }
        at
    }
}

/// How files are read.
fn reading(source: &PlanText<'_>, sheet: &Sheet) -> Result<Reading, Failure> {
    let format = source.maybe("format", sheet.format.as_ref(), |name| {
        let format = formats::FORMATS.iter().copied().find(|format| format.name == *name);
        format.ok_or_else(|| format!("no format is called `{name}`: give {}", formats::names()))
    })?;
    let columns =
        source.maybe("columns", sheet.columns.as_ref(), |text| formats::Columns::parse(text))?;
    if let (Some(columns), true) = (&sheet.columns, format.is_some()) {
        let reason = "a file has a format, or columns of its own: leave one of them out";
        return Err(source.wrong(Some(columns.span()), "columns", reason));
    }
    let format = columns.map(As::Columns).or(format.map(As::Format));
    Ok(Reading { format, lenient: sheet.lenient })
}

/// How every trace is replayed.
fn options(source: &PlanText<'_>, sheet: &Sheet) -> Result<Options, Failure> {
    let fit = source.maybe("fit", sheet.fit.as_ref(), |name| FitChoice::parse(name))?;
    let times = source.maybe("passes", sheet.passes.as_ref(), |passes| {
        NonZeroU32::new(*passes).ok_or_else(|| "write 1 or more".to_owned())
    })?;
    if let Some(passes) = sheet.passes.as_ref().filter(|_| sheet.steady) {
        let reason = "a steady run ends by itself: leave out steady, or this";
        return Err(source.wrong(Some(passes.span()), "passes", reason));
    }
    let passes = Passes::Times(times.unwrap_or(NonZeroU32::MIN));
    let a_day =
        source.maybe("bytes-a-day", sheet.bytes_a_day.as_ref(), |text| size::a_day(text))?;
    let usual = Options::default();
    Ok(Options {
        fit,
        passes: if sheet.steady { Passes::UntilSteady } else { passes },
        pace: pace(source, sheet)?,
        bytes_a_day: a_day.unwrap_or(usual.bytes_a_day),
        ..usual
    })
}

/// The path of a device file is relative to the plan.
fn device_path(name: &str, folder: &Path) -> String {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|ending| ending == "toml");
    if is_file || path.components().count() > 1 {
        folder.join(name).to_string_lossy().into()
    } else {
        name.into()
    }
}

fn traces(source: &PlanText<'_>, sheet: &Sheet, folder: &Path) -> Result<Vec<Trace>, Failure> {
    let seeds: Vec<u64> = sheet.seeds.iter().map(|seed| *seed.get_ref()).collect();
    let lists = source.each("traces", &sheet.traces, |value| {
        let names = match value {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => {
                let names = names.iter().map(|name| name.as_str().map(String::from));
                names.collect::<Option<Vec<String>>>().unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if names.is_empty() {
            return Err("write a file's name, a list of them, or synth:…".into());
        }
        traces_of(&names, &seeds, folder)
    })?;
    Ok(lists.into_iter().flatten().collect())
}

/// One trace, or one per seed if the seed matters.
fn traces_of(names: &[String], seeds: &[u64], folder: &Path) -> Result<Vec<Trace>, String> {
    let synthetic = names.iter().find(|name| name.starts_with(synth::PREFIX));
    let Some(name) = synthetic.filter(|_| !seeds.is_empty()) else {
        return Ok(vec![trace(names, &names.join(" "), folder)?]);
    };
    if name.contains("seed=") {
        return Err(format!("`{name}` names a seed, and so does `seeds`: leave one of them out"));
    }
    let workload = names.join(" ");
    let seeded = seeds.iter().map(|seed| {
        let names: Vec<String> = names.iter().map(|name| with_seed(name, *seed)).collect();
        trace(&names, &workload, folder)
    });
    seeded.collect()
}

fn with_seed(name: &str, seed: u64) -> String {
    if !name.starts_with(synth::PREFIX) {
        return name.into();
    }
    let joint = if name.contains('?') { '&' } else { '?' };
    format!("{name}{joint}seed={seed}")
}

fn trace(names: &[String], workload: &str, folder: &Path) -> Result<Trace, String> {
    let mut paths = Vec::new();
    let mut content = String::new();
    for name in names {
        if name == "-" {
            return Err("a plan cannot read standard input: name a file".into());
        }
        if name.starts_with(synth::PREFIX) {
            Synth::parse(name)?;
            paths.push(name.clone());
            content += name;
        } else {
            for (at, path) in (0..).zip(trace_names::expand(&folder.join(name).to_string_lossy())?)
            {
                let data = fs::metadata(&path)
                    .map_err(|reason| format!("{} cannot be read ({reason})", path.display()))?;
                let file = path.strip_prefix(folder).unwrap_or(&path).display();
                let joint = if at > 0 { "," } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(content, "{joint}{file} of {} bytes", data.len());
                paths.push(path.to_string_lossy().into());
            }
        }
        content.push(';');
    }
    Ok(Trace { name: names.join(" "), workload: workload.into(), paths, content })
}
