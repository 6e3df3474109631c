//! The health of the device: reserve, wear, and corrected errors.

use ftl_iface::{BlockCount, Corrected};

use crate::table::{BlockNumber, word};

/// The health of the device. A host that asks regularly knows long before the reserve is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The reserve is used up: everything can be read, and nothing written any more.
    pub read_only: bool,
    /// Blocks for the host's data that may still fail before that; no more than [`at_once`](Self::at_once) in one
    /// request. Of the page store's two areas, this is the one that has fewer.
    pub reserve_left: BlockCount,
    /// The same for a device without a bad block.
    pub reserve: BlockCount,
    /// How many of those may fail in the next request, whatever it is. If more fail, no free block may be left for what
    /// the request moves, and the device is read-only although reserve is left. It is zero if no reserve is left, but
    /// also while few blocks are free; later requests and idle work free blocks again.
    pub at_once: BlockCount,
    /// Blocks of any part that may still fail and refuse the bad-block mark: they are listed, and the list is limited.
    /// The device is read-only when it is full.
    pub unmarked_left: BlockCount,
    /// Blocks of any part that were taken out of use since the mount.
    pub failed: BlockCount,
    /// Erases of the blocks of the main area: the chains of the hybrid FTL.
    pub main: Wear,
    /// Erases of the blocks of the fast area, the hybrid's log; `None` if there is none, or if so few blocks of a log
    /// are left that it is closed.
    pub fast: Option<Wear>,
    /// The most bits that the device had to correct in one codeword since the mount, as far as it reports them.
    pub corrected: Corrected,
    /// How often since the mount a block, a chain, a page of the log or a header was refreshed.
    pub refreshed: u32,
    /// How often the host read a lost sector since the mount.
    pub lost: u32,
}

/// How often blocks in use were erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// The block that was erased least.
    pub least: u32,
    /// All of them, on average.
    pub mean: u32,
    /// The block that was erased most.
    pub most: u32,
}

/// The mean over that many blocks of their total; zero for no blocks. The division is done in 16-bit digits, because a
/// 64-bit division takes 700 bytes of the compiler's library.
pub(crate) fn mean(total: u64, blocks: BlockNumber) -> u32 {
    let blocks = word(blocks);
    if cfg!(feature = "wide") {
        // Not for microcontrollers.
        return total.checked_div(blocks.into()).unwrap_or(0) as u32;
    }
    let (mut mean, mut rest) = (0, 0);
    for shift in [48, 32, 16, 0] {
        // The rest is below the number of blocks, so that 16 bits more fit.
        let part = rest << 16 | (total >> shift) as u32 & 0xFFFF;
        let Some(digit) = part.checked_div(blocks) else { return 0 };
        rest = part - digit * blocks;
        mean = mean << 16 | digit;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::mean;
    use crate::table::number;

    #[test]
    fn a_mean_is_the_quotient_of_all_that_fits() {
        assert_eq!(mean(7, 0), 0);
        for blocks in [1, 2, 3, 1_023, 40_000, u16::MAX] {
            let most = u64::from(u32::MAX) * u64::from(blocks);
            for total in [0, 1, 65_535, 65_536, 123_456_789, most / 3, most - 1, most] {
                if let Ok(wanted) = u32::try_from(total / u64::from(blocks)) {
                    assert_eq!(mean(total, number(blocks)), wanted, "{total} of {blocks}");
                }
            }
        }
    }
}
