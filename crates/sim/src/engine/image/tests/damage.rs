//! Damage of any bit, and files that end too early: found and told, or harmless.

use super::super::damage::Tail;
use super::super::disk::{self, Disk};
use super::super::mark::Mark;
use super::super::slot::Copies;
use super::super::store::FileStore;
use super::noted::Noted;
use super::{about, bytes, close, device, opened, program, tear, used};
use nand_model::power::PageFate;

/// A small disk with a journal of each kind of record but marks.
fn small() -> (Vec<u8>, u64) {
    let (mut disk, mut device) = used();
    tear(&mut device, 2, PageFate::Unstable { reads: 1 });
    super::first_byte(&mut device, 2);
    disk.sync(&mut device).unwrap();
    (disk.store.data(), disk.store.length().unwrap())
}

/// Opens a file with a changed byte. Whether that was told.
fn is_told(data: &[u8], length: u64, at: usize, bit: u32) -> bool {
    let mut changed = data.to_vec();
    changed.resize(changed.len().max(at + 1), 0);
    changed[at] ^= 1 << bit;
    let store = Noted::like(&changed, length);
    let Ok((disk, mut found)) = opened(store.clone()) else {
        assert!(store.calls().is_empty(), "it is left as it is");
        return true;
    };
    assert_eq!(bytes(&mut found.device)[..2], [Some(10), Some(11)], "byte {at}, bit {bit}");
    assert_eq!(found.replayed.operations, 3, "byte {at}, bit {bit}");
    drop(disk);
    matches!(found.copies, Copies::DamagedAt(_))
        || found.replayed.tail != Tail::Clean
        || found.replayed.mark == Mark::Damaged
}

#[test]
fn one_flipped_bit_is_told_wherever_it_is() {
    let (data, length) = small();
    let chip = disk::read(&Noted::like(&data, length)).unwrap().unwrap().header.chip;
    // Between the chip and the journal are bytes that nobody reads.
    let gap = chip.end() as usize..chip.end().next_multiple_of(4096) as usize;
    // And some zeros behind the journal.
    for at in (0..data.len() + 40).filter(|at| !gap.contains(at)) {
        for bit in 0..8 {
            assert!(is_told(&data, length, at, bit), "byte {at}, bit {bit}");
        }
    }
    assert!(!is_told(&data, length, gap.start, 0), "harmless");
}

#[test]
fn a_file_that_is_cut_short_is_told_at_any_length() {
    let (data, length) = small();
    let lengths = (1..data.len() as u64 + 10).chain([length / 2, length - 1]);
    for cut in lengths {
        let mut kept = data.clone();
        kept.truncate(cut as usize);
        assert!(opened(Noted::like(&kept, cut)).is_err(), "{cut} bytes");
    }
    let closed = {
        let mut device = device();
        let mut disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
        close(&mut disk, &mut device);
        disk.store
    };
    let (data, length) = (closed.data(), closed.length().unwrap());
    for cut in 1..length {
        let mut kept = data.clone();
        kept.truncate(cut as usize);
        assert!(opened(Noted::like(&kept, cut)).is_err(), "{cut} bytes");
    }
    assert!(opened(Noted::like(&data, length)).is_ok());
}

/// That is a fault of the machine's: it is neither told as damage, nor as a failure to write.
#[test]
fn a_part_that_the_system_cannot_read_is_told_as_that() {
    let (data, length) = small();
    let header = disk::read(&Noted::like(&data, length)).unwrap().unwrap().header;
    let records = header.records().at..data.len() as u64;
    let places = [0, 4096, header.chip.at, header.chip.end() - 1, header.journal.at];
    for at in places.into_iter().chain(records.step_by(97)) {
        let store = Noted::like(&data, length);
        store.unreadable.set(Some(at));
        let told = opened(store.clone()).unwrap_err().to_string();
        assert_eq!(told, "it cannot be read: a sector is worn out", "byte {at}");
        assert!(store.calls().is_empty(), "it is left as it is");
    }
}

#[test]
fn damage_before_good_records_says_where_and_what_follows() {
    let (mut disk, mut device) = used();
    program(&mut device, 2, 12);
    program(&mut device, 3, 13);
    disk.sync(&mut device).unwrap();
    let (mut data, length) = (disk.store.data(), disk.store.length().unwrap());
    let record = 1024 + 32 + 19;
    // The second of three programs.
    let start = data.len() - 19 - 2 * record;
    data[start + 500] ^= 4;
    let store = Noted::like(&data, length);
    let told = opened(store.clone()).unwrap_err().to_string();
    let place = format!("record 2 of its journal, at byte {start}, does not match its check");
    assert!(told.contains(&place), "{told}");
    assert!(told.contains("2 good ones follow, and a client's flush covers it"), "{told}");
    // What comes before it can be saved.
    let mut found = disk::read(&store).unwrap().unwrap();
    assert_eq!(bytes(&mut found.device), [Some(10), Some(11), Some(0xFF), Some(0xFF)]);
    assert!(matches!(found.replayed.tail, Tail::Damaged(_)));
}

/// The end of the file may become zeros, or be cut off and made as long as before.
#[test]
fn zeros_in_place_of_records_that_a_flush_covers_are_told() {
    let (mut disk, mut device) = used();
    program(&mut device, 2, 12);
    disk.sync(&mut device).unwrap();
    let flushed = disk.store.data().len();
    program(&mut device, 3, 13);
    disk.commit(&mut device).unwrap();
    let (data, length) = (disk.store.data(), disk.store.length().unwrap());
    let records = disk::read(&Noted::like(&data, length)).unwrap().unwrap().header.records();
    for end in records.at as usize..data.len() {
        let outcome = opened(Noted::like(&data[..end], length));
        match outcome {
            Ok((_, mut found)) => {
                assert!(end >= flushed, "{end}");
                assert_eq!(bytes(&mut found.device), [Some(10), Some(11), Some(12), Some(0xFF)]);
            }
            Err(refusal) => {
                assert!(end < flushed, "{end}: {refusal}");
                let told = refusal.to_string();
                let is_told = told.contains("is missing") || told.contains("flush covers it");
                assert!(is_told, "{end}: {told}");
            }
        }
    }
}

/// A disk that lived in its own way, and ended by a kill: its file, and what is in it.
fn lived(number: u8) -> (Vec<u8>, u64, Vec<Option<u8>>) {
    let mut device = device();
    for page in 0..u16::from(number % 3) {
        program(&mut device, page, 100 + number);
    }
    let mut disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
    for page in u16::from(number % 3)..u16::from((number % 3 + number % 2 + 1).min(3)) {
        program(&mut device, page, 150 + number);
    }
    if number >= 6 {
        tear(&mut device, 3, PageFate::Uncorrectable);
    }
    disk.sync(&mut device).unwrap();
    let there = bytes(&mut device);
    (disk.store.data(), disk.store.length().unwrap(), there)
}

/// The first header, both, the chip, and the journal of each disk in the file of each.
#[test]
fn parts_of_two_disks_in_one_file_are_never_taken_for_one() {
    let files: Vec<_> = (0..12).map(lived).collect();
    let journal = |(data, length, _): &(Vec<u8>, u64, _)| {
        disk::read(&Noted::like(data, *length)).unwrap().unwrap().header.journal.at as usize
    };
    for (one, (data, length, pages)) in files.iter().enumerate() {
        let journal = journal(&files[one]);
        for (other, (foreign, ..)) in files.iter().enumerate() {
            for part in [0..4096, 0..8192, 8192..journal, journal..usize::MAX] {
                let mut mixed = data.clone();
                let end = part.end.min(data.len().max(foreign.len()));
                mixed.resize(data.len().max(end), 0);
                let there = foreign.iter().copied().chain(std::iter::repeat(0));
                let taken = there.take(end).skip(part.start);
                mixed
                    .iter_mut()
                    .skip(part.start)
                    .zip(taken)
                    .for_each(|(byte, other)| *byte = other);
                let outcome = opened(Noted::like(&mixed, *length));
                if one == other {
                    assert_eq!(bytes(&mut outcome.unwrap().1.device), *pages);
                } else if mixed != *data {
                    assert!(outcome.is_err(), "{part:?} of {other} in {one}");
                }
            }
            let is_same = files[one].0 == files[other].0;
            assert_eq!(is_same, one == other, "the disks differ");
        }
    }
}

/// When two copies of a disk part, and what they do then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parted {
    Killed,
    Ended,
    /// Killed; each writes its chip again, at the same place.
    Rewritten,
}

/// Two copies of one disk that both live on, each in its own way: their files, and the length of both.
fn parted(how: Parted) -> ([Vec<u8>; 2], u64) {
    let (mut disk, mut device) = used();
    if how == Parted::Ended {
        close(&mut disk, &mut device);
    }
    let (copy, length) = (disk.store.data(), disk.store.length().unwrap());
    let lives = [100, 200].map(|byte| {
        let (mut disk, found) = opened(Noted::like(&copy, length)).unwrap();
        let mut device = super::Journaled::of_file(found.device);
        disk.go_on(&mut device).unwrap();
        program(&mut device, 2, byte);
        disk.sync(&mut device).unwrap();
        if how == Parted::Rewritten {
            disk.rewrite(&mut device).unwrap();
        }
        program(&mut device, 3, byte + 1);
        disk.sync(&mut device).unwrap();
        (disk.store.data(), disk.store.length().unwrap())
    });
    let [(one, length), (other, same)] = lives;
    assert_eq!(
        (one.len(), length),
        (other.len(), same),
        "any place in one is a place in the other"
    );
    ([one, other], length)
}

/// The beginning of one copy with the end of the other, parted at many bytes; each header, the chip and the journal.
#[test]
fn parts_of_two_copies_that_lived_on_are_never_taken_for_one() {
    for how in [Parted::Killed, Parted::Ended, Parted::Rewritten] {
        let (files, length) = parted(how);
        let header = disk::read(&Noted::like(&files[0], length)).unwrap().unwrap().header;
        let (journal, end) = (header.journal.at as usize, files[0].len());
        let chip = header.chip.at as usize..header.chip.end() as usize;
        // Wherever a record may end, and at some places besides.
        let data = &files[0];
        let cuts = (journal..end).filter(|at| data[at - 1] == 0x5A || at.is_multiple_of(61));
        let cuts = chip.clone().step_by(1021).chain(cuts).map(|at| at..end);
        let mut parts = vec![0..4096, 4096..8192, chip, journal..end];
        parts.extend(cuts);
        let mut refused = 0;
        for (one, other) in [(0, 1), (1, 0)] {
            for part in &parts {
                let mut mixed = files[one].clone();
                mixed[part.clone()].copy_from_slice(&files[other][part.clone()]);
                if !files.contains(&mixed) {
                    let outcome = opened(Noted::like(&mixed, length));
                    assert!(outcome.is_err(), "{how:?}: {part:?} of {other} in {one}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 40, "{how:?}: {refused} files were mixed");
    }
}

/// Records of an older state of the same disk.
#[test]
fn the_journal_of_an_earlier_time_is_taken_for_damage() {
    let (mut disk, mut device) = used();
    let old = disk.store.data();
    close(&mut disk, &mut device);
    let (mut disk, found) = opened(disk.store).unwrap();
    let mut device = super::Journaled::of_file(found.device);
    disk.go_on(&mut device).unwrap();
    let begun = disk.store.data();
    let start = begun.len() - 19;
    let mut mixed = begun.clone();
    mixed.truncate(start);
    mixed.extend_from_slice(&old[old.len() - (1024 + 32 + 19)..]);
    let length = disk.store.length().unwrap();
    assert!(opened(Noted::like(&begun, length)).is_ok());
    assert!(opened(Noted::like(&mixed, length)).is_err());
}

#[test]
fn a_file_of_another_version_is_refused_with_both_numbers() {
    let (mut data, length) = small();
    for slot in [0, 4096] {
        data[slot + 8] += 1;
        let check = crc32fast::hash(&data[slot..slot + 4092]);
        data[slot + 4092..slot + 4096].copy_from_slice(&check.to_le_bytes());
    }
    let told = opened(Noted::like(&data, length)).unwrap_err().to_string();
    let both = "it has version 5, and this program reads version 4: use the program that made it";
    assert_eq!(told, both);
}
