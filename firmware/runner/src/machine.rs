//! The machines that QEMU plays.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::outcome::{Outcome, said};

/// A machine.
pub(crate) struct Machine {
    /// Its name among the figures.
    pub(crate) name: &'static str,
    /// What it is, in a comment.
    pub(crate) title: &'static str,
    /// The compiler's name for it.
    pub(crate) target: &'static str,
    /// The builds whose calls it measures. The programs that only have to end well are those of `release`.
    pub(crate) measured: &'static [&'static str],
    /// The builds of which it takes sizes.
    pub(crate) sized: &'static [&'static str],
    emulator: &'static str,
    arguments: &'static [&'static str],
}

/// The longest that a program may run: many times what it needs on a slow machine.
const PATIENCE: Duration = Duration::from_mins(10);

const BUILDS: [&str; 4] = ["release", "small", "smallest", "least"];

/// It counts instructions by a timer: 256 ns for each suit its tick of 40 ns.
const ARM: Machine = Machine {
    name: "arm",
    title: "Cortex-M4F (QEMU's mps2-an386)",
    target: "thumbv7em-none-eabihf",
    measured: &["release", "small"],
    sized: &BUILDS,
    emulator: "qemu-system-arm",
    arguments: &["-M", "mps2-an386", "-icount", "shift=8,sleep=off"],
};

/// What every change is judged by: the figures that README shows, without the build `smallest`. The build `least` is
/// optimised as that one is.
pub(crate) static QUICK: [Machine; 1] =
    [Machine { measured: &["release"], sized: &["release", "small", "least"], ..ARM }];

/// All of them. RISC-V has a counter of instructions.
pub(crate) static MACHINES: [Machine; 2] = [
    ARM,
    Machine {
        name: "riscv",
        title: "RISC-V, rv32imac (QEMU's virt)",
        target: "riscv32imac-unknown-none-elf",
        measured: &["release"],
        sized: &BUILDS,
        emulator: "qemu-system-riscv32",
        arguments: &["-M", "virt", "-bios", "none", "-icount", "shift=0,sleep=off"],
    },
];

/// What every machine is told: no screen, and the program's words through semihosting.
const QUIET: [&str; 7] = [
    "-nographic",
    "-monitor",
    "none",
    "-serial",
    "none",
    "-semihosting-config",
    "enable=on,target=native",
];

impl Machine {
    /// Whether it takes that figure.
    pub(crate) fn has(&self, figure: &str) -> bool {
        let (build, what) = figure.split_once('/').unwrap_or((figure, ""));
        let builds = if what.starts_with("size") { self.sized } else { self.measured };
        builds.contains(&build)
    }

    /// The file with its figures, from the runner's folder.
    pub(crate) fn figures(&self, home: &Path) -> PathBuf {
        home.join(format!("figures/{}.txt", self.name))
    }

    /// Runs a program to its end, which must be a good one. Gives what it said.
    pub(crate) fn run(&self, program: &Path) -> Outcome<String> {
        let mut child = Command::new(self.emulator)
            .args(self.arguments)
            .args(QUIET)
            .arg("-kernel")
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("{} does not start ({error}): install it", self.emulator))?;
        // Read while the program measured: a pipe that is full would stop it.
        let mut said_so_far = child.stdout.take();
        let reader = spawn(move || {
            let mut text = Vec::new();
            said_so_far.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut text)).map(|_| text)
        });
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|error| said(program, &error))? {
                break status;
            }
            if start.elapsed() > PATIENCE {
                // It may end by itself just now, which is as good.
                let _ = child.kill();
                let seconds = PATIENCE.as_secs();
                return Err(format!("{} did not end within {seconds} s", program.display()));
            }
            sleep(Duration::from_millis(20));
        };
        let read = reader.join().map_err(|_| format!("{} was not read", program.display()))?;
        let text =
            String::from_utf8_lossy(&read.map_err(|error| said(program, &error))?).into_owned();
        let passed = status.success() && text.lines().any(|line| line == "PASSED");
        if passed {
            return Ok(text);
        }
        Err(format!("{} on {} failed, having said:\n{text}", program.display(), self.title))
    }
}
