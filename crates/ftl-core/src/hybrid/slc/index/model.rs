//! The hash table compared with a plain map, on tables of many small shapes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ftl_iface::{BlockCount, Sector, SectorCount};
use proptest::prelude::*;

use super::tests::{LOG_BLOCKS, Owned, shape, window};
use super::*;

/// The sectors now in a window's cells, by the definition of the probing and not by its code.
fn neighbours(index: &Index<'_>, sector: u32) -> Vec<Option<(u32, bool)>> {
    let shape = index.shape;
    let prime = (2..shape.entries()).rev().find(|p| (2..*p).all(|d| p % d != 0)).unwrap();
    let home = sector % prime;
    let cells: BTreeSet<u32> = (0..u32::from(shape.probes()))
        .map(|probe| match shape.probing() {
            Probing::Linear => (home + probe) % shape.entries(),
            Probing::Quadratic => (home + probe * probe) % prime,
        })
        .collect();
    let holder = |cell: u32| {
        let word = index.word(cell as usize);
        (word != EMPTY).then(|| (index.sector_of(cell as usize, word), index.is_virtual(word)))
    };
    cells.into_iter().map(holder).collect()
}

/// One step of a random test.
#[derive(Clone, Debug)]
enum IndexStep {
    Request(u32, u32, bool),
    Place(u32),
    PlaceMoving(u32),
    Virtualise(u32),
    Trace(u32),
    Remove(u32),
    RemoveReal(u32),
    Open,
    Resize(u32),
}

fn step() -> impl Strategy<Value = IndexStep> {
    let sector = || 0_u32..1 << 16;
    prop_oneof![
        4 => (sector(), 1_u32..20, any::<bool>())
            .prop_map(|(at, n, all)| IndexStep::Request(at, n, all)),
        3 => sector().prop_map(IndexStep::Place),
        1 => sector().prop_map(IndexStep::PlaceMoving),
        1 => sector().prop_map(IndexStep::Virtualise),
        3 => sector().prop_map(IndexStep::Trace),
        2 => sector().prop_map(IndexStep::Remove),
        2 => sector().prop_map(IndexStep::RemoveReal),
        2 => Just(IndexStep::Open),
        1 => (1..=LOG_BLOCKS).prop_map(IndexStep::Resize),
    ]
}

/// A shape of four- or five-byte entries, and how many consecutive sectors the steps use: few, so that sectors repeat,
/// or many.
fn any_shape() -> impl Strategy<Value = (IndexShape, u32)> {
    let probing = prop_oneof![Just(Probing::Linear), Just(Probing::Quadratic)];
    (5_u32..200, 1_u8..=32, probing, any::<bool>(), 1_u32..6).prop_map(
        |(entries, probes, probing, wide, load)| {
            let (sectors, slots) = if wide { (1 << 20, 1 << 15) } else { (1 << 12, 1 << 10) };
            let shape = shape(entries, sectors, slots, probes, probing);
            (shape, (entries * load / 2).min(sectors))
        },
    )
}

/// What the index must contain, tracked outside it.
struct Model {
    reals: BTreeMap<u32, u32>,
    /// The opening to which each sector's virtual entry is tied, if it still exists.
    traces: BTreeMap<u32, u32>,
    window: Window,
    next_slot: u32,
}

impl Model {
    fn apply(&mut self, index: &mut Index<'_>, step: &IndexStep, span: u32) {
        let spread = index.shape.sectors().get() / span;
        // The sectors are close together or far apart, by the quotient.
        let at = |number: u32| {
            Sector::new(number % span * if number & 1 << 15 == 0 { 1 } else { spread })
        };
        match *step {
            IndexStep::Request(first, count, used) => {
                let entered = self.request(index, at(first), count);
                // A request may also be given up by its caller; its entries then stay virtual.
                for sector in entered.filter(|_| used) {
                    let slot = self.slot(index);
                    assert!(index.set(Sector::new(sector), slot), "an accepted sector can be set");
                    self.note(Sector::new(sector), slot);
                }
            }
            IndexStep::Place(sector) => {
                let slot = self.slot(index);
                let room = Self::room_for(index, at(sector).get(), 0..0);
                assert_eq!(index.place(at(sector), slot), room);
                if room {
                    self.note(at(sector), slot);
                }
            }
            IndexStep::PlaceMoving(sector) => {
                let slot = self.slot(index);
                let mut scratch = [0; 256];
                if index.place_moving(at(sector), slot, &mut scratch) {
                    self.note(at(sector), slot);
                }
            }
            IndexStep::Virtualise(sector) => {
                index.virtualise(at(sector), self.window.head);
                if self.reals.remove(&at(sector).get()).is_some() {
                    self.traces.insert(at(sector).get(), self.window.head.get());
                }
            }
            IndexStep::Trace(sector) => self.trace(index, at(sector)),
            IndexStep::Remove(sector) => {
                index.remove(at(sector));
                self.reals.remove(&at(sector).get());
                self.traces.remove(&at(sector).get());
            }
            IndexStep::RemoveReal(sector) => {
                index.remove_real(at(sector));
                self.reals.remove(&at(sector).get());
            }
            IndexStep::Open => {
                self.window.head = LogSequence::new(self.window.head.get().wrapping_add(1));
                index.expire(self.window, index.expire_stride(BlockCount::new(LOG_BLOCKS)));
            }
            IndexStep::Resize(blocks) => self.window.blocks = BlockCount::new(blocks),
        }
    }

    fn slot(&mut self, index: &Index<'_>) -> LogSlot {
        self.next_slot += 37;
        LogSlot::new(self.next_slot % index.shape.slots())
    }

    fn note(&mut self, sector: Sector, slot: LogSlot) {
        self.traces.remove(&sector.get());
        self.reals.insert(sector.get(), slot.get());
    }

    /// Whether a sector's window has a cell for it: its own, a free one, or a virtual one of no
    /// sector of `spared`.
    fn room_for(index: &Index<'_>, sector: u32, spared: Range<u32>) -> bool {
        neighbours(index, sector).into_iter().any(|holder| match holder {
            None => true,
            Some((other, is_virtual)) => other == sector || is_virtual && !spared.contains(&other),
        })
    }

    /// Reserves entries for a request. Returns the sectors that got one.
    fn request(&mut self, index: &mut Index<'_>, first: Sector, count: u32) -> Range<u32> {
        let count = count.min(index.shape.sectors().get() - first.get());
        let run = first.get()..first.get() + count;
        let before: BTreeSet<u32> = index.iter().map(|(sector, _)| sector.get()).collect();
        let updates = self.reals.range(run.clone()).count() as u32;
        let answer = index.reserve(first, SectorCount::new(count), self.window);
        let accepted = answer.is_some();
        assert_eq!(answer.unwrap_or(SectorCount::new(updates)).get(), updates, "updates counted");
        // A refused request ends at the first sector without room; the entries before it were renewed.
        let hindered = |sector: &u32| !Self::room_for(index, *sector, run.clone());
        let refused = run.clone().find(hindered);
        assert_eq!(
            refused.is_none(),
            accepted,
            "refused only where there is no room, and always there"
        );
        for sector in run.start..refused.unwrap_or(run.end) {
            let known = index.get(Sector::new(sector), self.window);
            assert_eq!(
                known.is_some_and(|e| e != Entry::Virtual),
                self.reals.contains_key(&sector)
            );
            if known.expect("what was placed has an entry") == Entry::Virtual {
                self.traces.insert(sector, self.window.head.get());
            }
        }
        for sector in run.clone().filter(|sector| before.contains(sector)) {
            let kept = index.iter().any(|(other, _)| other.get() == sector);
            assert!(kept, "nothing of the request's own was given up for it");
        }
        if accepted { run } else { 0..0 }
    }

    fn trace(&mut self, index: &mut Index<'_>, sector: Sector) {
        let had_room = neighbours(index, sector.get()).contains(&None);
        if index.insert_virtual(sector, self.window) {
            let real = self.reals.contains_key(&sector.get());
            let expected =
                if real { self.find(sector).map(Entry::Real) } else { Some(Entry::Virtual) };
            assert_eq!(index.get(sector, self.window), expected);
            if !real {
                self.traces.insert(sector.get(), self.window.head.get());
            }
        } else {
            assert!(!had_room, "a free cell takes a trace");
        }
    }

    fn find(&self, sector: Sector) -> Option<LogSlot> {
        self.reals.get(&sector.get()).copied().map(LogSlot::new)
    }

    fn agrees(&self, index: &Index<'_>) {
        index.check().unwrap();
        let mut reals = BTreeMap::new();
        for (sector, entry) in index.iter() {
            match entry {
                Entry::Real(slot) => {
                    reals.insert(sector.get(), slot.get());
                    assert_eq!(index.find(sector), Some(slot));
                    assert_eq!(index.get(sector, self.window), Some(entry));
                }
                Entry::Virtual => {
                    let born = self.traces.get(&sector.get()).expect("a trace was left by someone");
                    let age = self.window.head.get().wrapping_sub(*born);
                    let alive = age < self.window.blocks.get();
                    assert_eq!(index.get(sector, self.window), alive.then_some(Entry::Virtual));
                    assert_eq!(index.find(sector), None);
                }
            }
        }
        // A lookup of several consecutive sectors must agree with single lookups.
        let end = index.shape.sectors().get();
        for sector in self.reals.keys() {
            for first in sector.saturating_sub(3)..end.min(sector + 2) {
                let count = 4.min(end - first);
                let any = self.reals.range(first..first + count).next().is_some();
                assert_eq!(index.finds(Sector::new(first), count as u16), any, "from {first} on");
            }
        }
        // Exactly those: no real entry was lost, and none was evicted by a virtual one.
        assert_eq!(reals, self.reals);
        assert_eq!(index.real_count() as usize, reals.len());
        assert!(index.real_count() + index.virtual_count() <= index.capacity());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn the_index_agrees_with_a_map_after_every_step(
        (shape, span) in any_shape(),
        steps in prop::collection::vec(step(), 1..200),
        head in prop_oneof![Just(0), Just(u32::MAX - 20), any::<u32>()],
    ) {
        let mut memory = Owned::new(shape);
        let mut index = memory.index();
        let mut model = Model {
            reals: BTreeMap::new(),
            traces: BTreeMap::new(),
            window: window(head, 4),
            next_slot: 0,
        };
        for step in &steps {
            model.apply(&mut index, step, span);
            model.agrees(&index);
        }
    }

    #[test]
    fn entries_move_aside_whenever_all_of_them_can_stand_in_the_table_together(
        entries in 5_u32..24,
        probes in 1_u8..6,
        probing in prop_oneof![Just(Probing::Linear), Just(Probing::Quadratic)],
        wide: bool,
        wanted in prop::collection::vec(0_u32..4000, 1..40),
    ) {
        let (sectors, slots) = if wide { (1 << 24, 1 << 13) } else { (4000, 4096) };
        let mut memory = Owned::new(shape(entries, sectors, slots, probes, probing));
        let mut index = memory.index();
        // Linear probing needs no scratch memory for an exact answer.
        let cells = if probing == Probing::Linear { 0 } else { entries as usize };
        let mut scratch = vec![0; cells];
        let mut truth = BTreeMap::new();
        for sector in wanted {
            let spots = |sector: &u32| -> Vec<usize> {
                let home = index.home(Sector::new(*sector)).cell;
                index.shape.window(home).map(|(_, cell)| cell).collect()
            };
            let windows: BTreeMap<u32, Vec<usize>> =
                truth.keys().chain([&sector]).map(|sector| (*sector, spots(sector))).collect();
            let slot = LogSlot::new(sector);
            let placed = index.place_moving(Sector::new(sector), slot, &mut scratch);
            prop_assert_eq!(placed, all_can_stand(&windows));
            if placed {
                truth.insert(sector, sector);
            }
            prop_assert!(index.check().is_ok());
            for (sector, slot) in &truth {
                prop_assert_eq!(index.find(Sector::new(*sector)), Some(LogSlot::new(*slot)));
            }
        }
    }

    #[test]
    fn walks_lose_nobody_whether_they_find_room_or_not(
        entries in 5_u32..40,
        probes in 1_u8..9,
        memory_cells in 0_usize..5,
        wanted in prop::collection::vec(0_u32..4000, 1..60),
    ) {
        let mut memory = Owned::new(shape(entries, 4000, 4096, probes, Probing::Quadratic));
        let mut index = memory.index();
        let mut scratch = vec![0; memory_cells];
        let mut truth = BTreeMap::new();
        for sector in wanted {
            if index.place_moving(Sector::new(sector), LogSlot::new(sector), &mut scratch) {
                truth.insert(sector, sector);
            }
            prop_assert!(index.check().is_ok());
            for (sector, slot) in &truth {
                prop_assert_eq!(index.find(Sector::new(*sector)), Some(LogSlot::new(*slot)));
            }
            prop_assert_eq!(index.real_count() as usize, truth.len());
        }
    }
}

/// Whether each sector can have a cell of its own in its window: tries every assignment.
fn all_can_stand(windows: &BTreeMap<u32, Vec<usize>>) -> bool {
    fn seat(
        sector: u32,
        windows: &BTreeMap<u32, Vec<usize>>,
        seats: &mut BTreeMap<usize, u32>,
        tried: &mut BTreeSet<usize>,
    ) -> bool {
        windows[&sector].iter().any(|cell| {
            if !tried.insert(*cell) {
                return false;
            }
            let free = match seats.get(cell) {
                None => true,
                Some(other) => seat(*other, windows, seats, tried),
            };
            if free {
                seats.insert(*cell, sector);
            }
            free
        })
    }
    let mut seats = BTreeMap::new();
    windows.keys().all(|sector| seat(*sector, windows, &mut seats, &mut BTreeSet::new()))
}
