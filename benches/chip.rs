//! Page operations a second on the full C3 device in stamp mode: 43,008 MLC blocks of 128 pages and 2,048 SLC blocks of
//! 64, every page programmed before anything is measured. One element is one page operation, and an erase counts as
//! one. Sequential programs include the erase of each block, once in 128 pages.
//!
//! Each operation checks the caller's promises, moves the kept bytes of one page, and books time and counts.
//!
//! What bounds it:
//!
//! - *Sequential* operations are bound by instructions: the prefetcher has the next record ready.
//! - *Random* ones are bound by memory. The records (28 bytes an MLC page, some 160 MB) fit no cache, so each operation
//!   waits for one line and for the walk through the page tables that finds it. A processor hides that by starting the
//!   next operation meanwhile, as far as its window reaches; so the hot path is short, calls little, and books before
//!   it touches cells. On the machine where this was tuned, a virtual one, a chain of dependent loads from as much
//!   memory took 170 ns a load and independent loads 13 ns; a random read took 110 to 180 ns, about one such
//!   load, and a random program, whose line is only written to, 60 to 120 ns.
//! - *Erases* touch only the block's entry in a dense table of 1 MB.
//!
//! A busy machine lowers all of them: two threads of one core share its window and its caches.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_main};
use ftl_iface::{Block, Bytes, NandDevice, Page, PageIndex, Region};
use nand_model::{Chip, Content, Stamp, datasheet};

const PAGE: usize = 4096;
const SECTOR: usize = 2048;
const SPARE: usize = 128;
/// What ftl-core writes to the spare area of each page.
const SPARE_KEPT: u32 = 19;

struct Device {
    chip: Chip,
    blocks: u32,
    pages: u16,
    data: [u8; PAGE],
    spare: [u8; SPARE],
    dice: fastrand::Rng,
    stamp: u32,
}

impl Device {
    fn full() -> Self {
        let part = datasheet::builtin("c3").expect("c3 is built in");
        let content = Content::Stamps {
            sector: Bytes::new(SECTOR as u32),
            spare_kept: Bytes::new(SPARE_KEPT),
        };
        let shape = *part.geometry.mlc().expect("c3 has an MLC region");
        let mut spare = [0xFF; SPARE];
        spare[..SPARE_KEPT as usize].fill(0x5A);
        let mut device = Self {
            chip: Chip::new(&part, content).expect("c3 can be simulated"),
            blocks: shape.blocks.get(),
            pages: shape.pages_per_block.get() as u16,
            data: [0; PAGE],
            spare,
            dice: fastrand::Rng::with_seed(1),
            stamp: 0,
        };
        device.fill(Region::Slc);
        device.fill(Region::Mlc);
        device
    }

    fn fill(&mut self, region: Region) {
        let shape = *self.chip.geometry().region(region).expect("c3 has both");
        for block in 0..shape.blocks.get() {
            for index in 0..shape.pages_per_block.get() as u16 {
                let page = Block::new(region, block).page(PageIndex::new(index));
                self.program(page, shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
            }
        }
    }

    #[inline]
    fn program(&mut self, page: Page, bytes: usize, spare: usize) {
        for sector in self.data[..bytes].chunks_exact_mut(SECTOR) {
            Stamp::new(self.stamp).write_to(sector);
            self.stamp = self.stamp.wrapping_add(1) & 0x7FFF_FFFF;
        }
        let (data, spare) = (&self.data[..bytes], &self.spare[..spare]);
        self.chip.program(page, data, spare).expect("the chip never fails");
    }

    #[inline]
    fn read(&mut self, page: Page) {
        let Self { chip, data, spare, .. } = self;
        chip.read(page, Bytes::ZERO, data, spare).expect("the chip never fails");
        black_box(&self.data[0]);
    }

    #[inline]
    fn random_block(&mut self) -> Block {
        Block::new(Region::Mlc, self.dice.u32(0..self.blocks))
    }
}

/// Walks the MLC region for so many page operations, block by block and page by page.
fn walk(
    device: &mut Device,
    operations: u64,
    mut operate: impl FnMut(&mut Device, Page),
) -> Duration {
    let start = Instant::now();
    let (mut block, mut index) = (0, 0);
    for _ in 0..operations {
        operate(device, Block::new(Region::Mlc, block).page(PageIndex::new(index)));
        index += 1;
        if index == device.pages {
            index = 0;
            block = if block + 1 == device.blocks { 0 } else { block + 1 };
        }
    }
    start.elapsed()
}

fn timed(operations: u64, mut operate: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..operations).for_each(|_| operate());
    start.elapsed()
}

fn chip(criterion: &mut Criterion) {
    let mut device = Device::full();
    let pages = u64::from(device.blocks) * u64::from(device.pages) + 2_048 * 64;
    let memory = device.chip.memory_bytes();
    println!("memory: {} bytes a page", memory.div_ceil(pages));
    let mut group = criterion.benchmark_group("chip");
    group
        .throughput(Throughput::Elements(1))
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    group.bench_function("read sequential", |bencher| {
        bencher.iter_custom(|operations| walk(&mut device, operations, Device::read));
    });
    group.bench_function("read random", |bencher| {
        bencher.iter_custom(|operations| {
            timed(operations, || {
                let block = device.random_block();
                let index = device.dice.u16(0..device.pages);
                device.read(block.page(PageIndex::new(index)));
            })
        });
    });
    group.bench_function("program sequential", |bencher| {
        bencher.iter_custom(|operations| {
            walk(&mut device, operations, |device, page| {
                if page.index().get() == 0 {
                    device.chip.erase(page.block()).expect("the chip never fails");
                }
                device.program(page, PAGE, SPARE);
            })
        });
    });
    group.bench_function("program random", |bencher| {
        bencher.iter_custom(|operations| {
            timed(operations, || {
                let block = device.random_block();
                let mut next = device.chip.next_page(block);
                if next == device.pages {
                    device.chip.erase(block).expect("the chip never fails");
                    next = 0;
                }
                device.program(block.page(PageIndex::new(next)), PAGE, SPARE);
            })
        });
    });
    group.bench_function("erase random", |bencher| {
        bencher.iter_custom(|operations| {
            timed(operations, || {
                let block = device.random_block();
                device.chip.erase(block).expect("the chip never fails");
            })
        });
    });
    group.finish();
}

#[allow(missing_docs)] // The macro makes the function, and gives it no room for a sentence.
mod group {
    criterion::criterion_group!(benches, super::chip);
}
criterion_main!(group::benches);
