//! Help by example: what to type and what it does, for the program and each of its commands.

use sim::input::synth;

use crate::output::table::{Edge, Table};

/// An example command line, and what it does.
type Example = (&'static str, &'static str);

/// The program's own examples, under an empty name, and those of each command.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("tandem compare mine.csv", "a disk with and without SLC, on your own trace"),
            (
                "tandem compare mine.csv --report mine.html",
                "the same as a page to send to a colleague",
            ),
            ("tandem replay mine.csv.gz", "one system: every figure, and --json FILE for programs"),
            ("tandem sweep plans/slc-size.toml --out results", "how large should the SLC be?"),
            ("tandem profile mine.csv", "request sizes, updates, and how often data is rewritten"),
            ("tandem synth ntfs --requests 100000 -o made.csv.zst", "a synthetic laptop disk"),
            ("tandem repro chang", "the paper's tables and figures, its values beside ours"),
            ("tandem devices", "the built-in devices, in a table"),
            ("tandem chip tiny", "program, read, erase; then a power cut and what it leaves"),
            (
                "tandem torture",
                "power cuts at every operation on a small device; counts lost data and stuck devices",
            ),
            ("tandem serve --socket /tmp/ssd", "a hybrid SSD that a real operating system can use"),
            ("tandem help compare", "more examples, for each command"),
        ],
    ),
    (
        "compare",
        &[
            ("tandem compare mine.csv", "a disk with and without SLC, on your own trace"),
            ("tandem compare mine.csv --report mine.html", "also as a page with charts"),
            ("tandem compare mine.csv --csv mine-result.csv", "also for a spreadsheet"),
            (
                "tandem compare mine.csv --slc 64MiB --json mine.json",
                "less SLC; the result also as JSON",
            ),
            (
                "tandem compare mine.csv --systems 'conventional,paged,paged?filter=off'",
                "what does the hot-data filter gain?",
            ),
            (
                "tandem compare large.csv --fit pack --capacity 5GiB",
                "a trace of a larger disk, its used extents packed together",
            ),
            (
                "tandem compare monday.csv.gz tuesday.csv.gz --passes 3",
                "two traces in a row, three times",
            ),
            ("tandem compare 'synth:zipf?requests=200000&reads=30'", "synthetic requests"),
        ],
    ),
    (
        "replay",
        &[
            ("tandem replay mine.csv", "every figure of the page store"),
            ("tandem replay mine.csv --system conventional", "without SLC"),
            (
                "tandem replay mine.csv --open-loop --parallel",
                "requests at their recorded times, dies in parallel",
            ),
            (
                "tandem replay odd.txt --format blkparse --lenient",
                "name the format; skip bad lines",
            ),
            ("tandem replay - --json -", "from standard input, as JSON to standard output"),
        ],
    ),
    (
        "sweep",
        &[
            (
                "tandem sweep plans/slc-size.toml --out results",
                "the example; its file lists all keys",
            ),
            ("tandem sweep mine.toml --out results", "the same again: resumes after a kill"),
            ("tandem sweep mine.toml --out results --jobs 2", "two runs at a time"),
            ("tandem sweep mine.toml --out results --shard 1/4", "the first of four machines"),
            ("tandem sweep mine.toml --out results --on slurm", "an array of jobs on a cluster"),
        ],
    ),
    (
        "synth",
        &[
            ("tandem synth ntfs --requests 100000 --seed 7 -o made.csv.zst", "a laptop's disk"),
            ("tandem synth 'zipf?skew=1.2&reads=30' --requests 1000 -o -", "to standard output"),
        ],
    ),
    (
        "profile",
        &[
            ("tandem profile mine.csv", "request sizes, updates, and how often data is rewritten"),
            ("tandem profile 'synth:ntfs?requests=200000' --json -", "as JSON to standard output"),
        ],
    ),
    (
        "repro",
        &[
            ("tandem repro chang", "every table and figure of the paper; takes minutes"),
            ("tandem repro chang table3 fig8 --out figures", "two of them, into that folder"),
            (
                "tandem repro chang --requests 2557712 --passes 10",
                "as long as in the paper; takes hours",
            ),
            ("tandem repro all --traces msr", "every paper; published traces from that folder"),
        ],
    ),
    (
        "devices",
        &[
            ("tandem devices", "the built-in devices, in a table"),
            ("tandem devices c3 spi-nand-1g", "every figure of two of them"),
            ("tandem devices ./my-part.toml", "every figure of your own device file"),
        ],
    ),
    (
        "chip",
        &[
            ("tandem chip tiny", "program, read, erase; then a power cut and what it leaves"),
            ("tandem chip ./my-part.toml", "a part of your own: copy and edit a file of devices/"),
        ],
    ),
    (
        "fit",
        &[
            ("tandem fit chang", "workloads like the paper's NTFS trace, and RS over all of them"),
            ("tandem fit chang ext3 --kept tried.txt", "the other trace; a search that resumes"),
            (
                "tandem fit chang --check 'synth:file-system?journal_bytes=8MiB'",
                "how far that workload agrees with the paper",
            ),
        ],
    ),
    (
        "bounds",
        &[(
            "tandem bounds tlc-pslc",
            "by request size and queue depth, only reads and only writes",
        )],
    ),
    (
        "systems",
        &[
            ("tandem systems", "what can be compared"),
            (
                "tandem compare mine.csv --systems 'paged,paged?throttle=on'",
                "a system with a parameter; several are joined by &",
            ),
            (
                "tandem compare mine.csv --systems 'hybrid,hybrid?paired-pages=guard'",
                "the cost of backing up pages that a power cut may corrupt",
            ),
        ],
    ),
    (
        "formats",
        &[
            ("tandem formats", "what can be read; the format is detected from a file's content"),
            ("tandem replay odd.txt --format blkparse", "where it is not, or to be sure"),
            (
                "tandem replay odd.txt --columns time=0:us,op=2,offset=3:sectors,length=4",
                "any other text file, by its columns",
            ),
        ],
    ),
    (
        "image",
        &[
            ("tandem image check ssd.img", "is it intact? If not: what is damaged, and where"),
            ("tandem image recover ssd.img", "what could be recovered, and what would be lost"),
            ("tandem image recover ssd.img --to saved.img", "the same, into a new file"),
        ],
    ),
    (
        "serve",
        &[
            (
                "tandem serve --socket /tmp/ssd --capacity 1GiB",
                "a hybrid SSD for nbdcopy, fio, QEMU or nbd-client, until Ctrl-C",
            ),
            ("tandem serve --socket /tmp/ssd --wait", "in a script: wait until it is served"),
            (
                "tandem serve --socket /tmp/ssd --image ssd.img --cut-every 60s",
                "kept in a file, with a power cut every minute",
            ),
            (
                "tandem serve --port 10809 --system conventional --pace",
                "on a local port, as slow as the device",
            ),
            (
                "tandem serve --socket /tmp/ssd --record load.csv.zst",
                "records the requests as a trace: tandem compare load.csv.zst",
            ),
        ],
    ),
    (
        "torture",
        &[
            (
                "tandem torture",
                "power cuts at every operation on a small device; counts lost data and stuck devices",
            ),
            ("tandem torture --ftl hybrid", "the same for the hybrid"),
            (
                "tandem torture --device all --cuts 500 --nested --faults all",
                "all small devices, with faults",
            ),
            (
                "tandem torture --worlds 10000",
                "random devices, configurations, faults and workloads, each from a seed",
            ),
        ],
    ),
    (
        "completions",
        &[
            ("tandem completions bash >> ~/.bashrc", "bash, from the next shell on"),
            ("tandem completions zsh > _tandem", "zsh; move the file to a folder of $fpath"),
            ("tandem completions fish > ~/.config/fish/completions/tandem.fish", "fish"),
        ],
    ),
    (
        "size",
        &[
            ("tandem size spi-nand-1g", "RAM, code, the worst request, mounts"),
            (
                "tandem size --system hybrid --config list > mine.toml",
                "the keys of its configuration, to edit",
            ),
            ("tandem size ./my-part.toml", "for your own chip"),
            (
                "tandem size --system hybrid --config mine.toml",
                "of the hybrid, as you configure it",
            ),
        ],
    ),
    (
        "man",
        &[
            ("tandem man | man -l -", "the page of the whole program"),
            ("tandem man compare > tandem-compare.1", "the page of a command, as a file"),
        ],
    ),
];

/// The examples of a command, or of the program under an empty name, each with its description.
pub(crate) fn examples(command: &str) -> String {
    let mut text = String::from("Examples:");
    let found = EXAMPLES.iter().find(|(name, _)| *name == command);
    for (line, meaning) in found.map_or(&[][..], |(_, examples)| examples) {
        text.extend(["\n  ", line, "\n      ", meaning]);
    }
    text
}

/// The text below the program's help.
pub(crate) fn program() -> String {
    format!(
        "{}\n\nSizes: 20GiB and 20G are 20 x 1024^3 bytes, 20GB are 20 x 1000^3; K, M and T likewise.\n\n\
         Exit codes: 0 done; 1 the run found a violation (data lost, verification failed);\n\
         2 bad arguments or input; 130 stopped by Ctrl-C, which for serve is the usual end, with 0.",
        examples("")
    )
}

/// The text below the help of a command that replays.
pub(crate) fn replaying(command: &str) -> String {
    let mut list = Table::new([("", Edge::Left); 2]);
    for row in synth::list() {
        list.row(row);
    }
    let list = list.rows_as_text();
    let example = "Synthetic workloads, such as 'synth:zipf?requests=200000&seed=7':";
    // Shells interpret both characters.
    let quoted = "In a shell, put names with ? or & in quotes.";
    format!("{}\n\n{quoted}\n\n{example}\n{list}", examples(command))
}

/// The text below the help on formats: all of them.
pub(crate) fn formats() -> String {
    format!("{}\n\nFormats:\n{}", examples("formats"), super::formats::list().rows_as_text())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn every_example_is_a_command_line_that_is_understood() {
        for (command, examples) in EXAMPLES {
            assert!(!examples.is_empty(), "{command}");
            for (line, meaning) in *examples {
                assert!(!meaning.is_empty() && line.len() < 80, "{line}");
                match Cli::try_parse_from(words(line)) {
                    Err(error) if error.kind() == clap::error::ErrorKind::DisplayHelp => {}
                    outcome => drop(outcome.unwrap_or_else(|error| panic!("{line}: {error}"))),
                }
            }
        }
    }

    /// The words of a command line as bash, zsh and fish see them: quoted, or without special characters.
    fn words(line: &str) -> Vec<String> {
        let command = line.split(['>', '|']).next().unwrap().trim();
        let pieces: Vec<&str> = command.split('\'').collect();
        assert!(pieces.len() % 2 == 1, "{line}: a quote has an end");
        let mut words = vec![String::new()];
        for (at, piece) in pieces.into_iter().enumerate() {
            if at % 2 == 1 {
                words.last_mut().unwrap().push_str(piece);
                continue;
            }
            assert!(!piece.contains(['?', '&', '*', '[', ']', '$', '`', '"']), "{line}: quote it");
            let mut parts = piece.split(' ');
            words.last_mut().unwrap().push_str(parts.next().unwrap());
            words.extend(parts.map(str::to_owned));
        }
        words
    }

    #[test]
    fn the_help_of_every_command_teaches_by_example() {
        let mut program = Cli::command();
        program.build();
        let commands = program.get_subcommands_mut().filter(|command| command.get_name() != "help");
        for command in commands {
            let help = command.render_long_help().to_string();
            let line = format!("\n  tandem {}", command.get_name());
            assert!(help.contains("Examples:") && help.contains(&line), "{help}");
        }
        assert!(program.render_help().to_string().contains("\n  tandem compare mine.csv\n"));
    }
}
