//! What the hybrid's wear leveling costs an erase: the clock hand's visits, on Chang's device and on a small one.
//!
//! Half of the blocks hold data that rests, and the advice is followed, as in use. An erase of the flash itself takes a
//! million nanoseconds or more.

mod patience;

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use ftl_core::hybrid::address::{BlockNumber, ChainBlock};
use ftl_core::hybrid::wear::DualPool;
use ftl_iface::BlockCount;

/// The paper's threshold.
const THRESHOLD: u16 = 16;
/// Erases a measurement.
const BATCH: u64 = 1024;

/// Erases a busy block, and follows the advice that comes of it.
fn erase(pool: &mut DualPool<'_>, busy: &mut ChainBlock) {
    let erased = *busy;
    if let Some(cold) = black_box(pool.note_erase(erased)) {
        pool.swapped(cold, erased);
        *busy = cold;
    }
}

fn note_erase(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wear/note-erase");
    group.throughput(Throughput::Elements(BATCH));
    for blocks in [1024, 43_008] {
        let count = BlockCount::new(blocks);
        let mut counts = vec![0; DualPool::counts_for(count)];
        let mut pools = vec![0; DualPool::bytes_for(count)];
        let mut pool = DualPool::new(&mut counts, &mut pools, count, THRESHOLD, true);
        // The busy half; a swap exchanges one of them for a block of the other half.
        let mut busy: Vec<ChainBlock> =
            (0..blocks as BlockNumber / 2).map(ChainBlock::new).collect();
        let mut next = 0;
        group.bench_function(format!("{blocks}"), |b| {
            b.iter(|| {
                for _ in 0..BATCH {
                    // Far apart, as blocks are whose data are rewritten.
                    next = (next + 7919) % busy.len();
                    erase(&mut pool, &mut busy[next]);
                }
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = patience::criterion();
    note_erase(&mut criterion);
    criterion.final_summary();
}
