//! `tandem serve`: a system and its device as a disk that real hosts use, over NBD.
//!
//! ```text
//!   nbdcopy, fio, QEMU, Linux ──socket──▶ wire: requests ──▶ drive: bytes over sectors ──▶ system ──▶ chip
//!                                                              │        │                              │
//!                                                    --record  ▼        ▼ books               --image  ▼
//!                                                          a trace    the result of `replay`    file, journal
//! ```
//!
//! One thread does everything, because all hosts wait for one device. A connection is a future of that thread; when
//! power fails, all connections are dropped with the RAM, the device is mounted again, and hosts reconnect.
//!
//! # What is promised
//!
//! Every write is on flash when it is answered, so a flush and FUA cost the device nothing. With `--image` it is also
//! in the journal before it is answered, and survives any end of this program; a flush and FUA also wait until the
//! journal would survive a crash of the machine.
//!
//! # What a client can cost
//!
//! Besides the bounds of [`wire`] for each connection: at most [`CONNECTIONS_MOST`] connections at a time, further ones
//! are closed at once, and at most [`HANDSHAKE_MOST`] for the handshake.
//!
//! # Modules
//!
//! - [`wire`]: the protocol, without sockets. `listen`: sockets. `server`: connections, signals, timers, cuts; `cuts`:
//!   when power fails. `held`: the system, whether it survives that or not. `drive`: requests on the system, with
//!   measurement, trace and image file. `status`: the line shown each second; `baseline`: the same requests without
//!   SLC. [`trial`]: files that may say anything.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use nand_model::faults::FaultInjector;
use nand_model::power::Cut;
use nand_model::{Chip, Content};
use sim::engine::image::{About, DiskFile, Journaled, Opened};
use sim::engine::result::RunResult;
use sim::engine::systems::{Blueprint, Chosen, Ended, Live, Owner};
use sim::input::device::{Setup, Stored};
use sim::input::size;
use sim::input::trace::output::Output;
use sim::{Failure, show};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::base::terminal::Terminal;
use crate::base::{files, interrupt};
use crate::flags::device::DeviceArgs;
use crate::output::{json, text};

mod baseline;
mod cuts;
mod drive;
mod held;
mod listen;
mod server;
mod status;
pub mod trial;
pub mod wire;

use baseline::Baseline;
use cuts::Cuts;
use drive::{Ledger, Pace};
use listen::{Listener, PlaceArgs};
pub use server::{CONNECTIONS_MOST, HANDSHAKE_MOST};
use server::{Server, Service};
use status::Status;
use wire::Access;

/// The arguments of `serve`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    place: PlaceArgs,
    /// The system, with optional parameters [default: hybrid, or that of the image]
    #[arg(long, value_parser = Chosen::parse, value_name = "SYSTEM")]
    system: Option<Chosen>,
    /// The device: a built-in name or the path of a device file [default: c3, or that of the image]
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Bytes exported to the host (1GiB); the device's share of spare blocks is kept
    #[arg(long, value_parser = size::parse, value_name = "SIZE")]
    capacity: Option<u64>,
    /// Bytes of SLC (256MiB); on a device with one region, the part that the log takes
    #[arg(long, value_parser = size::parse, value_name = "SIZE")]
    slc: Option<u64>,
    /// Let channels, dies and planes work in parallel
    #[arg(long)]
    parallel: bool,
    /// Keep the chip in this file; without it, all data is lost when the server stops
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Serve the disk of --image read-only: the file is not changed, and no free space is needed
    #[arg(long, requires = "image", conflicts_with = "cut_every")]
    read_only: bool,
    /// Record the clients' requests in this new file as a trace; a name ending in .gz or .zst compresses it
    #[arg(long, value_name = "FILE.csv.zst")]
    record: Option<PathBuf>,
    /// Answer as slowly as the device would; otherwise its time is only counted
    #[arg(long)]
    pace: bool,
    /// Cut the power every so often (60s), or after this many programs and erases on average (5000); with a seed: 60s,7
    #[arg(long, value_parser = Cuts::parse, value_name = "N[,SEED]")]
    cut_every: Option<Cuts>,
    /// Write the result as JSON to this file at the end; `-` is standard output, which then replaces the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The seed of the faults.
const SEED: u64 = 1;

/// The signal for a file that would become longer than the shell allows, on Linux, the BSDs and macOS. Unheeded, it
/// ends the program; heeded, the write fails as on a full disk.
const TOO_LONG: i32 = 25;

fn heed_too_long(runtime: &tokio::runtime::Runtime) -> Result<Signal, Failure> {
    let _entered = runtime.enter();
    Ok(signal(SignalKind::from_raw(TOO_LONG))?)
}

/// Serves until Ctrl-C, SIGTERM, or the end of the terminal (unless `nohup` lets it outlive that).
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _heeded = heed_too_long(&runtime)?;
    if args.place.wait {
        return runtime.block_on(listen::await_server(&args.place.endpoint()));
    }
    check_outputs(args)?;
    let (mut disk_file, found) = match &args.image {
        Some(path) if args.read_only => (None, Some(DiskFile::only_read(path, &Terminal)?)),
        Some(path) => {
            let (disk_file, found) = DiskFile::open(path, &Terminal)?;
            (Some(disk_file), found)
        }
        None => (None, None),
    };
    let (chosen, about) = asked(args, found.as_ref())?;
    let setup = setup(&about)?;
    let was_left = left(args, found.as_ref());
    let mut disk = disk(args, &chosen, &setup, found)?;

    interrupt::listen();
    let listener = runtime.block_on(Listener::bind(&args.place.endpoint()))?;
    let uri = listener.uri()?;
    // Only now that nothing else can fail, files are written, and the recording last of them: it tells of this disk.
    if let (Some(disk_file), ServedSystem::Lasting(disk)) = (&mut disk_file, &mut disk) {
        disk_file.begin(&about, &mut disk.1)?;
    }
    let record = record(args)?;
    if !prints_json(args) {
        let exported = show::short(setup.part.exported_bytes);
        let served = format!("{uri}: {exported} of {} on {}\n", chosen.name, setup.part.name);
        greet(&(served + &was_left), out)?;
    }
    let status = Status::new();
    let is_told = !status.is_hidden() || args.json.is_some();
    let baseline = if is_told && !chosen.is_baseline() { Baseline::new(&setup) } else { None };
    let pace = if args.pace { Pace::Device } else { Pace::Host };
    let access = if args.read_only { Access::ReadOnly } else { Access::ReadWrite };
    let ledger = Ledger::new(disk_file, access, record, baseline, pace)?;
    let cuts = args.cut_every.clone().unwrap_or_default();
    let service = Service { ledger, cuts, system: chosen.name.clone(), status };
    let mut server = Server::new(&runtime, listener, service)?;
    let ended = match disk {
        ServedSystem::Lasting(disk) => {
            let (blueprint, chip) = *disk;
            blueprint.run(chip, &mut server).map(Some)
        }
        ServedSystem::Volatile => chosen.run(&setup, &mut server).map(|()| None),
    };
    let left = server.end(ended, uri).map_err(|failure| recorded(args, failure))?;
    let kept = left.disk.map_or(Ok(()), |(file, mut chip)| file.close(&mut chip, &Terminal));
    // Whether that failed or not, what was measured is told.
    let told = tell(args, &left.result, out);
    kept.and(told)
}

/// Checks the files to be written, besides that of the disk, before anything is touched.
fn check_outputs(args: &Args) -> Result<(), Failure> {
    let json = args.json.iter().filter(|path| path.as_os_str() != "-");
    for path in json.chain(&args.record) {
        files::check(path)?;
        args.image.iter().try_for_each(|image| apart(image, path))?;
    }
    args.record.iter().try_for_each(|path| Output::check(path).map_err(of_file(path)))
}

/// A failure of the system's, as one of that file.
fn of_file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |reason| Failure::File { path: path.into(), reason }
}

/// Begins the file of the recording.
fn record(args: &Args) -> Result<Option<Output>, Failure> {
    let create = |path: &PathBuf| Output::create(path).map_err(of_file(path));
    args.record.as_ref().map(create).transpose()
}

/// Checks that a file to be written is not the disk's: it would take the disk's place.
fn apart(image: &Path, other: &Path) -> Result<(), Failure> {
    if !files::is_same(image, other) {
        return Ok(());
    }
    let other = other.display();
    Err(Failure::Arguments(format!("{other} is the file of --image: name another one")))
}

/// What the last server left in the file.
fn left(args: &Args, found: Option<&Opened>) -> String {
    match (&args.image, found.map(|found| found.replayed.operations)) {
        (Some(path), None) => format!("a new disk in {}: no other was there\n", path.display()),
        (_, None | Some(0)) => String::new(),
        (_, Some(operations)) => {
            let operations = show::count(operations);
            format!(
                "the last server was killed, or failed at its end: {operations} operations are of its journal\n"
            )
        }
    }
}

/// Says where clients connect. A server whose output nobody reads serves all the same.
fn greet(text: &str, out: &mut dyn Write) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether standard output is only for the result.
fn prints_json(args: &Args) -> bool {
    args.json.as_ref().is_some_and(|path| path.as_os_str() == "-")
}

/// The served system.
enum ServedSystem {
    /// A chip on which a system is mounted again after each power loss.
    Lasting(Box<(Blueprint, Journaled)>),
    /// A system that cannot be mounted again, with its map in RAM.
    Volatile,
}

/// The disk from its image, or a new one.
fn disk(
    args: &Args,
    chosen: &Chosen,
    setup: &Setup,
    found: Option<Opened>,
) -> Result<ServedSystem, Failure> {
    if args.image.is_none() && args.cut_every.is_none() && !chosen.is_mountable() {
        return Ok(ServedSystem::Volatile);
    }
    let blueprint = chosen.blueprint(setup)?;
    let chip = match found {
        Some(found) => existing(args, found, &blueprint)?,
        None => fresh(setup, &blueprint)?,
    };
    Ok(ServedSystem::Lasting(Box::new((blueprint, chip))))
}

/// The failure, with the path of the recorded requests that led to it.
fn recorded(args: &Args, failure: Failure) -> Failure {
    match (failure, &args.record) {
        (Failure::Violation(what), Some(path)) => {
            Failure::Violation(format!("{what}; the requests until then are in {}", path.display()))
        }
        (failure, _) => failure,
    }
}

/// The disk's settings: those of the image and those typed. A difference is an error.
fn asked(args: &Args, found: Option<&Opened>) -> Result<(Chosen, About), Failure> {
    let typed = |default: &About| About {
        system: args.system.as_ref().map_or(&default.system, |system| &system.name).clone(),
        device: args.device.as_ref().unwrap_or(&default.device).clone(),
        capacity: args.capacity.or(default.capacity),
        slc: args.slc.or(default.slc),
        parallel: args.parallel || default.parallel,
    };
    let about = match found {
        None => typed(&About {
            system: "hybrid".into(),
            device: "c3".into(),
            capacity: None,
            slc: None,
            parallel: false,
        }),
        Some(found) if typed(&found.about) == found.about => found.about.clone(),
        Some(found) => {
            let About { system, device, capacity, slc, .. } = &found.about;
            let size = |size: &Option<u64>| size.map_or_else(|| "the device's".into(), show::size);
            return Err(Failure::Arguments(format!(
                "the image holds {system} on {device}, capacity {}, SLC {}: leave these flags out, \
                 or name another file",
                size(capacity),
                size(slc)
            )));
        }
    };
    let chosen = Chosen::parse(&about.system).map_err(Failure::Arguments)?;
    Ok((chosen, about))
}

fn setup(about: &About) -> Result<Setup, Failure> {
    let About { device, capacity, slc, parallel, .. } = about.clone();
    let setup = DeviceArgs { device, capacity, slc, parallel }.setup()?;
    Ok(Setup { kept: Stored::Bytes, ..setup })
}

fn existing(args: &Args, found: Opened, blueprint: &Blueprint) -> Result<Journaled, Failure> {
    let path = args.image.as_deref().unwrap_or(Path::new(""));
    same_shape(path, &found.about, found.device.inner(), blueprint)?;
    Ok(Journaled::of_file(found.device))
}

/// Checks that the device is still what it was when a file's chip was made.
fn same_shape(
    path: &Path,
    about: &About,
    chip: &Chip,
    blueprint: &Blueprint,
) -> Result<(), Failure> {
    if chip.part().geometry == blueprint.part.geometry {
        return Ok(());
    }
    Err(Failure::Arguments(format!(
        "{} holds a chip of another shape than {} has now: its device file has changed",
        path.display(),
        about.device
    )))
}

/// Who only has a disk mounted.
struct Nobody;

impl Owner for Nobody {
    fn next_cut(&mut self) -> Cut {
        Cut::never()
    }

    fn live(&mut self, _: &mut dyn Live) -> Result<Ended, Failure> {
        Ok(Ended::Stopped)
    }
}

/// Checks that a file's chip can be served: mounts it, and keeps nothing of what that changes.
pub(super) fn try_mount(path: &Path, about: &About, chip: Journaled) -> Result<(), Failure> {
    let chosen = Chosen::parse(&about.system).map_err(Failure::Arguments)?;
    let blueprint = chosen.blueprint(&setup(about)?)?;
    same_shape(path, about, chip.inner().inner(), &blueprint)?;
    blueprint.run(chip, &mut Nobody).map(drop)
}

fn fresh(setup: &Setup, blueprint: &Blueprint) -> Result<Journaled, Failure> {
    let chip = Chip::new(&blueprint.part, Content::Bytes)?.with_time(setup.time);
    blueprint.format(Journaled::new(FaultInjector::new(chip, SEED)))
}

fn tell(args: &Args, result: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    // A stop is the usual end of a server, so its result is written nevertheless.
    if let Some(path) = &args.json {
        let text = json::text(result);
        if path.as_os_str() == "-" {
            return Ok(out.write_all(&text)?);
        }
        files::replace(path, &text)?;
    }
    let requests = show::count(result.requests.total());
    let power_cuts = result.served.map_or(0, |served| served.power_cuts);
    writeln!(out, "\n{requests} requests, {} power cuts\n", show::count(power_cuts))?;
    if result.requests.total() > 0 {
        text::body(result, out)?;
    }
    if let Some(rs) = result.served.and_then(|served| served.rs) {
        writeln!(out, "\n{rs:.2} times as fast as the conventional system with the same requests")?;
    }
    if let Some(path) = &args.record {
        writeln!(out, "\nThe requests are in {0}: tandem compare {0}", path.display())?;
    }
    Ok(())
}
