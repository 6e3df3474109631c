//! `tandem completions`: what a shell needs to complete commands, flags, and the names that both take.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;
use nand_model::datasheet;

use crate::cli::Cli;
use crate::{Failure, synth, systems};

/// What was typed after `completions`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes the shell's script.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut program = taught(Cli::command());
    clap_complete::generate(args.shell, &mut program, "tandem", &mut script);
    if args.shell == Shell::Fish {
        teach_fish_positions(&program, &mut script)?;
    }
    Ok(out.write_all(&script)?)
}

/// The library tells fish of names after flags alone; here are those that stand by themselves.
fn teach_fish_positions(program: &Command, out: &mut dyn Write) -> Result<(), Failure> {
    for command in program.get_subcommands() {
        for arg in command.get_positionals() {
            let names: Vec<String> =
                arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
            if !names.is_empty() {
                let (command, names) = (command.get_name(), names.join(" "));
                let seen = format!("__fish_seen_subcommand_from {command}");
                writeln!(out, "complete -c tandem -n \"{seen}\" -a \"{names}\"")?;
            }
        }
    }
    Ok(())
}

/// The command line as shells shall offer it. Devices, systems and workloads may be files or have parameters, so that
/// the program itself takes any text for them.
fn taught(mut program: Command) -> Command {
    let commands: Vec<String> =
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for command in &commands {
        program = program.mut_subcommand(command, |command| command.mut_args(offering));
    }
    // What there is help for. Its own copy of the commands takes no further arguments.
    program.mut_subcommand("man", |man| man.mut_arg("command", |arg| one_of(arg, commands.clone())))
}

/// The argument with the names that it takes.
fn offering(arg: Arg) -> Arg {
    let names: Vec<&str> = match arg.get_id().as_str() {
        "device" | "devices" => datasheet::builtin_names().collect(),
        "system" | "systems" => systems::names().collect(),
        "workload" if arg.get_possible_values().is_empty() => synth::names().collect(),
        _ => return arg,
    };
    one_of(arg, names.into_iter().map(str::to_owned).collect())
}

fn one_of(arg: Arg, names: Vec<String>) -> Arg {
    // Defaults are of the type that the argument is read as, and no shell offers them.
    arg.value_parser(PossibleValuesParser::new(names)).default_value(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_every_command_the_flags_and_the_names() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut script = Vec::new();
            run(&Args { shell }, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for command in Cli::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(script.contains("open-loop") && script.contains("shard"), "{shell}");
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                // A device, a system, a workload, a figure, a format.
                for name in ["k9gag08u0m", "page-slc", "sequential", "table3", "blkparse"] {
                    let escaped = name.replace('-', "\\-");
                    let offered = script.contains(name) || script.contains(&escaped);
                    assert!(offered, "{shell}: {name}");
                }
            }
        }
    }
}
