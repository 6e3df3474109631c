//! `tandem serve` and clients of our own: the protocol, power cuts under a truth, files, and clients that mean harm.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::nbd::checked;
use crate::nbd::client::{
    Client, DO_NOT_FRAGMENT, FUA, NO_HOLE, READ, Refused, Server, TRIM, WRITE, WRITE_ZEROES, greet,
    named, option, option_reply, read_bytes, request,
};
use crate::nbd::truth::{BLOCK, Truth};

const TINY: [&str; 2] = ["--device", "tiny"];

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn errno(outcome: Result<impl Sized, Refused>) -> u32 {
    match outcome.err() {
        Some(Refused::Errno(errno)) => errno,
        Some(Refused::Broken) => panic!("the connection broke"),
        None => 0,
    }
}

fn is_closed(socket: &mut impl Read) -> bool {
    let mut rest = Vec::new();
    // A reset is an end like any other.
    socket.read_to_end(&mut rest).is_ok() || rest.is_empty()
}

#[test]
fn a_client_haggles_and_gets_the_export() {
    let folder = folder();
    let server = Server::start(folder.path(), &TINY);
    let mut socket = server.raw();
    greet(&mut socket).unwrap();
    let mut ask = |number, data: &[u8]| {
        option(&mut socket, number, data).unwrap();
        let mut replies = Vec::new();
        loop {
            let (kind, data) = option_reply(&mut socket).unwrap();
            replies.push((kind, data));
            if kind != 2 && kind != 3 {
                return replies;
            }
        }
    };
    let (list, structured, tls) = (ask(3, &[]), ask(8, &[]), ask(5, &[]));
    let names = list.iter().filter(|(kind, _)| *kind == 2).map(|(_, name)| name[4..].to_vec());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["", "short", "medium", "long", "extreme"].map(Vec::from)
    );
    assert_eq!(structured, [(1, vec![])]);
    assert_eq!(tls[0].0, 0x8000_0001, "unsupported");
    assert_eq!(ask(6, &named(b"other"))[0].0, 0x8000_0006, "unknown");
    for wrong in [&b"\0\0\0\xFF"[..], b"", b"\0\0\0\0\0\x05\0"] {
        assert_eq!(ask(6, wrong)[0].0, 0x8000_0003, "invalid");
    }
    let info = ask(7, &named(b""));
    let (size, blocks) = (&info[0].1, &info[1].1);
    assert_eq!(size.len(), 12, "kind, size, flags");
    assert_eq!(blocks[..6], [0, 3, 0, 0, 0, 1], "any byte");
    assert_eq!(info[2], (1, vec![]));
    // Structured replies: a read of two MiB would come in pieces; this disk is smaller, so one piece comes.
    socket.write_all(&request(0, READ, 0, 512)).unwrap();
    let reply = read_bytes(&mut socket, 20 + 8 + 512).unwrap();
    assert_eq!(reply[..8], [0x66, 0x8E, 0x33, 0xEF, 0, 1, 0, 1], "the last chunk, of data");
    socket.write_all(&request(0, READ, 1 << 40, 512)).unwrap();
    let reply = read_bytes(&mut socket, 20 + 6).unwrap();
    assert_eq!(reply[4..8], [0, 1, 0x80, 1], "the last chunk, of an error");
    assert_eq!(reply[20..24], [0, 0, 0, 22]);
}

#[test]
fn the_old_way_to_an_export_works_too() {
    let folder = folder();
    let server = Server::start(folder.path(), &TINY);
    let bytes = server.client().bytes;
    let mut socket = server.raw();
    greet(&mut socket).unwrap();
    option(&mut socket, 1, b"").unwrap();
    let answer = read_bytes(&mut socket, 10).unwrap();
    assert_eq!(answer[..8], bytes.to_be_bytes());
    let mut client = Client { socket, bytes };
    assert_eq!(client.read(0, 4).unwrap(), [0; 4]);
}

#[test]
fn bytes_are_as_they_were_written_whatever_the_size() {
    let folder = folder();
    let server = Server::start(folder.path(), &["--capacity", "64MiB"]);
    let mut client = server.client();
    let mut data = vec![0; 5 << 20];
    fastrand::Rng::with_seed(3).fill(&mut data);
    client.write(0, 1_000_001, &data).unwrap();
    let expect = |client: &mut Client, offset: u64, expected: &[u8]| {
        assert!(client.read(offset, expected.len() as u32).unwrap() == expected, "{offset}");
    };
    expect(&mut client, 1_000_001, &data);
    let whole = client.ask(DO_NOT_FRAGMENT, READ, 0, 1 << 21);
    assert_eq!(errno(whole), 75, "too long for one piece");
    assert_eq!(errno(client.ask(0, READ, 0, 33 << 20)), 75);
    for flags in [FUA, NO_HOLE] {
        client.write(FUA, 1_000_001, &data).unwrap();
        client.ask(flags, WRITE_ZEROES, 1_000_101, 3_000_000).unwrap();
        expect(&mut client, 1_000_001, &data[..100]);
        expect(&mut client, 1_000_101, &vec![0; 3_000_000]);
        expect(&mut client, 4_000_101, &data[3_000_100..]);
    }
    client.ask(0, TRIM, 4 << 20, 1 << 20).unwrap();
    expect(&mut client, 4 << 20, &vec![0; 1 << 20]);
    client.flush().unwrap();
    // Another connection sees it.
    expect(&mut server.client(), 1_000_001, &data[..100]);
    assert!(server.stop().success());
}

#[test]
fn nobody_reaches_bytes_beyond_the_export() {
    let folder = folder();
    let server = Server::start(folder.path(), &TINY);
    let mut client = server.client();
    let end = client.bytes;
    for (offset, length) in [(end, 1), (end - 1, 2), (u64::MAX, 1), (u64::MAX - 511, 512)] {
        assert_eq!(errno(client.read(offset, length)), 22);
        assert_eq!(errno(client.write(0, offset, &vec![1; length as usize])), 28);
        assert_eq!(errno(client.ask(0, TRIM, offset, length)), 22);
        assert_eq!(errno(client.ask(0, WRITE_ZEROES, offset, length)), 28);
    }
    assert_eq!(errno(client.ask(0, TRIM, 0, u32::MAX)), 22);
    assert_eq!(errno(client.ask(0, 99, 0, u32::MAX)), 22, "an unknown command");
    assert_eq!(errno(client.ask(1 << 12, READ, 0, 1)), 22, "an unknown flag");
    assert_eq!(client.read(end - 1, 1).unwrap(), [0]);
}

#[test]
fn a_client_that_means_harm_harms_itself_alone() {
    let folder = folder();
    let server = Server::start(folder.path(), &["--capacity", "64MiB"]);
    let mut good = server.client();
    good.write(0, 0, &[7; 4096]).unwrap();
    let mut held = Vec::new();
    // Half a header, half a greeting, an option that never ends: nothing happens, and nobody is waited for.
    for bytes in [&request(0, READ, 0, 512)[..20], &request(0, WRITE, 0, 1 << 20)] {
        let mut client = server.client();
        client.socket.write_all(bytes).unwrap();
        held.push(client.socket);
    }
    held.push(server.raw());
    // What cannot be understood ends the connection.
    for bytes in [vec![0; 28], request(0, WRITE, 0, u32::MAX)] {
        let mut client = server.client();
        client.socket.write_all(&bytes).unwrap();
        assert!(is_closed(&mut client.socket));
    }
    for bytes in [
        &b"\xFF\xFF\xFF\xFF"[..],
        b"\0\0\0\x03IHAVEOPT\0\0\0\x03\xFF\xFF\xFF\xFF",
        b"\0\0\0\x03GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut socket = server.raw();
        socket.write_all(bytes).unwrap();
        assert!(is_closed(&mut socket));
    }
    // One that asks for ever more and never reads.
    let mut greedy = server.client().socket;
    greedy.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let asked = request(0, READ, 0, 32 << 20).repeat(1_000);
    let taken = (0..1_000).take_while(|_| greedy.write_all(&asked).is_ok()).count();
    assert!(taken < 1_000, "what is asked for is held up before memory is full");
    held.push(greedy);
    let start = Instant::now();
    assert_eq!(good.read(0, 4096).unwrap(), [7; 4096]);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn thousands_of_connections_are_closed_and_the_first_go_on() {
    let folder = folder();
    let server = Server::start(folder.path(), &TINY);
    let mut good = server.client();
    let mut held = Vec::new();
    let mut closed = 0;
    for _ in 0..3_000 {
        let mut socket = server.raw();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut greeting = [0; 18];
        match socket.read_exact(&mut greeting) {
            Ok(()) => held.push(socket),
            Err(_) => closed += 1,
        }
    }
    assert_eq!(held.len(), sim_cli::commands::serve::CONNECTIONS_MOST - 1);
    assert_eq!(closed, 3_000 - held.len());
    good.write(0, 0, &[1; 512]).unwrap();
    drop(held);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if Client::new(server.raw()).is_ok() {
            return;
        }
    }
    panic!("there is no room for new clients although the old ones are gone");
}

/// Two clients on one half each, until so many requests were answered; connections that break are made again.
fn work_under_cuts(server: &Server, requests: u32, seed: u64) -> Vec<Truth> {
    let blocks = server.next_client().bytes / BLOCK;
    let halves = [0..blocks / 2, blocks / 2..blocks];
    let work = move |mut truth: Truth| {
        let mut client = server.next_client();
        let mut left = requests;
        while left > 0 {
            match truth.step(&mut client) {
                Ok(()) => left -= 1,
                Err(Refused::Errno(errno)) => panic!("errno {errno}"),
                Err(Refused::Broken) => client = compared_again(server, &mut truth),
            }
        }
        truth
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (seed..)
            .zip(halves)
            .map(|(seed, half)| scope.spawn(move || work(Truth::new(half, seed))))
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

/// Comes back after a cut and compares everything, however often power fails meanwhile.
fn compared_again(server: &Server, truth: &mut Truth) -> Client {
    loop {
        let mut client = server.next_client();
        match truth.compare_all(&mut client) {
            Ok(()) => return client,
            Err(Refused::Errno(errno)) => panic!("errno {errno}"),
            Err(Refused::Broken) => {}
        }
    }
}

/// Works on a disk whose power fails, and has all of it compared in the end.
fn served_with_cuts(flags: &[&str], seed: u64) -> u32 {
    let folder = folder();
    let server = Server::start(folder.path(), flags);
    for mut truth in work_under_cuts(&server, 1_500, seed) {
        compared_again(&server, &mut truth);
    }
    assert!(server.stop().success());
    let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
    let line = told.lines().find(|line| line.ends_with(" power cuts")).unwrap_or(&told);
    let cuts = line.trim_end_matches(" power cuts").rsplit(' ').next().unwrap().replace(',', "");
    cuts.parse().unwrap()
}

#[test]
fn what_was_answered_survives_power_cuts_in_any_operation() {
    for (flags, seed) in [
        ("--device tiny --cut-every 150,1", 11),
        ("--device tiny-tlc --cut-every 90,3", 12),
        ("--device tiny-mlc --system conventional --cut-every 90,4", 13),
        ("--device tiny --system paged --cut-every 90,5", 15),
    ] {
        let cuts = served_with_cuts(&flags.split(' ').collect::<Vec<_>>(), seed);
        assert!(cuts >= 10, "{flags}: {cuts} cuts");
    }
    let by_time = ["--device", "tiny", "--cut-every", "20ms,5", "--parallel"];
    assert!(served_with_cuts(&by_time, 14) > 0);
}

#[test]
fn a_signal_cuts_the_power() {
    let folder = folder();
    let server = Server::start(folder.path(), &TINY);
    let mut client = server.client();
    client.write(0, 0, &[5; 512]).unwrap();
    server.signal("USR1");
    assert!(is_closed(&mut client.socket), "power is gone while nothing is under way");
    let mut client = server.next_client();
    assert_eq!(client.read(0, 512).unwrap(), [5; 512]);
    assert!(server.stop().success());
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_was_answered() {
    for system in ["hybrid", "paged"] {
        killed_and_served_again(system);
    }
}

fn killed_and_served_again(system: &str) {
    let folder = folder();
    let image = folder.path().join("disk.img");
    let flags = ["--device", "tiny", "--image", image.to_str().unwrap(), "--cut-every", "400,6"];
    let mut server = Server::start(folder.path(), &[&flags[..], &["--system", system]].concat());
    let mut truths = work_under_cuts(&server, 400, 21);
    let second = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["serve", "--socket"])
        .arg(folder.path().join("other.sock"))
        .arg("--image")
        .arg(&image)
        .output()
        .unwrap();
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(second.status.code() == Some(2) && told.contains("another server has"), "{told}");
    for round in 0..3 {
        if round == 2 {
            assert!(server.stop().success());
        } else {
            server.kill();
        }
        // The image knows what it is of.
        server = Server::start(folder.path(), &["--image", image.to_str().unwrap()]);
        for truth in &mut truths {
            let mut client = compared_again(&server, truth);
            for _ in 0..50 {
                truth.step(&mut client).unwrap();
            }
        }
    }
    server.kill();
    let wrong = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["serve", "--socket", "x", "--system", "conventional", "--image"])
        .arg(&image)
        .output()
        .unwrap();
    let told = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        wrong.status.code() == Some(2) && told.contains(&format!("holds {system} on tiny")),
        "{told}"
    );
}

#[test]
fn what_clients_did_can_be_compared() {
    let folder = folder();
    let record = folder.path().join("load.csv.zst");
    let json = folder.path().join("result.json");
    let flags = ["--capacity", "256MiB", "--record", record.to_str().unwrap()];
    let server =
        Server::start(folder.path(), &[&flags[..], &["--json", json.to_str().unwrap()]].concat());
    let mut client = server.client();
    for at in 0..50 {
        client.write(0, at * 5000, &[at as u8; 4096]).unwrap();
        client.read(at * 3000, 2048).unwrap();
    }
    client.ask(0, TRIM, 0, 8192).unwrap();
    client.flush().unwrap();
    assert!(server.stop().success());
    let result: serde_json::Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let requests = &result["requests"];
    let counts = ["writes", "reads", "trims", "flushes"].map(|kind| requests[kind].as_u64());
    assert_eq!(counts, [50, 50, 1, 1].map(Some));
    assert!(result["response_us"]["total"].as_f64().unwrap() > 0.0);
    let compared = Command::new(env!("CARGO_BIN_EXE_tandem"))
        .args(["compare", "--capacity", "256MiB"])
        .arg(&record)
        .output()
        .unwrap();
    let told = String::from_utf8(compared.stdout).unwrap();
    assert!(compared.status.success() && told.contains("102 requests"), "{told}");
}

#[test]
fn an_exports_name_says_how_long_its_data_lives() {
    let folder = folder();
    let record = folder.path().join("load.csv");
    let flags = ["--capacity", "64MiB", "--record", record.to_str().unwrap()];
    let server = Server::start(folder.path(), &flags);
    for (name, at) in [("", 0), ("short", 1), ("Extreme", 2)] {
        let mut client = server.client_of(name);
        client.write(0, at * 4096, &[at as u8; 4096]).unwrap();
        client.read(0, 4096).unwrap();
    }
    assert!(server.stop().success());
    let told = std::fs::read_to_string(&record).unwrap();
    let mut lines = told.lines();
    assert_eq!(lines.next(), Some("time_us,op,offset,length,lifetime"));
    let ends: Vec<&str> = lines.map(|line| line.split_once(',').unwrap().1).collect();
    let read = "R,0,4096,";
    let (short, long) = ("W,4096,4096,short", "W,8192,4096,extreme");
    assert_eq!(ends, ["W,0,4096,", read, short, read, long, read]);
}

#[test]
fn a_paced_disk_is_as_slow_as_its_device() {
    let folder = folder();
    let server = Server::start(folder.path(), &["--capacity", "64MiB", "--pace"]);
    let mut client = server.client();
    let start = Instant::now();
    // 200 pages of MLC in one request: 800 us each.
    client.write(0, 0, &vec![1; 200 * 4096]).unwrap();
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(160), "{took:?}");
}

#[test]
fn a_script_waits_until_the_disk_is_served() {
    let folder = folder();
    let socket = folder.path().join("disk.sock");
    let mut wait = Command::new(env!("CARGO_BIN_EXE_tandem"));
    wait.args(["serve", "--wait", "--socket"]).arg(&socket);
    let mut waiting = wait.stderr(Stdio::piped()).spawn().unwrap();
    // It says so after three seconds, and goes on.
    let mut said = String::new();
    BufReader::new(waiting.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("no server listens there yet"), "{said:?}");
    assert!(waiting.try_wait().unwrap().is_none(), "nobody serves it yet");
    let server = Server::start(folder.path(), &TINY);
    assert!(waiting.wait().unwrap().success());
    assert!(wait.status().unwrap().success(), "it is served already");
    assert!(server.stop().success());
    let refused = wait.args(TINY).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn sockets_that_are_in_use_are_left_alone() {
    let folder = folder();
    let serve = |socket: &Path| {
        let output = Command::new(env!("CARGO_BIN_EXE_tandem"))
            .args(["serve", "--device", "tiny", "--socket"])
            .arg(socket)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let server = Server::start(folder.path(), &TINY);
    assert!(serve(&server.socket).contains("a server listens there"));
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(serve(&file).contains("no socket"));
    assert!(serve(&folder.path().join("none/socket")).contains("is no folder: make it"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    // A server that was killed leaves its socket; the next one takes its place.
    server.kill();
    drop(Server::start(folder.path(), &TINY));
}

/// What the fuzz target does, without a fuzzer: conversations that make sense, with some bytes that do not.
#[test]
fn whatever_is_sent_reaches_nothing_beyond_the_export() {
    let mut dice = fastrand::Rng::with_seed(17);
    let kinds = [READ, WRITE, 3, TRIM, WRITE_ZEROES, 2, 99];
    for round in 0..3_000 {
        let mut sent = 3_u32.to_be_bytes().to_vec();
        for (option, data) in [(8, Vec::new()), (7, named(b""))] {
            if option == 7 || dice.bool() {
                sent.extend_from_slice(b"IHAVEOPT");
                sent.extend_from_slice(&u32::to_be_bytes(option));
                sent.extend_from_slice(&(data.len() as u32).to_be_bytes());
                sent.extend_from_slice(&data);
            }
        }
        for _ in 0..dice.u32(1..12) {
            let kind = kinds[dice.usize(..kinds.len())];
            let length =
                if dice.bool() { dice.u32(0..3000) } else { dice.u32(..) >> dice.u32(0..32) };
            let offset = dice.u64(..) >> dice.u32(0..64);
            sent.extend(request(1 << dice.u32(0..8) & 0xF, kind, offset, length));
            if kind == WRITE {
                sent.resize(sent.len() + (length as usize).min(1 << 16), 0xAB);
            }
        }
        if dice.bool() {
            let at = dice.usize(..sent.len());
            sent[at] ^= 1 << dice.u32(0..8);
        }
        let parts = checked::answered(&sent, dice.usize(1..5_000));
        let whole = checked::answered(&sent, sent.len());
        assert!(parts == whole, "round {round}: pieces are answered otherwise");
    }
}
