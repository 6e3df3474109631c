//! Any bytes as a life of the log's hash table: it agrees with a map of the truth after every step.

#![no_main]

use std::collections::BTreeMap;

use ftl_core::config::Probing;
use ftl_core::hybrid::slc::index::{
    Entry, Index, IndexShape, LogSequence, LogSize, LogSlot, Window,
};
use ftl_iface::{BlockCount, Sector, SectorCount};
use libfuzzer_sys::fuzz_target;
use torture::script::Script;

/// Blocks of the log.
const BLOCKS: u32 = 8;

fuzz_target!(|bytes: &[u8]| {
    let mut source = Script::new(bytes);
    let entries = 3 + source.below(120);
    let probes = 1 + source.below(32) as u8;
    let kind = source.byte();
    let probing = if kind & 1 == 0 { Probing::Linear } else { Probing::Quadratic };
    let (sectors, slots) = if kind & 2 == 0 { (1 << 12, 1 << 10) } else { (1 << 20, 1 << 15) };
    let head = [0, u32::MAX - 9, 77, u32::MAX][usize::from(kind >> 2) % 4];
    let (count, blocks) = (SectorCount::new(sectors), BlockCount::new(BLOCKS));
    let Ok(shape) = IndexShape::new(entries, count, LogSize { slots, blocks }, probes, probing)
    else {
        return;
    };
    let (mut low, mut high) = (vec![!0; shape.low_words()], vec![!0; shape.high_bytes()]);
    let mut index = Index::new(shape, &mut low, &mut high);
    let window = Window { head: LogSequence::new(head), blocks };
    let mut model = Model { reals: BTreeMap::new(), window, sectors, slots, scratch: vec![0; 256] };
    while !source.is_empty() {
        model.step(&mut index, &mut source);
        model.agrees(&index);
    }
});

struct Model {
    reals: BTreeMap<u32, u32>,
    window: Window,
    sectors: u32,
    slots: u32,
    scratch: Vec<u32>,
}

impl Model {
    fn sector(&self, source: &mut Script<'_>) -> Sector {
        // Near each other, or as far apart as they can be.
        let number = source.below(200);
        let far = source.byte().is_multiple_of(4);
        Sector::new(if far { self.sectors - 1 - number } else { number })
    }

    fn slot(&self, source: &mut Script<'_>) -> LogSlot {
        LogSlot::new(source.below(self.slots))
    }

    fn step(&mut self, index: &mut Index<'_>, source: &mut Script<'_>) {
        let kind = source.byte() % 9;
        let sector = self.sector(source);
        match kind {
            0 => {
                let slot = self.slot(source);
                if index.place(sector, slot) {
                    self.reals.insert(sector.get(), slot.get());
                }
            }
            1 => {
                let slot = self.slot(source);
                if index.place_moving(sector, slot, &mut self.scratch) {
                    self.reals.insert(sector.get(), slot.get());
                }
            }
            2 => {
                index.remove(sector);
                self.reals.remove(&sector.get());
            }
            3 => {
                index.remove_real(sector);
                self.reals.remove(&sector.get());
            }
            4 => {
                index.virtualise(sector, self.window.head);
                self.reals.remove(&sector.get());
            }
            5 => {
                index.insert_virtual(sector, self.window);
            }
            6 => {
                let head = self.window.head.get().wrapping_add(1);
                self.window.head = LogSequence::new(head);
                index.expire(self.window, index.expire_stride(BlockCount::new(BLOCKS)));
            }
            7 => self.window.blocks = BlockCount::new(1 + source.below(BLOCKS)),
            _ => self.request(index, source, sector),
        }
    }

    /// A request, all or nothing.
    fn request(&mut self, index: &mut Index<'_>, source: &mut Script<'_>, first: Sector) {
        let count = (1 + source.below(20)).min(self.sectors - first.get());
        let run = first.get()..first.get() + count;
        let updates = self.reals.range(run.clone()).count() as u32;
        let Some(answer) = index.reserve(first, SectorCount::new(count), self.window) else {
            return;
        };
        assert_eq!(answer.get(), updates, "sectors that the log holds already");
        for sector in run {
            let slot = self.slot(source);
            assert!(index.set(Sector::new(sector), slot), "an accepted sector can be set");
            self.reals.insert(sector, slot.get());
        }
    }

    fn agrees(&self, index: &Index<'_>) {
        index.check().expect("every invariant holds");
        assert_eq!(index.real_count() as usize, self.reals.len());
        for (sector, slot) in &self.reals {
            let (sector, slot) = (Sector::new(*sector), LogSlot::new(*slot));
            assert_eq!(index.find(sector), Some(slot));
            assert_eq!(index.get(sector, self.window), Some(Entry::Real(slot)));
        }
        let reals = index.iter().filter(|(_, entry)| *entry != Entry::Virtual).count();
        assert_eq!(reals, self.reals.len());
    }
}
