//! A crash at each call, of the program and of the machine; a call that fails; and a disk that is full at each.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::{self, ErrorKind};

use ftl_iface::Sector;
use nand_model::faults::FaultInjector;
use nand_model::power::Cut;
use nand_model::{Chip, Content};

use super::super::disk::{Closed, Disk};
use super::super::format::MARK_BYTES;
use super::super::journaled::Journaled;
use super::super::refusal::Refusal;
use super::super::store::FileStore;
use super::life::{Life, Promise, after, life, pages, promised};
use super::noted::{Call, Done, Failing, Lasts, Noted};
use super::{about, device, opened, program};
use crate::base::Failure;
use crate::engine::systems::{Blueprint, Chosen, Ended, Live, Owner};
use crate::input::device::{DeviceChoice, Setup, Stored};

#[test]
fn a_program_that_ends_at_any_call_loses_nothing_that_was_answered() {
    let life = life();
    let calls = life.disk.store.calls();
    assert!(calls.len() > 55, "{}", calls.len());
    for count in 0..=calls.len() {
        let promise = promised(&life.promises, count);
        holds(&life.promises, &calls[..count], count);
        // A write of many bytes may end within.
        if let Some(Call::Write(at, bytes)) = calls.get(count).filter(|call| is_record(call)) {
            for length in 0..bytes.len() {
                let part = Call::Write(*at, bytes[..length].to_vec());
                let found = pages(after(calls[..count].iter().chain([&part]))).unwrap();
                assert!(found.unwrap_or(0) >= promise.answered, "{count}, {length}: {found:?}");
            }
        }
    }
}

/// Records are few bytes, and not in the headers' place.
fn is_record(call: &Call) -> bool {
    matches!(call, Call::Write(at, bytes) if *at > 4096 && bytes.len() < 4096)
}

/// Nobody knows what a call did that failed. Whoever goes on all the same does no harm.
#[test]
fn a_call_that_fails_loses_nothing_that_was_answered() {
    let whole = life().disk.store.calls();
    let begun = Life::begin().disk.store.calls().len();
    for (after, call) in whole.iter().enumerate().skip(begun) {
        for failing in ways_to_fail(after) {
            let mut life = Life::begin();
            life.disk.store.failing.set(Some(failing));
            let ended = life.go_through();
            let is_told = ended.is_err() || is_harmless(call);
            let is_passed = ended.is_ok() || !is_harmless(call) || failing.lasts == Lasts::ForGood;
            assert!(is_told && is_passed, "{failing:?}: {ended:?}");
            let ended = life.disk.store.calls().len();
            life.try_everything();
            life.disk.store.failing.take();
            let calls = life.disk.store.calls();
            for count in after..=calls.len() {
                holds(&life.promises, &calls[..count], failing);
            }
            survives_the_machine(&life.promises, &calls[..ended], failing);
        }
    }
}

/// The next server may meet a call that fails, too.
#[test]
fn calls_that_fail_in_two_servers_lose_nothing_that_was_answered() {
    let whole = life().disk.store.calls().len();
    let begun = Life::begin().disk.store.calls().len();
    for first in (begun..whole).flat_map(ways_to_fail) {
        let lives = || {
            let mut life = Life::begin();
            life.disk.store.failing.set(Some(first));
            let _ = life.go_through();
            life.disk.store.failing.take();
            life
        };
        let mut life = lives();
        let before = life.disk.store.calls().len();
        life.start_again().unwrap();
        for second in (before..life.disk.store.calls().len()).flat_map(ways_to_fail) {
            let mut life = lives();
            life.disk.store.failing.set(Some(second));
            let _ = life.start_again();
            let calls = life.disk.store.calls();
            holds(&life.promises, &calls, (first, second));
            if second.done == Done::Half && second.lasts == Lasts::Once {
                survives_the_machine(&life.promises, &calls, (first, second));
            }
        }
    }
}

fn ways_to_fail(after: usize) -> impl Iterator<Item = Failing> {
    [Done::Nothing, Done::Half, Done::All]
        .into_iter()
        .flat_map(|done| [Lasts::Once, Lasts::ForGood].map(|lasts| (done, lasts)))
        .map(move |(done, lasts)| Failing { after, done, lasts })
}

/// Whether nobody needs to know that it failed: room is given back, or flushes are marked.
fn is_harmless(call: &Call) -> bool {
    match call {
        Call::GiveBack(_) | Call::Cut(_) => true,
        Call::Write(_, bytes) => bytes.len() == MARK_BYTES,
        _ => false,
    }
}

/// After these calls, all that was answered is there.
fn holds(promises: &[Promise], calls: &[Call], how: impl Debug) {
    let promise = promised(promises, calls.len());
    let found = pages(after(calls))
        .unwrap_or_else(|refusal| panic!("{how:?}, {}: {refusal}", calls.len()))
        .unwrap_or(0);
    let is_kept = (promise.answered..=promise.sent).contains(&found);
    assert!(is_kept, "{how:?}, {}: {found}, {promise:?}", calls.len());
}

#[test]
fn a_machine_that_crashes_at_any_call_loses_nothing_that_was_synced() {
    let life = life();
    let calls = life.disk.store.calls();
    let mut told = 0;
    for count in 0..=calls.len() {
        let promise = promised(&life.promises, count);
        let is_named = calls[..count].iter().any(|call| matches!(call, Call::SyncName));
        assert!(is_named || promise.answered == 0, "{count}: its name may be missing");
        told += survives_the_machine(&life.promises, &calls[..count], count);
    }
    println!("{told} states are refused");
    // Who made it may have been killed before its folder was synced.
    let named = calls.iter().filter(|call| matches!(call, Call::SyncName)).count();
    assert_eq!(named, 2, "when it is made, and when it is served again");
}

/// After a crash of the machine, what was not synced is there, or not, in any order. What was synced is there. Of the
/// rest some may be missing before some that is there: that is told, and not passed over. Returns how often it is.
fn survives_the_machine(promises: &[Promise], calls: &[Call], how: impl Debug) -> usize {
    let promise = promised(promises, calls.len());
    let synced = calls.iter().rposition(|call| matches!(call, Call::Sync));
    let (sure, unsure) = calls.split_at(synced.map_or(0, |at| at + 1));
    let mut told = 0;
    for state in parts(unsure) {
        match pages(after(sure.iter().chain(state.iter().copied()))) {
            Ok(found) => {
                let found = found.unwrap_or(0);
                let is_kept = (promise.synced..=promise.sent).contains(&found);
                assert!(is_kept, "{how:?}: {found}, {promise:?}, {state:?}");
            }
            Err(refusal) => {
                let is_new = promise.synced == 0 && promise.answered == 0;
                let is_told = matches!(refusal, Refusal::Journal(_));
                let is_told = is_new || is_told && !unsure.is_empty();
                assert!(is_told, "{how:?}: {refusal}, {promise:?}, {state:?}");
                told += 1;
            }
        }
    }
    told
}

/// None of the calls, all, each alone, and all but each.
fn parts(calls: &[Call]) -> Vec<Vec<&Call>> {
    let mut parts = vec![Vec::new(), calls.iter().collect()];
    for at in 0..calls.len() {
        let but = calls.iter().enumerate().filter(|(one, _)| *one != at);
        parts.extend([vec![&calls[at]], but.map(|(_, call)| call).collect()]);
    }
    parts
}

#[test]
fn a_disk_that_is_full_at_any_byte_keeps_what_was_answered_and_can_be_read() {
    let mut ends = BTreeSet::new();
    for (room, rewritten_at) in (0..24).flat_map(|room| [(room, 2), (room, 9)]) {
        let mut device = device();
        let store = Noted::default();
        store.room.set(Some(room));
        let Ok(mut disk) = Disk::create(store, &about(), &mut device) else { continue };
        let mut answered = 0;
        for page in 0..4 {
            if page == rewritten_at && disk.rewrite(&mut device).is_err() {
                break;
            }
            program(&mut device, page, 10 + page as u8);
            if disk.commit(&mut device).is_err() {
                break;
            }
            answered = page + 1;
            if disk.sync(&mut device).is_err() {
                break;
            }
        }
        if answered < 4 {
            ends.insert(End::Full(answered));
        } else {
            ends.insert(match disk.close(&mut device) {
                Ok(Closed::Chip) => End::Chip,
                Ok(Closed::Journal(_)) => End::Journal,
                Err(_) => End::Failed,
            });
        }
        let store = Noted::like(&disk.store.data(), disk.store.length().unwrap());
        let found = pages(store.clone()).unwrap();
        assert!(found.is_some_and(|found| found >= answered), "{room}: {found:?}, {answered}");
        // One page is needed to serve it again, for the first record.
        store.room.set(Some(store.pages() + 1));
        let (mut disk, found) = opened(store).unwrap();
        let mut device = Journaled::of_file(found.device);
        disk.go_on(&mut device).unwrap();
    }
    let all = [End::Full(2), End::Full(3), End::Journal, End::Chip];
    assert!(all.iter().all(|end| ends.contains(end)), "{ends:?}");
}

/// How a life on a disk without much room ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// It was full after so many pages.
    Full(u16),
    Journal,
    Chip,
    Failed,
}

/// Writes a sector, if told of what, and reads it, as a server does: what is done is committed before it is answered.
struct User {
    disk: Disk<Noted>,
    byte: Option<u8>,
    found: Vec<u8>,
    /// The file and its length when the request was answered; the system stops after that.
    answered: io::Result<(Vec<u8>, u64)>,
}

impl User {
    const fn of(disk: Disk<Noted>, byte: Option<u8>) -> Self {
        Self { disk, byte, found: Vec::new(), answered: Ok((Vec::new(), 0)) }
    }
}

impl Owner for User {
    fn next_cut(&mut self) -> Cut {
        Cut::never()
    }

    fn live(&mut self, disk: &mut dyn Live) -> Result<Ended, Failure> {
        self.found.resize(disk.sector_bytes().as_usize(), 0);
        if let Some(byte) = self.byte {
            self.found.fill(byte);
            disk.write(Sector::new(0), &self.found).unwrap();
        }
        disk.read(Sector::new(0), &mut self.found).unwrap();
        let committed = self.disk.commit(disk.power().inner_mut());
        let store = &self.disk.store;
        self.answered = committed.map(|()| (store.data(), store.length().unwrap()));
        Ok(Ended::Stopped)
    }
}

fn hybrid() -> Blueprint {
    let setup = DeviceChoice::named("tiny").setup().unwrap();
    let setup = Setup { kept: Stored::Bytes, ..setup };
    Chosen::parse("hybrid").unwrap().blueprint(&setup).unwrap()
}

/// A mount programs pages. They need room that opening the file did not need.
#[test]
fn a_mount_without_room_loses_nothing_and_some_pages_of_room_are_enough() {
    let blueprint = hybrid();
    let chip = Chip::new(&blueprint.part, Content::Bytes).unwrap();
    let mut device = blueprint.format(Journaled::new(FaultInjector::new(chip, 1))).unwrap();
    let disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
    let mut user = User::of(disk, Some(7));
    blueprint.run(device, &mut user).unwrap();
    let (data, length) = user.answered.unwrap();
    let is_full = |room: usize| {
        let store = Noted::like(&data, length);
        store.room.set(Some(store.pages() + room));
        let (mut disk, found) = opened(store).unwrap();
        let mut device = Journaled::of_file(found.device);
        disk.go_on(&mut device).unwrap();
        let mut user = User::of(disk, None);
        blueprint.run(device, &mut user).unwrap();
        // As with `--read-only`: nothing is recorded.
        let (disk, found) = opened(user.disk.into_store()).unwrap();
        let mut reader = User::of(disk, None);
        blueprint.run(Journaled::of_file(found.device), &mut reader).unwrap();
        assert!(reader.found.iter().all(|byte| *byte == 7), "{room} pages of room");
        user.answered.is_err_and(|error| error.kind() == ErrorKind::StorageFull)
    };
    let enough = (0..16).find(|room| !is_full(*room));
    assert!(enough.is_some_and(|room| room > 0), "{enough:?} pages of room");
}
