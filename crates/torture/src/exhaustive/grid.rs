//! The pages and blocks of a small device, counted over both regions.

use ftl_iface::{Block, Geometry, Page, PageIndex, Region, RegionGeometry};

/// A page, counted over all blocks of both regions.
pub(super) type PageAt = u16;

/// A block, counted over both regions, the SLC first.
pub(super) type BlockAt = u8;

/// The most pages of a device.
pub(super) const PAGES_MAX: usize = 192;

/// The most blocks.
pub(super) const BLOCKS_MAX: usize = 40;

/// A device's shape, as tables.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) geometry: Geometry,
    /// The first page of each block, and one more for the end.
    firsts: Vec<PageAt>,
    /// The block of each page.
    blocks: Vec<BlockAt>,
    /// Blocks of the SLC region.
    slc_blocks: u32,
    /// For each page those before it that share its cells.
    endangered: Vec<Vec<PageAt>>,
}

impl Grid {
    /// The tables of this shape; `None` if it is not a small one.
    pub(super) fn new(geometry: &Geometry) -> Option<Self> {
        let slc_blocks = geometry.slc().map_or(0, |region| region.blocks.get());
        let mut grid = Self {
            geometry: *geometry,
            firsts: vec![0],
            blocks: Vec::new(),
            slc_blocks,
            endangered: Vec::new(),
        };
        for region in [geometry.slc(), geometry.mlc()].into_iter().flatten() {
            for _ in 0..region.blocks.get() {
                grid.add_block(region);
            }
        }
        let is_small = grid.pages() <= PAGES_MAX && grid.block_count() <= BLOCKS_MAX;
        is_small.then_some(grid)
    }

    fn add_block(&mut self, region: &RegionGeometry) {
        let first = self.blocks.len() as PageAt;
        let block = self.block_count() as BlockAt;
        for page in 0..region.pages_per_block.get() as u16 {
            let shared = region.pairing.endangered(PageIndex::new(page), region.pages_per_block);
            self.endangered.push(shared.map(|earlier| first + earlier.get()).collect());
            self.blocks.push(block);
        }
        self.firsts.push(self.blocks.len() as PageAt);
    }

    pub(super) const fn pages(&self) -> usize {
        self.blocks.len()
    }

    pub(super) const fn block_count(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The number of a block.
    pub(super) fn block(&self, block: Block) -> BlockAt {
        let before = if block.region() == Region::Slc { 0 } else { self.slc_blocks };
        (before + block.index()) as BlockAt
    }

    /// The number of a page.
    pub(super) fn page(&self, page: Page) -> PageAt {
        self.firsts[usize::from(self.block(page.block()))] + page.index().get()
    }

    /// The block of a page.
    pub(super) fn block_of(&self, page: PageAt) -> BlockAt {
        self.blocks[usize::from(page)]
    }

    /// The block of a page, as the device knows it.
    pub(super) fn block_at(&self, page: PageAt) -> Block {
        let block = u32::from(self.block_of(page));
        match block.checked_sub(self.slc_blocks) {
            Some(index) => Block::new(Region::Mlc, index),
            None => Block::new(Region::Slc, block),
        }
    }

    /// A page's number within its block.
    pub(super) fn index_of(&self, page: PageAt) -> u8 {
        (page - self.firsts[usize::from(self.block_of(page))]) as u8
    }

    /// The pages of a block.
    pub(super) fn pages_of(&self, block: BlockAt) -> std::ops::Range<usize> {
        let block = usize::from(block);
        usize::from(self.firsts[block])..usize::from(self.firsts[block + 1])
    }

    /// The pages that a torn program of this one may corrupt.
    pub(super) fn endangered(&self, page: PageAt) -> &[PageAt] {
        &self.endangered[usize::from(page)]
    }

    /// A block's name in scripts: `S3`, `M0`.
    pub(super) fn name(&self, block: BlockAt) -> String {
        let block = u32::from(block);
        match block.checked_sub(self.slc_blocks) {
            Some(index) => format!("M{index}"),
            None => format!("S{block}"),
        }
    }

    /// A page's name in scripts: `S3:0`.
    pub(super) fn page_name(&self, page: PageAt) -> String {
        format!("{}:{}", self.name(self.block_of(page)), self.index_of(page))
    }

    /// The page with that name.
    pub(super) fn page_named(&self, name: &str) -> Option<PageAt> {
        (0..self.pages() as PageAt).find(|page| self.page_name(*page) == name)
    }
}
