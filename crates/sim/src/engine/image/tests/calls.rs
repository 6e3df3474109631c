//! A crash at each call, of the program and of the machine; a call that fails; and a disk that is full at each.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

use ftl_iface::Sector;
use nand_model::faults::FaultInjector;
use nand_model::power::Cut;
use nand_model::{Chip, Content};

use super::super::disk::Disk;
use super::super::journaled::Journaled;
use super::super::refusal::Refusal;
use super::super::store::FileStore;
use super::noted::{Call, Done, Failing, Lasts, Noted};
use super::{about, bytes, device, opened, program};
use crate::base::Failure;
use crate::engine::systems::{Blueprint, Chosen, Ended, Live, Owner};
use crate::input::device::{DeviceChoice, Setup, Stored};

/// What a crash after some calls may leave: pages that a client was answered about, and those that were sent.
#[derive(Clone, Copy, Debug, Default)]
struct Promise {
    calls: usize,
    sent: u16,
    answered: u16,
    synced: u16,
}

/// Programs pages one by one on a disk, and notes what is promised after which call.
struct Life {
    disk: Disk<Noted>,
    device: Journaled,
    promises: Vec<Promise>,
    now: Promise,
}

impl Life {
    fn note(&mut self) {
        self.now.calls = self.disk.store.calls().len();
        self.promises.push(self.now);
    }

    fn page(&mut self) -> io::Result<()> {
        program(&mut self.device, self.now.sent, 10 + self.now.sent as u8);
        self.now.sent += 1;
        self.note();
        self.disk.commit(&mut self.device)?;
        self.now.answered = self.now.sent;
        self.note();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync(&mut self.device)?;
        self.now.synced = self.now.answered;
        self.note();
        Ok(())
    }

    fn begin() -> Self {
        let mut device = device();
        let disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
        let mut life = Self { disk, device, promises: Vec::new(), now: Promise::default() };
        life.note();
        life
    }

    /// To its end, and on.
    fn go_through(&mut self) -> io::Result<()> {
        self.page()?;
        self.sync()?;
        self.page()?;
        self.disk.close(&mut self.device)?;
        self.now.synced = 2;
        self.note();
        let calls = self.disk.store.calls();
        let (disk, found) = opened(self.disk.store.clone()).unwrap();
        assert_eq!(calls.len(), disk.store.calls().len(), "opening changes nothing");
        (self.disk, self.device) = (disk, Journaled::of_file(found.device));
        self.disk.go_on(&mut self.device)?;
        self.note();
        self.page()?;
        self.sync()?;
        // As when the journal is used up.
        self.disk.rewrite(&mut self.device)?;
        self.note();
        self.page()?;
        self.sync()
    }
}

fn life() -> Life {
    let mut life = Life::begin();
    life.go_through().unwrap();
    life
}

/// What is promised when so many calls were made: what was answered before, and what was sent by then.
fn promised(promises: &[Promise], calls: usize) -> Promise {
    let before = promises.iter().rfind(|promise| promise.calls <= calls);
    let before = before.copied().unwrap_or_default();
    let after = promises.iter().find(|promise| promise.calls >= calls).copied();
    Promise { sent: after.unwrap_or(before).sent.max(before.sent), ..before }
}

/// The pages that a file holds; `None`: it holds no disk yet.
fn pages(store: Noted) -> Result<Option<u16>, Refusal> {
    let Ok((_, mut found)) = Disk::open(store)? else { return Ok(None) };
    let there = bytes(&mut found.device);
    let count = there.iter().take_while(|byte| **byte != Some(0xFF)).count();
    for (page, byte) in there.iter().enumerate() {
        let right = if page < count { 10 + page as u8 } else { 0xFF };
        assert_eq!(*byte, Some(right), "page {page}");
    }
    Ok(Some(count as u16))
}

fn after<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Noted {
    let memory = Noted::default();
    calls.into_iter().for_each(|call| memory.apply(call));
    memory
}

#[test]
fn a_program_that_ends_at_any_call_loses_nothing_that_was_answered() {
    let life = life();
    let calls = life.disk.store.calls();
    assert!(calls.len() > 55, "{}", calls.len());
    for count in 0..=calls.len() {
        let promise = promised(&life.promises, count);
        let found = pages(after(&calls[..count])).unwrap();
        let enough = found.unwrap_or(0) >= promise.answered;
        assert!(enough && found.unwrap_or(0) <= promise.sent, "{count}: {found:?}, {promise:?}");
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
    let calls = Life::begin().disk.store.calls().len()..life().disk.store.calls().len();
    let mut failed = 0;
    for after in calls {
        for done in [Done::Nothing, Done::Half, Done::All] {
            for lasts in [Lasts::Once, Lasts::ForGood] {
                let failing = Failing { after, done, lasts };
                let mut life = Life::begin();
                life.disk.store.failing.set(Some(failing));
                failed += usize::from(life.go_through().is_err());
                let again = life.disk.rewrite(&mut life.device);
                let _ = again.and_then(|()| life.disk.close(&mut life.device));
                holds_what_was_answered(&life, failing);
            }
        }
    }
    assert!(failed > 200, "{failed} lives ended early");
}

/// From the call that failed on, whenever the program ended.
fn holds_what_was_answered(life: &Life, failing: Failing) {
    let calls = life.disk.store.calls();
    for count in failing.after..=calls.len() {
        let promise = promised(&life.promises, count);
        let found = pages(after(&calls[..count]))
            .unwrap_or_else(|refusal| panic!("{failing:?}, {count}: {refusal}"))
            .unwrap_or(0);
        let is_kept = (promise.answered..=promise.sent).contains(&found);
        assert!(is_kept, "{failing:?}, {count}: {found}, {promise:?}");
    }
}

/// After a crash of the machine, what was not synced is there, or not, in any order. What was synced is there. Of the
/// rest some may be missing before some that is there: that is told, and not passed over.
#[test]
fn a_machine_that_crashes_at_any_call_loses_nothing_that_was_synced() {
    let life = life();
    let calls = life.disk.store.calls();
    let mut told = 0;
    for count in 0..=calls.len() {
        let promise = promised(&life.promises, count);
        let is_named = calls[..count].iter().any(|call| matches!(call, Call::SyncName));
        assert!(is_named || promise.answered == 0, "{count}: its name may be missing");
        let synced = calls[..count].iter().rposition(|call| matches!(call, Call::Sync));
        let (sure, unsure) = calls[..count].split_at(synced.map_or(0, |at| at + 1));
        let mut states = vec![Vec::new(), unsure.iter().collect()];
        for at in 0..unsure.len() {
            states.push(vec![&unsure[at]]);
            states.push(
                unsure
                    .iter()
                    .enumerate()
                    .filter(|(one, _)| *one != at)
                    .map(|(_, call)| call)
                    .collect(),
            );
        }
        for state in states {
            let store = after(sure.iter().chain(state.iter().copied()));
            match pages(store) {
                Ok(found) => {
                    let found = found.unwrap_or(0);
                    assert!(
                        (promise.synced..=promise.sent).contains(&found),
                        "{count}: {found}, {promise:?}"
                    );
                }
                Err(refusal) => {
                    let is_new = promise.synced == 0 && promise.answered == 0;
                    let is_told = matches!(refusal, Refusal::Journal(_) | Refusal::CutShort { .. });
                    assert!(
                        is_new || is_told && !unsure.is_empty(),
                        "{count}: {refusal}, {state:?}"
                    );
                    told += 1;
                }
            }
        }
    }
    println!("{told} states are refused");
    // Who made it may have been killed before its folder was synced.
    let named = calls.iter().filter(|call| matches!(call, Call::SyncName)).count();
    assert_eq!(named, 2, "when it is made, and when it is served again");
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
        ends.insert(answered);
        if answered == 4 {
            // The chip may find no room: then the journal stays.
            let _ = disk.close(&mut device);
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
    assert!(
        ends.contains(&2) && ends.len() > 3,
        "it was full at records and at the chip: {ends:?}"
    );
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
