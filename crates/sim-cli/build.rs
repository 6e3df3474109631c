//! Tells the program its commit and its profile, for `tandem --version`.

use std::env;
use std::path::Path;
use std::process::Command;

/// The profile of those who change the program.
const DEV: &str = "dev";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let profile = profile().unwrap_or_default();
    // Whoever changes the program would build it anew after each commit.
    let commit = if profile == DEV { None } else { commit() };
    let built = match commit {
        Some(commit) => format!("commit {commit}, profile {profile}"),
        None => format!("profile {profile}"),
    };
    println!("cargo:rustc-env=TANDEM_VERSION={version} ({built})");
}

/// The profile, by the folder that it builds into: `target/release/build/sim-cli-…/out`.
fn profile() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
    let name = Path::new(&out).ancestors().nth(3)?.file_name()?.to_str()?;
    Some(if name == "debug" { DEV } else { name }.into())
}

/// The commit, if this is a checkout. A crate from a registry may lie in somebody's repository, too.
fn commit() -> Option<String> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    git(&["describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=, changed"])
}

/// What git says.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned())
}
