//! Servers that are killed again and again, while power fails on their disks: nothing that was answered is lost.
//!
//! A thousand kills, in ten shards: `./ci kills`; one of them:
//! `TANDEM_KILLS=1000 TANDEM_SHARD=3/10 cargo test -p sim-cli --test tandem kills`.

use std::time::{Duration, Instant};

use crate::nbd::client::{Client, Refused, Server};
use crate::nbd::truth::{BLOCK, Truth};

/// Kills in all, where nothing else is asked for.
const KILLS: u32 = 60;

const KINDS: [[&str; 3]; 6] = [
    ["hybrid", "tiny", "60"],
    ["hybrid", "tiny", "15ms"],
    ["paged", "tiny", "60"],
    ["paged", "tiny", "15ms"],
    ["conventional", "tiny-mlc", "60"],
    ["conventional", "tiny-mlc", "15ms"],
];

/// The shard to run and the number of shards.
fn shard() -> (u32, u32) {
    let Ok(text) = std::env::var("TANDEM_SHARD") else { return (1, 1) };
    let (shard, of) = text.split_once('/').expect("a shard is written 3/10");
    (shard.parse().unwrap(), of.parse().unwrap())
}

#[test]
fn kills_lose_nothing_that_was_answered_while_power_fails() {
    let kills: u32 = std::env::var("TANDEM_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let (shard, of) = shard();
    let each = kills.div_ceil(of * KINDS.len() as u32);
    let start = Instant::now();
    for (kind, seed) in KINDS.iter().zip(u64::from(shard) * 100..) {
        let cuts = killed(kind, each, seed);
        println!("{kind:?}, seed {seed}: {each} kills, {cuts} cuts, {:?}", start.elapsed());
    }
}

/// Works on a disk whose server is killed that often. Returns how often power failed.
fn killed([system, device, every]: &[&str; 3], kills: u32, seed: u64) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("disk.img");
    let mut dice = fastrand::Rng::with_seed(seed);
    let (mut truth, mut cuts) = (None, 0);
    for _ in 0..kills {
        let every = format!("{every},{}", dice.u32(..));
        let image = image.to_str().unwrap();
        let flags =
            ["--system", system, "--device", device, "--image", image, "--cut-every", &every];
        let mut server = Server::start(folder.path(), &flags);
        let blocks = server.next_client().bytes / BLOCK;
        let truth = truth.get_or_insert_with(|| Truth::new(0..blocks, seed));
        let lives = Duration::from_millis(dice.u64(20..150));
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| work(&server, truth));
            std::thread::sleep(lives);
            server.kill_under_way();
            cuts += worker.join().unwrap();
        });
        while server.is_running() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let server = Server::start(folder.path(), &["--image", image.to_str().unwrap()]);
    truth.unwrap().compare_all(&mut server.client()).unwrap();
    cuts
}

/// Compares, then writes, until the server is gone. Returns how often power failed.
fn work(server: &Server, truth: &mut Truth) -> u32 {
    let mut cuts = 0;
    while let Some(mut client) = client(server) {
        let outcome = truth.compare_all(&mut client);
        let outcome = outcome.and_then(|()| {
            loop {
                truth.step(&mut client)?;
            }
        });
        match outcome {
            Err(Refused::Errno(errno)) => panic!("errno {errno}"),
            Ok(()) | Err(Refused::Broken) => cuts += 1,
        }
    }
    cuts
}

/// A client, unless the server is gone.
fn client(server: &Server) -> Option<Client> {
    for _ in 0..200 {
        if let Ok(socket) = std::os::unix::net::UnixStream::connect(&server.socket) {
            match Client::new(socket) {
                Ok(client) => return Some(client),
                // Power failed, or it was killed.
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        } else {
            return None;
        }
    }
    None
}
