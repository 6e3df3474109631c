//! Gives the linker the memory of the machine that is built for, and its start-up script.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo names the architecture");
    let memory = match architecture.as_str() {
        "arm" => "memory-arm.x",
        "riscv32" => "memory-riscv.x",
        other => {
            panic!("there is no board for {other}: build with --target, as `./ci firmware` does")
        }
    };
    let folder = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder"));
    fs::copy(memory, folder.join("memory.x"))
        .expect("the memory's description is beside this file");
    println!("cargo:rerun-if-changed={memory}");
    println!("cargo:rustc-link-search={}", folder.display());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    // Where `defmt` keeps its table: only the program that logs has one.
    println!("cargo:rustc-link-arg-bin=events=-Tdefmt.x");
}
