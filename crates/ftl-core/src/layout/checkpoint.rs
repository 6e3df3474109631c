//! What the pages of a checkpoint hold: an image of the tables in RAM, and the seal that makes it count.

use super::{FormatKey, copy_low_bytes, low_bytes, word};
use crate::layout::payload::{check, mix};

/// What of a log is in an image, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogImage {
    /// Its blocks.
    pub blocks: u16,
    /// Slots of the data pages of one block.
    pub slots: u32,
    /// Bytes of the cells of its hash table.
    pub index_bytes: u64,
}

/// Histogram, count and threshold; balance, pressure and window; averages and counts.
const FILTER: u64 = 11 * 8 + 8;
const THROTTLE: u64 = 8 + 8 + 4;
const WRITE_BACK: u64 = 6 * 4 + 1 + 2 + 1;
/// Base, total, coldest block, and the hand's findings.
const WEAR: u64 = 4 + 8 + 2 + 10;
/// Two queues, how many blocks are suspect, and the hand.
const CHAINS: u64 = 2 * 6 + 2 + 2;
/// The ring's place, the hash table's hand, the stamp of the head's last page, and how far the tail was gone through.
const RING: u64 = 5 * 2 + 4 + 4 + 8;
const INDEX: u64 = 4;
const WALK: u64 = 4 + 1 + 4 * 4;
/// Part, block and page of the next page to be scrubbed.
const SCRUB: u64 = 1 + 2 + 2;

/// Bytes of the image of a device of so many blocks.
pub const fn image_bytes(chain_blocks: u16, logical_blocks: u16, log: Option<LogImage>) -> u64 {
    let (chains, logical) = (chain_blocks as u64, logical_blocks as u64);
    let bits = logical.div_ceil(8);
    let wear = 2 * chains + chains.div_ceil(2) + WEAR;
    let tables = 2 * logical + 2 * chains + 3 * bits + CHAINS;
    let of_log = match log {
        Some(log) => {
            let ring = (log.blocks as u64).div_ceil(8) + RING;
            ring + log.index_bytes + INDEX + WALK + 8 * log.slots as u64 + bits
        }
        None => 0,
    };
    FILTER + THROTTLE + WRITE_BACK + wear + tables + of_log + SCRUB
}

/// The check of an image, page by page: what it is after this page. Before the first it is the key.
pub fn image_check(before: u32, page: &[u8]) -> u32 {
    page.as_chunks().0.iter().fold(before, |hash, bytes| mix(hash, u32::from_le_bytes(*bytes)))
}

/// The end of a checkpoint. It is programmed last, so that whoever finds it finds a whole image before it.
///
/// ```text
///  0         4      8        12            16            20      24
///  ├─────────┼──────┼────────┼─────────────┼─────────────┼───────┤
///  │ version │ turn │ length │ fingerprint │ image check │ check │
///  └─────────┴──────┴────────┴─────────────┴─────────────┴───────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// How many checkpoints there were: of two seals the larger turn counts.
    pub turn: u32,
    /// Bytes of the image.
    pub length: u32,
    /// Of geometry and configuration: where they are others, the image's tables are not ours.
    pub fingerprint: u32,
    /// The check over all pages of the image.
    pub image_check: u32,
}

impl Seal {
    /// Bytes that a seal takes.
    pub const BYTES: usize = 24;
    /// The version of the image: it changes when an older reader would go wrong.
    pub const VERSION: u32 = 2;

    /// Writes the seal at the start of a page.
    pub fn put(&self, page: &mut [u8], key: FormatKey) {
        let words = [Self::VERSION, self.turn, self.length, self.fingerprint, self.image_check];
        let all = words.into_iter().chain([check(words.into_iter(), key)]);
        for (at, word) in all.enumerate() {
            copy_low_bytes(page.get_mut(at * 4..at * 4 + 4), u64::from(word));
        }
    }

    /// Reads the seal at the start of a page, or `None` where it fails its check or is of another version.
    pub fn parse(page: &[u8], key: FormatKey) -> Option<Self> {
        let stored = low_bytes(page.get(20..24)?) as u32;
        let words = page.get(..20)?.chunks_exact(4).map(word);
        if stored != check(words, key) || word(page) != Self::VERSION {
            return None;
        }
        let field = |at: usize| page.get(at..).map_or(0, word);
        Some(Self {
            turn: field(4),
            length: field(8),
            fingerprint: field(12),
            image_check: field(16),
        })
    }
}

/// A fingerprint of numbers, whose order counts.
pub fn fingerprint(numbers: impl Iterator<Item = u32>) -> u32 {
    check(numbers, FormatKey::HEADER)
}
