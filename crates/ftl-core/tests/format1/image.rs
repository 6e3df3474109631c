//! An image: what every page of a device holds, and what each sector must read as. The file is deflated.
//!
//! ```text
//! of each region, SLC first    bits a cell, 0 without the region u32 | blocks u32 | pages a block u32 | page bytes u32
//! contents                     sector bytes u32 | sectors u32 | version of each u32, 0 for zeros
//!                              of a request that a power cut interrupted: first sector, sectors, version u32 each
//! of each block                1 if bad u8 | pages u32 | its pages
//! of a page                    number u32 | 1 unreadable, 0 readable u8 | data and spare area, if it can be read
//! ```
//!
//! Numbers are little-endian. Pages that read as erased are left out. The spare area has 128 bytes. Pages share cells
//! as `region` in `world` has it: with two bits a cell by `Distance3`, with three by `Adjacent3`.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use ftl_iface::{Block, Bytes, Cell, Geometry, NandDevice, Page, PageIndex, Region};
use nand_model::{Chip, Content, FaultInjector};

use crate::truth::{Interrupted, Truth};
use crate::world::{part, region};

/// A chip that may have pages which cannot be read.
pub(crate) type Worn = FaultInjector<Chip>;

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/format1/{name}.bin", env!("CARGO_MANIFEST_DIR")))
}

/// Writes the image of a device.
pub(crate) fn save(name: &str, device: &mut Worn, truth: &Truth) {
    let mut out = Vec::new();
    let geometry = *device.geometry();
    for of in Region::ALL {
        let numbers = geometry.region(of).map_or([0; 4], |shape| {
            let bits = shape.cell as u32 + 1;
            [bits, shape.blocks.get(), shape.pages_per_block.get(), shape.page_bytes.get()]
        });
        for number in numbers {
            put(&mut out, number);
        }
    }
    put(&mut out, truth.sector_bytes as u32);
    put(&mut out, truth.versions.len() as u32);
    let Interrupted { first, count, version } = truth.interrupted;
    for number in truth.versions.iter().copied().chain([first, count, version]) {
        put(&mut out, number);
    }
    for block in blocks(&geometry) {
        out.push(u8::from(device.is_bad(block).expect("a mark")));
        let pages = pages_of(device, block);
        put(&mut out, pages.len() as u32);
        for (index, content) in pages {
            put(&mut out, index.into());
            out.push(u8::from(content.is_none()));
            out.extend(content.unwrap_or_default());
        }
    }
    let mut file = DeflateEncoder::new(Vec::new(), Compression::best());
    file.write_all(&out).expect("deflated");
    fs::write(path(name), file.finish().expect("deflated")).expect("a file that can be written");
}

fn blocks(geometry: &Geometry) -> Vec<Block> {
    let of = |of: Region| {
        let blocks = geometry.region(of).map_or(0, |shape| shape.blocks.get());
        (0..blocks).map(move |block| Block::new(of, block))
    };
    Region::ALL.into_iter().flat_map(of).collect()
}

/// The pages of a block that are not erased; none for those that cannot be read.
fn pages_of(device: &mut Worn, block: Block) -> Vec<(u16, Option<Vec<u8>>)> {
    let shape = *device.geometry().region(block.region()).expect("the region");
    let (data, spare) = (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
    let mut pages = Vec::new();
    for index in 0..shape.pages_per_block.get() as u16 {
        let mut content = vec![0; data + spare];
        let (data, spare) = content.split_at_mut(data);
        match device.read(block.page(PageIndex::new(index)), Bytes::ZERO, data, spare) {
            Ok(_) if content.iter().all(|byte| *byte == 0xFF) => {}
            Ok(_) => pages.push((index, Some(content))),
            Err(_) => pages.push((index, None)),
        }
    }
    pages
}

fn put(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

/// Reads an image, part by part.
struct ImageBytes(Vec<u8>, usize);

impl ImageBytes {
    fn take(&mut self, count: usize) -> &[u8] {
        self.1 += count;
        &self.0[self.1 - count..self.1]
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().expect("four bytes"))
    }
}

/// Loads an image.
pub(crate) fn load(name: &str) -> (Worn, Truth) {
    load_changed(name, |_, _, _| ())
}

/// Loads an image, and changes each page that can be read: its data and its spare area.
pub(crate) fn load_changed(
    name: &str,
    mut change: impl FnMut(Page, &mut [u8], &mut [u8]),
) -> (Worn, Truth) {
    let mut bytes = Vec::new();
    let file = fs::File::open(path(name)).expect("an image of that name");
    DeflateDecoder::new(file).read_to_end(&mut bytes).expect("a deflated image");
    let mut from = ImageBytes(bytes, 0);
    let mut shape = || {
        let [bits, blocks, pages, page_bytes] = std::array::from_fn(|_| from.word());
        let cell =
            [Cell::Slc, Cell::Mlc, Cell::Tlc].into_iter().find(|cell| *cell as u32 + 1 == bits);
        cell.map(|cell| region(cell, blocks, pages, page_bytes))
    };
    let (slc, mlc) = (shape(), shape());
    let geometry = Geometry::new(slc, mlc).expect("a possible geometry");
    let sector_bytes = from.word() as usize;
    let versions = (0..from.word()).map(|_| from.word()).collect();
    let [first, count, version] = std::array::from_fn(|_| from.word());
    let interrupted = Interrupted { first, count, version };
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    let mut device = FaultInjector::new(chip, 1);
    for block in blocks(&geometry) {
        let is_bad = from.byte() > 0;
        let page_bytes = geometry.region(block.region()).expect("the region").page_bytes.as_usize();
        for _ in 0..from.word() {
            let page = block.page(PageIndex::new(from.word() as u16));
            if from.byte() > 0 {
                device.program(page, &vec![0; page_bytes], &[0; 128]).expect("programmed");
                device.lose(page);
                continue;
            }
            let (mut data, mut spare) = (from.take(page_bytes).to_vec(), from.take(128).to_vec());
            change(page, &mut data, &mut spare);
            device.program(page, &data, &spare).expect("programmed");
        }
        if is_bad {
            device.mark_bad(block).expect("marked");
        }
    }
    assert_eq!(from.1, from.0.len(), "the end of the image");
    (device, Truth { sector_bytes, versions, interrupted })
}
