//! What the contract leaves open, and how this device uses it. It belongs to the driver and not to the cells: an image
//! does not keep it.

use ftl_iface::{Block, Bytes, Page};

use super::dice::{Chance, Subject, dice};
use super::torn::Remains;

/// What a read that fails leaves in the caller's buffers, of which the contract promises nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailedRead {
    /// Bytes that were never written.
    #[default]
    Noise,
    /// What was there before: a driver that asks for the status before it fetches the data.
    Untouched,
    /// The first half of what was programmed, and then what was there before: a driver that stops midway.
    Partly,
    /// What was programmed, with a wrong bit in every 512 bytes of data. The spare bytes are right.
    Nearly,
}

/// Which reads of an unreadable page fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailingPart {
    /// Every read.
    #[default]
    Page,
    /// Those that ask for data. Spare bytes alone are read well: they have a codeword of their own.
    Data,
}

/// How the device uses what the contract leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leeway {
    pub(super) failed_reads: FailedRead,
    pub(super) failing_part: FailingPart,
    /// That a bad-block mark destroys pages of its block.
    pub(super) destroying_marks: Chance,
}

/// What buffers held before a read.
pub(super) struct Before {
    data: Vec<u8>,
    spare: Vec<u8>,
}

/// A read that fails, and the seed of what it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailingRead {
    pub(super) seed: u64,
    pub(super) page: Page,
    pub(super) at: Bytes,
}

impl Leeway {
    /// Saves what buffers hold, if a failed read leaves some of that.
    pub(super) fn save(self, data: &[u8], spare: &[u8]) -> Option<Before> {
        let leaves = matches!(self.failed_reads, FailedRead::Untouched | FailedRead::Partly);
        leaves.then(|| Before { data: data.into(), spare: spare.into() })
    }

    /// Puts into buffers, which hold the truth, what a failed read leaves there.
    pub(super) fn show(
        self,
        read: FailingRead,
        before: Option<&Before>,
        data: &mut [u8],
        spare: &mut [u8],
    ) {
        match (self.failed_reads, before) {
            (FailedRead::Untouched, Some(before)) => {
                data.copy_from_slice(&before.data);
                spare.copy_from_slice(&before.spare);
            }
            (FailedRead::Partly, Some(before)) => {
                // Data are fetched before spare bytes.
                let fetched = if data.is_empty() { spare.len() / 2 } else { 0 };
                spare[fetched..].copy_from_slice(&before.spare[fetched..]);
                let fetched = data.len() / 2;
                data[fetched..].copy_from_slice(&before.data[fetched..]);
            }
            (FailedRead::Nearly, _) => data.iter_mut().step_by(512).for_each(|byte| *byte ^= 1),
            _ => Remains::Uncorrectable.show(read.seed, read.page, read.at, data, spare),
        }
    }

    /// Whether a read that asks for that much data fails on an unreadable page.
    pub(super) const fn fails(self, data: &[u8]) -> bool {
        matches!(self.failing_part, FailingPart::Page) || !data.is_empty()
    }

    /// Whether a mark of that block destroys pages of it.
    pub(super) fn destroys(self, seed: u64, block: Block, cycles: u32) -> bool {
        self.destroying_marks.comes_up(|| dice(seed, Subject::DestroyingMark, block, cycles, 0))
    }
}
