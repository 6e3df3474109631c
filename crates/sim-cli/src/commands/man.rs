//! `tandem man`: the manual pages, from the same text as the help.

use std::io::Write;

use clap::Command;
use clap_mangen::Man;
use nand_model::datasheet;
use sim::Failure;

/// The arguments of `man`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The command to describe; by default the whole program
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Writes the page as roff.
pub fn run(args: &Args, mut program: Command, out: &mut dyn Write) -> Result<(), Failure> {
    program.build();
    let Some(name) = &args.command else { return Ok(Man::new(program).render(out)?) };
    let Some(command) = program.find_subcommand(name) else {
        let meant = datasheet::meant(name, program.get_subcommands().map(Command::get_name));
        let reason =
            format!("there is no command `{name}`: {meant}`tandem help` lists all of them");
        return Err(Failure::Arguments(reason));
    };
    // One page per command: `man tandem-compare`.
    let page = command.clone().display_name(format!("tandem-{name}"));
    Ok(Man::new(page).render(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    fn page(command: Option<&str>) -> Result<String, Failure> {
        let mut out = Vec::new();
        run(&Args { command: command.map(str::to_owned) }, commands::program(), &mut out)?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn every_command_has_a_page_with_its_flags() {
        let program = page(None).unwrap();
        assert!(program.starts_with(".ie") && program.contains("tandem\\-torture"), "{program}");
        for command in commands::program().get_subcommands() {
            let page = page(Some(command.get_name())).unwrap();
            assert!(page.contains(".SH NAME") && page.contains("Examples"), "{page}");
        }
        assert!(page(Some("compare")).unwrap().contains("report"));
    }

    #[test]
    fn a_command_that_is_not_there_is_told_which_was_meant() {
        let refused = page(Some("compere")).unwrap_err().to_string();
        assert!(refused.contains("did you mean `compare`?"), "{refused}");
    }
}
