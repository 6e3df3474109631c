//! The second reader. Each function implements a section of `docs/FORMAT.md`.

use std::collections::HashMap;

use ftl_iface::{Block, Bytes, NandDevice, Page, PageCount, PageIndex, Pairing, ReadError, Region};

const HEADER_KEY: u32 = 0x5441_4E44;
const LOG: u8 = 0x33;
const SUMMARY: u8 = 0x3C;
const DATA: u8 = 0x55;
const IN_PLACE: u8 = 0x66;
const TRIM: u8 = 0x69;
const BACKUP: u8 = 0xC3;

/// An area of the device.
#[derive(Clone, Copy)]
struct Area {
    region: Region,
    first: u32,
    blocks: u32,
    pages: u16,
    page_bytes: usize,
    slots: usize,
    /// Which pages share word lines, and whether only the first page of each word line is used.
    pairing: Pairing,
    firsts: bool,
}

/// The address of a sector's content, or none for zeros, and its stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    stamp: u64,
    at: Option<(Region, u32, u16, usize)>,
}

#[derive(Clone)]
struct Tag {
    kind: u8,
    stamp: u64,
    codes: Vec<u32>,
}

enum Spare {
    Erased,
    /// It cannot be read, or holds no tag: a power cut was here, or a failed erase.
    Rubbish,
    Tagged(Tag),
}

pub(crate) struct Reader<'a, D> {
    chip: &'a mut D,
    pub(crate) sector_bytes: usize,
    pub(crate) capacity: u32,
    key: u32,
    log: Option<Area>,
    chain: Area,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at]) | u32::from(bytes[at + 1]) << 8
}

fn tag_check(spare: &[u8], key: u32) -> u32 {
    let codes = (12..spare.len()).step_by(4).map(|at| word(spare, at));
    let words = [word(spare, 0), word(spare, 4), half(spare, 8)].into_iter().chain(codes);
    let hash = words.fold(key, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(0x9E37_79B1);
        hash ^ hash >> 15
    });
    (hash ^ hash >> 16) & 0xFFFF
}

fn payload_check(words: &[u32], key: u32) -> u32 {
    words.iter().fold(key, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(0x85EB_CA6B);
        hash ^ hash >> 13
    })
}

impl Area {
    fn page(self, block: u32, page: u16) -> Page {
        let index =
            if self.firsts { self.pairing.nth_first_page(page) } else { PageIndex::new(page) };
        Block::new(self.region, self.first + block).page(index)
    }

    /// Whether a page may be erased although later ones are programmed.
    fn may_be_left_out(self, page: u16) -> bool {
        let pages = PageCount::new(u32::from(self.pages));
        !self.firsts && !self.pairing.is_first(PageIndex::new(page), pages)
    }
}

impl<'a, D: NandDevice> Reader<'a, D> {
    /// "Header", and "The parts of a device".
    pub(crate) fn open(chip: &'a mut D) -> Self {
        let (region, header) = [Region::Slc, Region::Mlc]
            .into_iter()
            .flat_map(|region| [(region, 0), (region, 1)])
            .find_map(|(region, block)| Some((region, header(chip, region, block)?)))
            .expect("a header");
        let (key, sector_bytes) = (word(&header, 12), word(&header, 16) as usize);
        let (log_blocks, chain_blocks) = (word(&header, 32), word(&header, 36));
        let meta_blocks = half(&header, 10);
        let geometry = *chip.geometry();
        assert_eq!(word(&header, 40), page_bytes(&geometry, region), "the header's first region");
        let part = |region, first, blocks, firsts| {
            let shape = geometry.region(region).expect("the region");
            let page_bytes = shape.page_bytes.as_usize();
            let slots = page_bytes / sector_bytes;
            let (pages, pairing) = (shape.pages_per_block, shape.pairing);
            let pages = if firsts { pairing.word_lines(pages) } else { pages };
            let pages = pages.get() as u16;
            Area { region, first, blocks, pages, page_bytes, slots, pairing, firsts }
        };
        let both = geometry.slc().is_some() && geometry.mlc().is_some();
        let log = (log_blocks > 0).then(|| part(region, meta_blocks, log_blocks, true));
        let chain = if log_blocks > 0 && both {
            part(Region::Mlc, 0, chain_blocks, false)
        } else {
            part(region, meta_blocks + log_blocks, chain_blocks, false)
        };
        Self { chip, sector_bytes, capacity: word(&header, 20), key, log, chain }
    }

    /// "The tag".
    fn tag(&mut self, part: Area, block: u32, page: u16) -> Spare {
        let mut spare = vec![0; 12 + 4 * part.slots];
        let at = part.page(block, page);
        match self.chip.read(at, Bytes::ZERO, &mut [], &mut spare) {
            Ok(_) => {}
            Err(ReadError::Uncorrectable) => return Spare::Rubbish,
            Err(error) => panic!("{error}"),
        }
        if spare.iter().all(|byte| *byte == 0xFF) {
            return Spare::Erased;
        }
        if half(&spare, 10) != tag_check(&spare, self.key) {
            return Spare::Rubbish;
        }
        let stamp = (1..7).rev().fold(0, |stamp, at| stamp << 8 | u64::from(spare[at]));
        let codes = (12..spare.len()).step_by(4).map(|at| word(&spare, at)).collect();
        Spare::Tagged(Tag { kind: spare[0], stamp, codes })
    }

    fn tagged(&mut self, part: Area, block: u32, page: u16) -> Option<Tag> {
        match self.tag(part, block, page) {
            Spare::Tagged(tag) => Some(tag),
            Spare::Erased | Spare::Rubbish => None,
        }
    }

    fn page(&mut self, part: Area, block: u32, page: u16) -> Vec<u8> {
        let mut data = vec![0; part.page_bytes];
        let at = part.page(block, page);
        self.chip.read(at, Bytes::ZERO, &mut data, &mut []).expect("a read");
        data
    }

    fn good_blocks(&mut self, part: Area) -> Vec<u32> {
        let bad = |chip: &mut D, block| chip.is_bad(Block::new(part.region, part.first + block));
        (0..part.blocks).filter(|block| !bad(self.chip, *block).expect("a mark")).collect()
    }

    /// Returns the content at an address, or `None` for zeros.
    pub(crate) fn data(&mut self, place: Newest) -> Option<Vec<u8>> {
        let (region, block, page, slot) = place.at?;
        let bytes = self.sector_bytes;
        let part = if region == self.chain.region { self.chain } else { self.log? };
        let mut data = vec![0; part.page_bytes];
        let at = Block::new(region, block).page(PageIndex::new(page));
        self.chip.read(at, Bytes::ZERO, &mut data, &mut []).expect("a read");
        Some(data[slot * bytes..(slot + 1) * bytes].to_vec())
    }

    /// Returns what one page records of sectors: "What a sector holds".
    fn sayings(&mut self, part: Area, block: u32, page: u16, tag: &Tag) -> Vec<(u32, Newest)> {
        if tag.kind == BACKUP {
            // The backed-up sectors are in their chains, or were there when the backup was made.
            return Vec::new();
        }
        if tag.kind == TRIM {
            let data = self.page(part, block, page);
            let (first, count) = (word(&data, 0), word(&data, 4));
            assert_eq!(word(&data, 8), payload_check(&[first, count], self.key), "a trim's check");
            let forgotten = Newest { stamp: tag.stamp, at: None };
            return (first..first + count).map(|sector| (sector, forgotten)).collect();
        }
        let mut found = Vec::new();
        for (slot, code) in tag.codes.iter().enumerate() {
            let sector = code & ((1 << 30) - 1);
            let at = match code >> 30 {
                0 => Some((
                    part.region,
                    part.first + block,
                    part.page(block, page).index().get(),
                    slot,
                )),
                1 => None,
                _ => continue,
            };
            found.push((sector, Newest { stamp: tag.stamp, at }));
        }
        found
    }

    /// Returns what the pages of a block record, up to the first erased page that may not be skipped.
    fn sayings_of_block(&mut self, part: Area, block: u32) -> Vec<(u32, Newest)> {
        let mut said = Vec::new();
        for page in 0..part.pages {
            match self.tag(part, block, page) {
                Spare::Tagged(tag) => said.extend(self.sayings(part, block, page, &tag)),
                Spare::Rubbish => {}
                Spare::Erased if part.may_be_left_out(page) => {}
                Spare::Erased => break,
            }
        }
        said
    }

    /// Reads every page of the device; among the pages that name a sector, the largest stamp wins.
    pub(crate) fn read_everything(&mut self) -> HashMap<u32, Newest> {
        let mut newest: HashMap<u32, Newest> = HashMap::new();
        for part in self.log.into_iter().chain([self.chain]) {
            for block in self.good_blocks(part) {
                for (sector, place) in self.sayings_of_block(part, block) {
                    let known = newest.entry(sector).or_insert(place);
                    assert!(known.stamp != place.stamp || known.at == place.at);
                    if known.stamp < place.stamp {
                        *known = place;
                    }
                }
            }
        }
        newest
    }

    /// "How to mount".
    pub(crate) fn mount(&mut self) -> Mounted {
        let chains = self.mount_chains();
        let log = match self.log {
            Some(part) => self.mount_log(part),
            None => HashMap::new(),
        };
        Mounted { chains, log }
    }

    /// Steps 2 and 3, and then what the pages of each chain record.
    fn mount_chains(&mut self) -> HashMap<u32, Newest> {
        let part = self.chain;
        let sectors = u32::from(part.pages) * part.slots as u32;
        let mut data: HashMap<u32, (u64, u32)> = HashMap::new();
        let mut logs: HashMap<u32, Vec<(u64, u32)>> = HashMap::new();
        for block in self.good_blocks(part) {
            let Spare::Tagged(first) = self.tag(part, block, 0) else { continue };
            let named = first.codes.iter().find(|code| **code >> 30 != 3).expect("a sector");
            let logical = (named & ((1 << 30) - 1)) / sectors;
            let in_place = |kind: u8| kind == DATA || kind == IN_PLACE;
            let last = self.tagged(part, block, part.pages - 1);
            if in_place(first.kind) && last.is_some_and(|last| in_place(last.kind)) {
                let born = (first.stamp, block);
                data.entry(logical).and_modify(|leads| *leads = born.max(*leads)).or_insert(born);
            } else if first.kind != DATA {
                logs.entry(logical).or_default().push((first.stamp, block));
            }
        }
        let mut found = HashMap::new();
        let logicals: Vec<u32> = data.keys().chain(logs.keys()).copied().collect();
        for logical in logicals {
            let lead = data.get(&logical).copied();
            let mut follow = logs.get(&logical).cloned().unwrap_or_default();
            follow.retain(|born| lead.is_none_or(|lead| lead < *born));
            follow.sort_unstable();
            for (_, block) in lead.into_iter().chain(follow) {
                found.extend(self.sayings_of_block(part, block));
            }
        }
        found
    }

    /// Step 4.
    fn mount_log(&mut self, part: Area) -> HashMap<u32, Newest> {
        let ring = self.good_blocks(part);
        let born: Vec<Option<u64>> =
            ring.iter().map(|block| self.tagged(part, *block, 0).map(|tag| tag.stamp)).collect();
        let mut found = HashMap::new();
        let Some(head) =
            (0..ring.len()).filter(|at| born[*at].is_some()).max_by_key(|at| born[*at])
        else {
            return found;
        };
        let after_head = (1..=ring.len()).map(|step| (head + step) % ring.len());
        let listed_a_page = (part.page_bytes - 8) / 4;
        let summary = (1..part.pages)
            .find(|u| usize::from(part.pages - u) * part.slots <= usize::from(*u) * listed_a_page)
            .expect("a summary fits");
        let data_pages = part.pages - summary;
        for at in after_head.skip_while(|at| born[*at].is_none()) {
            let block = ring[at];
            let summed = |tag: &Tag| tag.kind == SUMMARY;
            if !self.tagged(part, block, part.pages - 1).as_ref().is_some_and(summed) {
                for page in 0..data_pages {
                    let Some(tag) = self.tagged(part, block, page) else { break };
                    if tag.kind == BACKUP {
                        continue;
                    }
                    assert_eq!(tag.kind, LOG);
                    found.extend(self.sayings(part, block, page, &tag));
                }
                if at == head {
                    break;
                }
                continue;
            }
            let codes = self.summary(part, block, data_pages, listed_a_page);
            for (page, codes) in (0..).zip(codes.chunks(part.slots)) {
                // The stamp of a listed page is in its own tag. A block that was closed early lists pages that were
                // never programmed as empty.
                let Some(Tag { stamp, .. }) = self.tagged(part, block, page) else {
                    assert!(codes.iter().all(|code| *code == u32::MAX), "a data page");
                    continue;
                };
                let tag = Tag { kind: LOG, stamp, codes: codes.to_vec() };
                found.extend(self.sayings(part, block, page, &tag));
            }
        }
        found
    }

    /// "Summary".
    fn summary(&mut self, part: Area, block: u32, data_pages: u16, listed: usize) -> Vec<u32> {
        let mut left = usize::from(data_pages) * part.slots;
        let mut codes = Vec::new();
        for page in data_pages..part.pages {
            assert_eq!(self.tagged(part, block, page).map(|tag| tag.kind), Some(SUMMARY));
            let data = self.page(part, block, page);
            let count = left.min(listed);
            assert_eq!(word(&data, 0) as usize, count, "codes of a summary page");
            let here: Vec<u32> = (0..count).map(|at| word(&data, 8 + 4 * at)).collect();
            assert_eq!(word(&data, 4), payload_check(&here, self.key), "a summary's check");
            assert!(data[8 + 4 * count..].iter().all(|byte| *byte == 0xFF));
            codes.extend(here);
            left -= count;
        }
        codes
    }
}

/// "Header": returns the first bytes of a meta block's first page, if they are a header.
fn header<D: NandDevice>(chip: &mut D, region: Region, block: u32) -> Option<Vec<u8>> {
    chip.geometry().region(region)?;
    let mut page = vec![0; 96];
    let at = Block::new(region, block).page(PageIndex::new(0));
    chip.read(at, Bytes::ZERO, &mut page, &mut []).ok()?;
    if page[..8] != *b"TANDEMFT" {
        return None;
    }
    assert_eq!(half(&page, 8), 0x0100, "format 1");
    let wide = u32::from(word(&page, 36) > 65_534);
    assert_eq!(word(&page, 24), wide, "its features");
    let words: Vec<u32> = (0..23).map(|at| word(&page, 4 * at)).collect();
    assert_eq!(word(&page, 92), payload_check(&words, HEADER_KEY), "the header's check");
    Some(page)
}

fn page_bytes(geometry: &ftl_iface::Geometry, region: Region) -> u32 {
    geometry.region(region).expect("the region").page_bytes.get()
}

/// What a mount found: the newest page of each sector in its chain, and in the log.
pub(crate) struct Mounted {
    chains: HashMap<u32, Newest>,
    log: HashMap<u32, Newest>,
}

impl Mounted {
    /// Step 5.
    pub(crate) fn find(&self, sector: u32) -> Option<Newest> {
        match (self.chains.get(&sector), self.log.get(&sector)) {
            (Some(chain), Some(log)) => Some(if chain.stamp > log.stamp { *chain } else { *log }),
            (chain, log) => chain.or(log).copied(),
        }
    }
}
