//! `tandem completions`: scripts with which shells complete commands, flags, and the names that both take.

use std::io::Write;

use clap::builder::{PossibleValuesParser, ValueHint};
use clap::{Arg, Command};
use clap_complete::Shell;
use nand_model::datasheet;
use sim::Failure;
use sim::engine::systems;
use sim::input::synth;
use torture::Faults;

/// The arguments of `completions`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes the shell's script.
pub fn run(args: &Args, program: Command, out: &mut dyn Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut program = taught(program);
    clap_complete::generate(args.shell, &mut program, "tandem", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match args.shell {
        Shell::Bash => teach_bash_files(&program, &mut script),
        Shell::Zsh => teach_zsh_files(&mut script),
        Shell::Fish => teach_fish(&program, &mut script),
        _ => {}
    }
    teach_lists(args.shell, &program, &mut script);
    Ok(out.write_all(script.as_bytes())?)
}

/// What an argument takes: a name, names separated by commas, or a name or the path of a file. The library supports
/// only one name, or a file.
enum Takes {
    Names(Vec<String>),
    List(Vec<String>),
    NamesOrFile(Vec<String>),
}

fn taken(arg: &Arg) -> Option<Takes> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    match arg.get_id().as_str() {
        "device" | "device_named" | "devices" => {
            Some(Takes::NamesOrFile(owned(datasheet::builtin_names().collect())))
        }
        "traces" => {
            let names = synth::names().map(|name| format!("{}{name}", synth::PREFIX));
            Some(Takes::NamesOrFile(names.collect()))
        }
        "system" if arg.get_possible_values().is_empty() => {
            Some(Takes::Names(owned(systems::names().collect())))
        }
        "systems" => Some(Takes::List(owned(systems::names().collect()))),
        "workload" if arg.get_possible_values().is_empty() => {
            Some(Takes::Names(owned(synth::names().collect())))
        }
        "faults" => Some(Takes::List(owned(Faults::NAMES.to_vec()))),
        _ => None,
    }
}

/// The lists of names that are offered together with files.
fn lists_beside_files() -> Vec<Vec<String>> {
    let lists = ["device", "traces"].map(|id| taken(&Arg::new(id)));
    let names = |list| match list {
        Some(Takes::NamesOrFile(names)) => Some(names),
        _ => None,
    };
    lists.into_iter().filter_map(names).collect()
}

/// In bash, the completion of a list must repeat the names before the last one.
const LIST_IN_BASH: &str = "_tandem_list() {
    local before=\"\"
    [[ \"$2\" == *,* ]] && before=\"${2%,*},\"
    compgen -P \"${before}\" -W \"$1\" -- \"${2##*,}\"
}

";

/// In a list separated by commas, the last name is completed and those before it are kept.
fn teach_lists(shell: Shell, program: &Command, script: &mut String) {
    for arg in program.get_subcommands().flat_map(Command::get_arguments) {
        let (Some(Takes::List(names)), Some(flag)) = (taken(arg), arg.get_long()) else { continue };
        match shell {
            Shell::Bash => teach_bash_list(flag, &names, script),
            Shell::Zsh => teach_zsh_list(flag, &names, script),
            Shell::Fish => teach_fish_list(flag, &names, script),
            _ => {}
        }
    }
    if shell == Shell::Bash {
        script.insert_str(0, LIST_IN_BASH);
    }
}

/// Replaces a text in those lines of a script that the caller chooses, who sees them in order.
fn replace_where(script: &mut String, old: &str, new: &str, mut takes: impl FnMut(&str) -> bool) {
    let lines =
        script.lines().map(|line| if takes(line) { line.replace(old, new) } else { line.into() });
    *script = lines.collect::<Vec<_>>().join("\n") + "\n";
}

fn teach_bash_list(flag: &str, names: &[String], script: &mut String) {
    let names = names.join(" ");
    // The line after the flag's holds its completion.
    let mut of_flag = false;
    let one = format!("compgen -W \"{names}\" --");
    let list = format!("_tandem_list \"{names}\"");
    replace_where(script, &one, &list, |line| {
        std::mem::replace(&mut of_flag, line.trim() == format!("--{flag})"))
    });
}

fn teach_zsh_list(flag: &str, names: &[String], script: &mut String) {
    let names = names.join(" ");
    let list = format!(":_sequence compadd - {names}");
    let of_flag = format!("--{flag}=[");
    replace_where(script, &format!(":({names})"), &list, |line| line.contains(&of_flag));
}

/// The library writes one name per line for fish, in double quotes.
fn teach_fish_list(flag: &str, names: &[String], script: &mut String) {
    let of_flag = format!(" -l {flag} ");
    let Some((head, rest)) = script.split_once(&of_flag) else { return };
    let Some((title, rest)) = rest.split_once(" -a \"") else { return };
    let Some((_, rest)) = rest.split_once('"') else { return };
    let names = names.join("/");
    let list = format!("'(__fish_complete_list , \"string split / {names}\")'");
    *script = format!("{head}{of_flag}{title} -a {list}{rest}");
}

/// In bash, `compgen -f` adds files: after flags, and for commands that take a file as argument.
fn teach_bash_files(program: &Command, script: &mut String) {
    for names in lists_beside_files() {
        let names = names.join(" ");
        let (without, with) =
            (format!("compgen -W \"{names}\""), format!("compgen -f -W \"{names}\""));
        *script = script.replace(&without, &with);
    }
    let is_path = |arg: &&Arg| {
        matches!(taken(arg), Some(Takes::NamesOrFile(_)))
            || matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath)
    };
    let takes_file = |command: &&Command| command.get_positionals().any(|arg| is_path(&arg));
    let labels: Vec<String> = program
        .get_subcommands()
        .filter(takes_file)
        .map(|command| format!("__{})", command.get_name()))
        .collect();
    let mut inside = false;
    let (without, with) = ("compgen -W \"${opts}\"", "compgen -f -W \"${opts}\"");
    replace_where(script, without, with, |line| {
        let trimmed = line.trim();
        let of_help = trimmed.contains("__help__");
        inside |= !of_help && labels.iter().any(|label| trimmed.ends_with(label));
        // The end of the command's own block, not of a flag's.
        inside &= line != "            ;;";
        inside
    });
}

/// In zsh, an action of our own offers both.
fn teach_zsh_files(script: &mut String) {
    const BOTH: &str =
        "_tandem_or_file() {\n    _alternative \"names:name:($*)\" 'files:file:_files'\n}\n\n";
    for names in lists_beside_files() {
        // How the library writes a name into a list.
        let names = names.join(" ").replace(':', "\\:");
        let bare = names.replace("\\:", "\\\\:");
        *script = script.replace(&format!(":({names})"), &format!(": _tandem_or_file {bare}"));
    }
    // Flags may follow files, but with two colons zsh takes everything after a file for files.
    *script = script.replace("'*::", "'*:");
    // Before the first function, after the line by which zsh knows the file.
    if let Some((head, rest)) = script.split_once("_tandem() {") {
        *script = format!("{head}{BOTH}_tandem() {{{rest}");
    }
}

const HELP_IN_FISH: &str = "complete -c tandem -n \"__fish_tandem_using_subcommand help\"";

/// The library gives fish names only after flags, and then no files.
fn teach_fish(program: &Command, script: &mut String) {
    for names in lists_beside_files() {
        let Some(first) = names.first() else { continue };
        let list = |files| format!(" -r {files} -a \"{first}\\t");
        *script = script.replace(&list("-f"), &list("-F"));
    }
    // The library offers the topics of `help` even if `help` was not typed.
    let topics: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let topics = topics.join(" ");
    script.extend([HELP_IN_FISH, " -f -a \"", &topics, "\"\n"]);
    for command in program.get_subcommands() {
        for arg in command.get_positionals() {
            let names: Vec<String> =
                arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
            if names.is_empty() {
                continue;
            }
            let files = if matches!(taken(arg), Some(Takes::NamesOrFile(_))) { "-F" } else { "-f" };
            let (command, names) = (command.get_name(), names.join(" "));
            let seen = format!("__fish_seen_subcommand_from {command}");
            script.extend([
                "complete -c tandem -n \"",
                &seen,
                "\" ",
                files,
                " -a \"",
                &names,
                "\"\n",
            ]);
        }
    }
}

/// The command line as shells should offer it. Devices, systems and workloads may be files or have parameters, so the
/// program itself accepts any text for them.
fn taught(mut program: Command) -> Command {
    let commands: Vec<String> =
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for command in &commands {
        program = program.mut_subcommand(command, |command| command.mut_args(offering));
    }
    // The topics of help. Its own copy of the commands takes no further arguments.
    program.mut_subcommand("man", |man| man.mut_arg("command", |arg| one_of(arg, commands.clone())))
}

/// The argument with the names that it takes.
fn offering(arg: Arg) -> Arg {
    match taken(&arg) {
        Some(Takes::Names(names) | Takes::List(names) | Takes::NamesOrFile(names)) => {
            one_of(arg, names)
        }
        None => arg,
    }
}

fn one_of(arg: Arg, names: Vec<String>) -> Arg {
    // Defaults have the type of the parsed argument, and shells do not offer them.
    arg.value_parser(PossibleValuesParser::new(names)).default_value(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    #[test]
    fn files_are_offered_beside_names_where_either_is_taken() {
        let script = |shell| {
            let mut script = Vec::new();
            run(&Args { shell }, commands::program(), &mut script).unwrap();
            String::from_utf8(script).unwrap()
        };
        let bash = script(Shell::Bash);
        assert!(
            bash.contains("compgen -f -W \"c1 ") && !bash.contains("compgen -W \"c1 "),
            "{bash}"
        );
        // Compare, replay, profile, sweep, devices, chip, bounds, size: twice each.
        assert_eq!(bash.matches("compgen -f -W \"${opts}\"").count(), 16, "{bash}");
        let zsh = script(Shell::Zsh);
        assert!(zsh.contains(": _tandem_or_file c1 ") && !zsh.contains(":(c1 "), "{zsh}");
        assert!(zsh.contains(": _tandem_or_file synth\\\\:ntfs "), "{zsh}");
        assert!(zsh.contains("'*:traces ") && !zsh.contains("'*::"), "flags after files: {zsh}");
        // Each shell's way to a list is tried in `tests/tandem/completions.rs`, except zsh's, which needs a terminal.
        assert_eq!(zsh.matches(":_sequence compadd - ").count(), 2, "{zsh}");
        let fish = script(Shell::Fish);
        assert!(
            fish.contains(" -r -F -a \"c1\\t") && !fish.contains(" -r -f -a \"c1\\t"),
            "{fish}"
        );
        assert!(fish.contains("from compare\" -F -a \"synth:ntfs "), "{fish}");
        assert!(fish.contains("subcommand help\" -f -a \"compare replay "), "{fish}");
    }

    #[test]
    fn every_shell_learns_every_command_the_flags_and_the_names() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut script = Vec::new();
            run(&Args { shell }, commands::program(), &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for command in commands::program().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
            assert!(script.contains("open-loop") && script.contains("shard"), "{shell}");
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                // A device, a system, a workload, a figure, a format, faults and a system of torture.
                for name in [
                    "k9gag08u0m",
                    "page-slc",
                    "sequential",
                    "table3",
                    "blkparse",
                    "factory",
                    "small",
                ] {
                    let escaped = name.replace('-', "\\-");
                    let offered = script.contains(name) || script.contains(&escaped);
                    assert!(offered, "{shell}: {name}");
                }
            }
        }
    }
}
