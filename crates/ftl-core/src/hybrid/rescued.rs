//! Rescue copies of pages that cannot be relied on: which exist, and which are valid.

use crate::hybrid::address::ChainBlock;
use crate::hybrid::shape::{CHECKPOINT_AREAS, RESCUE_BLOCKS};
use crate::layout::Stamp;

/// A copy in one block, with a commit that is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The block that it is in.
    pub(crate) block: u16,
    /// Its pages.
    pub(crate) pages: u16,
    /// When it was made to count.
    pub(crate) stamp: Stamp,
    /// The data block of whose last page it is a copy.
    pub(crate) ended: Option<ChainBlock>,
}

/// The copies that count, the newest first. Those before it count where the newer ones had no room for what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rescued {
    pub(crate) copies: [Option<Copy>; COPIES_MAX],
}

impl Rescued {
    pub(crate) const NONE: Self = Self { copies: [None; COPIES_MAX] };

    /// That one alone.
    pub(crate) const fn one(copy: Copy) -> Self {
        let mut copies = Self::NONE.copies;
        copies[0] = Some(copy);
        Self { copies }
    }

    /// The copies before the one that was made last.
    pub(crate) fn without_newest(self) -> Self {
        let mut copies = self.copies;
        copies.rotate_left(1);
        copies[COPIES_MAX - 1] = None;
        Self { copies }
    }

    /// The one that was made last.
    pub(crate) fn newest(self) -> Option<Copy> {
        self.copies[0]
    }

    pub(crate) fn copies(self) -> impl Iterator<Item = Copy> {
        self.copies.into_iter().flatten()
    }

    /// Whether there are as many as a mount can find.
    pub(crate) fn is_full(self) -> bool {
        self.copies().count() == COPIES_MAX
    }

    /// These, and a newer one, which takes the place of the oldest if there are too many.
    pub(crate) fn after(self, newest: Copy) -> Self {
        let mut copies = self.copies;
        copies.rotate_right(1);
        copies[0] = Some(newest);
        Self { copies }
    }
}

/// Blocks that carry copies at a time: the rescue blocks, and one of each place of checkpoints.
pub(crate) const COPIES_MAX: usize = (RESCUE_BLOCKS + CHECKPOINT_AREAS) as usize;

/// A bit in the note of a commit: the copy before it counts, too.
pub(crate) const BESIDE: u32 = 1 << 23;
