//! What pages are filled with: bytes that no other page, and no other round, has at the same places.

use ftl_iface::{Page, Region};

/// What a page was filled with last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Nothing: erased, every byte 0xFF.
    Ones,
    /// Every byte zero, the spare bytes too.
    Zeros,
    /// Bytes of their own, different in each round.
    Round(u8),
}

/// Spreads a number over all bits of another: the finaliser of `MurmurHash3`, which is in the public domain.
const fn spread(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85EB_CA6B);
    word ^= word >> 13;
    word = word.wrapping_mul(0xC2B2_AE35);
    word ^ word >> 16
}

impl Fill {
    /// The page's own seed in this round.
    fn seed(self, page: Page) -> u32 {
        let Self::Round(round) = self else { return 0 };
        let region = u32::from(page.region() == Region::Mlc);
        let place = spread(page.block().index()) ^ u32::from(page.index().get()) << 1 ^ region;
        spread(place ^ u32::from(round) << 24)
    }

    /// Calls `each` with `count` bytes from `from` on, each after its number in that range. Returns the first answer
    /// that is not `None`.
    pub(crate) fn find<T>(
        self,
        page: Page,
        from: usize,
        count: usize,
        mut each: impl FnMut(usize, u8) -> Option<T>,
    ) -> Option<T> {
        let seed = self.seed(page);
        (0..count).find_map(|offset| {
            let byte = match self {
                Self::Ones => 0xFF,
                Self::Zeros => 0,
                Self::Round(_) => spread(seed.wrapping_add((from + offset) as u32)) as u8,
            };
            each(offset, byte)
        })
    }

    /// Fills a buffer with the bytes from `from` on.
    pub(crate) fn fill(self, page: Page, from: usize, buffer: &mut [u8]) {
        let count = buffer.len();
        let all: Option<()> = self.find(page, from, count, |offset, byte| {
            buffer[offset] = byte;
            None
        });
        debug_assert!(all.is_none());
    }
}
