//! Runs the firmware under QEMU on both architectures, judges it, and holds its figures to those that are written down.
//!
//! ```text
//! firmware-runner FOLDER            judges what cargo has built into FOLDER, and compares with figures/*.txt
//! firmware-runner FOLDER --renew    writes those files, and the tables of docs/FIRMWARE.md, anew
//! ```
//!
//! It fails where the FTL can reach a panic or formatting, where a program does not end well, where a figure has become
//! worse by more than five percent, and where the page shows other figures than the files.

mod elf;
mod events;
mod figures;
mod machine;
mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use elf::Program;
use figures::Figures;
use machine::{MACHINES, Machine};
use page::Differing;

/// What went wrong, in a sentence.
type Outcome<T> = Result<T, String>;

/// How the programs are built, as `Cargo.toml` calls it. All are looked at; those marked are measured too.
const BUILDS: [(&str, bool); 3] = [("release", true), ("small", true), ("smallest", false)];

/// The FTLs with nothing around them: as the page calls each, as its figures are called, and its program.
pub(crate) const BARE: [(&str, &str, &str); 4] = [
    ("log and chains", "size", "bare"),
    ("chains alone", "size of chains alone", "bare_chains"),
    ("chains, the least", "size of the least", "bare_least"),
    ("page store", "size of the page store", "bare_paged"),
];

/// What the firmware's workspace lies in.
fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [folder] => judge_all(Path::new(folder), Differing::Told),
        [folder, renew] if renew == "--renew" => judge_all(Path::new(folder), Differing::Renewed),
        _ => Err("usage: firmware-runner FOLDER [--renew]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("firmware: {why}");
            ExitCode::FAILURE
        }
    }
}

fn judge_all(folder: &Path, differing: Differing) -> Outcome<()> {
    let mut faults = Vec::new();
    let mut written = Vec::new();
    let mut largest = String::new();
    for machine in &MACHINES {
        let (found, bare) = judge(machine, folder)?;
        let file = home().join(format!("figures/{}.txt", machine.name));
        if differing == Differing::Renewed {
            fs::write(&file, found.text(machine)).map_err(|error| said(&file, &error))?;
        }
        let text = fs::read_to_string(&file).map_err(|error| said(&file, &error))?;
        let committed = Figures::parse(&text);
        let comparison = found.compared_with(&committed);
        println!("{}: {} figures", machine.name, found.len());
        for line in comparison.better.iter().chain(&comparison.worse) {
            println!("  {line}");
        }
        let of_this = comparison.worse.iter().map(|line| format!("{}: {line}", machine.name));
        faults.extend(of_this);
        if largest.is_empty() {
            largest = page::largest(&bare);
        }
        written.push(committed);
    }
    let [arm, riscv] = &written[..] else {
        return Err("there are two machines".into());
    };
    let file = home().join("../docs/FIRMWARE.md");
    faults.extend(page::keep(&file, arm, riscv, &largest, differing)?);
    if faults.is_empty() {
        return Ok(());
    }
    let how = "`./ci firmware` shows it; `CI_RENEW_FIGURES=1 ./ci firmware` writes the new figures, if they are meant";
    Err(format!("{}\n{how}", faults.join("\n")))
}

/// Looks at the programs, runs them, and collects their figures. Also the program whose symbols the page shows.
fn judge(machine: &Machine, folder: &Path) -> Outcome<(Figures, Program)> {
    let mut figures = Figures::default();
    let mut shown = None;
    for (build, measured) in BUILDS {
        let file = |name: &str| folder.join(machine.target).join(build).join(name);
        for (_, size, name) in BARE {
            let program = Program::read(&file(name))?;
            program.holds_no_panic()?;
            for (what, bytes) in program.sizes() {
                figures.put(&format!("{build}/{size}/{what}"), bytes.to_string());
            }
            if name == "bare" && build == "small" {
                shown = Some(program);
            }
        }
        if !measured {
            continue;
        }
        println!("{}, {build}: the demonstration", machine.name);
        for line in machine.run(&file("demo"))?.lines() {
            println!("  {line}");
        }
        println!("{}, {build}: the whole way over SPI", machine.name);
        for line in machine.run(&file("spi"))?.lines() {
            println!("  {line}");
        }
        let told = events::judge(&file("events"), &machine.run(&file("events"))?)?;
        println!("{}, {build}: the log, {told} lines of it as they were meant", machine.name);
        println!("{}, {build}: the measurements", machine.name);
        for program in ["measure", "measure_paged"] {
            for line in machine.run(&file(program))?.lines() {
                match line.strip_prefix("figure ").and_then(|line| line.rsplit_once(' ')) {
                    Some((name, value)) => figures.put(&format!("{build}/{name}"), value.into()),
                    None => println!("  {line}"),
                }
            }
        }
    }
    let shown = shown.ok_or("no program is built for size")?;
    Ok((figures, shown))
}

/// A file's fault, with its name.
fn said(file: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", file.display())
}
