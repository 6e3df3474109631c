//! The toy of docs/YOUR-FTL.md, which quotes this file: an FTL, requests, and power cuts at every operation.

use ftl_iface::{Block, Bytes, NandDevice, Page, PageIndex, Region};
use nand_model::{Chip, Content, FaultInjector, Fork, PowerCut, datasheet, power::Cut};
use proptest::prelude::*;

const SECTORS: usize = 4;

/// A sector has two blocks of its own and goes to each in turn. Page 0 of a block holds the data; page 1 proves that
/// the program of page 0 was over.
struct Toy<D> {
    nand: D,
    newest: [(u32, u32); SECTORS], // its number, counted by writes, and its block
}

#[derive(Debug)]
struct Stopped; // The device stopped: mount it again.

impl<D: NandDevice> Toy<D> {
    fn mount(nand: D) -> Result<Self, Stopped> {
        let mut toy = Self { nand, newest: [(0, 0); SECTORS] };
        for sector in 0..SECTORS {
            let found: Vec<_> = (0..2).filter_map(|block| toy.look(sector, block)).collect();
            let proven = found.iter().filter(|found| found.0).max_by_key(|found| found.1);
            // Without a proof the older one is whole: it was complete before the other was begun.
            let Some(best) = proven.or(found.iter().min_by_key(|found| found.1)) else { continue };
            toy.newest[sector] = best.1;
            toy.write(sector, best.2)?; // Its proof may be one that fades.
        }
        Ok(toy)
    }

    fn write(&mut self, sector: usize, fill: u8) -> Result<(), Stopped> {
        let (number, block) = (self.newest[sector].0 + 1, 1 - self.newest[sector].1);
        let mut spare = [0xFF; 32];
        spare[..4].copy_from_slice(&number.to_le_bytes());
        spare[4..8].copy_from_slice(&(!number).to_le_bytes());
        let (content, proof) = (page(sector, block, 0), page(sector, block, 1));
        self.nand.erase(content.block()).map_err(|_| Stopped)?;
        self.nand.program(content, &[fill; 1024], &spare).map_err(|_| Stopped)?;
        self.nand.program(proof, &[0; 1024], &[0; 32]).map_err(|_| Stopped)?;
        self.newest[sector] = (number, block);
        Ok(())
    }

    /// Whether the block's content is proven, its number with the block, the content.
    fn look(&mut self, sector: usize, block: u32) -> Option<(bool, (u32, u32), u8)> {
        let (mut fill, mut spare, mut proof) = ([0], [0; 8], [0xFF]);
        self.nand.read(page(sector, block, 0), Bytes::ZERO, &mut fill, &mut spare).ok()?;
        let [number, check] =
            [&spare[..4], &spare[4..]].map(|b| u32::from_le_bytes(b.try_into().unwrap()));
        let proven = self.nand.read(page(sector, block, 1), Bytes::ZERO, &mut [], &mut proof);
        (check == !number).then_some((proven.is_ok() && proof == [0], (number, block), fill[0]))
    }

    fn read(&mut self, sector: usize) -> u8 {
        self.look(sector, self.newest[sector].1).map_or(0, |found| found.2)
    }
}

fn page(sector: usize, block: u32, index: u16) -> Page {
    Block::new(Region::Slc, 2 * sector as u32 + block).page(PageIndex::new(index))
}

fn requests() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec((0..SECTORS, 1..=255_u8), 1..10)
}

proptest! {
    #[test]
    fn what_was_acknowledged_survives(writes in requests(), seed: u64, second in 0..16_u64) {
        let chip = Chip::new(&datasheet::builtin("tiny-slc").unwrap(), Content::Bytes).unwrap();
        let mut fresh = FaultInjector::new(chip, seed);
        for cut in 0.. {
            let mut device = PowerCut::new(fresh.fork(), Cut::seeded(cut, seed));
            let mut toy = Toy::mount(&mut device).unwrap();
            let (mut truth, mut in_flight) = ([0; SECTORS], (0, 0));
            for &(sector, fill) in &writes {
                in_flight = (sector, fill);
                if toy.write(sector, fill).is_err() { break }
                truth[sector] = fill;
            }
            let done = device.is_on();
            // Power comes back, and fails again in the mount.
            let mut device = PowerCut::new(device.into_inner(), Cut::seeded(second, !seed));
            let _ = Toy::mount(&mut device);
            let mut toy = Toy::mount(device.into_inner()).unwrap();
            for (sector, fill) in truth.into_iter().enumerate() {
                let read = toy.read(sector);
                prop_assert!(read == fill || (sector, read) == in_flight, "cut {cut}");
                (0..20).for_each(|_| assert_eq!(toy.read(sector), read, "it read well before"));
            }
            if done { break }
        }
    }
}
