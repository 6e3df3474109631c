//! Sixty columns are enough: tables come in pieces, and words continue below.

use std::process::Command;

/// What a command prints into a window of 60 columns.
fn narrow(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    let output = command.args(arguments).env("COLUMNS", "60").output().expect("the binary runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn tables_fit_60_columns() {
    let load = "synth:zipf?requests=500";
    for arguments in [
        &["compare", load, "--capacity", "1GiB", "--systems", "conventional,hybrid,ko,page-slc"][..],
        &["replay", load, "--capacity", "1GiB"],
        &["help"],
        &["help", "synth"],
        &["devices"],
        &["devices", "c3", "tlc-pslc"],
        &["chip", "tiny"],
        &["systems"],
        &["bounds", "tlc-pslc"],
        &["profile", "synth:ntfs?requests=5000"],
        &["torture", "--requests", "20", "--cuts", "50"],
        &["torture", "--worlds", "2"],
        &["fit", "chang", "--requests", "1000", "--tries", "2"],
        #[cfg(unix)]
        &["size", "spi-nand-1g"],
    ] {
        let printed = narrow(arguments);
        // Tables and what belongs to them stand two columns in; other sentences at the edge are the terminal's to fold.
        let wide: Vec<&str> = printed
            .lines()
            .filter(|line| line.starts_with("  ") && line.chars().count() > 60)
            .collect();
        assert!(wide.is_empty(), "{arguments:?}: {wide:#?}");
        assert!(printed.lines().any(|line| line.starts_with("  ")), "{arguments:?}: {printed}");
    }
}
