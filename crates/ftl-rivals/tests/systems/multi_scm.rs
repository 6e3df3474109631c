//! The two memories: random requests beside a truth with every kind of leveling, and what leveling is for.

use std::collections::HashMap;

use ftl_iface::{BlockStore, Bytes, Cause, Sector, SectorCount};
use ftl_rivals::Rival;
use ftl_rivals::multi_scm::{Memories, Memory, MultiScm, MultiScmConfig, PAGE, new};

use crate::world;

#[derive(Debug, Default)]
struct Rows {
    held: HashMap<(bool, u32), Vec<u8>>,
}

impl Rows {
    fn place(&mut self, of: Memory, place: u32) -> &mut Vec<u8> {
        let page = || vec![0; PAGE.as_usize()];
        self.held.entry((of == Memory::Quick, place)).or_insert_with(page)
    }
}

impl Memories for Rows {
    fn read(&mut self, of: Memory, place: u32, at: usize, data: &mut [u8], _: Cause) {
        data.copy_from_slice(&self.place(of, place)[at..at + data.len()]);
    }

    fn write(&mut self, of: Memory, place: u32, at: usize, data: &[u8], _: Cause) {
        self.place(of, place)[at..at + data.len()].copy_from_slice(data);
    }
}

fn scm(quick: u32, leveled: [bool; 2]) -> MultiScm<Rows> {
    let (sector, capacity) = (Bytes::new(2048), SectorCount::new(8 * 60 - 3));
    let config = MultiScmConfig { sector, capacity, quick, leveled, interval: 5, threshold: 5 };
    new(Rows::default(), &config).unwrap()
}

const CASES: [[bool; 2]; 4] = [[true, true], [true, false], [false, true], [false, false]];

#[test]
fn bytes_stay_whatever_moves() {
    for leveled in CASES {
        for quick in [0, 1, 6, 59] {
            let mut scm = scm(quick, leveled);
            world::live(&mut scm, 11, 2_000, |scm| scm.check().unwrap());
            scm.settle().unwrap();
            scm.check().unwrap();
        }
    }
    let all = MultiScmConfig { quick: 60, sector: Bytes::new(2048), ..scm_config() };
    assert!(new(Rows::default(), &all).unwrap_err().to_string().contains("large memory"));
}

fn scm_config() -> MultiScmConfig {
    let (sector, capacity) = (Bytes::new(2048), SectorCount::new(8 * 60 - 3));
    MultiScmConfig { sector, capacity, quick: 6, leveled: [true; 2], interval: 5, threshold: 5 }
}

#[test]
fn leveling_spreads_what_one_page_takes() {
    let worn = |leveled| {
        let mut scm = scm(0, leveled);
        for _ in 0..3_000 {
            scm.write(Sector::new(80), &[1; 2048]).unwrap();
        }
        scm.wear(Memory::Large).iter().copied().max().unwrap()
    };
    assert_eq!(worn([false; 2]), 3_000);
    assert!(worn([true; 2]) < 200, "{}", worn([true; 2]));
}

#[test]
fn what_is_accessed_again_is_served_by_the_quick_memory() {
    let mut scm = scm(6, [false; 2]);
    let mut data = [0; 2048];
    let first = Sector::new(8 * 40);
    scm.read(first, &mut data).unwrap();
    assert_eq!(scm.figures()[0], ("pages_exchanged", 0.0));
    scm.read(first, &mut data).unwrap();
    assert_eq!(scm.figures()[0], ("pages_exchanged", 1.0));
    for _ in 0..10 {
        scm.write(first, &data).unwrap();
    }
    let [quick, large] = [Memory::Quick, Memory::Large].map(|of| scm.wear(of).iter().sum::<u32>());
    assert_eq!((quick, large), (11, 1), "one exchange, and ten writes to the quick one");
}
