//! A record of the journal: an operation on the chip, and all else that decides what later reads find.
//!
//! ```text
//!   record  kind u8 | region u8 | block u32 | page u16 | fate u8 | reads u32 | pair u8 | data, spare of programs
//! ```
//!
//! Numbers are little-endian; data and spare have the lengths of the region. Two codes of a kind or of a region differ
//! in two bits at least, and no kind is zero: the length of a damaged record is not taken for another.

use ftl_iface::{Block, Bytes, Geometry, NandDevice, PageIndex, Region, RegionGeometry};
use nand_model::power::{BlockFate, MarkFate, PageFate, PairFate, Tear};

use super::device::Device;

/// What happened to the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    Program {
        at: (Block, PageIndex),
        data: &'a [u8],
        spare: &'a [u8],
    },
    Erase(Block),
    Mark(Block),
    TornProgram {
        at: (Block, PageIndex),
        data: &'a [u8],
        spare: &'a [u8],
        fate: (PageFate, PairFate),
    },
    TornErase(Block, BlockFate),
    TornMark(Block, MarkFate),
    /// A read that decides later ones.
    Read(Block, PageIndex),
    PowerOff,
    /// A flush: what is before it was on the machine's disk when the client heard of it.
    Flushed,
}

/// A record without data and spare bytes.
pub(super) const LEAST: usize = 14;

const PROGRAM: u8 = 0x03;
const ERASE: u8 = 0x05;
const MARK: u8 = 0x06;
const TORN_PROGRAM: u8 = 0x09;
const TORN_ERASE: u8 = 0x0A;
const READ: u8 = 0x0C;
const POWER_OFF: u8 = 0x11;
const FLUSHED: u8 = 0x12;
const TORN_MARK: u8 = 0x14;

const SLC: u8 = b'S';
const MLC: u8 = b'M';
const NOWHERE: u8 = b'-';

impl Event<'_> {
    /// Adds its record.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let none = PageIndex::default();
        let (kind, place, fate, pair) = match *self {
            Self::Program { at, .. } => (PROGRAM, Some(at), (0, 0), 0),
            Self::Erase(block) => (ERASE, Some((block, none)), (0, 0), 0),
            Self::Mark(block) => (MARK, Some((block, none)), (0, 0), 0),
            Self::TornProgram { at, fate: (fate, pair), .. } => {
                (TORN_PROGRAM, Some(at), page_fate(fate), u8::from(pair == PairFate::Lost))
            }
            Self::TornErase(block, fate) => {
                (TORN_ERASE, Some((block, none)), (block_fate(fate), 0), 0)
            }
            Self::TornMark(block, fate) => {
                (TORN_MARK, Some((block, none)), (mark_fate(fate), 0), 0)
            }
            Self::Read(block, page) => (READ, Some((block, page)), (0, 0), 0),
            Self::PowerOff => (POWER_OFF, None, (0, 0), 0),
            Self::Flushed => (FLUSHED, None, (0, 0), 0),
        };
        let region = place.map_or(NOWHERE, |(block, _)| region_code(block.region()));
        let (block, page) = place.map_or((0, 0), |(block, page)| (block.index(), page.get()));
        out.extend_from_slice(&[kind, region]);
        out.extend_from_slice(&block.to_le_bytes());
        out.extend_from_slice(&page.to_le_bytes());
        out.push(fate.0);
        out.extend_from_slice(&fate.1.to_le_bytes());
        out.push(pair);
        if let Self::Program { data, spare, .. } | Self::TornProgram { data, spare, .. } = self {
            out.extend_from_slice(data);
            out.extend_from_slice(spare);
        }
    }

    /// Does to the device what happened. `None`: the chip's rules forbid it, so that it cannot have happened.
    pub(super) fn repeat(self, device: &mut Device) -> Option<()> {
        let is_possible = match self {
            Self::Program { at: (block, page), .. }
            | Self::TornProgram { at: (block, page), .. } => device.takes_program(block.page(page)),
            Self::Erase(block) | Self::TornErase(block, _) => device.takes_erase(block),
            Self::Read(block, page) => device.has(block.page(page)),
            Self::Mark(_) | Self::TornMark(..) | Self::PowerOff | Self::Flushed => true,
        };
        is_possible.then(|| self.happen(device))
    }

    fn happen(self, device: &mut Device) {
        // Failures come from the same dice as the first time, and are no news.
        let _is_done = match self {
            Self::Program { at: (block, page), data, spare } => {
                device.program(block.page(page), data, spare).is_ok()
            }
            Self::Erase(block) => device.erase(block).is_ok(),
            Self::Mark(block) => device.mark_bad(block).is_ok(),
            Self::TornProgram { at: (block, page), data, spare, fate: (fate, pair) } => {
                device.tear_program(block.page(page), data, spare, fate, pair).is_ok()
            }
            Self::TornErase(block, fate) => device.tear_erase(block, fate).is_ok(),
            Self::TornMark(block, fate) => device.tear_mark(block, fate).is_ok(),
            Self::Read(block, page) => {
                device.read(block.page(page), Bytes::ZERO, &mut [], &mut []).is_ok()
            }
            Self::PowerOff => {
                device.power_off();
                true
            }
            Self::Flushed => true,
        };
    }
}

/// The bytes of the record that begins so. `None`: no record does.
pub(super) fn length(kind: u8, region: u8, geometry: &Geometry) -> Option<usize> {
    match kind {
        PROGRAM | TORN_PROGRAM => Some(LEAST + payload(geometry.region(region_of(region)?)?)),
        ERASE | MARK | TORN_ERASE | TORN_MARK | READ => {
            geometry.region(region_of(region)?)?;
            Some(LEAST)
        }
        POWER_OFF | FLUSHED => (region == NOWHERE).then_some(LEAST),
        _ => None,
    }
}

/// Whether a record may begin with that byte.
pub(super) const fn is_kind(kind: u8) -> bool {
    matches!(
        kind,
        PROGRAM | ERASE | MARK | TORN_PROGRAM | TORN_ERASE | TORN_MARK | READ | POWER_OFF | FLUSHED
    )
}

/// The longest record.
pub(super) fn longest(geometry: &Geometry) -> usize {
    let shapes = Region::ALL.iter().filter_map(|region| geometry.region(*region));
    LEAST + shapes.map(payload).max().unwrap_or(0)
}

/// Reads a whole record. `None`: it names what there is not.
pub(super) fn take<'a>(record: &'a [u8], geometry: &Geometry) -> Option<Event<'a>> {
    let (head, content) = record.split_first_chunk::<LEAST>()?;
    let [kind, region, block @ .., _, _, _, _, _, _, _, _] = *head;
    match kind {
        POWER_OFF => return Some(Event::PowerOff),
        FLUSHED => return Some(Event::Flushed),
        _ => {}
    }
    let region = region_of(region)?;
    let shape = geometry.region(region)?;
    let index = u32::from_le_bytes(block);
    let block = (index < shape.blocks.get()).then(|| Block::new(region, index))?;
    let at = (block, PageIndex::new(u16::from_le_bytes([head[6], head[7]])));
    let reads = u32::from_le_bytes([head[9], head[10], head[11], head[12]]);
    let (data, spare) =
        content.split_at_checked(shape.page_bytes.as_usize()).unwrap_or((content, &[]));
    Some(match kind {
        PROGRAM => Event::Program { at, data, spare },
        ERASE => Event::Erase(block),
        MARK => Event::Mark(block),
        TORN_PROGRAM => {
            let pair = if head[13] == 0 { PairFate::Kept } else { PairFate::Lost };
            Event::TornProgram { at, data, spare, fate: (page_fate_of(head[8], reads)?, pair) }
        }
        TORN_ERASE => Event::TornErase(block, block_fate_of(head[8])?),
        TORN_MARK => Event::TornMark(block, mark_fate_of(head[8])?),
        READ => Event::Read(at.0, at.1),
        _ => return None,
    })
}

/// The kind and the region of a record of version 1, as this version writes them.
pub(super) fn of_version_1(kind: u8, region: u8) -> Option<[u8; 2]> {
    let kind = [PROGRAM, ERASE, MARK, TORN_PROGRAM, TORN_ERASE].get(usize::from(kind))?;
    let region = Region::ALL.get(usize::from(region))?;
    Some([*kind, region_code(*region)])
}

const fn payload(shape: &RegionGeometry) -> usize {
    shape.page_bytes.as_usize() + shape.spare_bytes.as_usize()
}

const fn region_code(region: Region) -> u8 {
    match region {
        Region::Slc => SLC,
        Region::Mlc => MLC,
    }
}

const fn region_of(code: u8) -> Option<Region> {
    match code {
        SLC => Some(Region::Slc),
        MLC => Some(Region::Mlc),
        _ => None,
    }
}

const fn page_fate(fate: PageFate) -> (u8, u32) {
    match fate {
        PageFate::Untouched => (0, 0),
        PageFate::Complete => (1, 0),
        PageFate::Uncorrectable => (2, 0),
        PageFate::ReadsErased => (3, 0),
        PageFate::Unstable { reads } => (4, reads),
        PageFate::Fading => (5, 0),
    }
}

const fn page_fate_of(code: u8, reads: u32) -> Option<PageFate> {
    Some(match code {
        0 => PageFate::Untouched,
        1 => PageFate::Complete,
        2 => PageFate::Uncorrectable,
        3 => PageFate::ReadsErased,
        4 => PageFate::Unstable { reads },
        5 => PageFate::Fading,
        _ => return None,
    })
}

const fn mark_fate(fate: MarkFate) -> u8 {
    match fate {
        MarkFate::Untouched => 0,
        MarkFate::Set => 1,
        MarkFate::PagesLost => 2,
        MarkFate::SetAndPagesLost => 3,
    }
}

const fn mark_fate_of(code: u8) -> Option<MarkFate> {
    Some(match code {
        0 => MarkFate::Untouched,
        1 => MarkFate::Set,
        2 => MarkFate::PagesLost,
        3 => MarkFate::SetAndPagesLost,
        _ => return None,
    })
}

const fn block_fate(fate: BlockFate) -> u8 {
    match fate {
        BlockFate::Untouched => 0,
        BlockFate::Erased => 1,
        BlockFate::Garbage => 2,
        BlockFate::Fading => 3,
    }
}

const fn block_fate_of(code: u8) -> Option<BlockFate> {
    Some(match code {
        0 => BlockFate::Untouched,
        1 => BlockFate::Erased,
        2 => BlockFate::Garbage,
        3 => BlockFate::Fading,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_differ_in_two_bits_so_that_none_is_taken_for_another() {
        let kinds: Vec<u8> = (0..=255).filter(|kind| is_kind(*kind)).collect();
        assert_eq!(kinds.len(), 9);
        for codes in [&kinds[..], &[SLC, MLC, NOWHERE]] {
            for (at, code) in codes.iter().enumerate() {
                assert!(code.count_ones() > 1);
                assert!(codes[..at].iter().all(|other| (code ^ other).count_ones() > 1));
            }
        }
    }
}
