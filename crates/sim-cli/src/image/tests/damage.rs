//! Damage of any bit, and files that end too early: found and told, or harmless.

use super::super::damage::Tail;
use super::super::disk::{self, Disk};
use super::super::slot::Copies;
use super::super::store::Store;
use super::noted::Noted;
use super::{about, bytes, device, opened, program, tear, used};
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
    matches!(found.copies, Copies::DamagedAt(_)) || found.replayed.tail != Tail::Clean
}

#[test]
fn one_flipped_bit_is_told_wherever_it_is() {
    let (data, length) = small();
    for at in 0..data.len() {
        let bit = at as u32 % 8;
        let chip =
            8192..disk::read(&Noted::like(&data, length)).unwrap().unwrap().header.chip.end();
        let is_gap = at as u64 >= chip.end && (at as u64) < chip.end.next_multiple_of(4096);
        assert!(is_told(&data, length, at, bit) || is_gap, "byte {at}, bit {bit}");
    }
    // Every bit of the journal, and of some zeros behind it.
    let journal = data.len() - 2 * 19 - 2 * (1024 + 32 + 19)..data.len() + 40;
    for at in journal {
        for bit in 0..8 {
            assert!(is_told(&data, length, at, bit), "byte {at}, bit {bit}");
        }
    }
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
        disk.close(&mut device).unwrap();
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

#[test]
fn the_journal_of_another_disk_is_taken_for_damage() {
    let files: Vec<(Vec<u8>, u64)> = (0..12).map(|_| small()).collect();
    let (chips, record) = (8192..12288, files[0].0.len() - 2 * 19 - 2 * (1024 + 32 + 19));
    for (one, (data, length)) in files.iter().enumerate() {
        for (other, (foreign, _)) in files.iter().enumerate() {
            let mut journal = data.clone();
            journal.truncate(record);
            journal.extend_from_slice(&foreign[record..]);
            let outcome = opened(Noted::like(&journal, *length));
            assert_eq!(outcome.is_ok(), one == other, "the journal of {other} in {one}");
            let mut chip = data.clone();
            chip[chips.clone()].copy_from_slice(&foreign[chips.clone()]);
            let outcome = opened(Noted::like(&chip, *length));
            assert_eq!(
                outcome.is_ok(),
                one == other || data[chips.clone()] == foreign[chips.clone()]
            );
            let mut header = data.clone();
            header[..4096].copy_from_slice(&foreign[..4096]);
            let outcome = opened(Noted::like(&header, *length));
            assert_eq!(outcome.is_ok(), one == other, "a header of {other} in {one}");
        }
    }
}

/// Records of an older state of the same disk.
#[test]
fn the_journal_of_an_earlier_time_is_taken_for_damage() {
    let (mut disk, mut device) = used();
    let old = disk.store.data();
    disk.close(&mut device).unwrap();
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
