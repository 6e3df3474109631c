//! What the pages of a checkpoint hold: an image of the tables in RAM, and the seal that makes it count.

use super::{FormatKey, copy_low_bytes, low_bytes, word};
use crate::layout::payload::{check, mix};

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
    #[cfg(feature = "internals")]
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
