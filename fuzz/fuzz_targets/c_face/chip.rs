//! A chip in memory that keeps the contract of drivers, and uses the freedom that the contract leaves.

use ftl_c::Geometry;
use ftl_iface::{PageCount, PageIndex, Pairing};

/// What a page reads as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// 0xFF.
    Erased,
    /// Data and spare bytes.
    Hold(Box<[u8]>),
    /// The same, for so many reads. Then the page is dead.
    Fade(Box<[u8]>, u8),
    /// Uncorrectable until the block's erase.
    Dead,
}

/// What is left of a page or block whose operation failed, as the contract allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// As before the operation. A page that was erased reads so, but counts as programmed.
    Before,
    /// As intended.
    Intended,
    /// Uncorrectable.
    Dead,
    /// As intended for so many reads, then uncorrectable.
    Fading(u8),
    /// Other bytes than any before.
    Anything,
}

struct Block {
    pages: Vec<Cells>,
    /// The first page that may still be programmed.
    next: usize,
    /// An erase did not end well, so that nothing may be programmed before the next one.
    unerased: bool,
    bad: bool,
}

/// The shape of a block, from the table that the FTL is given.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) pages: usize,
    pub(crate) data: usize,
    pub(crate) spare: usize,
    pairing: Pairing,
}

/// What the FTL asked for although the contract forbids it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breach {
    NoSuchPage,
    NotInOrder,
    NotErased,
    Bad,
}

pub(crate) struct Chip {
    shapes: [Shape; 2],
    slc_blocks: usize,
    blocks: Vec<Block>,
    /// Counts what is made of nothing, so that no two pages of noise are alike.
    noise: u64,
}

fn pairing(number: u32) -> Pairing {
    match number {
        1 => Pairing::Adjacent2,
        2 => Pairing::Adjacent3,
        3 => Pairing::Distance3,
        4 => Pairing::Distance6,
        _ => Pairing::None,
    }
}

impl Chip {
    /// A chip as it leaves the factory.
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let shapes = [geometry.slc, geometry.mlc].map(|region| Shape {
            pages: region.pages_per_block as usize,
            data: region.page_bytes as usize,
            spare: region.spare_bytes as usize,
            pairing: pairing(region.pairing),
        });
        let regions = [geometry.slc, geometry.mlc].into_iter().zip(shapes);
        let blocks = regions.flat_map(|(region, shape)| (0..region.blocks).map(move |_| shape));
        let blocks = blocks.map(|shape| Block {
            pages: vec![Cells::Erased; shape.pages],
            next: 0,
            unerased: false,
            bad: false,
        });
        let slc_blocks = geometry.slc.blocks as usize;
        Self { shapes, slc_blocks, blocks: blocks.collect(), noise: 1 }
    }

    pub(crate) fn blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    pub(crate) fn shape(&self, block: u32) -> Shape {
        self.shapes[usize::from(block as usize >= self.slc_blocks)]
    }

    /// Bytes that nobody wrote, and no two times the same ones.
    pub(crate) fn noise(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.noise = self.noise.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E);
            *byte = (self.noise >> 56) as u8;
        }
    }

    fn noisy(&mut self, block: u32) -> Box<[u8]> {
        let shape = self.shape(block);
        let mut bytes = vec![0; shape.data + shape.spare];
        self.noise(&mut bytes);
        bytes.into()
    }

    /// Something was on the chip before: every page of the block is full of it.
    pub(crate) fn soil(&mut self, block: u32) {
        for page in 0..self.shape(block).pages {
            let noise = self.noisy(block);
            self.blocks[block as usize].pages[page] = Cells::Hold(noise);
        }
        self.blocks[block as usize].next = self.shape(block).pages;
    }

    /// The page's bytes, if it can be read; `None` if it is uncorrectable. All 0xFF are an empty slice.
    pub(crate) fn read(&mut self, block: u32, page: u32) -> Result<Option<&[u8]>, Breach> {
        let block = self.blocks.get_mut(block as usize).ok_or(Breach::NoSuchPage)?;
        let cells = block.pages.get_mut(page as usize).ok_or(Breach::NoSuchPage)?;
        match cells {
            Cells::Fade(_, 0) => *cells = Cells::Dead,
            Cells::Fade(_, reads) => *reads -= 1,
            _ => {}
        }
        Ok(match cells {
            Cells::Erased => Some(&[]),
            Cells::Hold(bytes) | Cells::Fade(bytes, _) => Some(bytes),
            Cells::Dead => None,
        })
    }

    /// The page can never be read again before its block's erase.
    pub(crate) fn kill(&mut self, block: u32, page: u32) {
        let cells =
            self.blocks.get_mut(block as usize).and_then(|it| it.pages.get_mut(page as usize));
        if let Some(cells) = cells {
            *cells = Cells::Dead;
        }
    }

    /// Whether the caller may program that page now.
    pub(crate) fn may_program(&self, block: u32, page: u32) -> Result<(), Breach> {
        let block = self.blocks.get(block as usize).ok_or(Breach::NoSuchPage)?;
        match page as usize {
            page if page >= block.pages.len() => Err(Breach::NoSuchPage),
            _ if block.bad => Err(Breach::Bad),
            _ if block.unerased => Err(Breach::NotErased),
            page if page < block.next => Err(Breach::NotInOrder),
            _ => Ok(()),
        }
    }

    /// Programs a page of which that is left.
    pub(crate) fn program(&mut self, block: u32, page: u32, bytes: Box<[u8]>, left: Remains) {
        let cells = match left {
            Remains::Before => Cells::Erased,
            Remains::Intended => Cells::Hold(bytes),
            Remains::Dead => Cells::Dead,
            Remains::Fading(reads) => Cells::Fade(bytes, reads),
            Remains::Anything => Cells::Hold(self.noisy(block)),
        };
        let block = &mut self.blocks[block as usize];
        block.pages[page as usize] = cells;
        block.next = page as usize + 1;
    }

    /// The pages that share cells with that one and were programmed before are lost.
    pub(crate) fn lose_pair(&mut self, block: u32, page: u32) {
        let shape = self.shape(block);
        let pages = PageCount::new(shape.pages as u32);
        for earlier in shape.pairing.endangered(PageIndex::new(page as u16), pages) {
            let cells = &mut self.blocks[block as usize].pages[earlier.as_usize()];
            // A page that was left out has nothing to lose.
            if *cells != Cells::Erased {
                *cells = Cells::Dead;
            }
        }
    }

    /// Whether the caller may erase or mark that block.
    pub(crate) fn may_change(&self, block: u32) -> Result<(), Breach> {
        match self.blocks.get(block as usize) {
            None => Err(Breach::NoSuchPage),
            Some(block) if block.bad => Err(Breach::Bad),
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn erase(&mut self, block: u32) {
        let block = &mut self.blocks[block as usize];
        block.pages.fill(Cells::Erased);
        (block.next, block.unerased) = (0, false);
    }

    /// An erase that did not end well: of one page in three that is left, the others are as before or as intended.
    pub(crate) fn fail_erase(&mut self, block: u32, left: Remains) {
        for page in 0..self.shape(block).pages {
            let one = match page % 3 {
                0 => left,
                1 => Remains::Before,
                _ => Remains::Intended,
            };
            let cells = match (one, &self.blocks[block as usize].pages[page]) {
                (Remains::Before, before) => before.clone(),
                (Remains::Intended, _) => Cells::Erased,
                (Remains::Dead, _) => Cells::Dead,
                (Remains::Fading(reads), Cells::Hold(bytes)) => Cells::Fade(bytes.clone(), reads),
                (Remains::Fading(_), before) => before.clone(),
                (Remains::Anything, _) => Cells::Hold(self.noisy(block)),
            };
            self.blocks[block as usize].pages[page] = cells;
        }
        self.blocks[block as usize].unerased = true;
    }

    pub(crate) fn is_bad(&self, block: u32) -> Result<bool, Breach> {
        self.blocks.get(block as usize).map(|block| block.bad).ok_or(Breach::NoSuchPage)
    }

    pub(crate) fn bad_blocks(&self) -> u32 {
        self.blocks.iter().filter(|block| block.bad).count() as u32
    }

    pub(crate) fn mark(&mut self, block: u32) {
        self.blocks[block as usize].bad = true;
    }

    /// What a mark may do to its block, whether it takes or not.
    pub(crate) fn destroy(&mut self, block: u32) {
        self.blocks[block as usize].pages.fill(Cells::Dead);
    }

    /// Power is lost, and back: half of the pages that fade are dead.
    pub(crate) fn power_off(&mut self) {
        for cells in self.blocks.iter_mut().flat_map(|block| &mut block.pages) {
            if matches!(cells, Cells::Fade(_, reads) if *reads % 2 == 1) {
                *cells = Cells::Dead;
            }
        }
    }
}
