//! What the hot-data filter costs a write request.

mod patience;

use std::hint::black_box;

use criterion::Criterion;
use ftl_core::filter::{FilterConfig, SizeFilter};
use ftl_iface::{Bytes, SectorCount};

/// Sizes as file systems write them: mostly 4 KiB, some 64 KiB, a few of every other size.
const SIZES: [u32; 16] = [8, 8, 128, 8, 1, 8, 8, 128, 64, 8, 3, 8, 128, 16, 8, 256];

fn filter(period: u32) -> SizeFilter {
    let [sector, initial, largest] = [512, 4096, 32_768].map(Bytes::new);
    let mut filter = SizeFilter::new(FilterConfig { initial, largest, sector, period });
    for size in SIZES.iter().cycle().take(100) {
        filter.note_write(SectorCount::new(*size));
    }
    filter
}

fn filters(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filter");
    let mut sizes = SIZES.map(SectorCount::new).into_iter().cycle();
    let mut size = move || sizes.next().unwrap_or_default();

    let mut noting = filter(FilterConfig::PERIOD);
    group.bench_function("note_write, its share of recomputation included", |bench| {
        bench.iter(|| noting.note_write(black_box(size())));
    });
    let mut recomputing = filter(1);
    group.bench_function("note_write that recomputes", |bench| {
        bench.iter(|| recomputing.note_write(black_box(size())));
    });
    let asked = filter(FilterConfig::PERIOD);
    group.bench_function("is_hot", |bench| {
        bench.iter(|| black_box(&asked).is_hot(black_box(size())));
    });
    group.finish();
}

fn main() {
    let mut criterion = patience::criterion();
    filters(&mut criterion);
    criterion.final_summary();
}
