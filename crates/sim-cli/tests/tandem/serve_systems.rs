//! `tandem serve` over every system there is; what it says of itself; and work while no host asks.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

// Clients are shared with the other tests of the server, which need more of them.
#[allow(dead_code)]
use crate::nbd::client::{Server, TRIM};
use crate::nbd::truth::{BLOCK, Truth};

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().unwrap()
}

/// The systems that `tandem systems` lists: parameters stand below each, indented.
fn systems() -> Vec<String> {
    let listed = String::from_utf8(tandem(&["systems"]).stdout).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    let indent = lines.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap();
    let names = lines.iter().map(|line| &line[indent..]).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split(' ').next().map(String::from)).collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_system_keeps_the_bytes_of_hosts() {
    let systems = systems();
    assert!(systems.len() > 8 && systems.iter().any(|name| name == "page-mlc"), "{systems:?}");
    for system in systems {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        // The page store guards paired pages here, and keeps more blocks to itself than 128 MiB leave to spare.
        let capacity = if system == "paged" { "256MiB" } else { "128MiB" };
        let flags = ["--capacity", capacity, "--json", path.to_str().unwrap(), "--system", &system];
        let server = Server::start(folder.path(), &flags);
        let mut client = server.client();
        let mut truth = Truth::new(0..client.bytes / BLOCK, 5);
        // Long enough that blocks are collected: most of the disk is written, and half of it again.
        let data = vec![0xA5; 1 << 20];
        for at in
            (0..3 * client.bytes / 4).step_by(1 << 20).chain((0..client.bytes / 2).step_by(1 << 20))
        {
            client.write(0, at, &data).unwrap();
        }
        let bytes = client.bytes as u32;
        client.ask(0, TRIM, 0, bytes).unwrap();
        for _ in 0..400 {
            truth.step(&mut client).unwrap();
        }
        truth.compare_all(&mut client).unwrap();
        assert!(server.stop().success(), "{system}");
        let result = json(&path);
        assert_eq!(result["system"].as_str(), Some(system.as_str()));
        assert_eq!(result["served"]["power_cuts"].as_u64(), Some(0));
        let rs = result["served"]["rs"].as_f64();
        assert_eq!(rs.is_some_and(|rs| rs > 0.0), system != "conventional", "{system}: {rs:?}");
    }
}

#[test]
fn a_system_that_a_cut_would_end_is_neither_cut_nor_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, image) = (folder.path().join("socket"), folder.path().join("disk.img"));
    let (socket, image) = (socket.to_str().unwrap(), image.to_str().unwrap());
    for flags in [["--cut-every", "60s"], ["--image", image]] {
        let base = ["serve", "--socket", socket, "--device", "tiny", "--system", "page-mlc"];
        let refused = tandem(&[&base[..], &flags].concat());
        let told = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains("`page-mlc` keeps its tables in RAM alone"), "{told}");
    }
    // The signal that cuts others does nothing to it.
    let server = Server::start(folder.path(), &["--capacity", "64MiB", "--system", "page-mlc"]);
    let mut client = server.client();
    client.write(0, 0, &[5; 512]).unwrap();
    server.signal("USR1");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.read(0, 512).unwrap(), [5; 512]);
    assert!(server.stop().success());
}

#[test]
fn a_result_counts_the_cuts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    let flags = ["--device", "tiny", "--json", path.to_str().unwrap()];
    let server = Server::start(folder.path(), &flags);
    for cuts in 1..=2_u8 {
        server.next_client().write(0, 0, &[cuts; 512]).unwrap();
        server.signal("USR1");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(server.next_client().read(0, 512).unwrap(), [2; 512]);
    assert!(server.stop().success());
    assert_eq!(json(&path)["served"]["power_cuts"].as_u64(), Some(2));
}

/// A cache of pseudo-SLC is emptied when nobody asks: the time of it is nobody's, and the MLC is programmed.
#[test]
fn a_system_works_for_itself_while_no_host_asks() {
    for pace in [&[][..], &["--pace"]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let flags = ["--capacity", "128MiB", "--system", "pslc", "--json", path.to_str().unwrap()];
        let server = Server::start(folder.path(), &[&flags[..], pace].concat());
        let mut client = server.client();
        client.write(0, 0, &vec![7; 1 << 20]).unwrap();
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(1_500));
        assert_eq!(client.read(0, 64 << 10).unwrap(), vec![7; 64 << 10]);
        let rested = start.elapsed();
        assert!(server.stop().success());
        let result = json(&path);
        let moved = result["mlc"]["pages"]["gc_program"].as_u64();
        // A block is emptied once it is full: of the 256 pages some stay in the one that is open.
        assert!(moved.is_some_and(|pages| pages >= 64), "{result:#}, after {rested:?}");
    }
}
