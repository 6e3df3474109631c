//! How many instructions the FTL's hot paths take, counted by valgrind's callgrind: to the instruction, whatever else
//! the machine does. So a change of two percent shows, in a path that a microcontroller will walk at its own pace.
//!
//! ```text
//! cargo bench -p benches --bench instructions              compares with instructions.txt
//! cargo bench -p benches --bench instructions -- --renew   writes it anew
//! cargo bench -p benches --bench instructions -- chip      only paths with that word in their names
//! ```
//!
//! It fails where a path has become dearer by more than two percent. Renew the figures when that was meant, or when a
//! path has become cheaper, and commit them with the change that did it.
//!
//! The benchmark runs itself under callgrind, which counts only while [`counted_by_callgrind`] is on the stack and
//! writes one file for each path. The device's share is measured as paths of its own, and taken off. The C library is
//! held to its plainest copying, because what it picks otherwise depends on the processor.

mod paths;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path as File, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use paths::{Asked, Null, Path, Store};

/// Tells the process that it runs under callgrind.
const UNDER_CALLGRIND: &str = "FTL_CORE_UNDER_CALLGRIND";

/// The function during which callgrind counts, as it knows it.
const COUNTED: &str = "instructions::counted_by_callgrind";

/// Keeps the C library from what only some processors have.
const PLAIN_COPYING: &str =
    "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-SSSE3";

/// The committed figures.
const FIGURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// A path may get dearer by this many percent, which is more than the order of functions in memory makes.
const PERCENT: f64 = 2.0;

type Outcome<T> = Result<T, String>;

// Under callgrind.

/// The one function during which callgrind counts.
#[inline(never)]
fn counted_by_callgrind(work: &mut dyn FnMut()) {
    work();
    // A jump to the work would not come back here, and callgrind would not see the end.
    std::hint::black_box(());
}

/// Walks every path once. Says what each asked of its device.
fn walk_all() {
    let mut c3 = Null::c3();
    let mut small = Null::sixteenth();
    for path in all() {
        let device = if path.small { &mut small } else { &mut c3 };
        device.asked = Asked::default();
        (path.walk)(device, &mut |work| counted_by_callgrind(work));
        let Asked { reads, programs, erases, copies } = device.asked;
        println!("{reads} {programs} {erases} {copies}");
    }
}

/// Every path that was asked for: those of the device, which all others are compared with, and of the others those with
/// a word of the command line in their names.
fn all() -> impl Iterator<Item = &'static Path> {
    let words: Vec<String> = words().collect();
    let is_asked =
        move |path: &&Path| words.is_empty() || words.iter().any(|word| path.name.contains(word));
    paths::DEVICE.iter().chain(paths::all().filter(is_asked))
}

fn words() -> impl Iterator<Item = String> {
    env::args().skip(1).filter(|argument| !argument.starts_with('-'))
}

// Beside it.

/// Instructions, and what was asked of the device, for each path in turn.
fn count_all(folder: &File) -> Outcome<Vec<(f64, Asked)>> {
    let program = env::current_exe().map_err(|error| format!("who am I? {error}"))?;
    let out = folder.join("callgrind");
    let run = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", out.display()))
        .args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={COUNTED}")])
        .arg(program)
        .args(words())
        .env(UNDER_CALLGRIND, "1")
        .env("GLIBC_TUNABLES", PLAIN_COPYING)
        .output()
        .map_err(|error| format!("valgrind does not start ({error}): install it"))?;
    if !run.status.success() {
        return Err(format!("valgrind: {}", String::from_utf8_lossy(&run.stderr)));
    }
    let lines = String::from_utf8_lossy(&run.stdout).into_owned();
    let asked = lines.lines().map(asked_of).collect::<Outcome<Vec<Asked>>>()?;
    let numbered = |(at, asked)| {
        let file = folder.join(format!("callgrind.{}", at + 1));
        Ok((total_of(&file)?, asked))
    };
    asked.into_iter().enumerate().map(numbered).collect()
}

fn asked_of(line: &str) -> Outcome<Asked> {
    let numbers: Vec<u32> = line.split(' ').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [reads, programs, erases, copies] => Ok(Asked { reads, programs, erases, copies }),
        _ => Err(format!("`{line}` is not what a path asked of its device")),
    }
}

/// The instructions that a file of callgrind's has counted.
fn total_of(file: &File) -> Outcome<f64> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .ok_or_else(|| format!("{} has no totals", file.display()))
}

/// Instructions a unit of each path, the device's share taken off, and that share.
fn per_unit(counts: &[(f64, Asked)]) -> Vec<(&'static Path, f64, f64)> {
    let calls = f64::from(paths::DEVICE_CALLS);
    let device: Vec<f64> =
        counts.iter().take(paths::DEVICE.len()).map(|(total, _)| total / calls).collect();
    let shares = all().zip(counts).enumerate().map(|(at, (path, (total, asked)))| {
        let units = f64::from(path.units);
        if at < device.len() {
            return (path, total / units, 0.0);
        }
        let own = match path.store {
            Store::Chains => &device[..3],
            Store::Pages => &device[3..],
        };
        let asked = [asked.reads, asked.programs, asked.erases, asked.copies];
        let share: f64 = own.iter().zip(asked).map(|(each, calls)| each * f64::from(calls)).sum();
        (path, (total - share) / units, share / units)
    });
    shares.collect()
}

/// The committed figures: a path's name, two blanks or more, and its instructions a unit.
fn figures(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let (name, count) = line.rsplit_once("  ")?;
            Some((name.trim(), count.trim().parse().ok()?))
        })
        .collect()
}

/// Writes the figures anew; those of paths that were not asked for stay.
fn renew(rows: &[(&Path, f64, f64)]) -> Outcome<()> {
    let before = fs::read_to_string(FIGURES).unwrap_or_default();
    let mut known = figures(&before);
    known.extend(rows.iter().map(|(path, count, _)| (path.name, *count)));
    let mut text = String::from(
        "# Instructions a unit, the device excluded, on x86-64 with the pinned compiler. Written by\n\
         # `cargo bench -p benches --bench instructions -- --renew`; that file says what for.\n",
    );
    for path in paths::DEVICE.iter().chain(paths::all()) {
        let Some(count) = known.get(path.name) else { continue };
        writeln!(text, "{:<40}  {count:>10.1}", path.name).map_err(|error| error.to_string())?;
    }
    fs::write(FIGURES, text).map_err(|error| format!("{FIGURES}: {error}"))
}

/// Prints the comparison. Fails where a path is dearer than it may be, or has no figure.
fn compare(rows: &[(&Path, f64, f64)]) -> Outcome<()> {
    let text = fs::read_to_string(FIGURES).map_err(|error| format!("{FIGURES}: {error}"))?;
    let known = figures(&text);
    let mut faults = Vec::new();
    println!(
        "{:<40} {:>12} {:>10} {:>8} {:>10}",
        "path", "instructions", "was", "change", "device"
    );
    for (path, count, share) in rows {
        let was = known.get(path.name).copied();
        let change = was.map_or(f64::INFINITY, |was| (count / was - 1.0) * 100.0);
        let (name, unit, was) = (path.name, path.unit, was.unwrap_or(f64::NAN));
        println!("{name:<40} {count:>12.1} {was:>10.1} {change:>+7.1}% {share:>10.1}  a {unit}");
        if change > PERCENT {
            faults.push(name);
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join(", ");
    Err(format!("dearer by more than {PERCENT} %: {faults}. If that is meant, run it with --renew"))
}

fn run() -> Outcome<()> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let rows = per_unit(&count_all(&folder)?);
    if env::args().any(|argument| argument == "--renew") {
        renew(&rows)?;
    }
    if cfg!(target_arch = "x86_64") {
        compare(&rows)
    } else {
        for (path, count, _) in &rows {
            println!("{:<40} {count:>12.1}", path.name);
        }
        Ok(())
    }
}

fn main() -> ExitCode {
    if env::var_os(UNDER_CALLGRIND).is_some() {
        walk_all();
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}
