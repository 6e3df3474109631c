//! The devices that must fit behind [`NandDevice`], each built and tried: one chip in two modes, two chips behind one
//! controller, an SLC chip alone, an MLC chip alone. And the geometries that fit nothing.

use core::convert::Infallible;

use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Corrected, EraseError, Geometry, GeometryError, MarkError,
    NandDevice, Page, PageCount, PageIndex, Pairing, ProgramError, ReadError, Region,
    RegionGeometry,
};

const SLC: RegionGeometry = RegionGeometry {
    cell: Cell::Slc,
    blocks: BlockCount::new(4),
    pages_per_block: PageCount::new(8),
    page_bytes: Bytes::new(512),
    spare_bytes: Bytes::new(16),
    pairing: Pairing::None,
};

const MLC: RegionGeometry = RegionGeometry {
    cell: Cell::Mlc,
    blocks: BlockCount::new(6),
    pages_per_block: PageCount::new(16),
    page_bytes: Bytes::new(1024),
    spare_bytes: Bytes::new(40),
    pairing: Pairing::Distance3,
};

/// What a test device keeps of a block.
#[derive(Clone, Default)]
struct Stored {
    /// Data and spare of each page that was programmed.
    pages: Vec<Option<(Vec<u8>, Vec<u8>)>>,
    bad: bool,
}

/// A chip in RAM: one array of blocks, of which the first ones work in SLC mode and the others in MLC mode. A plain
/// chip has no blocks of the other mode.
struct Ram {
    geometry: Geometry,
    array: Vec<Stored>,
}

impl Ram {
    fn new(slc: Option<RegionGeometry>, mlc: Option<RegionGeometry>) -> Self {
        let geometry = Geometry::new(slc, mlc).expect("a possible geometry");
        let blocks =
            [slc, mlc].iter().flatten().map(|shape| shape.blocks.as_usize()).sum::<usize>();
        Self { geometry, array: vec![Stored::default(); blocks] }
    }

    fn stored(&mut self, block: Block) -> &mut Stored {
        assert!(self.geometry.contains_block(block), "{block} is not of this device");
        let slc_blocks = self.geometry.slc().map_or(0, |slc| slc.blocks.as_usize());
        let first = if block.region() == Region::Slc { 0 } else { slc_blocks };
        &mut self.array[first + block.index() as usize]
    }

    fn shape(&self, page: Page) -> RegionGeometry {
        assert!(self.geometry.contains(page), "{page} is not of this device");
        *self.geometry.region(page.region()).expect("the page's region")
    }
}

impl NandDevice for Ram {
    type Error = Infallible;

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        let shape = self.shape(page);
        assert!(
            at.as_usize() + data.len() <= shape.page_bytes.as_usize(),
            "{page}: read beyond it"
        );
        assert!(spare.len() <= shape.spare_bytes.as_usize(), "{page}: read beyond its spare");
        let programmed = self.stored(page.block()).pages.get(page.index().as_usize());
        if let Some(Some((stored_data, stored_spare))) = programmed {
            data.copy_from_slice(&stored_data[at.as_usize()..at.as_usize() + data.len()]);
            spare.copy_from_slice(&stored_spare[..spare.len()]);
        } else {
            data.fill(0xFF);
            spare.fill(0xFF);
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        let shape = self.shape(page);
        assert_eq!(data.len(), shape.page_bytes.as_usize(), "{page}: data of another size");
        assert_eq!(spare.len(), shape.spare_bytes.as_usize(), "{page}: spare of another size");
        let stored = self.stored(page.block());
        assert!(!stored.bad, "{page}: its block is bad");
        assert!(stored.pages.len() <= page.index().as_usize(), "{page}: not in rising order");
        stored.pages.resize(page.index().as_usize(), None);
        stored.pages.push(Some((data.into(), spare.into())));
        Ok(())
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        let stored = self.stored(block);
        assert!(!stored.bad, "{block} is bad");
        stored.pages.clear();
        Ok(())
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        Ok(self.stored(block).bad)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.stored(block).bad = true;
        Ok(())
    }
}

/// A controller with two chips on its bus. Each numbers its own blocks from zero, and so do the regions.
struct Controller {
    geometry: Geometry,
    slc: Ram,
    mlc: Ram,
}

impl Controller {
    fn new(slc: RegionGeometry, mlc: RegionGeometry) -> Self {
        Self {
            geometry: Geometry::new(Some(slc), Some(mlc)).expect("a possible geometry"),
            slc: Ram::new(Some(slc), None),
            mlc: Ram::new(None, Some(mlc)),
        }
    }

    fn chip(&mut self, region: Region) -> &mut Ram {
        match region {
            Region::Slc => &mut self.slc,
            Region::Mlc => &mut self.mlc,
        }
    }
}

impl NandDevice for Controller {
    type Error = Infallible;

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.chip(page.region()).read(page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        self.chip(page.region()).program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.chip(block.region()).erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        self.chip(block.region()).is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.chip(block.region()).mark_bad(block)
    }
}

// What every device is asked for, through the trait alone.

/// Bytes that tell one page from another.
fn content(page: Page, bytes: Bytes) -> Vec<u8> {
    let seed = page.block().index() * 31 + u32::from(page.index().get()) * 7;
    let seed = seed + if page.region() == Region::Slc { 1 } else { 2 };
    (0..bytes.get()).map(|at| (seed + at) as u8).collect()
}

fn program<D: NandDevice>(mut device: D, page: Page) {
    let shape = *device.geometry().region(page.region()).unwrap();
    let data = content(page, shape.page_bytes);
    device.program(page, &data, &data[..shape.spare_bytes.as_usize()]).unwrap();
}

/// The whole page and its spare area.
fn read<D: NandDevice>(mut device: D, page: Page) -> (Vec<u8>, Vec<u8>) {
    let shape = *device.geometry().region(page.region()).unwrap();
    let mut data = vec![0; shape.page_bytes.as_usize()];
    let mut spare = vec![0; shape.spare_bytes.as_usize()];
    device.read(page, Bytes::ZERO, &mut data, &mut spare).unwrap();
    (data, spare)
}

#[track_caller]
fn assert_holds<D: NandDevice>(device: D, page: Page) {
    let (data, spare) = read(device, page);
    assert_eq!(data, content(page, Bytes::new(data.len() as u32)), "{page}");
    assert_eq!(spare, data[..spare.len()], "{page}");
}

#[track_caller]
fn assert_erased<D: NandDevice>(device: D, page: Page) {
    let (data, spare) = read(device, page);
    assert!(data.iter().chain(&spare).all(|byte| *byte == 0xFF), "{page}");
}

fn regions<D: NandDevice>(device: &D) -> Vec<(Region, RegionGeometry)> {
    let geometry = device.geometry();
    Region::ALL.into_iter().filter_map(|r| geometry.region(r).map(|shape| (r, *shape))).collect()
}

/// Tries the contract on every region of the device.
fn try_contract<D: NandDevice>(mut device: D) {
    let regions = regions(&device);
    for (region, shape) in &regions {
        try_pages(&mut device, *region, shape);
        try_bad_mark(&mut device, Block::new(*region, shape.blocks.get() - 1));
    }
    // What was done to one region left the other as it was.
    for (region, _) in &regions {
        assert_holds(&mut device, Block::new(*region, 1).page(PageIndex::new(0)));
    }
}

fn try_pages<D: NandDevice>(mut device: D, region: Region, shape: &RegionGeometry) {
    let page = |block, index| Block::new(region, block).page(PageIndex::new(index));
    let last = shape.pages_per_block.get() as u16 - 1;
    assert_erased(&mut device, page(0, 0));
    for (block, index) in [(0, 0), (0, 1), (0, 3), (0, last), (1, 0)] {
        program(&mut device, page(block, index));
    }
    for (block, index) in [(0, 0), (0, 1), (0, 3), (0, last), (1, 0)] {
        assert_holds(&mut device, page(block, index));
    }
    // A page that was left out reads as erased.
    assert_erased(&mut device, page(0, 2));
    try_partial_reads(&mut device, page(0, 1));
    device.erase(Block::new(region, 0)).unwrap();
    for index in 0..=last {
        assert_erased(&mut device, page(0, index));
    }
    program(&mut device, page(0, 0));
    assert_holds(&mut device, page(0, 0));
    assert_holds(&mut device, page(1, 0));
}

fn try_partial_reads<D: NandDevice>(mut device: D, page: Page) {
    let (data, spare) = read(&mut device, page);
    let mut middle = [0; 100];
    device.read(page, Bytes::new(300), &mut middle, &mut []).unwrap();
    assert_eq!(middle, data[300..400], "{page}: part of its data");
    let mut first = [0; 5];
    device.read(page, Bytes::ZERO, &mut [], &mut first).unwrap();
    assert_eq!(first, spare[..5], "{page}: the first bytes of its spare area alone");
    let corrected = device.read(page, Bytes::ZERO, &mut [], &mut []).unwrap();
    assert_eq!(corrected, Corrected::NONE, "{page}: nothing at all");
}

fn try_bad_mark<D: NandDevice>(mut device: D, block: Block) {
    let page = block.page(PageIndex::new(0));
    program(&mut device, page);
    assert!(!device.is_bad(block).unwrap(), "{block}");
    device.mark_bad(block).unwrap();
    assert!(device.is_bad(block).unwrap(), "{block}");
    assert!(!device.is_bad(Block::new(block.region(), 0)).unwrap(), "{block} alone");
    // It may still be read, for what it holds.
    assert_holds(&mut device, page);
}

// The shapes.

#[test]
fn one_chip_in_two_modes_is_a_device() {
    // In SLC mode a block has half the pages; everything else is the same silicon.
    let slc_mode = RegionGeometry { cell: Cell::Slc, pairing: Pairing::None, ..MLC };
    let slc_mode = RegionGeometry { pages_per_block: PageCount::new(8), ..slc_mode };
    let mut chip = Ram::new(Some(slc_mode), Some(MLC));
    try_contract(&mut chip);
    assert_eq!(chip.array.len(), 12, "both regions lie in one array of blocks");
}

#[test]
fn two_chips_behind_one_controller_are_a_device() {
    let mut controller = Controller::new(SLC, MLC);
    try_contract(&mut controller);
    // Block 0 of the SLC region and block 0 of the MLC region are different blocks of different chips.
    let (slc, mlc) = (Block::new(Region::Slc, 0), Block::new(Region::Mlc, 0));
    controller.erase(slc).unwrap();
    assert_erased(&mut controller, slc.page(PageIndex::new(0)));
    assert_holds(&mut controller, mlc.page(PageIndex::new(0)));
}

#[test]
fn an_slc_chip_alone_is_a_device() {
    let mut chip = Ram::new(Some(SLC), None);
    assert!(chip.geometry().mlc().is_none());
    assert!(!chip.geometry().contains_block(Block::new(Region::Mlc, 0)));
    try_contract(&mut chip);
}

#[test]
fn an_mlc_chip_alone_is_a_device() {
    let mut chip = Ram::new(None, Some(MLC));
    assert!(chip.geometry().slc().is_none());
    assert!(!chip.geometry().contains_block(Block::new(Region::Slc, 0)));
    try_contract(&mut chip);
}

#[test]
fn a_device_may_be_lent_and_taken_back() {
    let mut chip = Ram::new(Some(SLC), Some(MLC));
    let page = Block::new(Region::Mlc, 3).page(PageIndex::new(0));
    {
        let mut lent: &mut dyn NandDevice<Error = Infallible> = &mut chip;
        program(&mut lent, page);
        assert_holds(&mut lent, page);
    }
    assert_holds(&mut chip, page);
}

#[test]
fn a_geometry_knows_which_places_are_its_own() {
    let geometry = Geometry::new(Some(SLC), Some(MLC)).unwrap();
    for (region, shape) in [(Region::Slc, SLC), (Region::Mlc, MLC)] {
        let (blocks, pages) = (shape.blocks.get(), shape.pages_per_block.get() as u16);
        let page = |block, index| Block::new(region, block).page(PageIndex::new(index));
        assert!(geometry.contains(page(blocks - 1, pages - 1)));
        assert!(!geometry.contains(page(blocks - 1, pages)));
        assert!(!geometry.contains(page(blocks, 0)));
        assert!(geometry.contains_block(Block::new(region, blocks - 1)));
        assert!(!geometry.contains_block(Block::new(region, blocks)));
        assert_eq!(geometry.region(region), Some(&shape));
    }
    assert_eq!(SLC.capacity_bytes(), 4 * 8 * 512);
    assert_eq!(MLC.block_bytes(), 16 * 1024);
    assert_eq!(MLC.pages(), 6 * 16);
}

// The geometries that fit nothing.

/// Asserts that the regions are refused, and that the sentence names what to mend.
#[track_caller]
fn assert_refused(
    slc: Option<RegionGeometry>,
    mlc: Option<RegionGeometry>,
    expected: GeometryError,
    telling: &str,
) {
    let error = Geometry::new(slc, mlc).unwrap_err();
    assert_eq!(error, expected);
    assert!(error.to_string().contains(telling), "{error}");
}

#[test]
fn a_device_without_a_region_is_refused() {
    assert_refused(None, None, GeometryError::NoRegion, "no region");
}

#[test]
fn a_region_without_blocks_is_refused() {
    let empty = RegionGeometry { blocks: BlockCount::ZERO, ..SLC };
    assert_refused(Some(empty), None, GeometryError::NoBlocks(Region::Slc), "at least 1");
}

#[test]
fn a_block_without_pages_or_with_too_many_is_refused() {
    for pages in [PageCount::ZERO, PageCount::new(65_536)] {
        let shape = RegionGeometry { pages_per_block: pages, ..MLC };
        let expected = GeometryError::PagesPerBlock(Region::Mlc, pages);
        assert_refused(Some(SLC), Some(shape), expected, "1 to 65535");
    }
}

#[test]
fn a_page_of_no_power_of_two_from_512_up_is_refused() {
    for bytes in [0, 256, 513, 3072] {
        let bytes = Bytes::new(bytes);
        let shape = RegionGeometry { page_bytes: bytes, ..SLC };
        let expected = GeometryError::PageBytes(Region::Slc, bytes);
        assert_refused(Some(shape), Some(MLC), expected, "power of two");
    }
}

#[test]
fn more_pages_than_32_bits_number_are_refused() {
    let shape = RegionGeometry { blocks: BlockCount::new(u32::MAX / 8), ..MLC };
    let expected = GeometryError::TooManyPages(Region::Mlc);
    assert_refused(None, Some(shape), expected, "fewer blocks");
}

#[test]
fn a_cell_and_a_pairing_that_disagree_are_refused() {
    let paired = RegionGeometry { pairing: Pairing::Adjacent2, ..SLC };
    let expected = GeometryError::Pairing(Region::Slc, Cell::Slc);
    assert_refused(Some(paired), None, expected, "must be \"none\"");
    for cell in [Cell::Mlc, Cell::Tlc] {
        let alone = RegionGeometry { cell, pairing: Pairing::None, ..MLC };
        let expected = GeometryError::Pairing(Region::Mlc, cell);
        assert_refused(None, Some(alone), expected, "name the scheme");
    }
}

#[test]
fn a_region_of_the_wrong_cells_is_refused() {
    let dense = RegionGeometry { cell: Cell::Tlc, pairing: Pairing::Adjacent3, ..SLC };
    let expected = GeometryError::SlcRegionStoresMoreBits(Cell::Tlc);
    assert_refused(Some(dense), None, expected, "as the MLC region");
    let expected = GeometryError::MlcRegionStoresOneBit;
    assert_refused(None, Some(SLC), expected, "as the SLC region");
}

#[cfg(feature = "serde")]
mod with_serde {
    use super::{MLC, SLC};
    use ftl_iface::{Block, PageIndex, Region, RegionGeometry, Sector, SectorCount};

    #[track_caller]
    fn assert_round_trip<T>(value: &T, json: &str)
    where
        T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + core::fmt::Debug,
    {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
    }

    #[test]
    fn places_and_counts_survive_a_round_trip() {
        assert_round_trip(&Sector::new(7), "7");
        assert_round_trip(&SectorCount::new(8), "8");
        assert_round_trip(&Region::Mlc, "\"mlc\"");
        let block = Block::new(Region::Slc, 3);
        assert_round_trip(&block, r#"{"region":"slc","index":3}"#);
        let page = block.page(PageIndex::new(5));
        assert_round_trip(&page, r#"{"block":{"region":"slc","index":3},"index":5}"#);
    }

    #[test]
    fn region_geometries_survive_a_round_trip() {
        for shape in [SLC, MLC] {
            let json = serde_json::to_string(&shape).unwrap();
            assert_eq!(serde_json::from_str::<RegionGeometry>(&json).unwrap(), shape, "{json}");
        }
    }
}

#[test]
fn a_page_or_spare_area_beyond_any_nand_is_refused() {
    let page = RegionGeometry { page_bytes: Bytes::new(128 << 10), ..SLC };
    assert_eq!(
        Geometry::new(Some(page), None),
        Err(GeometryError::PageBytes(Region::Slc, Bytes::new(128 << 10)))
    );
    let spare = RegionGeometry { spare_bytes: SLC.page_bytes + Bytes::new(1), ..SLC };
    assert_eq!(
        Geometry::new(Some(spare), None),
        Err(GeometryError::SpareBytes(Region::Slc, SLC.page_bytes + Bytes::new(1)))
    );
}
