//! `tandem completions`: what a shell needs to complete commands and flags.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Failure;
use crate::cli::Cli;

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
    clap_complete::generate(args.shell, &mut Cli::command(), "tandem", &mut script);
    Ok(out.write_all(&script)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_every_command_and_the_flags() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut script = Vec::new();
            run(&Args { shell }, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for command in Cli::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(script.contains("open-loop") && script.contains("shard"), "{shell}");
        }
    }
}
