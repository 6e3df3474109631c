//! A disk's file: by whatever name, damaged, removed, or only read. Nothing is lost or changed without a word.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::nbd::client::{Client, Refused, Server};

fn tandem(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tandem")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a server says that does not serve.
fn refused(image: &Path) -> String {
    let socket = image.with_file_name("refused.sock");
    let output = tandem(&["serve", "--socket", text(&socket), "--image", text(image)]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    told
}

/// What `tandem image` says, and whether all is well.
fn image(arguments: &[&str]) -> (String, bool) {
    let output = tandem(&[&["image"], arguments].concat());
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (told, output.status.success())
}

const NEW: [&str; 2] = ["--device", "tiny"];

fn serve(folder: &Path, image: &Path, flags: &[&str]) -> Server {
    Server::start(folder, &[&["--image", text(image)], flags].concat())
}

fn write(server: &Server, byte: u8) {
    let mut client = server.client();
    client.write(0, u64::from(byte) * 4096, &[byte; 4096]).unwrap();
    client.flush().unwrap();
}

fn holds(client: &mut Client, bytes: impl IntoIterator<Item = u8>) {
    for byte in bytes {
        let read = client.read(u64::from(byte) * 4096, 4096).unwrap();
        assert_eq!(read, [byte; 4096], "block {byte}");
    }
}

#[test]
fn a_disk_is_the_same_by_any_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let (file, moved) = (folder.path().join("disk.img"), folder.path().join("moved.img"));
    let links = ["soft.img", "hard.img"].map(|name| folder.path().join(name));
    let server = serve(folder.path(), &file, &NEW);
    std::os::unix::fs::symlink(&file, &links[0]).unwrap();
    fs::hard_link(&file, &links[1]).unwrap();
    write(&server, 1);
    for link in &links {
        assert!(refused(link).contains("another server has"));
    }
    server.kill();
    for (link, byte) in links.iter().zip(2..) {
        let server = serve(folder.path(), link, &[]);
        holds(&mut server.client(), 1..byte);
        write(&server, byte);
        assert!(refused(&file).contains("another server has"));
        if byte == 2 {
            server.kill();
        } else {
            assert!(server.stop().success());
        }
    }
    let server = serve(folder.path(), &file, &[]);
    holds(&mut server.client(), 1..4);
    // Another name while it is served.
    fs::rename(&file, &moved).unwrap();
    write(&server, 4);
    assert!(server.stop().success());
    let server = serve(folder.path(), &moved, &[]);
    holds(&mut server.client(), 1..5);
    write(&server, 5);
    server.kill();
    fs::rename(&moved, &file).unwrap();
    holds(&mut serve(folder.path(), &file, &[]).client(), 1..6);
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let images = names.filter(|name| name.to_str().unwrap().contains("img")).count();
    assert_eq!(images, 3, "no file is left beside the disk's");
}

#[test]
fn a_damaged_journal_is_refused_and_what_is_before_the_damage_can_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (file, saved) = (folder.path().join("disk.img"), folder.path().join("saved.img"));
    let server = serve(folder.path(), &file, &NEW);
    for byte in 1..20 {
        write(&server, byte);
    }
    server.kill();
    assert!(image(&["check", text(&file)]).1);
    let mut bytes = fs::read(&file).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let at = end - 30_000;
    bytes[at] ^= 0x10;
    fs::write(&file, &bytes).unwrap();
    let told = refused(&file);
    for part in
        ["record ", "at byte ", "good ones follow", "a client's flush covers it", "image recover"]
    {
        assert!(told.contains(part), "{told}");
    }
    let (checked, is_well) = image(&["check", text(&file)]);
    assert!(!is_well && checked.contains("good ones follow"), "{checked}");
    let (recovered, _) = image(&["recover", text(&file)]);
    assert!(recovered.contains("Given up: all from there on") && !saved.exists(), "{recovered}");
    let (recovered, is_done) = image(&["recover", text(&file), "--to", text(&saved)]);
    assert!(is_done && recovered.contains("holds it now"), "{recovered}");
    assert!(!image(&["recover", text(&file), "--to", text(&saved)]).1, "nothing is overwritten");
    assert!(fs::read(&file).unwrap() == bytes, "the damaged file is as it was");
    let server = serve(folder.path(), &saved, &[]);
    holds(&mut server.client(), 1..2);
    let lost = server.client().read(19 * 4096, 4096).unwrap();
    assert_eq!(lost, [0; 4096], "it was behind the damage");
}

#[test]
fn a_disk_that_is_only_read_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("disk.img");
    let server = serve(folder.path(), &file, &NEW);
    write(&server, 1);
    server.kill();
    let before = fs::read(&file).unwrap();
    let server = serve(folder.path(), &file, &["--read-only"]);
    let mut client = server.client();
    holds(&mut client, 1..2);
    assert!(matches!(client.write(0, 0, &[7; 512]), Err(Refused::Errno(1))));
    holds(&mut client, 1..2);
    assert!(server.stop().success());
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn a_new_disk_is_told_to_be_new_and_is_made_in_place_of_no_other_output() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("disk.img"), folder.path().join("link"));
    for flag in ["--record", "--json"] {
        let socket = folder.path().join("none.sock");
        let words = ["serve", "--socket", text(&socket), "--image", text(&file), flag, text(&file)];
        let output = tandem(&words);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!file.exists() && !socket.exists(), "{flag}");
    }
    let server = serve(folder.path(), &file, &NEW);
    write(&server, 1);
    // It is told before the first client is served.
    let told = fs::read_to_string(folder.path().join("told")).unwrap();
    assert!(told.contains("a new disk in") && told.contains("no other was there"), "{told}");
    assert!(server.stop().success());
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for flag in ["--record", "--json"] {
        let socket = folder.path().join("none.sock");
        let words = ["serve", "--socket", text(&socket), "--image", text(&file), flag, text(&link)];
        let output = tandem(&words);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("is the file of --image"), "{told}");
    }
    holds(&mut serve(folder.path(), &link, &[]).client(), 1..2);
}

#[test]
fn an_older_copy_is_the_disk_as_it_was_when_it_was_copied() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["disk.img", "killed.img", "ended.img"];
    let [file, killed, ended] = names.map(|name| folder.path().join(name));
    let server = serve(folder.path(), &file, &NEW);
    write(&server, 1);
    server.kill();
    fs::copy(&file, &killed).unwrap();
    let server = serve(folder.path(), &file, &[]);
    write(&server, 2);
    assert!(server.stop().success());
    fs::copy(&file, &ended).unwrap();
    let server = serve(folder.path(), &file, &[]);
    write(&server, 3);
    server.kill();
    for (copy, last) in [(&killed, 1), (&ended, 2), (&file, 3)] {
        let server = serve(folder.path(), copy, &[]);
        holds(&mut server.client(), 1..=last);
        let later = server.client().read(u64::from(last + 1) * 4096, 4096).unwrap();
        assert_eq!(later, [0; 4096], "it was written after the copy");
    }
}

/// The last byte of a file that is no zero.
fn last_data(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).unwrap()
}

#[test]
fn harmless_damage_is_told_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("disk.img");
    let server = serve(folder.path(), &file, &NEW);
    write(&server, 1);
    let mut client = server.client();
    client.write(0, 2 * 4096, &[2; 4096]).unwrap();
    server.kill();
    // Of the last record, which no flush covers, its last byte is not there.
    let whole = fs::read(&file).unwrap();
    let mut bytes = whole.clone();
    bytes[last_data(&whole)] = 0;
    for (at, note) in [(None, "incomplete"), (Some(7), "byte 0"), (Some(4100), "byte 4096")] {
        if let Some(at) = at {
            bytes.clone_from(&whole);
            bytes[at] ^= 1;
        }
        fs::write(&file, &bytes).unwrap();
        let (checked, is_well) = image(&["check", text(&file)]);
        assert_eq!(is_well, at.is_none(), "{checked}");
        let server = serve(folder.path(), &file, &[]);
        let notes = fs::read_to_string(folder.path().join("notes")).unwrap();
        assert!(notes.contains(note), "{note}: {notes}");
        holds(&mut server.client(), 1..2);
        server.kill();
        assert!(image(&["check", text(&file)]).1, "{note}: it is mended");
    }
}

#[test]
fn records_that_became_zeros_are_missed_if_a_flush_covers_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("disk.img");
    let server = serve(folder.path(), &file, &NEW);
    for byte in 1..4 {
        write(&server, byte);
    }
    server.kill();
    let length = fs::metadata(&file).unwrap().len();
    let end = last_data(&fs::read(&file).unwrap()) as u64;
    // It is cut off, and made as long as before.
    let cut = fs::OpenOptions::new().write(true).open(&file).unwrap();
    cut.set_len(end - 5_000).unwrap();
    cut.set_len(length).unwrap();
    let bytes = fs::read(&file).unwrap();
    let told = refused(&file);
    assert!(told.contains("a client's flush covers"), "{told}");
    assert!(fs::read(&file).unwrap() == bytes, "it is as it was");
    let saved = folder.path().join("saved.img");
    assert!(image(&["recover", text(&file), "--to", text(&saved)]).1);
    holds(&mut serve(folder.path(), &saved, &[]).client(), 1..2);
}

#[test]
fn of_many_servers_that_begin_one_disk_one_has_it() {
    for _ in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("disk.img");
        let start = |number: u32| {
            let socket = folder.path().join(format!("{number}.sock"));
            let flags = ["serve", "--socket", text(&socket), "--image", text(&file)];
            let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
            command.args(flags).args(NEW).stderr(Stdio::null()).stdout(Stdio::null());
            command.spawn().unwrap()
        };
        let mut servers: Vec<_> = (0..4).map(start).collect();
        let begun = Instant::now();
        while servers.iter_mut().filter_map(|server| server.try_wait().unwrap()).count() < 3 {
            assert!(begun.elapsed() < Duration::from_secs(60), "more than one server runs");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(50));
        servers.retain_mut(|server| server.try_wait().unwrap().is_none());
        assert!(file.exists(), "the others have not removed it");
        assert_eq!(servers.len(), 1, "one of them has it");
        assert!(refused(&file).contains("another server has"));
        servers[0].kill().unwrap();
        servers[0].wait().unwrap();
        assert!(image(&["check", text(&file)]).1);
    }
}

/// A program that runs cannot be written by anyone.
#[test]
#[cfg(target_os = "linux")]
fn what_can_only_be_read_is_told_with_the_way_to_serve_it() {
    let told = refused(&std::env::current_exe().unwrap());
    assert!(
        told.contains("cannot be opened for writing") && told.contains("--read-only"),
        "{told}"
    );
}

#[test]
fn what_is_no_disk_is_left_alone_and_a_removed_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostname");
    fs::write(&file, "a name\n").unwrap();
    assert!(refused(&file).contains("no disk of `tandem serve`"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "a name\n");
    assert!(refused(Path::new("/dev/null")).contains("no disk of"));
    let old = folder.path().join("old.img");
    fs::write(&old, "{\"tandem_disk\":1,\"generation\":5}\n").unwrap();
    assert!(refused(&old).contains("image recover"));
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 2, "nothing is left beside them");
    let file = folder.path().join("disk.img");
    let server = serve(folder.path(), &file, &NEW);
    fs::remove_file(&file).unwrap();
    write(&server, 1);
    assert_eq!(server.stop().code(), Some(2));
    let notes = fs::read_to_string(folder.path().join("notes")).unwrap();
    assert!(notes.contains("removed while it was served"), "{notes}");
}

#[test]
fn a_journal_of_version_1_without_its_file_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [disk, journal] = ["disk.img", "disk.img.journal"].map(|name| folder.path().join(name));
    let notes = || fs::read_to_string(folder.path().join("notes")).unwrap();
    fs::write(&journal, "TNDMJRNL").unwrap();
    let server = serve(folder.path(), &disk, &NEW);
    let told = notes();
    assert!(told.contains("disk.img.journal is there, and the file of version 1"), "{told}");
    write(&server, 1);
    assert!(server.stop().success());
    assert_eq!(fs::read(&journal).unwrap(), b"TNDMJRNL");
    // The new disk has nothing to do with it.
    let server = serve(folder.path(), &disk, &[]);
    assert!(!notes().contains("journal"), "{}", notes());
    holds(&mut server.client(), [1]);
}

/// A program with files of at most so many blocks of the shell's.
fn limited(blocks: u64) -> Command {
    let mut command = Command::new("sh");
    let limit = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.args(["-c", &limit, env!("CARGO_BIN_EXE_tandem")]);
    command
}

/// The shell may allow no longer file. That is told as a full disk is, and ends no server by a signal.
#[test]
fn a_file_that_the_shell_allows_no_longer_is_told_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, socket) = (folder.path().join("disk.img"), folder.path().join("limited.sock"));
    let server = serve(folder.path(), &disk, &NEW);
    write(&server, 1);
    assert!(server.stop().success());
    let hint = "--read-only serves it without any room";
    let words = ["serve", "--socket", text(&socket), "--image", text(&disk)];
    let output = limited(16).args(words).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("disk.img cannot be written: File too large"), "{told}");
    assert!(told.contains(hint), "{told}");
    let server = serve(folder.path(), &disk, &[]);
    holds(&mut server.client(), [1]);
    server.kill();
    // The record of a start finds room, and what is programmed after it does not.
    let blocks = last_data(&fs::read(&disk).unwrap()) as u64 / 512 + 2;
    let mut server = Server::start_by(limited(blocks), folder.path(), &["--image", text(&disk)]);
    assert!(server.client().write(0, 2 * 4096, &[2; 4096]).is_err());
    let start = Instant::now();
    while server.is_running() {
        assert!(start.elapsed() < Duration::from_secs(60), "it serves without room");
        std::thread::sleep(Duration::from_millis(10));
    }
    let notes = fs::read_to_string(folder.path().join("notes")).unwrap();
    assert!(notes.contains("File too large") && notes.contains(hint), "{notes}");
    let flags = ["--image", text(&disk), "--read-only"];
    let server = Server::start_by(limited(blocks), folder.path(), &flags);
    holds(&mut server.client(), [1]);
}
