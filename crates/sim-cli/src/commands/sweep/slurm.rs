//! A sweep on a cluster: an array of Slurm jobs over its shards, and a job that collects the results after them.
//!
//! It needs only `sbatch` and a folder that all nodes share. Shards whose results all exist are skipped, so the same
//! command completes the work of a lost node.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sim::Failure;
use sim::engine::sweep::Folder;
use sim::show::quoted;

use super::args::{Args, Shard};
use crate::base::files;

/// Clusters refuse longer arrays unless they are configured for them.
const TASKS_MOST: usize = 1000;

/// The scripts of a sweep.
struct Scripts {
    shards: String,
    collect: String,
}

/// Submits the remaining runs. `is_left` returns whether a run is left.
pub(super) fn submit(
    args: &Args,
    folder: &Folder<'_>,
    is_left: &[bool],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let tasks = args.cluster.tasks.map_or(TASKS_MOST.min(is_left.len()), |tasks| tasks as usize);
    let left = tasks_left(tasks, is_left);
    if left.is_empty() {
        let hint = "the same command without --on collects them";
        return Ok(writeln!(out, "All {} runs are there: {hint}.", is_left.len())?);
    }
    let scripts = Scripts::new(args, folder, tasks, &left)?;
    if args.cluster.dry_run {
        return Ok(write!(out, "{}\n{}", scripts.shards, scripts.collect)?);
    }
    let logs = folder.path.join("slurm");
    std::fs::create_dir_all(&logs)
        .map_err(|reason| Failure::File { path: logs.clone(), reason })?;
    let (shards, collect) = (logs.join("shards.sh"), logs.join("collect.sh"));
    files::replace(&shards, scripts.shards.as_bytes())?;
    files::replace(&collect, scripts.collect.as_bytes())?;
    let array = sbatch(&[], &shards)?;
    let collecting = sbatch(&[format!("--dependency=afterany:{array}")], &collect)?;
    let runs = is_left.iter().filter(|left| **left).count();
    writeln!(
        out,
        "{runs} of {} runs are left: job {array}, in {} tasks; job {collecting} collects them.\n\
         Their output goes to {}; squeue shows them, and the same command finishes what they leave.",
        is_left.len(),
        left.len(),
        logs.display()
    )?;
    Ok(())
}

/// The tasks with remaining runs, counted from 1.
fn tasks_left(tasks: usize, is_left: &[bool]) -> Vec<usize> {
    let has_left = |number: &usize| {
        let shard = Shard { number: *number, of: tasks };
        is_left.iter().enumerate().any(|(run, left)| *left && shard.has(run))
    };
    (1..=tasks).filter(has_left).collect()
}

impl Scripts {
    fn new(
        args: &Args,
        folder: &Folder<'_>,
        tasks: usize,
        left: &[usize],
    ) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let absolute = |path: &Path| {
            let failed = |reason| Failure::File { path: path.into(), reason };
            std::path::absolute(path).map_err(failed)
        };
        let (plan, out) = (absolute(&args.plan)?, absolute(folder.path)?);
        let jobs = args.jobs.map_or(1, std::num::NonZeroUsize::get);
        let sweep = [&program, &PathBuf::from("sweep"), &plan, &PathBuf::from("--out"), &out];
        let sweep = sweep.map(|word| quoted(&word.to_string_lossy())).join(" ");
        let logs = out.join("slurm").to_string_lossy().replace('%', "%%");
        let partition = args.cluster.partition.iter().map(|name| format!("--partition={name}"));
        let common: Vec<String> = partition.chain(args.cluster.sbatch.iter().cloned()).collect();
        let name = plan.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let script = |own: &[String], command: String| {
            let options = own.iter().chain(&common).map(|option| format!("#SBATCH {option}\n"));
            format!("#!/bin/sh\n{}exec {command}\n", options.collect::<String>())
        };
        let shards = [
            format!("--job-name={}", quoted(&format!("tandem-{name}"))),
            format!("--array={}", ranges(left)),
            format!("--cpus-per-task={jobs}"),
            format!("--output={}", quoted(&format!("{logs}/%A-%a.log"))),
        ];
        let collect = [
            format!("--job-name={}", quoted(&format!("tandem-{name}-collect"))),
            format!("--output={}", quoted(&format!("{logs}/%j-collect.log"))),
        ];
        let shard = format!("{sweep} --jobs {jobs} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\"");
        Ok(Self {
            shards: script(&shards, shard),
            collect: script(&collect, format!("{sweep} --collect")),
        })
    }
}

/// Numbers as sbatch takes them: `1-3,7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|number, next| *next == number + 1);
    let texts = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(usize::to_string).collect(),
    });
    texts.collect::<Vec<_>>().join(",")
}

/// Submits a script. Returns the job's number.
fn sbatch(options: &[String], script: &Path) -> Result<String, Failure> {
    let command = Command::new("sbatch")
        .arg("--parsable")
        .args(options)
        .arg(script)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let hint = "log in where jobs are submitted, or run the sweep here without --on slurm";
            Failure::Arguments(format!("sbatch, of Slurm, cannot be run ({error}): {hint}"))
        })?;
    if !command.status.success() {
        let said = String::from_utf8_lossy(&command.stderr);
        return Err(Failure::Arguments(format!("sbatch refuses the job: {}", said.trim())));
    }
    // The number, and after a semicolon the cluster's name.
    let said = String::from_utf8_lossy(&command.stdout);
    let number = said.trim().split(';').next().unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        let reason = format!("sbatch names no job: `{}`", said.trim());
        return Err(Failure::Arguments(reason));
    }
    Ok(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_those_with_something_left() {
        assert_eq!(tasks_left(3, &[true; 7]), [1, 2, 3]);
        assert_eq!(tasks_left(3, &[false, true, false, false, true, false, false]), [2]);
        assert_eq!(tasks_left(3, &[false; 7]), [0; 0]);
    }

    #[test]
    fn numbers_are_put_together() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[4]), "4");
    }
}
