//! A record of the journal, and the codes in it.

use ftl_iface::{Block, PageIndex};
use nand_model::power::{BlockFate, PageFate, PairFate};

/// An operation on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Program { page: PageIndex, data: &'a [u8], spare: &'a [u8] },
    Erase,
    Mark,
    TornProgram { page: PageIndex, data: &'a [u8], spare: &'a [u8], fate: PageFate, pair: PairFate },
    TornErase { fate: BlockFate },
}

impl Entry<'_> {
    /// Adds its record.
    pub(super) fn put(&self, block: Block, out: &mut Vec<u8>) {
        let start = out.len();
        let (kind, page, (fate, reads), pair) = match self {
            Self::Program { page, .. } => (0, *page, (0, 0), 0),
            Self::Erase => (1, PageIndex::default(), (0, 0), 0),
            Self::Mark => (2, PageIndex::default(), (0, 0), 0),
            Self::TornProgram { page, fate, pair, .. } => {
                (3, *page, page_fate(*fate), u8::from(*pair == PairFate::Lost))
            }
            Self::TornErase { fate } => (4, PageIndex::default(), (block_fate(*fate), 0), 0),
        };
        out.extend_from_slice(&[kind, block.region() as u8]);
        out.extend_from_slice(&block.index().to_le_bytes());
        out.extend_from_slice(&page.get().to_le_bytes());
        out.push(fate);
        out.extend_from_slice(&reads.to_le_bytes());
        out.push(pair);
        if let Self::Program { data, spare, .. } | Self::TornProgram { data, spare, .. } = self {
            out.extend_from_slice(data);
            out.extend_from_slice(spare);
        }
        let check = crc32fast::hash(&out[start..]);
        out.extend_from_slice(&check.to_le_bytes());
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

pub(super) const fn page_fate_of(code: u8, reads: u32) -> Option<PageFate> {
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

const fn block_fate(fate: BlockFate) -> u8 {
    match fate {
        BlockFate::Untouched => 0,
        BlockFate::Erased => 1,
        BlockFate::Garbage => 2,
        BlockFate::Fading => 3,
    }
}

pub(super) const fn block_fate_of(code: u8) -> Option<BlockFate> {
    Some(match code {
        0 => BlockFate::Untouched,
        1 => BlockFate::Erased,
        2 => BlockFate::Garbage,
        3 => BlockFate::Fading,
        _ => return None,
    })
}
