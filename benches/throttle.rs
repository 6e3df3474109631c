//! What the utilization throttle and the write-back policy cost a write request.

mod patience;

use std::hint::black_box;

use criterion::Criterion;
use ftl_core::config::WriteBackConfig;
use ftl_core::hybrid::writeback::WriteBack;
use ftl_core::throttle::{Throttle, ThrottleConfig};
use ftl_iface::{BlockCount, SectorCount};

fn throttles(criterion: &mut Criterion) {
    let mut throttle = Throttle::new(ThrottleConfig {
        enabled: true,
        fast_blocks: BlockCount::new(2_048),
        main_blocks: BlockCount::new(43_008),
        fast_endurance: 100_000,
        main_endurance: 5_000,
        window_floor: BlockCount::new(4),
        window_max: BlockCount::new(2_048),
        period: ThrottleConfig::PERIOD,
    });
    let mut group = criterion.benchmark_group("throttle");
    group.bench_function("note_request and is_active", |bench| {
        bench.iter(|| {
            throttle.note_request();
            black_box(&throttle).is_active()
        });
    });
    group.bench_function("note_fast_erase and note_main_erase", |bench| {
        bench.iter(|| {
            throttle.note_fast_erase();
            black_box(&mut throttle).note_main_erase();
        });
    });
    group.finish();
}

fn write_back(criterion: &mut Criterion) {
    let mut policy = WriteBack::new(WriteBackConfig {
        follow_log_blocks: true,
        collect_on_fold: true,
        suspend_when_updates_fall: true,
    });
    criterion.bench_function("writeback/note_hot_write and tail_sector_leaves", |bench| {
        let [updates, sectors] = [1, 2].map(SectorCount::new);
        bench.iter(|| {
            policy.note_hot_write(black_box(updates), black_box(sectors));
            black_box(&policy).tail_sector_leaves(false)
        });
    });
}

fn main() {
    let mut criterion = patience::criterion();
    throttles(&mut criterion);
    write_back(&mut criterion);
    criterion.final_summary();
}
