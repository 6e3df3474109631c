//! The index in cases worked out by hand.

use ftl_iface::{BlockCount, Sector, SectorCount};

use super::check::IndexFault;
use super::*;

/// An index with memory of its own.
pub(super) struct Owned {
    shape: IndexShape,
    low: Vec<u32>,
    high: Vec<u8>,
}

impl Owned {
    pub(super) fn new(shape: IndexShape) -> Self {
        // Memory with old content, and somewhat longer than needed.
        let (low, high) = (shape.low_words() + 40, shape.high_bytes() + 40);
        Self { shape, low: vec![!0; low], high: vec![!0; high] }
    }

    pub(super) fn index(&mut self) -> Index<'_> {
        Index::new(self.shape, &mut self.low, &mut self.high)
    }
}

pub(super) fn shape(
    entries: u32,
    sectors: u32,
    slots: u32,
    probes: u8,
    probing: Probing,
) -> IndexShape {
    let (sectors, blocks) = (SectorCount::new(sectors), BlockCount::new(LOG_BLOCKS));
    IndexShape::new(entries, sectors, LogSize { slots, blocks }, probes, probing).unwrap()
}

/// Blocks of the log in these tests.
pub(super) const LOG_BLOCKS: u32 = 8;

pub(super) fn window(head: u32, blocks: u32) -> Window {
    Window { head: LogSequence::new(head), blocks: BlockCount::new(blocks) }
}

fn sectors(first: u32, count: u32) -> (Sector, SectorCount) {
    (Sector::new(first), SectorCount::new(count))
}

#[test]
fn a_sector_is_found_where_it_was_put_and_nowhere_after_it_was_removed() {
    let mut memory = Owned::new(shape(100, 5000, 300, 8, Probing::Linear));
    let mut index = memory.index();
    assert_eq!(index.find(Sector::new(77)), None);
    assert!(index.place(Sector::new(77), LogSlot::new(299)));
    assert!(index.place(Sector::new(77 + 97), LogSlot::new(0)));
    assert_eq!(index.find(Sector::new(77)), Some(LogSlot::new(299)));
    assert_eq!(index.find(Sector::new(77 + 97)), Some(LogSlot::new(0)));
    assert!(index.set(Sector::new(77), LogSlot::new(5)));
    // Both have the same home cell; the second is one further.
    assert_eq!(index.probes(), 1 + 2);
    index.remove(Sector::new(77));
    assert_eq!((index.find(Sector::new(77)), index.real_count()), (None, 1));
    assert_eq!(index.probes(), 2);
    assert!(!index.set(Sector::new(77), LogSlot::new(6)));
    assert_eq!(index.find(Sector::new(77 + 97)), Some(LogSlot::new(0)));
    index.clear();
    assert_eq!((index.iter().count(), index.real_count()), (0, 0));
}

#[test]
fn a_virtual_sector_is_known_until_its_block_leaves_the_log_and_is_never_read() {
    let mut memory = Owned::new(shape(100, 5000, 300, 8, Probing::Linear));
    let mut index = memory.index();
    assert!(index.insert_virtual(Sector::new(9), window(4, 3)));
    assert_eq!(index.find(Sector::new(9)), None);
    assert_eq!(index.get(Sector::new(9), window(6, 3)), Some(Entry::Virtual));
    assert_eq!(index.get(Sector::new(9), window(7, 3)), None);
    assert_eq!(index.virtual_count(), 1);
    index.expire(window(6, 3), 100);
    assert_eq!(index.virtual_count(), 1);
    index.expire(window(7, 3), 100);
    assert_eq!(index.virtual_count(), 0);
}

#[test]
fn an_entry_folded_away_becomes_virtual_and_a_set_makes_it_real_again() {
    let mut memory = Owned::new(shape(100, 5000, 300, 8, Probing::Quadratic));
    let mut index = memory.index();
    assert!(index.place(Sector::new(9), LogSlot::new(7)));
    index.virtualise(Sector::new(9), LogSequence::new(u32::MAX));
    assert_eq!(index.find(Sector::new(9)), None);
    // The running number wraps, and the age with it.
    assert_eq!(index.get(Sector::new(9), window(1, 3)), Some(Entry::Virtual));
    assert_eq!(index.get(Sector::new(9), window(2, 3)), None);
    index.virtualise(Sector::new(10), LogSequence::new(1));
    assert_eq!(index.get(Sector::new(10), window(1, 3)), None);
    assert!(index.set(Sector::new(9), LogSlot::new(8)));
    assert_eq!(index.get(Sector::new(9), window(2, 3)), Some(Entry::Real(LogSlot::new(8))));
}

#[test]
fn a_request_displaces_others_virtual_sectors_oldest_first_and_never_its_own() {
    // Three cells, P = 2: even sectors have the window (0, 1), odd ones (1, 2).
    let mut memory = Owned::new(shape(3, 100, 300, 2, Probing::Linear));
    let mut index = memory.index();
    assert!(index.insert_virtual(Sector::new(10), window(1, 8)));
    assert!(index.insert_virtual(Sector::new(20), window(0, 8)));
    // 20 is older, though its cell is later.
    assert!(index.reserve(Sector::new(30), SectorCount::new(1), window(2, 8)).is_some());
    let known: Vec<u32> = index.iter().map(|(sector, _)| sector.get()).collect();
    assert_eq!(known, [10, 30]);
    // 10, 11, 12 need all three cells: 12 finds only 10's and 11's, and neither makes room.
    let (first, count) = sectors(10, 3);
    assert!(index.reserve(first, SectorCount::new(2), window(3, 8)).is_some());
    index.remove(Sector::new(30));
    assert!(index.reserve(first, count, window(3, 8)).is_some(), "three sectors in three cells");
    let five = SectorCount::new(5);
    assert_eq!(index.reserve(first, five, window(3, 8)), None, "14 finds only its fellows");
    index.check().unwrap();
}

#[test]
fn a_trace_takes_an_older_traces_cell_but_none_as_young_and_none_that_is_real() {
    let mut memory = Owned::new(shape(3, 100, 300, 2, Probing::Linear));
    let mut index = memory.index();
    assert!(index.place(Sector::new(0), LogSlot::new(0)));
    assert!(index.insert_virtual(Sector::new(2), window(5, 8)));
    assert!(!index.insert_virtual(Sector::new(4), window(5, 8)));
    assert!(index.insert_virtual(Sector::new(4), window(6, 8)));
    assert!(index.insert_virtual(Sector::new(0), window(6, 8)));
    assert_eq!(index.find(Sector::new(0)), Some(LogSlot::new(0)));
    assert_eq!(index.get(Sector::new(2), window(6, 8)), None);
    assert_eq!(index.get(Sector::new(4), window(6, 8)), Some(Entry::Virtual));
}

#[test]
fn the_clock_hand_frees_every_expired_entry_before_its_age_begins_anew() {
    for blocks in [1, 2, 3, 7, 64] {
        // One slot a block: the place field is as narrow as it gets. 33,333 sectors a cell use up
        // the other bits.
        let figures = (SectorCount::new(u32::MAX), BlockCount::new(blocks));
        let (sectors, log) = figures;
        let size = LogSize { slots: blocks, blocks: log };
        let shape = IndexShape::new(40, sectors, size, 8, Probing::Linear).unwrap();
        let mut memory = Owned::new(shape);
        let mut index = memory.index();
        let stride = index.expire_stride(log);
        assert!(stride * blocks >= 80);
        for born in 0..3 * blocks {
            let sector = Sector::new(born * 1000);
            assert!(index.insert_virtual(sector, window(born, blocks)));
            let mut head = born;
            while index.get(sector, window(head, blocks)).is_some() {
                assert!(head < born + blocks, "an entry lives for a lap");
                head += 1;
                index.expire(window(head, blocks), stride);
            }
            for later in head + 1..head + (4 << shape.place_bits().min(8)) {
                index.expire(window(later, blocks), stride);
                assert_eq!(index.get(sector, window(later, blocks)), None, "age {}", later - born);
            }
        }
        assert_eq!(index.virtual_count(), 0);
    }
}

#[test]
fn a_search_without_memory_moves_nothing_and_says_so() {
    // P = 5: 0 and 5 share the window (0, 1), which 1 has half of.
    let mut memory = Owned::new(shape(6, 100, 300, 2, Probing::Quadratic));
    let mut index = memory.index();
    for sector in [0, 1, 5] {
        assert_eq!(index.place(Sector::new(sector), LogSlot::new(sector)), sector != 5);
    }
    assert!(!index.place_moving(Sector::new(5), LogSlot::new(5), &mut []));
    assert!(!index.place_moving(Sector::new(5), LogSlot::new(5), &mut [0]));
    assert_eq!(index.find(Sector::new(1)), Some(LogSlot::new(1)));
    assert!(index.place_moving(Sector::new(5), LogSlot::new(5), &mut [0; 2]));
    let found: Vec<u32> = index.iter().map(|(sector, _)| sector.get()).collect();
    assert_eq!(found, [0, 5, 1]);
}

#[test]
fn a_trace_makes_room_where_no_chain_of_moves_ends_in_a_free_cell() {
    // P = 5, and every cell is taken: by 0, 1, the trace of 2, then 3, 4, 9.
    let mut memory = Owned::new(shape(6, 100, 300, 2, Probing::Linear));
    let mut index = memory.index();
    assert!(index.insert_virtual(Sector::new(2), window(0, 8)));
    for sector in [0, 1, 3, 4, 9] {
        assert!(index.place(Sector::new(sector), LogSlot::new(sector)));
    }
    assert!(index.place_moving(Sector::new(5), LogSlot::new(5), &mut [0; 6]));
    let found: Vec<u32> = index.iter().map(|(sector, _)| sector.get()).collect();
    assert_eq!(found, [0, 5, 1, 3, 4, 9]);
    assert!(!index.place_moving(Sector::new(6), LogSlot::new(6), &mut [0; 6]));
    index.check().unwrap();
}

#[test]
fn every_invariant_is_seen_to_break() {
    let shape = shape(20, 1000, 300, 4, Probing::Linear);
    let spoil = |change: &dyn Fn(&mut Index<'_>)| {
        let mut memory = Owned::new(shape);
        let mut index = memory.index();
        assert!(index.place(Sector::new(40), LogSlot::new(3)));
        index.check().unwrap();
        change(&mut index);
        index.check().unwrap_err()
    };
    let cell = 40 % 19;
    // To the gap: with displacement 0 in cell 19, its home would be cell 19, which is no remainder.
    let outside = spoil(&|index| index.low.swap(cell, 19));
    assert_eq!(outside, IndexFault::OutsideWindow { cell: 19 });
    let twice = spoil(&|index| index.low[cell + 1] = index.low[cell] | 1);
    assert_eq!(twice, IndexFault::Twice(Sector::new(40)));
    let slot = spoil(&|index| index.low[cell] |= 511 << index.shape.key_bits());
    assert_eq!(slot, IndexFault::NoSuchSlot(Sector::new(40)));
    let counts = spoil(&|index| index.low[cell] = EMPTY);
    assert_eq!(counts, IndexFault::Miscounted { reals: 0, virtuals: 0 });
}
