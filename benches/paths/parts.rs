//! Parts of the FTL by themselves, as far as each request passes through them. Their own benchmarks look closer.

use std::hint::black_box;

use ftl_core::config::Probing;
use ftl_core::filter::{FilterConfig, SizeFilter};
use ftl_core::hybrid::slc::index::{Index, IndexShape, LogSequence, LogSize, LogSlot, Window};
use ftl_iface::{BlockCount, Bytes, Sector, SectorCount};

use super::{Measure, Null, Numbers, Path, distinct};

pub(super) const PATHS: &[Path] = &[
    Path::new("hash table: hit", "lookup", STANDING, hit).repeatable(),
    Path::new("hash table: miss", "lookup", STANDING, miss).repeatable(),
    Path::new("hash table: insert", "sector", STANDING, insert),
    Path::new("hash table: remove", "sector", STANDING, remove),
    Path::new("filter", "write", NOTED, filter).repeatable(),
];

/// The table of Chang's device.
const ENTRIES: u32 = 32_768;
const SECTORS: u32 = 10 << 20;
const SLOTS: u32 = 2048 * 64;
const BLOCKS: BlockCount = BlockCount::new(2048);
const WINDOW: Window = Window { head: LogSequence::new(7), blocks: BLOCKS };
/// A quarter of it.
const STANDING: u32 = ENTRIES / 4;
/// Eight periods of the filter.
const NOTED: u32 = 8 * FilterConfig::PERIOD;

/// Has work on an index measured, in which these sectors stand or not.
fn on_index(stand: bool, measure: Measure<'_>, work: impl Fn(&mut Index<'_>, &[Sector])) {
    let sectors = SectorCount::new(SECTORS);
    let shape = IndexShape::new(
        ENTRIES,
        sectors,
        LogSize { slots: SLOTS, blocks: BLOCKS },
        8,
        Probing::Linear,
    )
    .expect("the paper's table");
    let (mut low, mut high) = (vec![0; shape.low_words()], vec![0; shape.high_bytes()]);
    let mut index = Index::new(shape, &mut low, &mut high);
    let order = distinct(STANDING, SECTORS / 8, &mut Numbers::new(8));
    for sector in order.iter().filter(|_| stand) {
        assert!(index.place(*sector, LogSlot::new(sector.get() % SLOTS)), "a quarter fits");
    }
    measure(&mut || work(&mut index, black_box(&order)));
}

fn lookups(index: &Index<'_>, sectors: &[Sector]) {
    let places = sectors.iter().map(|sector| index.find(*sector).map_or(0, LogSlot::get));
    black_box(places.fold(0, u32::wrapping_add));
}

fn hit(_: &mut Null, measure: Measure<'_>) {
    on_index(true, measure, |index, sectors| lookups(index, sectors));
}

fn miss(_: &mut Null, measure: Measure<'_>) {
    on_index(false, measure, |index, sectors| lookups(index, sectors));
}

fn insert(_: &mut Null, measure: Measure<'_>) {
    on_index(false, measure, |index, sectors| {
        for sector in sectors {
            black_box(index.reserve(*sector, SectorCount::new(1), WINDOW));
            black_box(index.set(*sector, LogSlot::new(1)));
        }
    });
}

fn remove(_: &mut Null, measure: Measure<'_>) {
    on_index(true, measure, |index, sectors| {
        for sector in sectors {
            index.remove(*sector);
        }
    });
}

fn filter(_: &mut Null, measure: Measure<'_>) {
    let [sector, initial, largest] = [2048, 4096, 65_536].map(Bytes::new);
    let period = FilterConfig::PERIOD;
    let mut filter = SizeFilter::new(FilterConfig { initial, largest, sector, period });
    let mut numbers = Numbers::new(9);
    let sizes: Vec<SectorCount> =
        (0..NOTED).map(|_| SectorCount::new([2, 2, 4, 64][numbers.below(4) as usize])).collect();
    measure(&mut || {
        for size in &sizes {
            filter.note_write(*size);
            black_box(filter.is_hot(*size));
        }
    });
}
