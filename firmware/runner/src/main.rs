//! Runs the firmware under QEMU on both architectures, judges it, and holds its figures to those that are written down.
//!
//! ```text
//! firmware-runner FOLDER                 judges what cargo has built into FOLDER, and compares with figures/*.txt
//! firmware-runner FOLDER --quick         the same for one architecture and fewer builds
//! firmware-runner FOLDER --renew         writes those files, and the tables of docs/FIRMWARE.md, anew
//! ```
//!
//! It fails where the FTL can reach a panic or formatting, where a program does not end well, where a figure has become
//! worse by more than five percent, and where the page shows other figures than the files.

mod elf;
#[cfg(feature = "events")]
mod events;
mod figures;
mod machine;
mod outcome;
mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, thread};

use elf::Program;
use figures::Figures;
use machine::{MACHINES, Machine, QUICK};
use outcome::{Outcome, said};
use page::{BARE, Bare, Differing};

/// Programs that only have to end well, and what each is.
const WHOLE: [(&str, &str); 3] = [
    ("demo", "the demonstration"),
    ("spi", "the whole way over SPI"),
    ("port", "the code of the guide to a port"),
];

/// What the firmware's workspace lies in.
fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [folder] => judge_all(Path::new(folder), &MACHINES, Differing::Told),
        [folder, renew] if renew == "--renew" => {
            judge_all(Path::new(folder), &MACHINES, Differing::Renewed)
        }
        [folder, quick] if quick == "--quick" => {
            judge_all(Path::new(folder), &QUICK, Differing::Told)
        }
        _ => Err("usage: firmware-runner FOLDER [--quick | --renew]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("firmware: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Judges these machines, and the page by what is written down of all.
fn judge_all(folder: &Path, machines: &[Machine], differing: Differing) -> Outcome<()> {
    let mut faults = Vec::new();
    let mut largest = String::new();
    for (machine, judged) in machines.iter().zip(judge_each(machines, folder)) {
        let Judged { figures: found, shown: bare, report } = judged?;
        println!("{}", report.join("\n"));
        if differing == Differing::Renewed {
            let file = machine.figures(&home());
            fs::write(&file, found.text(machine)).map_err(|error| said(&file, &error))?;
        }
        let comparison = found.compared_with(&written(machine)?.of(machine));
        println!("{}: {} figures", machine.name, found.len());
        for line in comparison.better.iter().chain(&comparison.worse) {
            println!("  {line}");
        }
        let of_this = comparison.worse.iter().map(|line| format!("{}: {line}", machine.name));
        faults.extend(of_this);
        // The page shows the symbols of the first machine's program.
        if machine.name == MACHINES[0].name {
            largest = page::largest(&bare);
        }
    }
    let file = home().join("../docs/FIRMWARE.md");
    let [arm, riscv] = MACHINES.each_ref().map(written);
    faults.extend(page::keep(&file, &arm?, &riscv?, &largest, differing)?);
    if faults.is_empty() {
        return Ok(());
    }
    let how = "`./ci firmware` shows it; `CI_RENEW_FIGURES=1 ./ci firmware` writes the new figures, if they are meant";
    Err(format!("{}\n{how}", faults.join("\n")))
}

/// The figures of a machine that are written down.
fn written(machine: &Machine) -> Outcome<Figures> {
    let file = machine.figures(&home());
    let text = fs::read_to_string(&file).map_err(|error| said(&file, &error))?;
    Ok(Figures::parse(&text))
}

/// What was found on a machine.
struct Judged {
    figures: Figures,
    /// The program whose symbols the page shows.
    shown: Program,
    /// Lines to be printed.
    report: Vec<String>,
}

/// All of them at once: what each counts does not depend on how fast its emulator runs.
fn judge_each(machines: &[Machine], folder: &Path) -> Vec<Outcome<Judged>> {
    thread::scope(|scope| {
        let judging: Vec<_> =
            machines.iter().map(|machine| scope.spawn(move || judge(machine, folder))).collect();
        let panicked = |_| Err("a judge panicked: see above".into());
        judging.into_iter().map(|judge| judge.join().unwrap_or_else(panicked)).collect()
    })
}

/// Looks at the programs, runs them, and collects their figures.
fn judge(machine: &Machine, folder: &Path) -> Outcome<Judged> {
    let mut figures = Figures::default();
    let mut report = Vec::new();
    let mut shown = None;
    let folder = folder.join(machine.target);
    for Bare { size, build, program: name, .. } in BARE {
        if !machine.sized.contains(&build) {
            continue;
        }
        let program = Program::read(&folder.join(build).join(name))?;
        program.holds_no_panic()?;
        for (what, bytes) in program.sizes() {
            figures.put(&format!("{build}/{size}/{what}"), bytes.to_string());
        }
        if name == "bare" && build == "small" {
            shown = Some(program);
        }
    }
    report.extend(run_all(machine, &folder.join("release"))?);
    for build in machine.measured {
        report.extend(measure(machine, build, &folder.join(build), &mut figures)?);
    }
    let shown = shown.ok_or("no program is built for size")?;
    Ok(Judged { figures, shown, report })
}

/// Runs every program of the build `release`. Returns the lines to be printed.
fn run_all(machine: &Machine, folder: &Path) -> Outcome<Vec<String>> {
    let mut report = Vec::new();
    for (program, title) in WHOLE {
        report.push(format!("{}: {title}", machine.name));
        let text = machine.run(&folder.join(program))?;
        report.extend(text.lines().map(|line| format!("  {line}")));
    }
    #[cfg(feature = "events")]
    {
        let program = folder.join("events");
        let told = events::judge(&program, &machine.run(&program)?)?;
        report.push(format!("{}: the log, {told} lines of it as they were meant", machine.name));
    }
    Ok(report)
}

/// Collects what the programs of a build measure. Returns the lines to be printed.
fn measure(
    machine: &Machine,
    build: &str,
    folder: &Path,
    figures: &mut Figures,
) -> Outcome<Vec<String>> {
    let mut report = vec![format!("{}, {build}: the measurements", machine.name)];
    for program in ["measure", "measure_hybrid"] {
        for line in machine.run(&folder.join(program))?.lines() {
            match line.strip_prefix("figure ").and_then(|line| line.rsplit_once(' ')) {
                Some((name, value)) => figures.put(&format!("{build}/{name}"), value.into()),
                None => report.push(format!("  {line}")),
            }
        }
    }
    Ok(report)
}
