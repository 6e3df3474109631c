//! Tests that the truth detects stores with wrong content, each wrong in its own way.

use std::convert::Infallible;

use ftl_iface::{
    BlockStore, Bytes, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};
use torture::report::ReadBack;
use torture::truth::{Compare, Truth, Unreadables};

const SECTOR: usize = 512;

/// A store in memory, which a test can change.
#[derive(Clone)]
struct Store {
    sectors: Vec<[u8; SECTOR]>,
    lost: Option<u32>,
}

impl BlockStore for Store {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        Bytes::new(SECTOR as u32)
    }

    fn capacity(&self) -> SectorCount {
        SectorCount::new(self.sectors.len() as u32)
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        for (at, sector) in data.chunks_mut(SECTOR).enumerate() {
            let number = first.get() + at as u32;
            if self.lost == Some(number) {
                return Err(StoreReadError::Lost(Sector::new(number)));
            }
            sector.copy_from_slice(&self.sectors[number as usize]);
        }
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        for (at, sector) in data.chunks(SECTOR).enumerate() {
            self.sectors[first.get() as usize + at].copy_from_slice(sector);
        }
        Ok(())
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        first.run(count).for_each(|sector| self.sectors[sector.get() as usize] = [0; SECTOR]);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn maintain(&mut self, _: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        Ok(Work::Done)
    }
}

/// Returns a store and its truth after two writes of sectors 10 to 13, and the store as it was between them.
fn written_twice(compare: Compare) -> (Store, Store, Truth) {
    let mut store = Store { sectors: vec![[0; SECTOR]; 40], lost: None };
    let mut truth = Truth::new(40, SECTOR, compare);
    let mut data = Vec::new();
    let mut between = store.clone();
    for _ in 0..2 {
        between = store.clone();
        truth.begin_write(10, 4, &mut data);
        store.write(Sector::new(10), &data).unwrap();
        truth.acknowledge(10, 4);
    }
    (store, between, truth)
}

fn found(mut truth: Truth, store: &mut Store) -> ReadBack {
    truth.compare_all(store).expect_err("the store lies").found
}

#[test]
fn a_store_that_keeps_its_promises_is_believed() {
    for compare in [Compare::Stamps, Compare::Bytes] {
        let (mut store, _, mut truth) = written_twice(compare);
        truth.compare_all(&mut store).expect("it does not lie");
        truth.begin_trim(11, 2);
        store.trim(Sector::new(11), SectorCount::new(2)).unwrap();
        truth.acknowledge(11, 2);
        truth.compare_all(&mut store).expect("it does not lie");
    }
}

#[test]
fn an_older_version_of_an_acknowledged_sector_is_found() {
    let (mut store, between, truth) = written_twice(Compare::Stamps);
    store.sectors[12] = between.sectors[12];
    assert_eq!(found(truth, &mut store), ReadBack::Written { request: 1, sector: 12 });
}

#[test]
fn zeros_garbage_and_another_sectors_content_are_found() {
    let (store, _, truth) = written_twice(Compare::Stamps);
    let with = |content: [u8; SECTOR]| {
        let mut store = store.clone();
        store.sectors[12] = content;
        found(truth.clone(), &mut store)
    };
    assert_eq!(with([0; SECTOR]), ReadBack::Zeros);
    assert_eq!(with([7; SECTOR]), ReadBack::Garbage);
    assert_eq!(with(store.sectors[13]), ReadBack::Written { request: 2, sector: 13 });
}

#[test]
fn a_mix_within_a_sector_is_found_where_every_byte_is_kept() {
    let (mut store, between, truth) = written_twice(Compare::Bytes);
    store.sectors[12][SECTOR - 1] = between.sectors[12][SECTOR - 1];
    assert_eq!(found(truth, &mut store), ReadBack::Mix);
}

#[test]
fn a_trimmed_sector_that_comes_back_is_found() {
    let (mut store, _, mut truth) = written_twice(Compare::Stamps);
    truth.begin_trim(10, 2);
    truth.acknowledge(10, 2);
    store.sectors[10] = [0; SECTOR];
    assert_eq!(found(truth, &mut store), ReadBack::Written { request: 2, sector: 11 });
}

#[test]
fn each_sector_of_a_cut_write_is_old_or_new_and_stays_what_it_was_found_to_be() {
    let (mut store, _, mut truth) = written_twice(Compare::Stamps);
    let before = store.clone();
    let mut data = Vec::new();
    truth.begin_write(10, 4, &mut data);
    // Power failed: half of the request is written.
    store.write(Sector::new(10), &data[..2 * SECTOR]).unwrap();
    truth.compare_all(&mut store).expect("old and new are both right");
    let mut back = store.clone();
    back.sectors[10] = before.sectors[10];
    assert_eq!(found(truth.clone(), &mut back), ReadBack::Written { request: 2, sector: 10 });
    store.write(Sector::new(10), &data).unwrap();
    assert_eq!(found(truth, &mut store), ReadBack::Written { request: 3, sector: 12 });
}

#[test]
fn requests_that_were_cut_one_after_the_other_leave_open_all_that_they_asked_for() {
    let (mut store, _, mut truth) = written_twice(Compare::Stamps);
    let old = store.clone();
    let mut data = Vec::new();
    let mut asked = Vec::new();
    for _ in 0..2 {
        truth.begin_write(10, 1, &mut data);
        asked.push(data.clone());
    }
    truth.begin_trim(10, 1);
    store.sectors[10].copy_from_slice(&asked[0]);
    let mut first = truth.clone();
    first.compare_all(&mut store).expect("the first of them may have been done");
    store.sectors[10] = [0; SECTOR];
    truth.clone().compare_all(&mut store).expect("and the last");
    // Once it was read, its content is fixed.
    assert_eq!(found(first.clone(), &mut store), ReadBack::Zeros);
    assert!(matches!(found(first, &mut old.clone()), ReadBack::Written { request: 2, .. }));
    // An acknowledged request leaves nothing open.
    truth.begin_write(10, 1, &mut data);
    truth.acknowledge(10, 1);
    assert!(matches!(found(truth, &mut old.clone()), ReadBack::Written { request: 2, .. }));
}

#[test]
fn a_sector_whose_map_page_is_gone_is_lost_or_older_until_it_is_written() {
    let (store, between, mut truth) = written_twice(Compare::Stamps);
    let older = || {
        let mut older = store.clone();
        older.sectors[12] = between.sectors[12];
        older
    };
    assert_eq!(found(truth.clone(), &mut older()), ReadBack::Written { request: 1, sector: 12 });
    truth.unmap(12..14);
    truth.clone().compare_all(&mut older()).expect("it may be older");
    let mut lost = store.clone();
    lost.lost = Some(12);
    truth.clone().compare_all(&mut lost).expect("it may be lost");
    let mut others = store.clone();
    others.sectors[12] = others.sectors[11];
    assert_eq!(found(truth.clone(), &mut others), ReadBack::Written { request: 2, sector: 11 });
    // Written again, it is neither.
    let (mut data, mut written) = (Vec::new(), store.clone());
    truth.begin_write(12, 1, &mut data);
    written.write(Sector::new(12), &data).unwrap();
    truth.acknowledge(12, 1);
    truth.clone().compare_all(&mut written).expect("it was written");
    assert_eq!(found(truth.clone(), &mut lost), ReadBack::Lost);
    assert_eq!(found(truth, &mut older()), ReadBack::Written { request: 1, sector: 12 });
}

#[test]
fn nothing_of_an_earlier_format_may_be_read() {
    let (mut store, _, truth) = written_twice(Compare::Stamps);
    let mut anew = truth.formatted_anew();
    let read = found(anew.clone(), &mut store);
    assert!(matches!(read, ReadBack::Written { .. }), "{read:?}");
    store.sectors.fill([0; SECTOR]);
    anew.compare_all(&mut store).expect("an empty device");
}

#[test]
fn a_sector_is_lost_only_where_a_fault_was_and_does_not_come_back_as_something_older() {
    let (mut store, between, mut truth) = written_twice(Compare::Stamps);
    store.lost = Some(12);
    assert_eq!(found(truth.clone(), &mut store), ReadBack::Lost);
    let stamp = nand_model::Stamp::read_from(&store.sectors[12]).expect("it was written");
    truth.mark_unreadable(Unreadables { contents: vec![stamp], ..Unreadables::default() });
    truth.compare_all(&mut store).expect("the fault explains it");
    store.lost = None;
    store.sectors[12] = between.sectors[12];
    assert_eq!(found(truth.clone(), &mut store), ReadBack::Written { request: 1, sector: 12 });
    // But it may come back if nothing told the content of its page.
    let mut untold = truth.clone();
    let open = vec![stamp];
    let unreadables =
        Unreadables { contents: vec![stamp], untold: vec![stamp], open, ..Unreadables::default() };
    untold.mark_unreadable(unreadables);
    let mut older = untold.clone();
    untold.compare_all(&mut store).expect("nothing told that there was anything younger");
    // Of two older copies, the newer one may be found only after a mount.
    store.sectors[12] = [0; SECTOR];
    older.compare_all(&mut store).expect("an older version may be found");
    store.sectors[12] = between.sectors[12];
    older.compare_all(&mut store).expect("another copy may be found later");
    store.sectors[12] = store.sectors[11];
    assert_eq!(found(untold, &mut store), ReadBack::Written { request: 2, sector: 11 });
    // Written again, it may not be lost any more.
    let mut data = Vec::new();
    truth.begin_write(12, 1, &mut data);
    store.write(Sector::new(12), &data).unwrap();
    truth.acknowledge(12, 1);
    truth.compare_all(&mut store).expect("it was written again");
    store.lost = Some(12);
    assert_eq!(found(truth, &mut store), ReadBack::Lost);
}

#[test]
fn a_sector_may_be_lost_after_it_was_written_again_only_if_a_dead_page_with_it_still_existed() {
    let (mut store, between, mut truth) = written_twice(Compare::Stamps);
    let old = nand_model::Stamp::read_from(&between.sectors[12]).expect("it was written");
    let dead = Unreadables { contents: vec![old], dead: vec![old], ..Unreadables::default() };
    let erased = Unreadables { contents: vec![old], ..Unreadables::default() };
    store.lost = Some(12);
    truth.mark_unreadable(erased.clone());
    assert_eq!(found(truth.clone(), &mut store), ReadBack::Lost);
    truth.mark_unreadable(dead);
    truth.compare_all(&mut store).expect("which of two copies is newer may be unknown");
    truth.mark_unreadable(erased);
    truth.compare_all(&mut store).expect("what was copied meanwhile stays lost");
    let mut data = Vec::new();
    truth.begin_write(12, 1, &mut data);
    truth.acknowledge(12, 1);
    assert_eq!(found(truth, &mut store), ReadBack::Lost);
}
