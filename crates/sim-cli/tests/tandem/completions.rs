//! What shells make of the scripts that `tandem completions` writes. A shell that is not installed is passed over.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

fn script(shell: &str, to: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_tandem")).args(["completions", shell]).output();
    std::fs::write(to, output.expect("the binary runs").stdout).expect("a script");
}

/// What that shell offers for the last word, or nothing where it is not installed.
fn offered(shell: &str, run: &str, flag: &str, word: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script");
    script(shell, &path);
    let mut command = Command::new(shell);
    if shell == "fish" {
        command.env("HOME", folder.path()).arg("--no-config");
    }
    let command = command.args(["-c", run]).arg(&path).args([flag, word]).output();
    match command {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        output => {
            let said = output.expect("the shell runs").stdout;
            // Fish tells what a name means behind a tab.
            let names = String::from_utf8(said).expect("text");
            Some(names.lines().map(|line| line.split('\t').next().unwrap_or("").into()).collect())
        }
    }
}

const BASH: &str = "source \"$0\"
    COMP_WORDS=(tandem compare x.csv \"$1\" \"$2\")
    [[ $1 == --faults ]] && COMP_WORDS[1]=torture
    COMP_CWORD=4
    _tandem tandem \"$2\" \"$1\"
    printf '%s\\n' \"${COMPREPLY[@]}\"";

const FISH: &str = "source $argv[1]
    set command compare x.csv
    test $argv[2] = --faults; and set command torture
    complete -C \"tandem $command $argv[2] $argv[3]\"";

#[test]
fn the_last_name_of_a_list_is_completed_and_those_before_it_stay() {
    for (shell, run) in [("bash", BASH), ("fish", FISH)] {
        let offered = |flag, word| offered(shell, run, flag, word);
        let Some(one) = offered("--systems", "hy") else { continue };
        assert_eq!(one, ["hybrid"], "{shell}");
        let last = offered("--systems", "conventional,hy").unwrap();
        assert_eq!(last, ["conventional,hybrid"], "{shell}");
        let mut several = offered("--systems", "hybrid?filter=off,ko,page-").unwrap();
        several.sort();
        let expected = ["mlc", "slc"].map(|kind| format!("hybrid?filter=off,ko,page-{kind}"));
        assert_eq!(several, expected, "{shell}");
        assert_eq!(offered("--faults", "erase,prog").unwrap(), ["erase,program"], "{shell}");
        // Where one name is taken, a comma is part of no name.
        assert!(!offered("--device", "c1,c").unwrap().contains(&"c1,c2".into()), "{shell}");
    }
}
