//! The second reader of the page store. Each function implements a section of `docs/FORMAT.md` or `docs/PAGE_STORE.md`.

use std::collections::BTreeMap;
use std::ops::Range;

use ftl_iface::{Block, Bytes, Geometry, NandDevice, PageIndex, ReadError, Region};

/// "What is on flash": kinds of pages with sectors, of map pages, and of empty pages.
const SECTORS: [u8; 2] = [0xF0, 0xA5];
const MAP: [u8; 2] = [0x99, 0xAA];
const PROOF: u8 = 0xC3;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at]) | u32::from(bytes[at + 1]) << 8
}

/// "Check", of tags.
fn tag_check(spare: &[u8], key: u32) -> u32 {
    let codes = (12..spare.len()).step_by(4).map(|at| word(spare, at));
    let words = [word(spare, 0), word(spare, 4), half(spare, 8)].into_iter().chain(codes);
    let hash = words.fold(key, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(0x9E37_79B1);
        hash ^ hash >> 15
    });
    (hash ^ hash >> 16) & 0xFFFF
}

/// "Check", of headers and map pages.
fn page_check(bytes: &[u8], key: u32) -> u32 {
    bytes.chunks(4).fold(key, |hash, four| {
        let hash = (hash ^ word(four, 0)).wrapping_mul(0x85EB_CA6B);
        hash ^ hash >> 13
    })
}

/// An area, in the numbering of addresses and map pages.
#[derive(Clone, Copy)]
struct Area {
    region: Region,
    first: u32,
    blocks: u32,
    pages: u32,
    page_bytes: usize,
    slots: u32,
}

impl Area {
    fn new(geometry: &Geometry, region: Region, blocks: Range<u32>, sector_bytes: usize) -> Self {
        let shape = geometry.region(region).expect("the region");
        let page_bytes = shape.page_bytes.as_usize();
        let (pages, slots) = (shape.pages_per_block.get(), (page_bytes / sector_bytes) as u32);
        let (first, blocks) = (blocks.start, blocks.end - blocks.start);
        Self { region, first, blocks, pages, page_bytes, slots }
    }

    const fn places(&self) -> u32 {
        self.blocks * self.pages * self.slots
    }
}

/// The content of a tag.
struct Tag {
    kind: u8,
    stamp: u64,
    codes: Vec<u32>,
}

/// The address of a sector: the number of a slot.
pub(crate) type PageNumber = u32;

pub(crate) struct Reader<'a, D> {
    chip: &'a mut D,
    key: u32,
    capacity: u32,
    sector_bytes: usize,
    areas: Vec<Area>,
}

impl<'a, D: NandDevice> Reader<'a, D> {
    /// Reads the header, which has the division of the device.
    pub(crate) fn open(chip: &'a mut D) -> Self {
        let geometry = *chip.geometry();
        let both = geometry.slc().is_some() && geometry.mlc().is_some();
        let map = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        let mut header = [0; 96];
        for block in 0..2 {
            let page = Block::new(map, block).page(PageIndex::new(0));
            let bad = chip.is_bad(page.block()).expect("a mark");
            if !bad && chip.read(page, Bytes::ZERO, &mut header, &mut []).is_ok() {
                break;
            }
        }
        assert_eq!(&header[..8], b"TANDEMPG");
        assert_eq!(half(&header, 8), 0x0100, "format 1");
        assert_eq!(word(&header, 24), 0, "its features");
        assert_eq!(word(&header, 92), page_check(&header[..92], 0x5441_4E44), "its check");
        let sector_bytes = word(&header, 16) as usize;
        let (anchors, main, fast) = (half(&header, 10), word(&header, 40), word(&header, 56));
        let shape = geometry.mlc().or(geometry.slc()).expect("a region");
        assert_eq!(word(&header, 44), shape.page_bytes.get());
        assert_eq!(word(&header, 48), shape.pages_per_block.get());
        let behind = 2 + anchors;
        let areas = if both {
            vec![
                Area::new(&geometry, Region::Slc, behind..behind + fast, sector_bytes),
                Area::new(&geometry, Region::Mlc, 0..main, sector_bytes),
            ]
        } else {
            vec![Area::new(&geometry, map, behind..behind + main, sector_bytes)]
        };
        let (key, capacity) = (word(&header, 12), word(&header, 20));
        Self { chip, key, capacity, sector_bytes, areas }
    }

    fn tag(&mut self, area: Area, block: u32, page: u32) -> Option<Tag> {
        let mut spare = vec![0; 12 + 4 * area.slots as usize];
        let at = Block::new(area.region, area.first + block).page(PageIndex::new(page as u16));
        match self.chip.read(at, Bytes::ZERO, &mut [], &mut spare) {
            Ok(_) => {}
            // A power cut was here.
            Err(ReadError::Uncorrectable) => return None,
            Err(error) => panic!("{error}"),
        }
        // Erased, or what a failed erase has left.
        if half(&spare, 10) != tag_check(&spare, self.key) {
            return None;
        }
        let stamp = (1..7).rev().fold(0, |stamp, at| stamp << 8 | u64::from(spare[at]));
        let codes = (12..spare.len()).step_by(4).map(|at| word(&spare, at)).collect();
        Some(Tag { kind: spare[0], stamp, codes })
    }

    fn data(&mut self, area: Area, block: u32, page: u32) -> Vec<u8> {
        let mut data = vec![0; area.page_bytes];
        let at = Block::new(area.region, area.first + block).page(PageIndex::new(page as u16));
        self.chip.read(at, Bytes::ZERO, &mut data, &mut []).expect("a read");
        data
    }

    /// Returns the bytes of an address in a map page: as few as can number all addresses and two more.
    fn width(&self) -> usize {
        let numbers = self.areas.iter().map(Area::places).sum::<u32>() + 2;
        (1..4).find(|bytes| u64::from(numbers) <= 1 << (8 * bytes)).unwrap_or(4)
    }

    /// Finds the addresses of all sectors. Among the pages of a leaf, and among the tags of a sector, the largest stamp
    /// wins; a leaf's page is complete up to its own stamp.
    pub(crate) fn places(&mut self) -> BTreeMap<u32, PageNumber> {
        let mut leaves: BTreeMap<u32, (u64, Vec<u8>)> = BTreeMap::new();
        let mut tags: BTreeMap<u32, (u64, PageNumber)> = BTreeMap::new();
        let mut first_place = 0;
        for area in self.areas.clone() {
            for (block, page) in
                (0..area.blocks).flat_map(|block| (0..area.pages).map(move |page| (block, page)))
            {
                let Some(tag) = self.tag(area, block, page) else { continue };
                if MAP.contains(&tag.kind) {
                    let data = self.data(area, block, page);
                    assert_eq!(word(&data, 0), page_check(&data[4..], self.key ^ 0x4D41_5021));
                    let newest =
                        leaves.get(&tag.codes[0]).is_none_or(|(stamp, _)| *stamp < tag.stamp);
                    if newest {
                        leaves.insert(tag.codes[0], (tag.stamp, data));
                    }
                    continue;
                }
                assert!(SECTORS.contains(&tag.kind) || tag.kind == PROOF, "{:x}", tag.kind);
                for (slot, code) in (0..).zip(&tag.codes).filter(|(_, code)| **code >> 30 == 0) {
                    let place = first_place + (block * area.pages + page) * area.slots + slot;
                    let newest = tags.get(code).is_none_or(|(stamp, _)| *stamp < tag.stamp);
                    if newest {
                        tags.insert(*code, (tag.stamp, place));
                    }
                }
            }
            first_place += area.places();
        }
        let width = self.width();
        let nowhere = (1_u64 << (8 * width)) - 1;
        let in_leaf = ((self.areas[0].page_bytes - 12) / width) as u32;
        let newest = |sector: u32| {
            let (written, mapped) = match leaves.get(&(sector / in_leaf)) {
                None => (0, None),
                Some((stamp, data)) => {
                    let at = 12 + (sector % in_leaf) as usize * width;
                    let field = data[at..at + width].iter().rev();
                    let number = field.fold(0, |number, byte| number << 8 | u64::from(*byte));
                    assert_ne!(number, nowhere - 1, "nothing is lost");
                    (*stamp, (number != nowhere).then_some(number as PageNumber))
                }
            };
            match tags.get(&sector) {
                Some((stamp, place)) if *stamp > written => Some(*place),
                _ => mapped,
            }
        };
        (0..self.capacity).filter_map(|sector| Some((sector, newest(sector)?))).collect()
    }

    /// Returns the content at an address, which must hold that sector.
    pub(crate) fn at(&mut self, place: PageNumber, sector: u32) -> Vec<u8> {
        let (fast, bytes) = (self.areas[0].places(), self.sector_bytes);
        let (area, within) =
            if place < fast { (self.areas[0], place) } else { (self.areas[1], place - fast) };
        let (page, slot) = (within / area.slots, within % area.slots);
        let (block, page) = (page / area.pages, page % area.pages);
        let tag = self.tag(area, block, page).expect("a page");
        assert_eq!(tag.codes[slot as usize], sector, "place {place}");
        self.data(area, block, page)[slot as usize * bytes..][..bytes].to_vec()
    }
}
