//! On a terminal: its width counts, and `NO_COLOR` takes the colours and leaves the progress bar.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What a command writes to a terminal of that many columns, on both outputs, with these variables besides.
fn shown(columns: u16, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("its other end");
    let name = ptsname(&ours, Vec::new()).expect("its name").into_bytes();
    let path = PathBuf::from(std::ffi::OsString::from_vec(name));
    let theirs = File::options().read(true).write(true).open(path).expect("a terminal");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).expect("a size");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(arguments).env("TERM", "xterm-256color").envs(variables.iter().copied());
    command.stdout(theirs.try_clone().expect("a copy")).stderr(theirs);
    let mut child = command.spawn().expect("the binary runs");
    // The command holds the other end, too, and reading ends when nobody does.
    drop(command);
    let mut written = Vec::new();
    let mut piece = [0; 4096];
    let mut ours = File::from(ours);
    // At the end Linux reports an error.
    while let Ok(read @ 1..) = ours.read(&mut piece) {
        written.extend_from_slice(&piece[..read]);
    }
    let status = child.wait().expect("an end");
    let written = String::from_utf8(written).expect("text");
    assert!(status.success(), "{arguments:?}: {written}");
    written
}

/// Whether a sequence sets a colour or a style: `ESC [ … m`.
fn is_styled(text: &str) -> bool {
    text.split("\x1b[").skip(1).any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    })
}

#[test]
fn tables_and_sentences_are_as_wide_as_the_terminal() {
    // The widest line of what stands two columns in.
    let widest = |columns: u16, arguments: &[&str]| {
        let text = shown(columns, arguments, &[]);
        let inner = text.lines().filter(|line| line.starts_with("  "));
        inner.map(|line| line.trim_end().chars().count()).max().expect("a table")
    };
    for arguments in [&["devices", "c3", "tlc-pslc"][..], &["systems"]] {
        let [narrow, wide] = [60, 200].map(|columns| widest(columns, arguments));
        assert!(narrow <= 60 && narrow < wide && wide <= 200, "{arguments:?}: {narrow}, {wide}");
    }
}

#[test]
fn no_color_takes_the_styles_from_help() {
    let coloured = shown(80, &["help", "replay"], &[]);
    let plain = shown(80, &["help", "replay"], &[("NO_COLOR", "1")]);
    assert!(is_styled(&coloured), "{coloured:?}");
    assert!(!plain.contains('\x1b') && plain.contains("Usage: tandem replay"), "{plain:?}");
}

#[test]
fn the_progress_bar_is_drawn_under_no_color_too() {
    let load = "synth:uniform?requests=20000&size=1KiB";
    let arguments = ["replay", load, "--device", "tiny", "--system", "page-mlc"];
    for variables in [&[][..], &[("NO_COLOR", "1")]] {
        let drawn = shown(100, &arguments, variables);
        assert!(
            drawn.contains(" %  ") && drawn.contains(" requests, "),
            "{variables:?}: {drawn:?}"
        );
        assert!(!is_styled(&drawn), "{variables:?}: {drawn:?}");
        // It goes when the run is over, and the result stays.
        let last = drawn.rsplit("\x1b[2K").next().unwrap_or_default();
        assert!(!last.contains(" left") && last.contains("write"), "{variables:?}: {last:?}");
    }
}

#[test]
fn a_trace_that_is_made_shows_a_bar_where_it_is_not_shown_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.csv");
    let drawn = |output| shown(100, &["synth", "uniform?requests=10000", "--output", output], &[]);
    let beside = drawn(file.to_str().unwrap());
    assert!(beside.contains(" requests, ") && beside.contains(" left"), "{beside:?}");
    let made = drawn("-");
    assert!(made.lines().count() > 10_000 && !made.contains(" left"), "{:?}", &made[..200]);
}
